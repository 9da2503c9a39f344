"""How long things took, and how dense they are in time.

Times come in the order of the file. A clock that went back makes what lies across that place unknown, never negative.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

_JITTER_MS = 1000
"""Rows of one moment may be written out of order by that much: no clock went back."""
_MS_PER_HOUR = 3_600_000


def span(times: Iterable[int | None]) -> int | None:
    """Give the milliseconds from the first to the last; `None` when none is known, or the clock went back between."""
    known = [time for time in times if time is not None]
    return max(known) - min(known) if len(_stretches(known)) == 1 else None


def hours(times: Iterable[int | None]) -> float | None:
    """Give the span in hours, to four places: to seven where it is less than a minute."""
    taken = span(times)
    return None if taken is None else round(taken / _MS_PER_HOUR, 4 if taken >= 60_000 else 7)


def told(hours: float) -> str:
    """Say a span of time for a message."""
    if hours >= 1:
        return f"{hours:,.1f} h"
    return f"{hours * 60:.1f} min" if hours * 60 >= 1 else f"{max(hours * 3600, 0.1):.1f} s"


def period(times: Iterable[int | None]) -> float | None:
    """Give the median of the seconds from one to the next, of those between which the clock did not go back."""
    steps = [(b - a) / 1000 for a, b in pairwise(times) if a is not None and b is not None and b >= a]
    if not steps:
        return None
    from statistics import median  # noqa: PLC0415  (3 ms of every start)

    return round(median(steps), 3)


def densest(times: Sequence[int], span: int) -> int | None:
    """Give the most times (milliseconds) within any half-open span of that length; `None` when none is known."""
    return max((_densest(stretch, span) for stretch in _stretches(times)), default=None)


def _stretches(times: Sequence[int]) -> list[list[int]]:
    """Cut the times where the clock went back."""
    found: list[list[int]] = []
    latest: list[int] = []
    for time in times:
        if not found or time < latest[-1] - _JITTER_MS:
            found.append([time])
            latest.append(time)
        else:
            found[-1].append(time)
            latest[-1] = max(latest[-1], time)
    return found


def _densest(times: Sequence[int], span: int) -> int:
    ordered = sorted(times)
    first = most = 0
    for last, time in enumerate(ordered):
        while time - ordered[first] >= span:
            first += 1
        most = max(most, last - first + 1)
    return most
