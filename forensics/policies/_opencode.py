"""The run loop of opencode's first generation (1.2.15 to 1.18.33), which its proposed fixes and Kilo build on.

Source: `session/prompt.ts` (`runLoop`), `processor.ts`, `compaction.ts` and `message-v2.ts` of anomalyco/opencode at
`fada1a538` (1.18.4), read; the recordings of 1.2.27 to 1.18.33 agree.
"""

from typing import Literal, NamedTuple

from forensics.replay import Action, Signal

MAX_RETRIES = 5
"""Requests on a transient error: one and five more, in the recordings of 1.18.33. The source shows no limit."""

ASSUME = ("no-skips", "something-to-compact")
"""The loop itself sends what follows a compaction, so nobody takes its turn; a session always has a head to sum up."""

Answer = tuple["Loop", Action, bool]


class Loop(NamedTuple):
    """What the loop and the stored rows hold."""

    running: Literal["overflow", "threshold"] | None = None
    pending: bool = False
    """A compaction marker is newer than every finished row: the next prompt is answered by a compaction."""
    retries: int = 0
    cycles: int = 0
    """Compactions counted by a fix, in memory and for one prompt."""
    summarised: bool = False
    """Kept by a fix: no reply has finished since the last summary row. Stored, so it outlives a prompt."""


def loop(state: Loop, signal: Signal, retries: int | None = MAX_RETRIES) -> Answer:
    """Answer as the loop does without any fix. `retries` of `None`: no limit."""
    if signal.kind == "reply":
        return _reply(state, signal, retries)
    if signal.kind == "compacted":
        return _compacted(state, signal)
    if signal.kind == "prompt":
        return _prompt(state._replace(retries=0, cycles=0), signal)
    if signal.kind == "restart":
        unconsumed = state.pending or state.running is not None
        return Loop(pending=unconsumed, summarised=state.summarised), "stop", False
    return state, "retry" if signal.kind == "elapsed" else "proceed", False


def _reply(state: Loop, signal: Signal, retries: int | None) -> Answer:
    if signal.fault == "overflow":
        return state._replace(running="overflow"), "compact", False
    if signal.fault == "transient":
        if retries is None:
            return state, "wait", False
        if state.retries < retries:
            return state._replace(retries=state.retries + 1), "wait", False
        return state._replace(retries=0), "show-error", False
    if signal.fault == "output-budget":
        return state, "show-error", False
    state = state._replace(retries=0)
    if signal.over:
        return state._replace(running="threshold"), "compact", False
    return state, "proceed" if signal.good else "stop", False


def _prompt(state: Loop, signal: Signal) -> Answer:
    finished_over = signal.over and signal.stop not in {None, "error"}
    if state.pending or finished_over:
        return state._replace(pending=False, running="threshold"), "compact", False
    return state, "proceed", False


def _compacted(state: Loop, signal: Signal) -> Answer:
    running, state = state.running, state._replace(running=None)
    if signal.outcome in {"summary", "no-summary"}:
        # An empty or cut summary finished without an error, so it counts as one.
        return state, "replay" if running == "overflow" else "continue", False
    if signal.fault == "overflow":
        return state, "show-error", True
    if signal.outcome == "aborted":
        return state._replace(pending=True), "stop", False
    return state._replace(pending=True), "show-error", False
