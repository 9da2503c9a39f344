"""Kilo, a fork of opencode."""

from forensics.policies._opencode import ASSUME, Answer, Loop, loop
from forensics.replay import Signal, policy

MAX_COMPACTION_ATTEMPTS = 3


@policy(start=Loop(), agent="kilo", assume=ASSUME)
def kilo(state: Loop, signal: Signal, *, limit: int = MAX_COMPACTION_ATTEMPTS) -> Answer:
    """Kilo since April 2026: at most three compactions in a run, whatever came between, then an announced error.

    It counts what a step asks for and what is found before a request, and no success inside the run resets it. The
    marker of an earlier run is not counted. Source: `kilocode/session/prompt.ts`, read. Inferred: transient errors
    are retried without a limit, as in the opencode source it was forked from.
    """
    after, action, announced = loop(state, signal, retries=None)
    if action != "compact" or (signal.kind == "prompt" and state.pending):
        return after, action, announced
    if after.cycles >= limit:
        return after._replace(running=None), "show-error", True
    return after._replace(cycles=after.cycles + 1), action, announced
