"""Upstream pi."""

from typing import Literal, NamedTuple

from forensics.replay import Action, Signal, policy

MAX_RETRIES = 3
"""`retry.maxRetries`."""


class Pi(NamedTuple):
    """The session's flags. `blind`: no reply with usage since the last boundary."""

    overflow_attempted: bool = False
    retries: int = 0
    blind: bool = False
    running: Literal["overflow", "threshold"] | None = None


Answer = tuple[Pi, Action, bool]


@policy(start=Pi(), agent="pi")
def pi(state: Pi, signal: Signal, *, mid_turn: bool = True, hollow: bool = False) -> Answer:
    """Pi 1.6.0: one compaction and retry per overflow, its flag reset by every reply that does not fail.

    A cut reply and an output-budget error wait for a person. A compaction over the threshold is never followed by a
    retry; `mid-turn` (1.6, not 0.73) lets it run between tool steps, where the turn goes on by itself. `hollow`
    (0.73, not 1.6) writes an empty summary as if it were one. Source: `_checkCompaction` of March 2026, read, and the
    recordings of 0.73.1 and 1.6.0: twelve overflow compactions in one prompt (`b3`), nothing to compact passed over
    in silence (1.6.0, `b`). Inferred: a new prompt starts the retries of transient errors anew.
    """
    if signal.kind == "reply":
        return _reply(state, signal, mid_turn=mid_turn)
    if signal.kind == "prompt":
        return _prompt(state, signal)
    if signal.kind == "compacted":
        return _compacted(state, signal, hollow=hollow)
    if signal.kind == "restart":
        return Pi(blind=state.blind), "stop", False
    return state, "retry" if signal.kind == "elapsed" else "proceed", False


def _reply(state: Pi, signal: Signal, *, mid_turn: bool) -> Answer:
    if signal.stop != "error":
        state = Pi()
    if signal.stop == "tool" and not mid_turn:
        return state, "proceed", False
    if signal.fault == "transient":
        if state.retries < MAX_RETRIES:
            return state._replace(retries=state.retries + 1), "wait", False
        ended, action, _ = _check(state._replace(retries=0), signal)
        return ended, action, True
    return _check(state, signal)


def _check(state: Pi, signal: Signal) -> Answer:
    if signal.fault == "overflow":
        if state.overflow_attempted:
            return state, "show-error", True
        return state._replace(overflow_attempted=True, running="overflow"), "compact-and-retry", False
    if signal.over and not (signal.stop == "error" and state.blind):
        return state._replace(running="threshold"), "compact", False
    return state, "proceed" if signal.good else "stop", False


def _prompt(state: Pi, signal: Signal) -> Answer:
    announced, action = False, "proceed"
    if signal.stop is not None and (signal.over or signal.fault == "overflow"):
        state, action, announced = _check(state, signal)
    state = state._replace(overflow_attempted=False, retries=0)
    if action in {"compact", "compact-and-retry"}:
        return state._replace(running="threshold"), "compact", announced
    return state, "proceed", announced


def _compacted(state: Pi, signal: Signal, *, hollow: bool) -> Answer:
    running, state = state.running, state._replace(running=None)
    if signal.outcome == "summary" or (hollow and signal.outcome == "no-summary"):
        return state._replace(blind=True), "continue" if running == "overflow" else "proceed", False
    return state, "proceed", signal.outcome in {"no-summary", "failed"}
