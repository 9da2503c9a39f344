"""The sizes of a session's requests, and which of them cannot be one request's.

Usage is reported per request by some sources, as a running sum by others, and absurdly by a few. Every figure is
kept here in order; `outliers` names those that contradict the figures beside them, before anybody takes a peak.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import compress, count
from operator import ge
from typing import Literal, NamedTuple

from forensics.dates import UNKNOWN, Times
from forensics.events import Event, Run

_TOO_GREAT = 1 << 62
_BLANK = array("q", [UNKNOWN])
_FEW = 6
"""Rows that are kept one by one at less cost than by their columns."""
FACTOR = 10
"""A figure this many times its neighbours or its estimate cannot be one request's: tokenisers differ by 2 to 4."""
_LONE = 3
_NEAR = 0.05

Column = Literal["context", "total"]
Measured = Literal["context", "messages"]
Reason = Literal["running sum", "disagrees with its components", "far from its estimate", "jump"]
_PLACE: dict[Measured, int] = {"context": 1, "messages": 4}


class Sample(NamedTuple):
    """The context at one row: line and record say where, `total` is the source's own figure, as reported."""

    line: int | None
    record: str | None
    ts: int | None
    context: int | None
    total: int | None
    estimate: int | None
    messages: int | None
    cap: int | None


class Outlier(NamedTuple):
    """A figure that cannot be one request's: where, which column holds it, what would be plausible there, and why."""

    sample: Sample
    column: Column
    value: int
    plausible: int
    reason: Reason


class Excess(NamedTuple):
    """Rows over the context window: positions of the first measured row, the first over, the greatest ratio."""

    first: int
    start: int
    peak: int
    cap: int
    """The window at the peak."""
    over: int
    """Rows over their window."""
    kept: int
    """How many compactions left the size over the window: a row over it on both sides."""


class _Mark(NamedTuple):
    column: Column
    plausible: int
    reason: Reason


