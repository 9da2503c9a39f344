"""How dense things are in time."""

from collections.abc import Sequence


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
