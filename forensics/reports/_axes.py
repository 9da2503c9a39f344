"""Axes for figures drawn by hand: round numbers, round times, and how they are written."""

from datetime import timedelta

from forensics.times import moment

_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
_STEPS = (
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14, 28, 91, 365)),
)


def round_steps(top: float, most: int) -> list[int]:
    """Give round values from 0 up to `top`, at most `most` after 0."""
    if top <= 0:
        return [0]
    scale = 1
    while True:
        for factor in (1, 2, 5):
            step = factor * scale
            if top / step <= most:
                return [step * n for n in range(int(top // step) + 1)]
        scale *= 10


def time_ticks(start: int, end: int, most: int) -> list[tuple[int, str]]:
    """Give round times within a stretch with their labels: the time of day, the date where a new one begins."""
    step = next((one for one in _STEPS if (end - start) / one <= most), _STEPS[-1])
    first = -(-start // step) * step
    ticks = list(range(first, end + 1, step)) or [start]
    days = {at // _DAY for at in (start, end)}
    labels = []
    shown: int | None = None
    for at in ticks:
        time = moment(at)
        if time is None:
            continue
        day = at // _DAY
        if step >= _DAY or (len(days) > 1 and day != shown and time == time.replace(hour=0, minute=0, second=0)):
            label = time.strftime("%m-%d")
        else:
            label = time.strftime("%H:%M:%S" if step < _MINUTE else "%H:%M")
        shown = day
        labels.append((at, label))
    return labels


def short(number: float) -> str:
    """Give a count for an axis: 0, 850, 12k, 1.5M."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def date_of(ms: int) -> str:
    """Give the day of a time."""
    time = moment(ms)
    return "" if time is None else time.strftime("%Y-%m-%d")


def hours(ms: int) -> str:
    """Give a stretch of time in hours and minutes."""
    return str(timedelta(seconds=ms // 1000))