class Samples:
    """Every measured row of a session in order, about 64 bytes each. Unknown figures come back as `None`."""

    def __init__(self) -> None:
        self._times = Times()
        self._columns = tuple(array("q") for _ in range(6))
        """Line, context, total, estimate, messages, cap."""
        self._rows: tuple[Times | array[int], ...] = (self._times, *self._columns)
        self._records: list[str | None] = []
        self._cuts = array("q")
        self._windows: list[tuple[int, int]] = []
        """From which position on which context window is in force."""

    def add(self, event: Event) -> None:
        """Keep the sizes of a row; a reply without usage and a prompt are passed over."""
        if not _counts(event):
            return
        figures = (event.line, event.context, event.total, event.estimate, event.messages, event.cap)
        for column, figure in zip(self._rows, (event.ts, *figures), strict=True):
            column.append(UNKNOWN if figure is None or not -1 < figure < _TOO_GREAT else figure)
        if event.line is None:
            self._records.append(event.record)

    def extend(self, rows: list[Event]) -> None:
        """Keep the sizes of rows as `add` does, and of the replies that came with them (`Event.run`), in their order.

        A column at a time is half the cost of a row at a time.
        """
        start = 0
        for at, row in enumerate(rows):
            if row.run is not None:
                self._extend(rows[start:at])
                self._take(row.run)
                start = at
        self._extend(rows[start:] if start else rows)

    def _take(self, run: Run) -> None:
        lines, contexts, totals, *others = self._columns
        lines.extend(run.lines)
        self._times.take(run.dates)
        contexts.extend(run.contexts)
        totals.extend(run.totals)
        for column in others:
            column.extend(_BLANK * len(run.lines))

    def _extend(self, rows: list[Event]) -> None:
        if len(rows) < _FEW:
            for row in rows:
                self.add(row)
            return
        columns = _columns(rows)
        for column, figures in zip(self._rows, columns, strict=True):
            unknown = figures.count(None)
            if unknown == len(figures):
                column.extend(_BLANK * unknown)
            elif not unknown and min(figures) >= 0 and max(figures) < _TOO_GREAT:  # type: ignore[type-var, operator]
                column.extend(figures)  # type: ignore[arg-type]
            else:
                column.extend([UNKNOWN if one is None or not -1 < one < _TOO_GREAT else one for one in figures])
        if None in columns[1]:
            self._records.extend(row.record for row in rows if row.line is None and _counts(row))

    def marked(self, part: int) -> list[tuple[int, int, int]]:
        """Give time, context and total of the rows whose time `Times.multiples` gives."""
        contexts, totals = self._columns[1:3]
        return [(time, contexts[at], totals[at]) for at, time in self._times.multiples(part)]

    def ends(self, count: int | None = None) -> list[tuple[int, int, int]]:
        """Give time, context and total of so many rows at each end; by default of all."""
        contexts, totals = self._columns[1:3]
        rows = range(len(self))
        some = rows if count is None or len(self) <= 2 * count else (*rows[:count], *rows[-count:])
        return [(self._times[at], contexts[at], totals[at]) for at in some]

    def cut(self) -> None:
        """Mark that the context was cut here (a compaction): a fall of the figures after it is no wonder."""
        self._cuts.append(len(self))

    def window(self, cap: int, *, before: bool) -> None:
        """Mark that the context window is `cap` from here on; `before`: and, where none was marked, up to here too."""
        self._windows.append((0 if before and not self._windows else len(self), cap))

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[Sample]:
        records = iter(self._records)
        for row in zip(*self._rows, strict=True):
            ts, line, context, total, estimate, messages, cap = (None if figure < 0 else figure for figure in row)
            record = next(records) if line is None else None
            yield Sample(line, record, ts, context, total, estimate, messages, cap)

    def at(self, position: int) -> Sample:
        """Give the sample at a position."""
        ts, line, context, total, estimate, messages, cap = (
            None if (figure := column[position]) < 0 else figure for column in self._rows
        )
        record = self._records[self._columns[0][:position].count(UNKNOWN)] if line is None else None
        return Sample(line, record, ts, context, total, estimate, messages, cap)

    def excess(self, measure: Measured, cap: int, *, fixed: bool, without: set[int]) -> Excess | None:
        """Give how a measure stands against the context window of each row; `None` when no row is over it.

        The window in force counts (see `_caps`), unless `cap` is `fixed`. Positions in `without` are left out.
        """
        column = self._columns[_PLACE[measure]]
        if max(column, default=UNKNOWN) <= min(self._limits(cap, fixed=fixed)):
            return None
        caps = self._caps(cap, fixed=fixed)
        first = start = peak = last = UNKNOWN
        over = window = kept = 0
        for position, (size, limit) in enumerate(zip(column, caps, strict=True)):
            if size < 0 or limit <= 0 or position in without:
                continue
            first = position if first < 0 else first
            if size > limit:
                kept += last >= 0 and bisect_right(self._cuts, position) > bisect_right(self._cuts, last)
                over, last = over + 1, position
                start = position if start < 0 else start
                if peak < 0 or size * window > column[peak] * limit:
                    peak, window = position, limit
            else:
                last = UNKNOWN
        return Excess(first, start, peak, window, over, kept) if over else None

    def fullest(self, cap: int, *, fixed: bool, without: set[int]) -> tuple[int, int] | None:
        """Give the context that fills most of the window in force at it, and that window; `None`: nothing is known."""
        if len(self._limits(cap, fixed=fixed)) == 1 and not (self._windows and self._windows[0][0]):
            peak = self.peak(without=without)
            return None if peak is None or cap <= 0 else (peak, cap)
        caps = self._caps(cap, fixed=fixed)
        rows = enumerate(zip(self._columns[1], caps, strict=True))
        known = [(size, limit) for at, (size, limit) in rows if size >= 0 and limit > 0 and at not in without]
        return max(known, key=lambda one: one[0] / one[1], default=None)

    def _limits(self, cap: int, *, fixed: bool) -> set[int]:
        """Give every context window of the session; `cap` is the last."""
        own = set() if fixed else {*self._columns[5], *(limit for _, limit in self._windows)}
        return (own - {UNKNOWN}) | {cap}

    def _caps(self, cap: int, *, fixed: bool) -> "array[int]":
        """Give the context window at each position: the row's own, else the last that was marked, else none.

        Where none was marked it is `cap`; where that is `fixed` it is so everywhere.
        """
        if fixed or not self._windows:
            marked = array("q", [cap]) * len(self)
        else:
            ends = [start for start, _ in self._windows[1:]] + [len(self)]
            marked = _BLANK * self._windows[0][0]
            for end, (_, limit) in zip(ends, self._windows, strict=True):
                marked += array("q", [limit]) * (end - len(marked))
        own = self._columns[5]
        if fixed or own.count(UNKNOWN) == len(own):
            return marked
        return array("q", [last if one <= 0 else one for one, last in zip(own, marked, strict=True)])

    @property
    def contexts(self) -> list[int]:
        """The known context sizes in order."""
        column = self._columns[1]
        return column.tolist() if min(column, default=0) >= 0 else [figure for figure in column if figure >= 0]

    def peak(self, *, without: set[int]) -> int | None:
        """Give the greatest context, samples at the positions `without` left out; `None` when none is known."""
        column = self._columns[1]
        if without:
            return max((figure for at, figure in enumerate(column) if figure >= 0 and at not in without), default=None)
        greatest = max(column, default=UNKNOWN)
        return None if greatest < 0 else greatest

    def last(self, start: int, stop: int, *, without: set[int]) -> int | None:
        """Give the last known context of the samples from one position up to another, some left out."""
        column = self._columns[1]
        places = range(stop - 1, start - 1, -1)
        return next((column[at] for at in places if column[at] >= 0 and at not in without), None)

    def outliers(self) -> dict[int, Outlier]:
        """Give the figures that cannot be one request's, by position, in order. Linear; cheap where all is well."""
        found: dict[int, _Mark] = {}
        contexts, totals, estimates = self._columns[1:4]
        found |= self._jumps(contexts)
        if totals != contexts and totals.count(UNKNOWN) < len(totals):
            found |= _totals(contexts, totals, estimates)
        if not found:
            return {}
        return {at: _outlier(sample, found[at]) for at, sample in enumerate(self) if at in found}

    def _jumps(self, contexts: "array[int]") -> dict[int, _Mark]:
        cuts = set(self._cuts)
        found: dict[int, _Mark] = {}
        halves = map(ge, contexts, [size + size for size in contexts[1:]])
        for at in compress(count(1), halves):
            size = contexts[at]
            if size <= 0:
                continue
            last = contexts[at - 1]
            if at in cuts:
                continue
            if last > FACTOR * size and at > 1 and 0 < contexts[at - 2] * FACTOR < last:
                found[at - 1] = _Mark("context", max(size, contexts[at - 2]), "jump")
            else:
                run = _sum_before(contexts, at, cuts)
                found |= dict.fromkeys(run, _Mark("context", contexts[run.start - 1], "running sum"))
        return found


