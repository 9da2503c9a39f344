"""The ineffective-compaction detector."""

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

from forensics.attempts import Attempt, Round
from forensics.detect import Basis, Claim, Measure, Within, detector
from forensics.detectors._units import shortened
from forensics.events import Event
from forensics.timeline import Session

Kind = Literal["not smaller", "full again at once", "fixed point"]

_NEAR = 0.01
_FIXED = 3
_LEAST = 1000
"""Tokens: less than that is about a summary's own size, so that nothing can be saved."""
_LITTLE = 0.7
"""A fixed point counts from this share of the size before on: below it the compaction still makes room."""


class _Result(NamedTuple):
    round: Round
    before: int
    after: int
    basis: Basis
    row: Event | None
    """The request that shows the size after, where the compaction's own rows do not."""
    kind: Kind
    streak: int
    """How many compactions in a row have had these sizes."""

    @property
    def share(self) -> float:
        return self.after / self.before


@detector("warning", per="session")
def ineffective_compaction(session: Session, *, share: Annotated[float, Within(0, 1)] = 0.95) -> Iterator[Claim]:
    """Find compactions that made no room.

    The context is as full as before, so the next request overflows or triggers the next compaction, and a summary
    was paid for nothing.

    A compaction counts when the size after it is at least `share` of the size before. The size after is the recorded
    one; where none is recorded it is the first request that follows (derived). Where the recorded size says that
    there is room, but the first request after it, with no person's prompt between, stands at `share` or more of the
    last request before it, the announced reduction was not real. Three or more in a row whose sizes before and after
    are the same within 1 % and that leave 70 % or more are a fixed point. Consecutive ones of one kind are one
    finding. Silent where sizes are unknown or under 1,000 tokens, and for failed attempts that cut nothing.

    What to do: compare the size after a compaction with the size before it, treat one that made no room as failed, and
    cut more or stop instead of compacting again.

    Measures: before, after (tokens, of the worst); share (after / before); times (compactions in a row); kind
    ("not smaller", "full again at once" or "fixed point").
    """
    run: list[_Result] = []
    for one in _results(session, share):
        if run and (one is None or one.kind != run[-1].kind):
            yield _claim(run)
            run = []
        if one is not None:
            run.append(one)
    if run:
        yield _claim(run)


def _results(session: Session, share: float) -> Iterator[_Result | None]:
    """Judge each attempt that cut something; `None` stands where one made room, or where nothing is known."""
    last: Round | None = None
    streak = 0
    for one in session.rounds:
        attempt = one.attempt
        if not attempt.made and not _cut(attempt):
            continue
        streak = streak + 1 if last is not None and _alike(last, one) else 1
        last = one
        yield _judged(one, session, share, streak)


def _cut(attempt: Attempt) -> bool:
    """Whether an attempt that made nothing cut the context all the same, by its sizes, or may have."""
    if attempt.after is None:
        return False
    return not attempt.known or attempt.before is None or attempt.after < attempt.before


def _judged(one: Round, session: Session, share: float, streak: int) -> _Result | None:
    before, after = _stated(one.attempt)
    if before and before >= _LEAST and after is not None:
        if after >= share * before:
            return _Result(one, before, after, "observed", None, "not smaller", streak)
        if streak >= _FIXED and after >= _LITTLE * before:
            return _Result(one, before, after, "observed", None, "fixed point", streak)
    request = _next_request(one)
    size = None if request is None else session.context(request) or request.estimate
    if one.pressure and one.pressure >= _LEAST and size is not None and size >= share * one.pressure:
        kind: Kind = "not smaller" if after is None else "full again at once"
        return _Result(one, one.pressure, size, "derived", request, kind, streak)
    return None


def _stated(attempt: Attempt) -> tuple[int | None, int | None]:
    """Give the sizes before and after that the attempt's own rows state: its messages, else the whole prompt."""
    if attempt.after is None and attempt.start is not None and attempt.end is not None:
        return attempt.start.context, attempt.end.context
    return attempt.before, attempt.after


def _next_request(one: Round) -> Event | None:
    """Give the first request after the compaction, unless a person wrote before it; an overflowed one counts."""
    found = [row for row in (one.first, *one.failed[:1]) if row is not None]
    first = min(found, key=lambda row: row.seq, default=None)
    if first is None or (first.fault is not None and first.fault != "overflow"):
        return None
    return None if one.prompt is not None and one.prompt.seq < first.seq else first


def _alike(last: Round, one: Round) -> bool:
    pairs = ((last.attempt.before, one.attempt.before), (last.attempt.after, one.attempt.after))
    return all(a and b and abs(a - b) <= _NEAR * a for a, b in pairs)


def _claim(run: list[_Result]) -> Claim:
    worst = max(run, key=lambda one: one.share)
    count = run[-1].streak if worst.kind == "fixed point" else len(run)
    times = f"{count} compactions in a row" if count > 1 else "a compaction"
    return Claim(
        message=f"{times} made no room: {worst.before:,} tokens before, {worst.after:,} after ({worst.kind})",
        evidence=shortened([row for one in run for row in [*one.round.attempt.events, one.row] if row is not None]),
        measures={
            "before": Measure(worst.before, "observed"),
            "after": Measure(worst.after, worst.basis),
            "share": Measure(round(worst.share, 4), "derived"),
            "times": Measure(count, "observed"),
            "kind": Measure(worst.kind, "inferred"),
        },
        confidence="high" if worst.basis == "observed" else "medium",
    )
