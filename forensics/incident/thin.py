"""Thin out a long series for drawing so that no peak and no trough is lost."""

from collections.abc import Iterable, Sequence


def thinned(points: Sequence[tuple[int, int]], width: int) -> list[tuple[int, int]]:
    """Keep of each of `width` equal stretches of x the first, least, greatest and last point, in their order.

    A line through what is kept covers the same pixels as one through all, when it is drawn `width` pixels wide.
    `points` must be sorted by x. Series of at most `width` points come back whole.
    """
    if len(points) <= width:
        return list(points)
    first, last = points[0][0], points[-1][0]
    span = max(last - first, 1)
    kept: list[tuple[int, int]] = []
    bucket: list[tuple[int, int]] = []
    current = 0
    for point in points:
        at = (point[0] - first) * width // span
        if at != current and bucket:
            kept.extend(_ends(bucket))
            bucket = []
        current = at
        bucket.append(point)
    kept.extend(_ends(bucket))
    return kept


def _ends(bucket: list[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    if len(bucket) < 5:
        return bucket
    low = min(range(len(bucket)), key=lambda at: bucket[at][1])
    high = max(range(len(bucket)), key=lambda at: bucket[at][1])
    return [bucket[at] for at in sorted({0, low, high, len(bucket) - 1})]


def steps(points: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep only the points at which the value changes."""
    kept: list[tuple[int, int]] = []
    for point in points:
        if not kept or kept[-1][1] != point[1]:
            kept.append(point)
    return kept
