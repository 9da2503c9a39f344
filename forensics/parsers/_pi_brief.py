"""A brief reading of a pi family session file: what a session's story needs, and no more.

Rows that say nothing of recovery (tool results, thinking levels) are left out between others. The good replies of a
run are gathered into columns (`_pi_turns`), and so are whole turns that went well.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from forensics.events import Event
from forensics.parsers._pi import AssistantMessage, Message, ToolMessage, UserMessage, told_time
from forensics.parsers._pi_entries import Entry, MessageLine, ThinkingLine
from forensics.parsers._pi_rows import Reader
from forensics.parsers._pi_turns import LONGEST, Row, Turns, figures_of, is_answer, is_plain, is_step
from forensics.sane import FIRST_YEAR, LAST_YEAR, millis

_FIRST, _END = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC)


def brief(reader: Reader, *, held: bool) -> Iterator[Event]:  # noqa: PLR0915  (a call per row is a tenth of its cost)
    """Yield the events of a brief reading, as `Reader.rows` does those of a whole one."""
    story = _Story(reader, held=held)
    turns = story.turns
    before = _FIRST
    entries: Iterator[tuple[int, Any]] = reader.entries()  # of three types that have what is asked of them
    for line, entry in entries:
        # One type at a time: the interpreter finds the fields of an object at once where it has always the same type.
        usual = (shape := type(entry)) is MessageLine or shape is ThinkingLine
        if usual:
            time = entry.timestamp
            try:
                usual = before <= time < _END
            except TypeError:  # no time, a number, or a time that names no zone
                usual = False
        if not usual:
            story.before = before
            yield from story.other(line, entry)
            before = story.before
            continue
        record = entry.id
        if record is not None and not reader.is_new(entry, record, line):
            continue
        before = time
        if shape is ThinkingLine:
            if story.calm and (turns.goes_on or turns.gathers):
                story.left = story.note = line, entry
                story.omitted += 1
                continue
        elif story.calm:
            message = entry.message
            kind = type(message)
            if kind is ToolMessage:
                if record is not None:
                    story.look_at(record, message)
                story.left = line, entry
                story.omitted += 1
                continue
            if kind is AssistantMessage:
                if turns.goes_on and (figures := figures_of(line, before, message)) is not None:
                    if is_step(message):
                        turns.run.append(figures)
                        turns.last, story.left = (line, entry), None
                        if len(turns.run) == 1:
                            turns.first = turns.last
                        elif len(turns.run) == LONGEST:
                            yield from turns.told(reader.session)
                        continue
                    if turns.prompt is not None and is_answer(message):
                        turns.answer(line, entry, figures)
                        story.left = None
                        continue
            elif kind is UserMessage and turns.gathers and not reader.internal and is_plain(message):
                turns.ask(line, entry)
                story.left = None
                continue
        reader.last = millis(before)
        yield from story.told(line, entry, reader.last)
    yield from story.end()


class _Story:
    """What a brief reading has left out so far, and what it may leave out next."""

    def __init__(self, reader: Reader, *, held: bool) -> None:
        self.reader = reader
        self.turns = Turns(reader)
        self.held = held
        self.left: Row | None = None
        """The last row, where it was left out."""
        self.note: Row | None = None
        """The last row left out that a session keeps."""
        self.omitted = 0
        """Rows left out of the session that goes on, and not counted yet."""
        self.calm = True
        """A row that says nothing may be left out."""
        self.before = _FIRST
        """The time of the row before, while `other` is at work."""

    def look_at(self, record: str, message: Message) -> None:
        """See whether a tool's result tells the agent: then that is to be told first."""
        self.reader.look_at(record, message)
        self.calm = self.held or not self.reader.restating

    def other(self, line: int, entry: Any) -> Iterator[Event]:
        """Tell a row that is no usual one, or has no time, or one that lies before that of the row before it."""
        reader = self.reader
        ts = told_time(entry.timestamp, reader.source, line, entry.id)
        if entry.id is not None and not reader.is_new(entry, entry.id, line):
            return
        if self.before > _FIRST:
            reader.last = millis(self.before)
        if reader.mind_clock(line, entry, ts) or ts is None:
            yield from self._all()  # what was left out may hold the latest time, and the next row the first
            self.calm = False
        yield from self.told(line, entry, ts)
        self.before = datetime.fromtimestamp(reader.last / 1000, UTC) if reader.last else _FIRST

    def told(self, line: int, entry: Entry, ts: int | None) -> Iterator[Event]:
        """Tell a row, and before it what it ends."""
        reader, turns = self.reader, self.turns
        yield from turns.settled()
        session = reader.session
        self._count()
        event = reader.told(line, entry, ts)
        if event is None:
            return
        yield from turns.ended_by(event, session)
        self.left = self.note = None
        yield event
        if not self.held:
            yield from reader.restated(line)
        # The first dated row after a header may hold the session's first time; a cut reply's tool row says that it ran.
        says = event.kind == "session" or (event.kind == "reply" and event.stop == "length")
        self.calm = not says and (self.calm or ts is not None)

    def _all(self) -> Iterator[Event]:
        """Tell what has been gathered and left out."""
        gathered = self.turns.line
        rows = {row[0]: row for row in (self.note, self.left) if row is not None and row[0] > gathered}
        yield from self.turns.told(self.reader.session)
        self.left = self.note = None
        for line, entry in rows.values():
            event = self.reader.told(line, entry, millis(entry.timestamp))  # type: ignore[arg-type]
            if event is not None:
                self.omitted -= 1
                yield event

    def _count(self) -> None:
        if self.omitted:
            self.reader.source.left_out[self.reader.session] += self.omitted
            self.omitted = 0

    def end(self) -> Iterator[Event]:
        """Tell what is left at the end of the file."""
        yield from self._all()
        self._count()
        yield from self.reader.end(held=self.held)
