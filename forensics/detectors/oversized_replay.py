"""The oversized-replay detector."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from forensics import faults
from forensics.detect import Claim, Confidence, Measure, Within, detector
from forensics.detectors._rates import span, told
from forensics.events import GOOD_STOPS, Event
from forensics.failures import is_failed
from forensics.timeline import Session

_CHARACTERS_PER_TOKEN = 4
_MS_PER_HOUR = 3_600_000


class _Loop(NamedTuple):
    """Replays of one message without a good reply between, and the rows that they cost."""

    replays: list[Event]
    rows: list[Event]
    """Compactions' ends and failed replies from the first failure before the first replay to the last row."""
    own: bool = False
    """Whether what is sent again is a prompt that the agent wrote itself."""


@detector("error", per="session")
def oversized_replay(session: Session, *, replays: Annotated[int, Within(1)] = 2) -> Iterator[Claim]:
    """Find a message that the agent sends again after every compaction although it cannot fit.

    Why it is bad: each round pays for a summary and a refused request and leaves things as they were; nothing but a
    person or an empty account ends it.

    How it decides. The agent's own replays of the same message (equal content) with no good reply between them, at
    least `replays` of them: one finding for the whole loop. A single replay is enough where the message's own size,
    estimated as characters / 4, exceeds the context window. Otherwise whether the message alone is too large is
    undetermined (`oversized` null), and said so: a file may name no window or hold a shortened text, and the
    estimate misses attachments and undercounts markup.

    A prompt that the agent wrote itself (a continuation) and sends again is told as that.

    It stays quiet when the replay after a compaction got a good reply, which is how a replay should end.

    What to do: compare the message's own size with the window before sending it again; if nothing ended well since the
    last summary, stop with an error that names the message.

    Measures: `replays`; `compactions` in the loop; `cost` in US dollars as recorded, of its compactions and failed
    replies (null: none recorded, or nothing but 0, which agents write when they know no price); `hours` from the
    first to the last row (unknown where the clock went back); `tokens` of the message, estimated; `cap`, the context
    window in force at the last replay, in tokens; `oversized`, yes or null; `refused`, the most tokens that an
    overflow error names.
    """
    for loop in _loops(session.events) if session.replays else ():
        claim = _claim(session, loop)
        if len(loop.replays) >= replays or claim.measures["oversized"].value == "yes":
            yield claim


def _loops(events: list[Event]) -> Iterator[_Loop]:
    loop = _Loop([], [])
    written: Event | None = None
    for event in events:
        if event.kind == "prompt":
            written = event if event.origin == "synthetic" else written
            if loop.replays and not (event.origin == "replay" and _same(event, loop.replays[0])):
                yield loop
                loop = _Loop([], [])
            if event.origin == "replay":
                if not loop.replays:
                    loop = loop._replace(own=written is not None and _same(event, written))
                loop.replays.append(event)
            elif event.origin == "human" and loop.rows:
                loop = _Loop([], [])
        elif (event.kind == "compacted" and event.outcome != "skipped") or is_failed(event):
            loop.rows.append(event)
        elif event.kind == "reply" and event.stop in GOOD_STOPS:
            if loop.replays and any(row.kind == "reply" and row.seq > loop.replays[0].seq for row in loop.rows):
                yield loop
            if loop.replays or loop.rows:
                loop = _Loop([], [])
    if loop.replays:
        yield loop


def _same(one: Event, other: Event) -> bool:
    if one.digest is not None and other.digest is not None:
        return one.digest == other.digest
    return one.text is not None and (one.text, one.size) == (other.text, other.size)


def _claim(session: Session, loop: _Loop) -> Claim:
    count = len(loop.replays)
    compactions = [row for row in loop.rows if row.kind == "compacted"]
    cost = round(sum(row.cost or 0.0 for row in loop.rows), 6) or None
    rows = sorted((*loop.replays, *loop.rows), key=lambda row: row.seq)
    lasted = span(row.ts for row in rows)
    taken = None if lasted is None else round(lasted / _MS_PER_HOUR, 6)
    tokens = _tokens(loop.replays)
    cap = session.window(loop.replays[-1])
    oversized = "yes" if tokens is not None and cap is not None and tokens > cap else None
    refused = [used for row in loop.rows if row.kind == "reply" and (used := _refused(row)) is not None]
    return Claim(
        message=_sentence(count, len(compactions), taken, cost, oversized, own=loop.own),
        evidence=_ends(loop, rows),
        confidence=_confidence(count, oversized),
        key=loop.replays[0].record,
        measures={
            "replays": Measure(count, "observed"),
            "compactions": Measure(len(compactions), "observed"),
            "cost": Measure(cost, "observed"),
            "hours": Measure(taken, "derived"),
            "tokens": Measure(tokens, "inferred"),
            "cap": Measure(cap, "observed"),
            "oversized": Measure(oversized, "inferred"),
            "refused": Measure(max(refused, default=None), "observed"),
        },
    )


def _ends(loop: _Loop, rows: list[Event]) -> tuple[Event, ...]:
    """Give the rows that show the loop: its first, the first and last replay, its last."""
    shown = (rows[0], loop.replays[0], loop.replays[-1], rows[-1])
    return tuple({row.seq: row for row in shown}.values())


def _tokens(replays: list[Event]) -> int | None:
    sizes = [row.size for row in replays if row.size is not None]
    return max(sizes) // _CHARACTERS_PER_TOKEN if sizes else None


def _refused(reply: Event) -> int | None:
    return reply.estimate if reply.estimate is not None else faults.window(reply.error or "").used


def _confidence(count: int, oversized: str | None) -> Confidence:
    return "high" if oversized == "yes" or count > 2 else "medium"


def _sentence(
    count: int, compactions: int, taken: float | None, cost: float | None, oversized: str | None, *, own: bool
) -> str:
    size = {
        "yes": "it alone exceeds the context window",
        None: "whether it alone exceeds the context window is undetermined",
    }[oversized]
    over = "" if taken is None else f" over {told(taken)}"
    paid = "" if cost is None else f", ${cost:,.2f}"
    times = "once" if count == 1 else f"{count:,} times"
    made = f"{compactions:,} compaction{'' if compactions == 1 else 's'}"
    what = "the agent's own continuation prompt" if own else "the same message"
    return f"{what} was sent again {times}, {made}{over}{paid}, no good reply; {size}"
