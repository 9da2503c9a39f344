"""opencode with Replo's fix."""

from forensics.policies._opencode import ASSUME, Answer, Loop, loop
from forensics.replay import Signal, policy


@policy(start=Loop(), agent="opencode", assume=ASSUME)
def opencode_replo(state: Loop, signal: Signal) -> Answer:
    """Opencode with Replo's fix (not public): no overflow compaction while nothing has finished since the last summary.

    A stalled conversation gets an error row instead of a summary, which also consumes the marker, and a message that
    alone exceeds the window is not replayed. Compactions of a context over the threshold are not checked. The stall is
    read from the stored rows, so a new prompt does not clear it. Source: the report. Inferred: a cut reply counts as
    finished, and the size is known once the summary is made.
    """
    if signal.fault == "overflow" and signal.kind == "reply" and state.summarised:
        return state._replace(running=None), "show-error", True
    if signal.kind == "reply" and signal.stop != "error":
        state = state._replace(summarised=False)
    if signal.outcome in {"summary", "no-summary"}:
        state = state._replace(summarised=True)
        if signal.fits == "no" and state.running == "overflow":
            return state._replace(running=None), "show-error", True
    return loop(state, signal)
