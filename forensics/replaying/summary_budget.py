"""How many summaries a larger output budget would have completed, from what the record's own attempts say.

A summary that was cut at its budget needs more than that; how much more is not on record. Without reasoning it takes
its natural length, which only successful summaries show. So each figure is an interval, and narrow only where the
record holds successes.
"""

from collections.abc import Iterable
from typing import NamedTuple

from forensics.replaying.decisions import Point

COMPACT_MAX_OUTPUT_TOKENS = 4_000
COMPACT_OUTPUT_RESERVE_CONTEXT_RATIO = 0.4


class Attempts(NamedTuple):
    """What the record's real summary calls came to, and the lengths that succeeded (tokens, without reasoning)."""

    calls: int
    cut: int
    """Cut at the limit, or empty because reasoning took all of it."""
    broken: int
    """Failed for another reason, which no budget mends; and those whose end is not on record."""
    natural: tuple[int, int] | None
    """The shortest and the longest success."""
    budget: int = COMPACT_MAX_OUTPUT_TOKENS


class Row(NamedTuple):
    """One setting: how many of the calls would still be cut off or come back empty, at least and at most."""

    asked: int
    in_force: int
    reasoning: bool
    least: int
    most: int
    of: int


def attempts(points: Iterable[Point], natural: tuple[int, int] | None = None) -> Attempts:
    """Count the summary calls of a session; `natural`: lengths that the user knows."""
    calls = cut = broken = 0
    lengths = []
    for point in points:
        if point.kind != "compacted" or point.row.requests == 0:
            continue
        outcomes = {one.outcome for one in point.signals}
        calls += 1
        if outcomes == {"summary"}:
            if point.row.output:
                lengths.append(point.row.output - (point.row.reasoning or 0))
        elif point.row.fault in {"truncated-summary", "empty-summary"}:
            cut += 1
        else:
            broken += 1
    return Attempts(calls, cut, broken, natural or ((min(lengths), max(lengths)) if lengths else None))


def in_force(asked: int, context: int | None) -> int:
    """Give the budget that PilotDeck's fix sends: the smaller of what is asked for and 0.4 of the context."""
    return asked if context is None else min(asked, int(COMPACT_OUTPUT_RESERVE_CONTEXT_RATIO * context))


def sweep(found: Attempts, budgets: Iterable[int], context: int | None) -> list[Row]:
    """Give the table: each budget with reasoning and without."""
    rows = []
    for asked in budgets:
        limit = in_force(asked, context)
        sure = found.cut if limit <= found.budget else 0
        rows.append(Row(asked, limit, True, sure, found.cut, found.calls))
        rows.append(Row(asked, limit, False, *_natural(found, limit), found.calls))
    return rows


def _natural(found: Attempts, limit: int) -> tuple[int, int]:
    if found.natural is None:
        return 0, found.cut
    shortest, longest = found.natural
    return (found.cut if limit < shortest else 0), (0 if limit > longest else found.cut)
