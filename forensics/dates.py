"""A column of times; those that come as dates are turned into numbers where they are asked for: most never are."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from forensics.sane import all_millis, millis

UNKNOWN = -1
"""What stands in a column for a figure that is not known."""


class Times:
    """Unix milliseconds in order of the rows; -1 is unknown. Dates must name their zone."""

    def __init__(self) -> None:
        self._known = array("q")
        self._starts: list[int] = []
        self._dates: list[Sequence[datetime]] = []
        """Dates that were not turned into numbers yet, and where they stand."""

    def append(self, time: int) -> None:
        """Take the time of the next row."""
        self._known.append(time)

    def extend(self, times: Iterable[int]) -> None:
        """Take the times of the next rows."""
        self._known.extend(times)

    def take(self, dates: Sequence[datetime]) -> None:
        """Take the dates of the next rows."""
        self._starts.append(len(self._known))
        self._dates.append(dates)
        self._known.extend(array("q", [UNKNOWN]) * len(dates))

    def multiples(self, part: int) -> list[tuple[int, int]]:
        """Give position and time of each row whose milliseconds within the second are a multiple of `part`."""
        found: list[tuple[int, int]] = []
        end, step = 0, 1000 * part
        for start, dates in zip([*self._starts, len(self._known)], [*self._dates, ()], strict=True):
            between = enumerate(self._known[end:start], end)
            found += [(at, time) for at, time in between if time >= 0 and not time % 1000 % part]
            chosen = [at for at, date in enumerate(dates) if date.microsecond % step < 1000]
            found += [(start + at, millis(dates[at])) for at in chosen]
            end = start + len(dates)
        return found

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[int]:
        for start, dates in zip(self._starts, self._dates, strict=True):
            self._known[start : start + len(dates)] = array("q", all_millis(dates))
        self._starts.clear()
        self._dates.clear()
        return iter(self._known)

    def __getitem__(self, at: int) -> int:
        if (time := self._known[at]) < 0 and (before := bisect_right(self._starts, at) - 1) >= 0:
            place = at - self._starts[before]
            if place < len(self._dates[before]):
                return millis(self._dates[before][place])
        return time
