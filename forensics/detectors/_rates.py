"""Rates with their uncertainty, and how dense things are in time."""

from collections.abc import Sequence
from math import sqrt

_Z = 1.959964
"""Two-sided 95 % of the normal distribution."""


def wilson(hits: int, tries: int) -> tuple[float, float]:
    """Give the Wilson 95 % interval of a rate; `tries` must not be 0."""
    rate = hits / tries
    spread = _Z * sqrt(rate * (1 - rate) / tries + _Z * _Z / (4 * tries * tries))
    centre = rate + _Z * _Z / (2 * tries)
    scale = 1 + _Z * _Z / tries
    return round(max(0.0, (centre - spread) / scale), 4), round(min(1.0, (centre + spread) / scale), 4)


def densest(times: Sequence[int], span: int) -> int | None:
    """Give the most times (milliseconds) within any half-open span of that length; `None` when none is known."""
    if not times:
        return None
    ordered = sorted(times)
    first = most = 0
    for last, time in enumerate(ordered):
        while time - ordered[first] >= span:
            first += 1
        most = max(most, last - first + 1)
    return most
