"""What a rate of compactions without a summary is out of, and which attempts are in no number of it, in words."""

from collections.abc import Iterable

from forensics.totals import Figures

TRIES = "compaction attempts that were to make a summary"
"""The denominator: attempts that cut the context by design, were cancelled or had nothing to do are not in it."""


def apart(sessions: Iterable[Figures]) -> str:
    """Say which attempts are not in the rate; empty where all are."""
    seen = list(sessions)
    dropped, cancelled = (
        int(sum(one.get(f"compactions.{name}", 0) for one in seen)) for name in ("dropped", "aborted")
    )
    told = f"; {dropped:,} more cut the context by design" if dropped else ""
    if cancelled:
        told += f"; {cancelled:,} more {'was' if cancelled == 1 else 'were'} cancelled"
    return told
