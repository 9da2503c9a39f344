"""The recovery of Atomic in July 2026, from which its three versions differ by two limits.

Source: `packages/coding-agent/src/core/agent-session*.ts` (bastani-inc/atomic, `_checkCompaction` and the message
handlers), read at `aabefd87^`, `aabefd87` and `7c87ed1d`.
"""

from typing import Literal, NamedTuple

from forensics.replay import Action, Signal

MAX_RETRIES = 3
"""`retry.maxRetries`, with `baseDelayMs` 2000 doubling."""

Answer = tuple["July", Action, bool]


class July(NamedTuple):
    """What the session keeps in memory, and whether the file shows no usage since the last boundary."""

    overflow_attempted: bool = False
    length_attempts: int = 0
    budget_attempts: int = 0
    retries: int = 0
    blind: bool = False
    """The newest reply with usage stands before the boundary: the check of a failed reply returns without a word."""
    running: Literal["overflow", "retry", "idle"] | None = None
    """The compaction that runs: after an overflow, with `willRetry`, or without."""


def july(state: July, signal: Signal, *, length_limit: int, budget_limit: int) -> Answer:
    """Answer as `agent-session` does; a limit of 0 means that the version knows no such continuation."""
    if signal.kind == "reply":
        return _reply(state, signal, length_limit, budget_limit)
    if signal.kind == "prompt":
        return _prompt(state, signal, budget_limit)
    if signal.kind == "compacted":
        return _compacted(state, signal)
    if signal.kind == "restart":
        return July(blind=state.blind), "stop", False
    return state, "retry" if signal.kind == "elapsed" else "proceed", False


def _reply(state: July, signal: Signal, length_limit: int, budget_limit: int) -> Answer:
    state = _message_end(state, signal)
    if signal.stop == "tool":
        return state, "proceed", False
    if signal.fault == "transient":
        if state.retries < MAX_RETRIES:
            return state._replace(retries=state.retries + 1), "wait", False
        ended, action, _ = _check(state._replace(retries=0), signal, length_limit, budget_limit)
        return ended, action, True
    return _check(state, signal, length_limit, budget_limit)


def _message_end(state: July, signal: Signal) -> July:
    if signal.stop != "length":
        state = state._replace(length_attempts=0)
    if signal.stop == "error":
        return state
    return state._replace(overflow_attempted=False, budget_attempts=0, retries=0, blind=False)


def _check(state: July, signal: Signal, length_limit: int, budget_limit: int) -> Answer:
    """Do what `_checkCompaction` does once the turn is over."""
    if signal.fault == "overflow":
        if state.overflow_attempted:
            return state, "show-error", True
        return state._replace(overflow_attempted=True, running="overflow"), "compact-and-retry", False
    if signal.stop == "error" and state.blind:
        return state, "stop", False
    has_output = signal.stop == "length" and signal.output != "none"
    if signal.over:
        return _over(state, signal, budget_limit, retry=has_output)
    if has_output and state.length_attempts < length_limit:
        return state._replace(length_attempts=state.length_attempts + 1), "continue", False
    return state, "proceed" if signal.good else "stop", False


def _over(state: July, signal: Signal, budget_limit: int, *, retry: bool) -> Answer:
    if signal.fault == "output-budget" and budget_limit:
        if state.budget_attempts >= budget_limit:
            return state, "stop", True
        # Counted before the compaction runs, so a failed one spends it.
        state, retry = state._replace(budget_attempts=state.budget_attempts + 1), True
    return state._replace(running="retry" if retry else "idle"), "compact-and-retry" if retry else "compact", False


def _prompt(state: July, signal: Signal, budget_limit: int) -> Answer:
    """Check the last reply before the prompt is added; a continuation it schedules finds the prompt streaming."""
    announced, action = False, "proceed"
    if signal.stop is not None and (signal.over or signal.fault == "overflow"):
        state, action, announced = _check(state, signal, 0, budget_limit)
    state = state._replace(overflow_attempted=False, retries=0)
    if action in {"compact", "compact-and-retry"}:
        return state._replace(running="idle"), "compact", announced
    return state, "proceed", announced


def _compacted(state: July, signal: Signal) -> Answer:
    running, state = state.running, state._replace(running=None)
    if signal.outcome == "summary":
        return state._replace(blind=True), "proceed" if running == "idle" else "continue", False
    said = signal.outcome in {"no-summary", "failed"} or (signal.outcome == "nothing" and running == "overflow")
    return state, "proceed", said
