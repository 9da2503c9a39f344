"""What happened in one file, session by session, kept small enough for a file of any size.

Events stream in; the middle of an uneventful run (good replies, tool calls, budget checks that found nothing) is
counted and measured but not kept. What a detector sees in `Session.events` is therefore the whole story with long
runs shortened to their ends; `Event.nth` says how many good replies lie before a row, `Session.samples` how large
the context was at every one of them.
"""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from math import fsum
from typing import Any

from forensics.attempts import Attempt, Round, attempts, rounds
from forensics.events import GOOD_STOPS, TYPED, CapSource, Event, Kind, Run
from forensics.usage import Outlier, Samples

_BULK = 512
"""Replies that are added up together."""


class Session:
    """One session (or one branch of one): its notable events, its samples and its totals."""

    def __init__(self, name: str, agent: str, file: str) -> None:
        self.id = name
        self.agent = agent
        self.file = file
        self.version: str | None = None
        self.parent: str | None = None
        self.events: list[Event] = []
        self.samples = Samples()
        self.start: int | None = None
        self.active_from: int | None = None
        """The first time in the file after the header, which may be that of the whole session."""
        self.end: int | None = None
        self.rows = 0
        self.prompts = 0
        self.replays = 0
        """Prompts that the agent sent again."""
        self.replies = 0
        self.good = 0
        self.tools = 0
        """Tool rows, of a reading that was not brief."""
        self.length_stops = 0
        self.aborted = 0
        self.stopped: list[int] = []
        """Times of replies without figures that the person aborted, where whole turns came as columns."""
        self.errors: Counter[str] = Counter()
        self.input_tokens: int | None = None
        self.cached_tokens: int | None = None
        self.output_tokens: int | None = None
        self.cap: int | None = None
        self.cap_source: CapSource | None = None
        self.memo: dict[str, Any] = {}
        """What several detectors derive from the session, kept by name so that it is computed once."""
        self._costs = array("d")
        self._sized: list[Event] = []
        """Replies, and prompts that bring some, not added up yet."""
        self._cut: Event | None = None
        self._windows: list[tuple[int, int]] = []
        """From which row (`seq`) on which context window is in force."""
        self._places: dict[int, int] = {}
        """How many samples lie before each row of a compaction, by its `seq`."""
        self._run: set[str] = set()
        self._pending: dict[str, Event] = {}

    def add(self, event: Event) -> None:
        """Take the next row of the session."""
        if event.run is not None:
            self._take(event.run)
        self.rows = event.seq = self.rows + 1
        event.nth = self.good
        ts = event.ts
        if ts is not None:
            if self.active_from is None and event.kind != "session":
                self.active_from = ts
            if self.end is None or self.start is None:
                self.start = self.end = ts
            elif ts > self.end:
                self.end = ts
            elif ts < self.start:
                self.start = ts
        kind = event.kind
        if kind == "reply":
            self._reply(event)
        elif kind == "tool":
            self.tools += 1
            if self._cut is not None:  # a cut reply whose calls run all the same: its turn goes on
                if self._cut.seq + 1 == event.seq:
                    self._cut.tool = event.tool or "unknown"
                self._cut = None
        elif kind == "prompt":
            if event.run is not None:
                self._sized.append(event)
            self._keep(event)
            if event.origin in TYPED:
                self.prompts += 1
            elif event.origin == "replay":
                self.replays += 1
        else:
            self._other(event, kind)
        if event.cap is not None and (event.cap != self.cap or (event.cap_source or "recorded") != self.cap_source):
            self._window(event, event.cap, event.cap_source or "recorded")

    def _reply(self, event: Event) -> None:
        self.replies += 1
        self._sized.append(event)
        if len(self._sized) >= _BULK:
            self._measure()
        if event.stop not in GOOD_STOPS:
            self._keep(event)
            self._cut = event if event.stop == "length" else None
            return
        self.good += 1
        if "reply" in self._run:
            self._pending["reply"] = event
        else:
            self._keep_ends(event)

    def _other(self, event: Event, kind: Kind) -> None:
        if kind == "budget":
            self._measure()
            self.samples.add(event)
            self._keep_ends(event)
        elif kind in {"note", "model", "session"}:
            self.events.append(event)
            if kind == "note":  # a source that counts a whole turn's tokens has no reply to give them to
                self._spend(event)
        else:
            if kind == "compacted":  # a summary's own request is paid for like any other
                self._spend(event)
            self._keep(event)
            if kind in {"compact", "compacted"}:
                self._measure()
                self._places[event.seq] = len(self.samples)
            if kind == "compacted" and event.outcome != "skipped":
                self.samples.cut()
        if kind == "session":
            self.version = event.version or self.version
            self.agent = event.agent or self.agent
            self.parent = event.parent or self.parent

    @cached_property
    def cost(self) -> float | None:
        """US dollars recorded for the session: the exact sum, in whatever groups it came; `None` where none is."""
        return fsum(self._costs) if self._costs else None

    @cached_property
    def failed(self) -> list[int]:
        """Positions in `events` of the replies that did not end well."""
        return [at for at, event in enumerate(self.events) if event.kind == "reply" and event.stop not in GOOD_STOPS]

    @cached_property
    def attempts(self) -> list[Attempt]:
        """The session's compaction attempts, in order."""
        return attempts(self.events)

    @cached_property
    def rounds(self) -> list[Round]:
        """The attempts that the agent made by itself, each with what followed it."""
        return rounds(self.events, self.attempts, self.good, self._measured)

    @cached_property
    def peak(self) -> int | None:
        """The greatest context of the session in tokens, figures that cannot be one request's left out."""
        return self.samples.peak(without=self._odd_places)

    @cached_property
    def fullest(self) -> tuple[int, int] | None:
        """The context that filled most of the window in force at it, and that window; impossible figures left out."""
        if not self.cap:
            return None
        return self.samples.fullest(self.cap, fixed=self.cap_source == "option", without=self._odd_places)

    @cached_property
    def _odd_places(self) -> set[int]:
        return {at for at, one in self.outliers.items() if one.column == "context"}

    @cached_property
    def odd(self) -> frozenset[int | str | None]:
        """Lines, or records where there are none, of the rows whose context cannot be one request's."""
        samples = (one.sample for one in self.outliers.values() if one.column == "context")
        return frozenset(one.record if one.line is None else one.line for one in samples)

    def _measured(self, before: Event, after: Event | None) -> int | None:
        """Give the last context between two rows of compactions that is known and can be one request's."""
        start = 0 if after is None else self._places[after.seq]
        return self.samples.last(start, self._places[before.seq], without=self._odd_places)

    def context(self, event: Event) -> int | None:
        """Give the context at a row; `None` where it is unknown or cannot be one request's."""
        return None if self.odd and (event.record if event.line is None else event.line) in self.odd else event.context

    def window(self, event: Event) -> int | None:
        """Give the context window in force at a row: the user's, else its own, else the last named before it."""
        if self.cap_source == "option" or not self._windows:
            return self.cap
        if event.cap:
            return event.cap
        at = bisect_right(self._windows, event.seq, key=lambda one: one[0])
        return self._windows[at - 1][1] if at else None

    @cached_property
    def outliers(self) -> dict[int, Outlier]:
        """Figures that cannot be one request's, by position in `samples` (see the usage-outlier detector)."""
        return self.samples.outliers()

    def contexts(self, width: int) -> list[int]:
        """Shorten the known context sizes to at most `width` figures, each the greatest of its stretch."""
        known = self.samples.contexts
        step = max(1, -(-len(known) // width))
        return [max(known[at : at + step]) for at in range(0, len(known), step)]

    def close(self) -> None:
        """End the session: what is still held back is kept, and the rows are in order."""
        self._flush()
        self._measure()
        self.events.sort(key=lambda event: event.seq)

    def _measure(self) -> None:
        """Count, add up and measure the replies since the last time, together: that is cheaper than one by one."""
        replies = self._sized
        if not replies:
            return
        for stop, count in Counter([event.stop for event in replies]).items():
            if stop == "length":
                self.length_stops += count
            elif stop == "aborted":
                self.aborted += count
            elif stop == "error":
                self.errors.update(event.fault or "unknown" for event in replies if event.stop == "error")
        self.input_tokens = _added(self.input_tokens, [event.input for event in replies])
        self.cached_tokens = _added(self.cached_tokens, [event.cached for event in replies])
        self.output_tokens = _added(self.output_tokens, [event.output for event in replies])
        self._costs.extend([event.cost for event in replies if event.cost is not None])
        self.samples.extend(replies)
        replies.clear()

    def _take(self, run: Run) -> None:
        """Take good replies that came as columns; they are measured with the row that brings them."""
        count = len(run.lines) + len(run.unmeasured)
        if self.active_from is None:
            self.active_from = run.start
        self.rows += count + run.prompts
        self.prompts += run.prompts
        self.replies += count
        self.good += count - run.stopped
        self.aborted += run.stopped
        self.stopped += run.unmeasured
        self.input_tokens = (self.input_tokens or 0) + run.input
        self.cached_tokens = (self.cached_tokens or 0) + run.cached
        self.output_tokens = (self.output_tokens or 0) + run.output
        self._costs.extend(run.costs)
        self.start = run.start if self.start is None else min(run.start, self.start)
        self.end = run.end if self.end is None else max(run.end, self.end)

    def _spend(self, event: Event) -> None:
        if event.input is not None:
            self.input_tokens = (self.input_tokens or 0) + event.input
        if event.cached is not None:
            self.cached_tokens = (self.cached_tokens or 0) + event.cached
        if event.output is not None:
            self.output_tokens = (self.output_tokens or 0) + event.output
        if event.cost is not None:
            self._costs.append(event.cost)

    def _keep_ends(self, event: Event) -> None:
        if event.kind in self._run:
            self._pending[event.kind] = event
        else:
            self._run.add(event.kind)
            self.events.append(event)

    def _keep(self, event: Event) -> None:
        if self._run:
            self._flush()
        self.events.append(event)

    def _flush(self) -> None:
        self.events.extend(self._pending.values())
        self._pending.clear()
        self._run.clear()

    def _window(self, event: Event, cap: int, source: CapSource) -> None:
        """Take the window that a row names: it is in force from there on, until another row names another.

        The first that is named held before as well, unless the row says that the model or its window was changed. One
        that only an error names is in force where no row recorded any.
        """
        rank = ("error text", "recorded", "option")
        if self.cap_source is not None and rank.index(source) < rank.index(self.cap_source):
            return
        if source == "recorded":
            self._measure()
            self.samples.window(cap, before=event.kind != "model")
        first = not self._windows and event.kind != "model"
        self._windows.append((0 if first else event.seq, cap))
        self.cap, self.cap_source = cap, source


def _added(total: int | None, figures: list[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return (total or 0) + sum(known) if known else total


class File:
    """One input file: its sessions in the order of their first rows, and the rows of its host process."""

    def __init__(self, name: str, parser: str, agent: str, *, log: bool = False) -> None:
        self.name = name
        self.parser = parser
        self.agent = agent
        self.log = log
        """A process's log: its figures are told for the whole file."""
        self.sessions: list[Session] = []
        self.host: list[Event] = []
        """Rows that belong to no session (process starts and exits), in order."""
        self.touched: int | None = None
        """When the file was last written, UTC milliseconds."""
        self.now: int | None = None
        """The time of the scan, UTC milliseconds; `None` when nobody said."""
        self.lost: int | None = None
        """The last line of which nothing could be read; `None` when there is none."""

    @cached_property
    def end(self) -> int | None:
        """The last time that any row of the file names."""
        times = [session.end for session in self.sessions] + [event.ts for event in self.host]
        return max((ts for ts in times if ts is not None), default=None)

    def build(self, events: Iterable[Event], cap: int | None = None) -> "File":
        """Sort the events into sessions; `cap` is the user's own context window, which wins over the source's."""
        sessions: dict[str, Session] = {}
        current: str | None = None
        add = self.host.append
        for event in events:
            name = event.session
            if name != current:
                current, add = name, self.host.append
                if name is not None:
                    if name not in sessions:
                        sessions[name] = Session(name, self.agent, self.name)
                        if cap is not None:
                            sessions[name].cap, sessions[name].cap_source = cap, "option"
                    add = sessions[name].add
            add(event)
        for session in sessions.values():
            session.close()
        self.sessions = list(sessions.values())
        return self
