"""Atomic with its first fix of July 2026."""

from forensics.policies._atomic import Answer, July, july
from forensics.replay import Signal, policy

MAX_LENGTH_CONTINUATION_ATTEMPTS = 3


@policy(start=July(), agent="atomic")
def atomic_1684(state: July, signal: Signal, *, length_limit: int = MAX_LENGTH_CONTINUATION_ATTEMPTS) -> Answer:
    """Atomic at `aabefd87` (pull request 1684, 2026-07-08): a cut reply is continued below the threshold too.

    At most three times in a row, without a compaction. The counter is spent when the continuation is scheduled, even
    if it is then skipped, and only a reply that was not cut resets it: a new prompt does not. Above the threshold a
    cut reply still compacts and continues without any counter. Source: read.
    """
    return july(state, signal, length_limit=length_limit, budget_limit=0)
