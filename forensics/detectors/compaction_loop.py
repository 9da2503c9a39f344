"""The compaction-loop detector."""

from collections.abc import Iterator
from math import fsum
from typing import Annotated

from forensics.attempts import Round
from forensics.detect import Claim, Confidence, Measure, Severity, Within, detector
from forensics.detectors import _rates as rates
from forensics.detectors._loops import Kind, Limits, Loop, loops
from forensics.detectors._rates import hours, told
from forensics.events import Event
from forensics.timeline import Session

_WORDS: dict[Kind, str] = {
    "overflow": " in a row without progress: the next request overflows again",
    "threshold": " in a row without progress: the next finished step is over the threshold again",
    "failed": " in a row without progress: no attempt makes a usable summary",
    "refill": " in a row without progress: the context is full again within a few replies",
    "every prompt": ", one for every prompt",
}
_SURE = 3


@detector("error", per="session")
def compaction_loop(session: Session, *, within: int = 3, refills: Annotated[int, Within(1)] = 3) -> Iterator[Claim]:
    """Find two or more compactions in a row without progress between them.

    Each compaction is paid for, and the next request is where the last one was: only a person, a limit or an empty
    account ends it.

    Outcome decides, not time: does the next real request fit? Two attempts are linked when no reply ended well
    between them (`overflow`: the next request overflowed again); when the first good reply after one stood at 95 % or
    more of the size before it (`threshold`); when an attempt made no summary and the next followed within `within`
    good replies (`failed`: three in a row, because one retry of a failed summary is fair); or when the context filled
    up again within `within` replies (`refill`: `refills` of them in a row). Where no size is known, six compactions
    in a row with a single prompt between each two count too (`every prompt`, a warning).

    A person's prompt that gets no good answer changes nothing, so the loop goes on across it; one that is answered is
    progress, except where every summary fails or the size shows that the compaction made no room. More than `within`
    good replies between two compactions are progress, so long sessions that compact many times stay quiet. Attempts
    that a person asked for or cancelled, or that had nothing to do, are passed over. Two in a row, after which the
    session recovers, are a warning. One loop is one finding, however long.

    What to do: bound the cycle. Count compactions since the last reply that ended well and left room, stop after a few
    with a message that says so, and compact again only when something changed (anomalyco/opencode#37584).

    Measures. All speak of the same compactions: a last one in which the record breaks off is in none of them. cycles
    (compactions begun); hours (from the refused request that the first answers, else from its start, to the end of the
    last or the failure after it; unknown where the clock went back); cost (US dollars recorded for them; unknown where
    none is); kind; summaries (made); unfinished (cycles whose end is not on record); prompts (typed by a person
    inside); overflows (requests refused as too large, that first one included); paid (cycles with a recorded cost);
    tokens (recorded for the compactions' own requests); period_seconds (median from one to the next, steps over which
    the clock went back left out); ended_by ("progress", "a person" or "nothing": the record ends in the loop).
    """
    for loop in loops(session, Limits(within, refills)):
        if len(_done(loop.rounds)) > 1:
            yield _claim(loop, seen=session.replies > 0)


def _claim(loop: Loop, *, seen: bool) -> Claim:
    """Build the claim; `seen` says whether the file shows replies at all."""
    done = _done(loop.rounds)
    ends = [one.attempt.end for one in done if one.attempt.end is not None]
    costs = [end.cost for end in ends if end.cost is not None]
    ended = _ended_by(loop, seen=seen)
    inside = done[:-1] if len(done) == len(loop.rounds) and ended in {"progress", "a person"} else done
    taken, period = hours(_times(done)), rates.period(one.attempt.first.ts for one in done)
    cost = round(fsum(costs), 6) if costs else None
    return Claim(
        message=_message(len(done), taken, cost, period, loop.kind),
        evidence=_rows(done),
        measures={
            "cycles": Measure(len(done), "observed"),
            "hours": Measure(taken, "derived"),
            "cost": Measure(cost, "derived"),
            "kind": Measure(loop.kind, "inferred"),
            "summaries": Measure(_summaries(done), "observed"),
            "unfinished": Measure(sum(one.attempt.unfinished for one in done), "observed"),
            "prompts": Measure(sum(one.prompts for one in inside) if seen else None, "observed"),
            "overflows": Measure(_overflows(done, inside) if seen else None, "observed"),
            "paid": Measure(len(costs), "observed"),
            "tokens": Measure(_tokens(ends), "derived"),
            "period_seconds": Measure(period, "derived"),
            "ended_by": Measure(ended, "inferred"),
        },
        confidence=_confidence(loop),
        severity=_severity(loop, ended),
    )


def _done(found: list[Round]) -> list[Round]:
    """Leave out the last attempt where the record breaks off inside it; one that broke off before was a cycle."""
    last = found[-1].attempt
    open_end = last.unfinished and not all(one.attempt.unfinished for one in found)
    untold = not last.known and any(one.attempt.known for one in found)
    return found[:-1] if open_end or untold else found


def _summaries(found: list[Round]) -> int | None:
    """Count the summaries made; `None` where the record never says what was made."""
    known = any(one.attempt.known for one in found)
    return sum(one.attempt.outcome == "summary" for one in found) if known else None


def _message(cycles: int, taken: float | None, cost: float | None, period: float | None, kind: Kind) -> str:
    parts = [f"{cycles} compactions{_WORDS[kind]}"]
    if taken is not None:
        parts.append(f"over {told(taken)}")
    if period is not None:
        parts.append(f"half of them {period:.0f} s apart or less" if period >= 1 else "without a delay")
    if cost:
        parts.append(f"${cost:,.2f}")
    return ", ".join(parts)


def _lead(found: list[Round]) -> Event | None:
    """Give the refused request that the first compaction answers; another failure before it is no part of the loop."""
    lead = found[0].lead
    return lead if lead is not None and lead.fault == "overflow" else None


def _overflows(done: list[Round], inside: list[Round]) -> int:
    return sum(one.overflows for one in inside) + (_lead(done) is not None)


def _rows(found: list[Round]) -> tuple[Event, ...]:
    """Give the rows of the first cycle and of the last, with the refusals before and after them."""
    first, last = found[0], found[-1]
    rows = [_lead(found), *first.attempt.events, *first.failed[:1], first.first, *found[1].attempt.events[:1]]
    rows += [*last.attempt.events, *([] if last.first else last.failed[-1:])]
    known = {id(row): row for row in rows if row is not None}
    return tuple(sorted(known.values(), key=lambda row: row.seq))


def _times(found: list[Round]) -> list[int | None]:
    """Give the times from the first row of the loop to the last; those between show a clock that went back."""
    rows = [*_rows(found), *(row for one in found for row in one.attempt.events)]
    return [row.ts for row in sorted(rows, key=lambda row: row.seq)]


def _tokens(ends: list[Event]) -> int | None:
    known = [size for end in ends for size in (end.input, end.cached, end.output) if size is not None]
    return sum(known) if known else None


def _ended_by(loop: Loop, *, seen: bool) -> str | None:
    last = loop.rounds[-1]
    if last.first is None:
        if seen:
            return "nothing"
        return "progress" if last.attempt.room else None
    return "a person" if last.prompt is not None and last.prompt.seq < last.first.seq else "progress"


def _confidence(loop: Loop) -> Confidence:
    if loop.kind == "every prompt":
        return "medium"
    return "high" if len(loop.rounds) >= _SURE else "medium"


def _severity(loop: Loop, ended: str | None) -> Severity:
    recovered = len(loop.rounds) < _SURE and ended in {"progress", "a person"}
    return "warning" if recovered or loop.kind == "every prompt" else "error"
