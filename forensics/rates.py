"""Rates and means with their uncertainty: 95 % intervals that do not take a session's attempts for independent ones."""

from collections.abc import Sequence
from math import comb, sqrt
from typing import NamedTuple

_Z = 1.959964
"""Two-sided 95 % of the normal distribution."""
_T = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)
"""Two-sided 95 % of Student's distribution with 1 to 9 degrees of freedom."""
FEWEST = 3
"""Sessions from which a mean has an interval: two say next to nothing about how much sessions vary."""

Interval = tuple[float, float]


def wilson(hits: float, tries: float) -> Interval:
    """Give the Wilson 95 % interval of a rate; `tries` must not be 0."""
    rate = hits / tries
    spread = _Z * sqrt(rate * (1 - rate) / tries + _Z * _Z / (4 * tries * tries))
    centre = rate + _Z * _Z / (2 * tries)
    scale = 1 + _Z * _Z / tries
    return round(max(0.0, (centre - spread) / scale), 4), round(min(1.0, (centre + spread) / scale), 4)


class Rate(NamedTuple):
    """How often out of how many, over several sessions."""

    hits: int
    tries: int
    sessions: int
    """Sessions that have any tries."""
    worth: float
    """Independent tries that these tell as much as: fewer, where a session's tries are alike."""

    @property
    def value(self) -> float | None:
        """The rate; `None` where there was nothing to count."""
        return self.hits / self.tries if self.tries else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the rate of sessions like these."""
        return wilson(self.hits / self.tries * self.worth, self.worth) if self.tries else None


def rate(counts: Sequence[tuple[int, int]]) -> Rate:
    """Put (hits, tries) of sessions together.

    Tries of one session are alike, so their number says more than it is worth. It is divided by the design effect of
    a ratio estimate (Rao and Scott 1992), at least 1, and made less by as much as few sessions tell that effect badly
    (Korn and Graubard 1998). Where no session differs from the others, the sessions alone count, because nothing says
    how much a session varies.
    """
    known = [(hits, tries) for hits, tries in counts if tries]
    hits, tries, many = sum(one for one, _ in known), sum(one for _, one in known), len(known)
    if not tries:
        return Rate(0, 0, 0, 0.0)
    share = hits / tries
    if all(one * tries == hits * of for one, of in known):
        return Rate(hits, tries, many, float(many))
    spread = sum((one - share * of) ** 2 for one, of in known) * many / (many - 1) / tries**2
    effect = spread / (share * (1 - share) / tries)
    told = tries / max(1.0, effect) * (_Z / student(many - 1)) ** 2
    return Rate(hits, tries, many, min(float(tries), max(float(many), told)))


def student(freedom: float) -> float:
    """Give two-sided 95 % of Student's distribution (Abramowitz and Stegun 26.7.5 from 10 degrees of freedom on)."""
    if freedom < len(_T) + 1:
        return _T[max(1, int(freedom)) - 1]
    first = (_Z**3 + _Z) / 4
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96
    third = (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384
    return _Z + first / freedom + second / freedom**2 + third / freedom**3


def change(before: Rate, after: Rate) -> Interval | None:
    """Give the 95 % interval of `after` - `before` (Newcombe 1998, from the two Wilson intervals)."""
    if before.value is None or after.value is None or before.interval is None or after.interval is None:
        return None
    (low, high), (least, most) = before.interval, after.interval
    moved = after.value - before.value
    down = sqrt((after.value - least) ** 2 + (high - before.value) ** 2)
    up = sqrt((most - after.value) ** 2 + (before.value - low) ** 2)
    return round(max(-1.0, moved - down), 4), round(min(1.0, moved + up), 4)


def chance(before: Rate, after: Rate) -> float | None:
    """Give the chance of a fall at least this great if nothing had changed (Fisher's exact test, one-sided).

    Counts are rounded down to what they are worth; `None` where a side is worth less than two tries.
    """
    n, m = int(before.worth), int(after.worth)
    if before.value is None or after.value is None or min(n, m) < 2:
        return None
    a, b = round(before.value * n), round(after.value * m)
    return sum(comb(m, k) * comb(n, a + b - k) for k in range(max(0, a + b - n), b + 1)) / comb(n + m, a + b)


class Mean(NamedTuple):
    """A mean over sessions."""

    total: float
    sessions: int
    interval: Interval | None
    """95 % by Student's distribution; `None` for fewer than `FEWEST` of them, and where all are 0."""

    @property
    def value(self) -> float | None:
        """The mean; `None` where there is none."""
        return self.total / self.sessions if self.sessions else None


def mean(values: Sequence[float]) -> Mean:
    """Give the mean of one value a session; no value is negative."""
    many, total = len(values), sum(values)
    if many < FEWEST or not total:
        return Mean(total, many, None)
    centre = total / many
    reach = student(many - 1) * sqrt(_variance(values, centre) / many)
    return Mean(total, many, (max(0.0, centre - reach), centre + reach))


def mean_change(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """Give the 95 % interval of the difference of two means (Welch 1947); no value is negative.

    `None` for fewer than `FEWEST` sessions on a side, and where nothing but 0 is on both.
    """
    n, m = len(before), len(after)
    size = max(sum(before) / max(1, n), sum(after) / max(1, m))
    if min(n, m) < FEWEST or not size:
        return None
    early, late = _variance(before, size) / n, _variance(after, size) / m
    freedom = (early + late) ** 2 / (early**2 / (n - 1) + late**2 / (m - 1))
    moved, reach = sum(after) / m - sum(before) / n, student(freedom) * sqrt(early + late)
    return moved - reach, moved + reach


def _variance(values: Sequence[float], size: float) -> float:
    """Give the variance of sessions, and at least what it were if one more told of a spread of half of `size`.

    Sessions that happen to be alike say little about how much sessions vary: the fewer, the less.
    """
    many = len(values)
    centre = sum(values) / many
    squares = sum((one - centre) ** 2 for one in values)
    return max(squares / (many - 1), (squares + (size / 2) ** 2) / many)
