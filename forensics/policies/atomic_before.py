"""Atomic before its two fixes of July 2026."""

from forensics.policies._atomic import Answer, July, july
from forensics.replay import Signal, policy


@policy(start=July(), agent="atomic")
def atomic_before(state: July, signal: Signal) -> Answer:
    """Atomic at `aabefd87^` (July 2026), before pull requests 1684 and 1690.

    Two bugs: a reply cut at the output cap is continued only where the context is over the compaction threshold, and
    after a threshold compaction only a cut reply is retried, so an output-budget error compacts and then sits idle.
    Source: `_checkCompaction`, read; that usage before the boundary silences the check is recorded
    (`e2_underflow_forever`). Inferred: a new prompt starts the retries of transient errors anew.
    """
    return july(state, signal, length_limit=0, budget_limit=0)
