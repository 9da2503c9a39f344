"""A brief reading of a pi family session file: what a session's story needs, and no more.

Rows that say nothing of recovery (tool results, thinking levels, models) are left out between others. The good replies
of a run are gathered into columns (`_pi_turns`), and so are whole turns that went well or that the person stopped.
"""

import struct
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from forensics.events import Event
from forensics.parsers._pi import (
    CALL_END,
    AssistantMessage,
    Message,
    ShellMessage,
    ToolMessage,
    UserMessage,
    is_atomics,
    last_bytes,
    told_time,
)
from forensics.parsers._pi_entries import Entry
from forensics.parsers._pi_rows import Reader
from forensics.parsers._pi_turns import Figures, Row, Turns, figures_of, is_answer, is_plain, is_step, is_stopped
from forensics.sane import FIRST_YEAR, LAST_YEAR, millis

_CALL_END = (CALL_END,)
_FIRST, _END = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC)


class _Batch(NamedTuple):
    """Rows of lines that follow each other, with their times."""

    line: int
    """That of the first."""
    records: list[Any]
    times: list[datetime]


def brief(reader: Reader, *, held: bool) -> Iterator[Event]:
    """Yield the events of a brief reading, as `Reader.rows` does those of a whole one."""
    story = _Story(reader, held=held)
    out = story.out
    for lines, records in reader.batches():
        story.take(lines, records)
        yield from out
        out.clear()
    story.end()
    yield from out
    yield from reader.end(held=held)


