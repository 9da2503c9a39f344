"""Times as the program keeps them (UTC milliseconds since 1970) and as people write them (ISO 8601)."""

from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(ms: int | None) -> datetime | None:
    """Give a time as a `datetime`; `None` for no time, and for one that no calendar holds."""
    if ms is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None


def iso(ms: int | None) -> str | None:
    """Give a time as `2026-07-09T10:00:00.000Z`; `None` as `moment` does."""
    time = moment(ms)
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def instant(value: Any, *, end: bool = False) -> int:
    """Read a time: ISO 8601, UTC unless a zone is given. A day alone is its start, or with `end` its last millisecond.

    Raises `ValueError` with words for the user.
    """
    text = value.isoformat() if hasattr(value, "isoformat") else str(value).strip()
    try:
        time = datetime.fromisoformat(text)
        if end and len(text) <= len("2026-07-09"):
            time += timedelta(days=1, milliseconds=-1)
    except (ValueError, OverflowError):
        raise ValueError("give a time as 2026-07-09 or 2026-07-09T10:00:00Z") from None
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1)


def day(value: Any) -> str:
    """Read a day, `2026-12-31`. Raises `ValueError` with words for the user."""
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    if len(text) != len("2026-12-31"):
        raise ValueError("give a day as 2026-12-31")
    instant(text, end=True)
    return text


def expired(until: str | None, now: int) -> bool:
    """Whether that day (UTC) is over at the time `now` (UTC milliseconds); never, where there is no day."""
    return until is not None and now > instant(until, end=True)
