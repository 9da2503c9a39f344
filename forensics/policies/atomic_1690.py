"""Atomic with both fixes of July 2026."""

from forensics.policies._atomic import Answer, July, july
from forensics.replay import Signal, policy

MAX_LENGTH_CONTINUATION_ATTEMPTS = 3
MAX_OUTPUT_BUDGET_ERROR_CONTINUATION_ATTEMPTS = 1


@policy(start=July(), agent="atomic")
def atomic_1690(
    state: July,
    signal: Signal,
    *,
    length_limit: int = MAX_LENGTH_CONTINUATION_ATTEMPTS,
    budget_limit: int = MAX_OUTPUT_BUDGET_ERROR_CONTINUATION_ATTEMPTS,
) -> Answer:
    """Atomic at `7c87ed1d` (pull request 1690, 2026-07-09): an output-budget error over the threshold is retried.

    Once per streak, after the compaction; below the threshold it still waits for a person. The attempt is counted
    before the compaction runs, and only a reply that did not fail resets it. After the retry the usage that the check
    looks for stands before the new boundary, so a second error in a row ends in silence instead of in the announced
    end. That fewer tokens than 16 are no longer asked for makes the error rarer; another model or API may still send
    it, so the proof lets it happen. Source: read; the silent second error is recorded (`e2_underflow_forever`).
    """
    return july(state, signal, length_limit=length_limit, budget_limit=budget_limit)