class _Story:
    """What a brief reading has left out so far, and what it may leave out next."""

    def __init__(self, reader: Reader, *, held: bool) -> None:
        self.out: list[Event] = []
        """What is told and was not passed on yet."""
        self._reader = reader
        self._turns = Turns(reader, self.out)
        self._held = held
        self._left: Row | None = None
        """The last row, where it was left out."""
        self._note: Row | None = None
        """The last row left out that a session keeps."""
        self._omitted = 0
        """Rows left out of the session that goes on, and not counted yet."""
        self._calm = True
        """A row that says nothing may be left out."""
        self._before = _FIRST
        """The time of the row before."""

    def take(self, lines: Sequence[int], records: list[Any]) -> None:
        """Take the next rows: together where all have times in order and ids of their own, else one by one."""
        if records and type(records[0]) is Entry:
            self._row(lines[0], records[0])
            lines, records = lines[1:], records[1:]
        times = self._in_order(records)
        if times is not None and isinstance(lines, range) and self._reader.are_new(lines, records):
            self._together(lines, records, times)
            return
        for line, entry in zip(lines, records, strict=True):
            self._row(line, entry)

    def _in_order(self, records: list[Any]) -> list[datetime] | None:
        times: list[datetime] = [one.timestamp for one in records]
        try:
            within = times and self._before <= times[0] and times[-1] < _END
            return times if within and times == sorted(times) else None
        except TypeError:  # one has no time, a number, or a time that names no zone
            return None

    def _together(self, lines: range, records: list[Any], times: list[datetime]) -> None:
        """Look at the rows one by one that lie between those that may be passed over."""
        batch = _Batch(lines.start, records, times)
        line = batch.line
        looks = self._reader.header.agent is None
        run: list[Figures] = []
        start, note = 0, -1
        for at, entry in enumerate(records):
            message = entry.message
            kind = type(message)
            if kind is ToolMessage:
                if not looks or message.details is None or entry.id is None or not is_atomics(message):
                    continue
            elif kind is AssistantMessage:
                # As `is_step` and `figures_of` tell it: two calls per reply are a fifth of what it costs.
                if message.stop_reason == "toolUse" and message.provider != "openclaw":
                    try:
                        calls = last_bytes(message.content, -3) == _CALL_END
                    except struct.error:
                        calls = False
                    usage = message.usage
                    fresh, output, cached = usage.input, usage.output, usage.cache_read + usage.cache_write
                    context = fresh + cached + output
                    if calls and context:
                        cost = None if usage.cost is None else usage.cost.total
                        total = usage.total_tokens or -1
                        run.append((line + at, entry.timestamp, context, total, fresh, cached, output, cost))
                        continue
            elif kind is ShellMessage:
                continue
            elif message is None and type(entry) is not Entry:
                note = at
                continue
            if start < at:
                self._pass_over(batch, start, at, run, note)
                run = []
            self._before = times[at]
            self._one(line + at, entry)
            start = at + 1
        if start < len(records):
            self._pass_over(batch, start, len(records), run, note)
        self._before = times[-1]

    def _pass_over(self, batch: _Batch, start: int, end: int, run: list[Figures], note: int) -> None:
        """Pass over tool rows and the replies of the `run` that calls them, from the first row on that may be.

        `note` is the place of the last row among them that a session keeps, if it is no earlier than `start`.
        """
        line, records, times = batch
        turns = self._turns
        while not (
            self._calm
            and (turns.goes_on or (not run and (turns.gathers or note < start)))
            and (note < start or turns.may_omit)
        ):
            self._before = times[start]
            self._one(line + start, records[start])
            if run and run[0][0] == line + start:
                del run[0]
            start += 1
            if start == end:
                return
        self._omitted += end - start - len(run)
        self._left = line + end - 1, records[end - 1]
        if note >= start:
            self._note = line + note, records[note]
        if run:
            first, last = run[0][0], run[-1][0]
            if last == self._left[0]:
                self._left = None
            turns.steps(run, (first, records[first - line]), (last, records[last - line]))

    def _row(self, line: int, entry: Any) -> None:
        """Take a row of which nothing is known."""
        if type(entry) is Entry or not self._before <= entry.timestamp < _END:
            self._other(line, entry)
        elif entry.id is None or self._reader.is_new(entry, entry.id, line):
            self._before = entry.timestamp
            self._one(line, entry)

    def _one(self, line: int, entry: Any) -> None:
        """Take a row that is new, and dated no earlier than the one before."""
        if type(entry) is Entry:
            self._other(line, entry, new=True)
        elif not (self._calm and self._may_pass(line, entry)):
            reader = self._reader
            reader.last = millis(self._before)
            self._tell(line, entry, reader.last)

    def _may_pass(self, line: int, entry: Any) -> bool:
        """Leave a usual row out, or gather it, where it may be."""
        turns, message = self._turns, entry.message
        kind = type(message)
        if kind is UserMessage:
            if not turns.may_ask or self._reader.internal or not is_plain(message):
                return False
            turns.ask(line, entry)
            self._left = None
        elif kind is AssistantMessage:
            if not turns.goes_on or not self._gathers(line, entry, message):
                return False
            self._left = None
        elif kind is ToolMessage:
            if entry.id is not None and self._reader.header.agent is None:
                self._look_at(entry.id, message)
            self._left = line, entry
            self._omitted += 1
        elif kind is ShellMessage:
            self._left = line, entry
            self._omitted += 1
        else:
            if not turns.may_omit:
                return False
            self._left = self._note = line, entry
            self._omitted += 1
        return True

    def _gathers(self, line: int, entry: Any, message: Any) -> bool:
        """Gather a reply of a turn that goes on."""
        turns = self._turns
        figures = figures_of(line, self._before, message)
        if figures is not None and is_step(message):
            turns.steps([figures], (line, entry), (line, entry))
        elif turns.prompt is None:
            return False
        elif figures is not None and is_answer(message):
            turns.end((line, entry), figures)
        elif is_stopped(message, figures) and self._reader.broken is None:
            turns.end((line, entry), figures, stopped=self._before)
        else:
            return False
        return True

    def _look_at(self, record: str, message: Message | ToolMessage) -> None:
        """See whether a tool's result tells the agent: then that is to be told first."""
        self._reader.look_at(record, message)
        self._calm = self._held or not self._reader.restating

    def _other(self, line: int, entry: Any, *, new: bool = False) -> None:
        """Tell a row that is no usual one, or has no time, or one that lies before that of the row before it."""
        reader = self._reader
        ts = told_time(entry.timestamp, reader.source, line, entry.id)
        if not new and entry.id is not None and not reader.is_new(entry, entry.id, line):
            return
        if self._before > _FIRST:
            reader.last = millis(self._before)
        if reader.mind_clock(line, entry, ts) or ts is None:
            self._all()  # what was left out may hold the latest time, and the next row the first
            self._calm = False
        self._tell(line, entry, ts)
        self._before = datetime.fromtimestamp(reader.last / 1000, UTC) if reader.last else _FIRST

    def _tell(self, line: int, entry: Entry, ts: int | None) -> None:
        """Tell a row, and before it what it ends."""
        reader, turns, out = self._reader, self._turns, self.out
        turns.settle()
        session = reader.session
        self._count()
        event = reader.told(line, entry, ts)
        if event is None:
            return
        turns.end_by(event, session)
        self._left = self._note = None
        out.append(event)
        if not self._held:
            out.extend(reader.restated(line))
        # The first dated row after a header may hold the session's first time; a cut reply's tool row says that it ran.
        says = event.kind == "session" or (event.kind == "reply" and event.stop == "length")
        self._calm = not says and (self._calm or ts is not None)

    def _all(self) -> None:
        """Tell what has been gathered and left out."""
        gathered = self._turns.line
        rows = {row[0]: row for row in (self._note, self._left) if row is not None and row[0] > gathered}
        self._turns.tell(self._reader.session)
        self._left = self._note = None
        for line, entry in rows.values():
            event = self._reader.told(line, entry, millis(entry.timestamp))  # type: ignore[arg-type]
            if event is not None:
                self._omitted -= 1
                self.out.append(event)

    def _count(self) -> None:
        if self._omitted:
            self._reader.source.left_out[self._reader.session] += self._omitted
            self._omitted = 0

    def end(self) -> None:
        """Tell what is left at the end of the file."""
        self._all()
        self._count()
