"""Rates and means with their uncertainty: 95 % intervals that do not take a session's attempts for independent ones."""

from collections.abc import Sequence
from math import comb, sqrt
from random import Random
from typing import NamedTuple

_Z = 1.959964
"""Two-sided 95 % of the normal distribution."""
_DRAWS = 2000
_SEED = 20_260_709

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
    a ratio estimate (Rao and Scott 1992), at least 1; where no session differs from the others, the sessions alone
    count, because nothing says how much a session varies.
    """
    known = [(hits, tries) for hits, tries in counts if tries]
    hits, tries, many = sum(one for one, _ in known), sum(one for _, one in known), len(known)
    if not tries:
        return Rate(0, 0, 0, 0.0)
    share = hits / tries
    if many < 2 or share in {0.0, 1.0}:
        return Rate(hits, tries, many, float(many))
    spread = sum((one - share * of) ** 2 for one, of in known) * many / (many - 1) / tries**2
    effect = spread / (share * (1 - share) / tries)
    return Rate(hits, tries, many, min(float(tries), max(float(many), tries / max(1.0, effect))))


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
    """95 % by resampling whole sessions; `None` for fewer than two of them."""

    @property
    def value(self) -> float | None:
        """The mean; `None` where there is none."""
        return self.total / self.sessions if self.sessions else None


def mean(values: Sequence[float]) -> Mean:
    """Give the mean of one value a session, the same every time it is asked for."""
    many = len(values)
    if many < 2:
        return Mean(sum(values), many, None)
    draws = sorted(_resampled(values))
    return Mean(sum(values), many, (draws[round(0.025 * (_DRAWS - 1))], draws[round(0.975 * (_DRAWS - 1))]))


def mean_change(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """Give the 95 % interval of the difference of two means, by resampling whole sessions of each."""
    if len(before) < 2 or len(after) < 2:
        return None
    pairs = zip(_resampled(before), _resampled(after, _SEED + 1), strict=True)
    draws = sorted(late - early for early, late in pairs)
    return draws[round(0.025 * (_DRAWS - 1))], draws[round(0.975 * (_DRAWS - 1))]


def _resampled(values: Sequence[float], seed: int = _SEED) -> list[float]:
    random = Random(seed)  # noqa: S311  (a resampling that must be the same every time)
    many = len(values)
    return [sum(random.choices(values, k=many)) / many for _ in range(_DRAWS)]
