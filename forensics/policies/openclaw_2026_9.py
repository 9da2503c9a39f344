"""OpenClaw in September 2026."""

from typing import Literal, NamedTuple

from forensics.replay import Action, Signal, policy

MAX_OVERFLOW_COMPACTION_ATTEMPTS = 3
MAX_RETRIES = 7


class Run(NamedTuple):
    """What one run keeps."""

    attempts: int = 0
    retries: int = 0
    running: Literal["overflow", "preflight", "threshold"] | None = None


Answer = tuple[Run, Action, bool]


@policy(start=Run(), agent="openclaw")
def openclaw_2026_9(state: Run, signal: Signal, *, limit: int = MAX_OVERFLOW_COMPACTION_ATTEMPTS) -> Answer:
    """OpenClaw 2026.9.6: overflow attempts are counted to three, and every good reply starts the count again.

    Before a prompt over the threshold it must compact; where that fails the turn fails before it starts, at every
    later prompt again. An attempt that finds nothing to compact ends with an announcement. Source: recordings (`b`:
    "attempt 1/3", "2/3", the second without a model call; `b3`: twelve compactions in one prompt; `c`: stuck after an
    empty summary; `f`: seven to eight requests on overload). Inferred: cut replies and the threshold as in `pi`.
    """
    if signal.kind == "prompt":
        over = signal.over and signal.stop is not None
        return Run(running="preflight" if over else None), "compact" if over else "proceed", False
    if signal.kind == "restart":
        return Run(), "stop", False
    if signal.kind == "compacted":
        return _compacted(state, signal)
    if signal.kind != "reply":
        return state, "retry" if signal.kind == "elapsed" else "proceed", False
    if signal.fault == "overflow":
        if state.attempts >= limit:
            return state, "show-error", True
        return state._replace(attempts=state.attempts + 1, running="overflow"), "compact-and-retry", False
    if signal.fault == "transient":
        if state.retries < MAX_RETRIES:
            return state._replace(retries=state.retries + 1), "wait", False
        return state._replace(retries=0), "show-error", True
    if signal.good:
        state = Run()
    if signal.over and signal.stop != "tool":
        return state._replace(running="threshold"), "compact", False
    return state, "proceed" if signal.good else "stop", False


def _compacted(state: Run, signal: Signal) -> Answer:
    running, state = state.running, state._replace(running=None)
    if signal.outcome == "aborted":
        return state, "stop", False
    if signal.outcome == "summary":
        return state, "continue" if running == "overflow" else "proceed", False
    if running == "threshold":
        return state, "proceed", signal.outcome != "nothing"
    return state, "show-error", True
