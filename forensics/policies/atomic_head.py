"""Atomic in August 2026."""

from typing import Literal, NamedTuple

from forensics.replay import Action, Signal, policy

MAX_LENGTH_CONTINUATION_ATTEMPTS = 3
MAX_OUTPUT_BUDGET_ERROR_CONTINUATION_ATTEMPTS = 1
MAX_RETRIES = 3

Running = Literal["overflow", "recoverable", "retry", "idle"]


class Head(NamedTuple):
    """The session's flags and counters. `blind`: no reply with usage since the last boundary."""

    overflow_attempted: bool = False
    recoverable_attempted: bool = False
    length_attempts: int = 0
    budget_attempts: int = 0
    retries: int = 0
    blind: bool = False
    running: Running | None = None


Answer = tuple[Head, Action, bool]


@policy(start=Head(), agent="atomic")
def atomic_head(state: Head, signal: Signal) -> Answer:
    """Atomic at `6031a926` (2026-08-22).

    A reply cut below the model's output cap is "recoverable": one compaction and retry, its flag apart from that of an
    overflow; both flags fall at a prompt and at a reply that neither failed nor was cut. A reply cut at the cap
    continues directly below the threshold, at most three times, and without a counter above it. Compaction also runs
    in mid-turn, after a tool step. An overflow compaction that makes no summary discards the conversation (rung
    `fresh`) and goes on. Still there: the length counter outlives a prompt, the attempts are counted before anything
    ran, a second output-budget error in a row ends in silence. Source: read, `agent-session*.ts`; mid-turn compaction
    and the fresh rung are recorded. Print mode awaits fewer continuations than this; the proof is of the session core.
    """
    if signal.kind == "reply":
        return _reply(state, signal)
    if signal.kind == "prompt":
        return _prompt(state, signal)
    if signal.kind == "compacted":
        return _compacted(state, signal)
    if signal.kind == "restart":
        return Head(blind=state.blind), "stop", False
    return state, "retry" if signal.kind == "elapsed" else "proceed", False


def _reply(state: Head, signal: Signal) -> Answer:
    state = _message_end(state, signal)
    if signal.stop == "tool":
        return _compact(state, "idle") if signal.over else (state, "proceed", False)
    if signal.fault == "transient":
        if state.retries < MAX_RETRIES:
            return state._replace(retries=state.retries + 1), "wait", False
        ended, action, _ = _check(state._replace(retries=0), signal)
        return ended, action, True
    return _check(state, signal)


def _message_end(state: Head, signal: Signal) -> Head:
    if signal.stop != "length":
        state = state._replace(length_attempts=0)
    if signal.stop == "error":
        return state
    state = state._replace(budget_attempts=0, retries=0, blind=False)
    return state if signal.stop == "length" else state._replace(overflow_attempted=False, recoverable_attempted=False)


def _check(state: Head, signal: Signal) -> Answer:
    if signal.fault == "overflow":
        if state.overflow_attempted:
            return state, "show-error", True
        return _compact(state._replace(overflow_attempted=True), "overflow")
    if signal.stop == "length" and signal.output != "full":
        if state.recoverable_attempted:
            return state, "stop", True
        return _compact(state._replace(recoverable_attempted=True), "recoverable")
    if signal.stop == "error" and state.blind:
        return state, "stop", False
    if signal.over:
        return _over(state, signal)
    if signal.stop == "length":
        return _direct(state)
    return state, "proceed" if signal.good else "stop", False


def _over(state: Head, signal: Signal) -> Answer:
    if signal.fault == "output-budget":
        if state.budget_attempts >= MAX_OUTPUT_BUDGET_ERROR_CONTINUATION_ATTEMPTS:
            return state, "stop", True
        return _compact(state._replace(budget_attempts=state.budget_attempts + 1), "retry")
    return _compact(state, "retry" if signal.stop == "length" else "idle")


def _direct(state: Head) -> Answer:
    if state.length_attempts >= MAX_LENGTH_CONTINUATION_ATTEMPTS:
        return state, "stop", False
    return state._replace(length_attempts=state.length_attempts + 1), "continue", False


def _compact(state: Head, running: Running) -> Answer:
    return state._replace(running=running), "compact" if running == "idle" else "compact-and-retry", False


def _prompt(state: Head, signal: Signal) -> Answer:
    announced, action = False, "proceed"
    if signal.stop is not None and (signal.over or signal.fault == "overflow"):
        state, action, announced = _check(state, signal)
    state = state._replace(overflow_attempted=False, recoverable_attempted=False, retries=0)
    if action in {"compact", "compact-and-retry"}:
        return state._replace(running="idle"), "compact", announced
    return state, "proceed", announced


def _compacted(state: Head, signal: Signal) -> Answer:
    running, state = state.running, state._replace(running=None)
    if signal.outcome == "summary":
        if signal.fits == "no" and running == "idle":
            return state._replace(blind=True), "show-error", True
        return state._replace(blind=True), "proceed" if running == "idle" else "continue", False
    if signal.outcome == "aborted":
        return state, "proceed", False
    if signal.outcome == "nothing":
        if running == "recoverable":
            return _direct(state)
        return state._replace(overflow_attempted=False) if running == "overflow" else state, "proceed", False
    if running == "overflow":
        return state._replace(blind=True), "truncate", False
    return state, "proceed", True
