"""The figures and times that a recording can hold. Any other is unknown, and the coverage says where it stood.

Formats in JSON are held to them while they are decoded, which costs nothing; `guarded` holds the rows of every other.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from forensics.events import Event

if TYPE_CHECKING:
    from forensics.source import Source

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LIMIT = 1 << 53
"""From here on a JSON number is no longer exact; no count of tokens, characters or milliseconds comes near."""
FIRST_YEAR, LAST_YEAR = 2015, 2100
"""Before the first there was no such agent."""
NO_TIME = f"is no time from {FIRST_YEAR} to {LAST_YEAR}"
FIRST, LAST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1000 for year in (FIRST_YEAR, LAST_YEAR + 1))
"""The first time that is read, and the first that is not any more, in Unix milliseconds."""

Count = Annotated[int, Meta(ge=0, lt=LIMIT >> 2)]
"""A sum of four is still below the limit."""
Amount = Annotated[float, Meta(ge=0.0, lt=float(LIMIT))]
"""A price, or another figure that need not be whole."""
Code = Annotated[int, Meta(gt=-LIMIT, lt=LIMIT)]
"""A figure that may be negative: an exit code, a status."""
Millis = Annotated[int, Meta(ge=FIRST, lt=LAST)] | Annotated[float, Meta(ge=float(FIRST), lt=float(LAST))]
"""A time as Unix milliseconds."""

_TIMES = ("ts", "sent")
_COUNTS = (
    "before",
    "after",
    "requests",
    "context",
    "messages",
    "cap",
    "input",
    "cached",
    "output",
    "reasoning",
    "total",
    "estimate",
    "size",
)


def is_time(ms: int | None) -> bool:
    """Tell a time of a recording from any other number."""
    return ms is not None and FIRST <= ms < LAST


def read_time(text: str) -> int | None:
    """Read ISO 8601 text, UTC where it names no zone, as Unix milliseconds; `None` for what is no time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return millis(time)


def millis(time: datetime) -> int:
    """Give a time as Unix milliseconds; one that names no zone is UTC."""
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000  # a third of a division's cost


def all_millis(times: Iterable[datetime]) -> list[int]:
    """Give times that name their zone as Unix milliseconds, at half the cost of one by one."""
    return [(t := time - _EPOCH).days * 86_400_000 + t.seconds * 1000 + t.microseconds // 1000 for time in times]


def figure(digits: str) -> int:
    """Read a whole number; one of more digits than any count has is `LIMIT`, which `guarded` tells."""
    return int(digits) if len(digits) < len(str(LIMIT)) else LIMIT


def guarded(events: Iterable[Event], source: "Source") -> Iterator[Event]:
    """Pass the rows on; a figure or a time that cannot be one becomes unknown, and the source lists its line."""
    for event in events:
        ts, sent, cost, code = event.ts, event.sent, event.cost, event.code
        figures = (
            (event.before or 0)
            | (event.after or 0)
            | (event.requests or 0)
            | (event.context or 0)
            | (event.messages or 0)
            | (event.cap or 0)
            | (event.input or 0)
            | (event.cached or 0)
            | (event.output or 0)
            | (event.reasoning or 0)
            | (event.total or 0)
            | (event.estimate or 0)
            | (event.size or 0)
        )
        if (
            not 0 <= figures < LIMIT
            or (ts is not None and not FIRST <= ts < LAST)
            or (sent is not None and not FIRST <= sent < LAST)
            or (cost is not None and not 0 <= cost < LIMIT)
            or (code is not None and not -LIMIT < code < LIMIT)
        ):
            _mend(event, source)
        yield event


def _mend(event: Event, source: "Source") -> None:
    times = [name for name in _TIMES if not _fits(getattr(event, name), FIRST, LAST)]
    odd = [name for name in (*_COUNTS, "cost") if not _fits(getattr(event, name), 0, LIMIT)]
    odd += [] if _fits(event.code, 1 - LIMIT, LIMIT) else ["code"]
    wrong = [f"{name} {NO_TIME}" for name in times]
    wrong += [f"{name} is {_said(getattr(event, name))}" for name in odd]
    for name in (*times, *odd):
        setattr(event, name, None)
    if event.cap is None:
        event.cap_source = None
    source.doubt(event.line, "; ".join(wrong), record=event.record)


def _fits(value: float | None, least: int, limit: int) -> bool:
    return value is None or least <= value < limit


def _said(value: float) -> str:
    return "negative" if value < 0 else "2^53 or more" if value >= LIMIT else "not a number"
