"""A PilotDeck log lived again: how the context would have grown if summaries had succeeded, or had been cut for.

The log tells the size of the prompt at every attempt, so what came to it between two attempts is on record. What a
summary would have left is not: the size is taken down to the compactor's own target when one succeeds, and to the
last tenth of the messages when the emergency tier cuts them, in memory only.
"""

from collections.abc import Iterable
from typing import NamedTuple

from forensics.replaying.counterfactual import Counterfactual
from forensics.replaying.decisions import Point
from forensics.replaying.episodes import Cost, calls_of
from forensics.replaying.measures import BLOCKING_RATIO

POST_COMPACTION_TARGET_RATIO = 0.6
EMERGENCY_KEEP = 0.1
COMPACT_SUMMARY_FAILURE_COOLDOWN_MS = 60_000
AFTER = "pilotdeck-after"


class Lived(NamedTuple):
    """What a day came to: attempts to compact, model calls for summaries, the largest prompt in tokens."""

    attempts: int
    calls: int
    peak: int
    doubtful: int = 0
    """Attempts of which the log does not say whether they called the model."""


class _Check(NamedTuple):
    """One attempt on record: the prompt's size, how much of it is not messages, and how it changed since the last."""

    ts: int | None
    size: int
    overhead: int
    grown: int
    restarted: bool
    made: bool
    """A summary was made, and left `after` tokens where that is on record."""
    after: int | None


def recorded(points: Iterable[Point]) -> Lived:
    """Give what is on record."""
    found = [one for one in points if one.kind in {"compacted", "echo"}]
    sizes = [size for one in found if (size := _size(one)) is not None]
    doubtful = sum(one.unasked for one in found)
    return Lived(len(found), sum(calls_of(one) for one in found), max(sizes, default=0), doubtful)


def relive(points: Iterable[Point], cap: int, *, succeed: bool, emergency: bool) -> Lived | None:
    """Live the attempts again; `None` where their sizes are not on record.

    A summary that succeeded still does. One that failed does so where `succeed` is set.
    """
    checks = _checks(points)
    if checks is None:
        return None
    attempts = calls = peak = 0
    size = whole = 0
    failed_at: int | None = None
    for check in checks:
        if check.restarted:
            size, failed_at = whole, None
        size, whole = max(0, size + check.grown), max(0, whole + check.grown)
        peak = max(peak, size)
        if size < BLOCKING_RATIO * cap:
            continue
        attempts += 1
        if not _cooling(failed_at, check.ts):
            calls += 1
            if succeed or check.made:
                target = round(POST_COMPACTION_TARGET_RATIO * cap) if check.after is None else check.after
                size = whole = min(size, target)
                continue
            failed_at = check.ts
        if emergency:
            messages = max(0, size - check.overhead)
            size = check.overhead + round(EMERGENCY_KEEP * messages)
    return Lived(attempts, calls, peak)


def _cooling(failed_at: int | None, ts: int | None) -> bool:
    return failed_at is not None and ts is not None and ts - failed_at < COMPACT_SUMMARY_FAILURE_COOLDOWN_MS


def _checks(points: Iterable[Point]) -> list[_Check] | None:
    found: list[_Check] = []
    before = 0
    restarted = False
    for point in points:
        if point.kind == "exit":
            restarted = True
        if point.kind not in {"compacted", "echo"}:
            continue
        size = _size(point)
        if size is None:
            return None
        overhead = max(0, size - (point.row.messages if point.row.messages is not None else size))
        made = point.kind == "compacted" and _made(point)
        after = point.row.context if made and point.start is not None else None
        found.append(_Check(point.first.ts, size, overhead, size - before, restarted, made, after))
        before, restarted = size if after is None else after, False
    return found or None


def _made(point: Point) -> bool:
    return all(one.outcome == "summary" for one in point.signals) and bool(point.signals)


def _size(point: Point) -> int | None:
    return point.first.context if point.first.context is not None else point.row.context


class OtherDay(NamedTuple):
    """The day as recorded, as it would have been at worst and at best, and what that avoids."""

    real: Lived
    low: Lived
    high: Lived
    found: Counterfactual


def other_day(made: list[Point], cap: int | None, name: str) -> OtherDay | None:
    """Live a log again under a policy of PilotDeck; `None` where the log does not tell the sizes."""
    real = recorded(made)
    if cap is None or not real.attempts:
        return None
    emergency = name != "pilotdeck-before"
    low = relive(made, cap, succeed=False, emergency=emergency)
    high = relive(made, cap, succeed=name == AFTER, emergency=emergency)
    if low is None or high is None:
        return None
    costs = [
        Cost(
            compactions=real.attempts - one.attempts,
            paid_summaries=real.calls - one.calls,
            model_calls=real.calls - one.calls,
            uncounted=1,
            unpriced=1,
            doubtful=real.doubtful,
            looping=None,
        )
        for one in (low, high)
    ]
    return OtherDay(real, low, high, Counterfactual(costs[0], costs[1], 0))
