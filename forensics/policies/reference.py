"""The recovery that every agent should have: ours, written to be copied."""

from typing import Literal, NamedTuple

from forensics.replay import Action, Signal, policy

LIMIT = 3
"""Recoveries in a row without progress."""
PRICE = 3
"""Good replies that each recovery has to be earned by."""


class Budget(NamedTuple):
    """All that has to be remembered, in memory and for one prompt."""

    credit: int = LIMIT * PRICE
    streak: int = 0
    """Recoveries since the last progress."""
    summary: Literal["none", "failed", "given-up", "made"] = "none"
    """What came of summaries since the last progress."""
    then: Action = "proceed"
    """What follows the compaction that runs."""


Answer = tuple[Budget, Action, bool]


@policy(start=Budget())
def reference(state: Budget, signal: Signal, *, limit: int = LIMIT, price: int = PRICE) -> Answer:
    """Ours: holds all seven properties against every class of failure.

    A credit is earned by good replies and spent by recoveries, so an agent that gets nowhere stops and one that works
    goes on. At most `limit` recoveries follow each other without progress; one summary is made until there is
    progress, and a failed one is tried once more, aloud; nothing is sent that is known not to fit; a skipped
    continuation is given back; a prompt forgets everything; and each end is announced. For every one of these rules a
    test removes it, and loses the property that it is for.
    """
    if signal.kind in {"prompt", "restart"}:
        return Budget(credit=limit * price), "proceed" if signal.kind == "prompt" else "stop", False
    if signal.kind == "skipped":
        return state._replace(credit=state.credit + price, streak=state.streak - 1), "proceed", False
    if signal.kind == "compacted":
        return _compacted(state, signal, limit, price)
    if signal.kind != "reply":
        return state, "retry" if signal.kind == "elapsed" else "proceed", False
    if signal.good:
        state = state._replace(credit=min(state.credit + 1, limit * price))
    if signal.progress:
        return state._replace(streak=0, summary="none"), "proceed", False
    return _recover(state, signal, limit, price)


def _recover(state: Budget, signal: Signal, limit: int, price: int) -> Answer:
    full = signal.fault != "transient" and (signal.over or signal.stop == "error")
    spent = state._replace(credit=state.credit - price, streak=state.streak + 1)
    if spent.credit < 0 or spent.streak > limit or (full and state.summary != "none"):
        return state, "proceed" if signal.good else "stop", True
    if full:
        after: Action = "proceed" if signal.good else "continue" if signal.stop == "length" else "retry"
        return spent._replace(then=after), "compact-and-retry", False
    return spent, "continue" if signal.stop == "length" else "wait", False


def _compacted(state: Budget, signal: Signal, limit: int, price: int) -> Answer:
    idle = state._replace(then="proceed")
    if signal.outcome == "aborted":
        return idle, "stop", True
    if signal.outcome == "summary":
        stuck = signal.fits == "no"
        return idle._replace(summary="made"), "stop" if stuck else state.then, stuck
    if signal.outcome == "nothing" or state.summary == "failed" or state.streak >= limit:
        return idle._replace(summary="given-up"), "proceed" if state.then == "proceed" else "stop", True
    return state._replace(summary="failed", credit=state.credit - price, streak=state.streak + 1), "compact", True
