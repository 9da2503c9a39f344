"""opencode's second generation."""

from typing import Literal, NamedTuple

from forensics.policies._opencode import ASSUME, MAX_RETRIES
from forensics.replay import Action, Signal, policy


class Runner(NamedTuple):
    """What one step of the runner keeps."""

    recovered: bool = False
    """This step has had its one overflow recovery."""
    reminded: bool = False
    """The running compaction has had its one reminder."""
    retries: int = 0
    running: Literal["overflow", "threshold"] | None = None


Answer = tuple[Runner, Action, bool]


@policy(start=Runner(), agent="opencode", assume=ASSUME)
def opencode_v2(state: Runner, signal: Signal) -> Answer:
    """Opencode 2.0 (September 2026): one overflow recovery per step, summaries checked and asked for once more.

    A summary that is cut, empty or not of the template is rejected; a second rejection fails the step. Before a request
    over the threshold it compacts, unless the newest row is a compaction; whether that shrank anything is not
    checked. Source: `core/src/session/runner`, read. Inferred: the retries of transient errors as in 1.18.33.
    """
    if signal.kind in {"prompt", "restart"}:
        return _begin(signal)
    if signal.kind == "compacted":
        return _compacted(state, signal)
    if signal.kind != "reply":
        return state, "retry" if signal.kind == "elapsed" else "proceed", False
    if signal.fault == "overflow":
        if state.recovered:
            return Runner(), "show-error", False
        return state._replace(recovered=True, running="overflow"), "compact-and-retry", False
    if signal.fault == "transient":
        if state.retries < MAX_RETRIES:
            return state._replace(retries=state.retries + 1), "wait", False
        return Runner(), "show-error", False
    if signal.fault == "output-budget":
        return Runner(), "show-error", False
    if signal.stop == "tool" and signal.over:
        return Runner(running="threshold"), "compact", False
    return Runner(), "proceed" if signal.good else "stop", False


def _begin(signal: Signal) -> Answer:
    if signal.kind == "restart":
        return Runner(), "stop", False
    over = signal.over and signal.stop not in {None, "error"}
    return Runner(running="threshold" if over else None), "compact" if over else "proceed", False


def _compacted(state: Runner, signal: Signal) -> Answer:
    ended = state._replace(running=None, reminded=False)
    if signal.outcome == "summary":
        return ended, "retry" if state.running == "overflow" else "proceed", False
    if signal.outcome == "aborted":
        return ended, "stop", False
    if signal.outcome == "no-summary" and not state.reminded:
        return state._replace(reminded=True), "compact", False
    return ended, "show-error", True
