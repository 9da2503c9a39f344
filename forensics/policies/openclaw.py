"""OpenClaw in March 2026."""

from typing import Literal, NamedTuple

from forensics.replay import Action, Signal, policy

MAX_OVERFLOW_COMPACTION_ATTEMPTS = 3
MAX_RETRIES = 3


class Run(NamedTuple):
    """What one run of the embedded agent keeps; nothing of it outlives the run."""

    attempts: int = 0
    truncated: bool = False
    retries: int = 0
    running: Literal["overflow", "threshold"] | None = None


Answer = tuple[Run, Action, bool]


@policy(start=Run(), agent="openclaw")
def openclaw(state: Run, signal: Signal, *, limit: int = MAX_OVERFLOW_COMPACTION_ATTEMPTS) -> Answer:
    """OpenClaw 2026.3.9: at most three overflow compactions in a run, then one cut of tool results, then the end.

    The count is shared by the run and no success resets it. Source: `pi-embedded-runner/run.ts`, read through a fork
    at `f6d0712f`. Inferred: transient errors, cut replies and the threshold are left to the embedded pi core, as in
    `pi` (no compaction in mid-turn); its own one retry per overflow is counted among the three.
    """
    if signal.kind == "prompt":
        return Run(), "proceed", False
    if signal.kind == "restart":
        return Run(), "stop", False
    if signal.kind == "compacted":
        return _compacted(state, signal)
    if signal.kind != "reply":
        return state, "retry" if signal.kind == "elapsed" else "proceed", False
    if signal.fault == "overflow":
        return _overflow(state, limit)
    if signal.fault == "transient":
        if state.retries < MAX_RETRIES:
            return state._replace(retries=state.retries + 1), "wait", False
        return state._replace(retries=0), "show-error", True
    if signal.stop != "error":
        state = state._replace(retries=0)
    if signal.over and signal.stop != "tool":
        return state._replace(running="threshold"), "compact", False
    return state, "proceed" if signal.good else "stop", False


def _overflow(state: Run, limit: int) -> Answer:
    if state.attempts < limit:
        return state._replace(attempts=state.attempts + 1, running="overflow"), "compact-and-retry", False
    return _last_resort(state)


def _last_resort(state: Run) -> Answer:
    if state.truncated:
        return state, "show-error", True
    return state._replace(truncated=True), "truncate", True


def _compacted(state: Run, signal: Signal) -> Answer:
    running, state = state.running, state._replace(running=None)
    if signal.outcome == "aborted":
        return state, "stop", False
    if signal.outcome == "summary":
        return state, "continue" if running == "overflow" else "proceed", False
    if running == "overflow":
        return _last_resort(state)
    return state, "proceed", signal.outcome != "nothing"
