"""PilotDeck's agent loop and its automatic compaction, which its versions share but for what follows a failure.

Source: `src/agent/loop/AgentLoop.ts` and `src/context/` of OpenBMB/PilotDeck, read at `05a0227d` and, for the policy
on a failed summary, at v260806 and `1104fd9e`.
"""

from typing import Literal, NamedTuple

from forensics.replay import Action, Signal

MAX_OUTPUT_RECOVERY_LIMIT = 50
MAX_CONSECUTIVE_EMPTY = 3
TRANSIENT_RETRIES = 2
"""Recorded at head: three requests on overload, then the error."""

ASSUME = ("no-skips",)
"""The loop itself sends what follows, so nobody takes its turn."""

Answer = tuple["Deck", Action, bool]


class Deck(NamedTuple):
    """What the loop keeps for a turn, and the compaction engine for a session."""

    attempted: bool = False
    """`hasAttemptedCompact`: this turn has had its one compaction on a provider's overflow."""
    recoveries: int = 0
    """`maxOutputRecoveryCount`; no good reply resets it within a turn."""
    empties: int = 0
    retries: int = 0
    cooling: bool = False
    """`COMPACT_SUMMARY_FAILURE_COOLDOWN_MS` (60 s) after a failed summary: no model call is made."""
    running: Literal["overflow", "full", "cut"] | None = None


def deck(state: Deck, signal: Signal, *, emergency: bool) -> Answer:
    """Answer as the loop does; `emergency`: a failed summary is followed by cutting the context in memory."""
    if signal.kind == "reply":
        return _reply(state, signal, emergency=emergency)
    if signal.kind == "compacted":
        return _compacted(state, signal, emergency=emergency)
    if signal.kind == "prompt":
        begun = Deck(cooling=state.cooling)
        return _before_request(begun, "full", emergency=emergency) if signal.over else (begun, "proceed", False)
    if signal.kind == "restart":
        return Deck(), "stop", False
    if signal.kind == "tick":
        return state._replace(cooling=False), "proceed", False
    return state, "retry" if signal.kind == "elapsed" else "proceed", False


def _reply(state: Deck, signal: Signal, *, emergency: bool) -> Answer:
    if signal.fault == "overflow":
        return _overflow(state, signal)
    if signal.fault == "transient":
        if state.retries < TRANSIENT_RETRIES:
            return state._replace(retries=state.retries + 1), "wait", False
        return state._replace(retries=0), "show-error", False
    if signal.fault == "output-budget":
        return state, "show-error", False
    state = state._replace(retries=0)
    if signal.stop == "length":
        return _cut(state, signal, emergency=emergency)
    if signal.stop == "tool" and signal.over:
        return _before_request(state, "full", emergency=emergency)
    return state, "proceed", False


def _overflow(state: Deck, signal: Signal) -> Answer:
    """Compact once, where the agent's own measure agrees; else cut the head and send again, as often as it takes."""
    if state.attempted or not signal.over or state.cooling:
        return state._replace(attempted=True), "truncate", False
    return state._replace(attempted=True, running="overflow"), "compact-and-retry", False


def _cut(state: Deck, signal: Signal, *, emergency: bool) -> Answer:
    empties = state.empties + 1 if signal.output == "none" else 0
    if state.recoveries >= MAX_OUTPUT_RECOVERY_LIMIT or empties >= MAX_CONSECUTIVE_EMPTY:
        return state, "stop", True
    state = state._replace(recoveries=state.recoveries + 1, empties=empties)
    return _before_request(state, "cut", emergency=emergency) if signal.over else (state, "continue", False)


def _before_request(state: Deck, why: Literal["full", "cut"], *, emergency: bool) -> Answer:
    """Compact before the next request; in the cooldown the failure is only echoed."""
    if not state.cooling:
        return state._replace(running=why), "compact", False
    if emergency:
        return state, "truncate", False
    return state, "continue" if why == "cut" else "proceed", False


def _compacted(state: Deck, signal: Signal, *, emergency: bool) -> Answer:
    running, state = state.running, state._replace(running=None)
    if signal.outcome == "aborted":
        return state, "stop", False
    if signal.outcome == "summary":
        if signal.fits == "no":
            return state, "show-error", True
        return state, _after(running), False
    state = state._replace(cooling=state.cooling or signal.outcome != "nothing")
    if emergency or running == "overflow":
        return state, "truncate", False
    return state, _after(running), False


def _after(running: str | None) -> Action:
    if running == "overflow":
        return "retry"
    return "continue" if running == "cut" else "proceed"