def _counts(row: Event) -> bool:
    return row.context is not None or row.total is not None or row.kind == "budget"


def _columns(rows: list[Event]) -> tuple[list[int | None], ...]:
    columns: tuple[list[int | None], ...] = ([], [], [], [], [], [], [])
    times, lines, contexts, totals, estimates, messages, caps = columns
    for row in rows:
        if _counts(row):
            lines.append(row.line)
            times.append(row.ts)
            contexts.append(row.context)
            totals.append(row.total)
            estimates.append(row.estimate)
            messages.append(row.messages)
            caps.append(row.cap)
    return columns


def _sum_before(contexts: "array[int]", end: int, cuts: set[int]) -> range:
    """Give the positions before `end` where each context is the one before plus about the size of a single request.

    `end` is where the figure falls back to that size without a compaction. At least three such steps count.
    """
    one = contexts[end]
    at = end - 1
    while at > 0 and at not in cuts and abs(contexts[at] - contexts[at - 1] - one) <= _NEAR * one:
        at -= 1
    start = at + 1
    base = contexts[at]
    return range(start, end) if end - start >= _LONE and abs(base - one) <= _NEAR * one else range(0)


def _totals(contexts: "array[int]", totals: "array[int]", estimates: "array[int]") -> dict[int, _Mark]:
    """Totals that disagree with their own components, or with the agent's estimate of the same request."""
    found: dict[int, _Mark] = {}
    for at, (context, total, estimate) in enumerate(zip(contexts, totals, estimates, strict=True)):
        if total <= 0 or total == context:
            continue
        if estimate > 0 and total >= FACTOR * estimate:
            found[at] = _Mark("total", estimate, "far from its estimate")
        elif 0 < context * 1.5 <= total and estimate < 0:
            summed = at > 0 and totals[at - 1] > 0 and abs(totals[at - 1] + context - total) <= total // 100
            if summed or total >= 2 * context:
                found[at] = _Mark("total", context, "running sum" if summed else "disagrees with its components")
    return found


def _outlier(sample: Sample, mark: _Mark) -> Outlier:
    value = sample.context if mark.column == "context" else sample.total
    return Outlier(sample, mark.column, value or 0, mark.plausible, mark.reason)
