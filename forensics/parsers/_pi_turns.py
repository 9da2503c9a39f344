"""Good replies and whole turns of a brief reading, gathered into columns instead of told row by row.

A turn is gathered where it went well from a person's prompt to its answer, and a person's prompt comes next; where
the turn before it went well too, or was aborted by the person; and where a turn that went well was told since anything
else happened (a failure, a compaction, a change of model): what detectors ask of the time after that is in it. What a
session keeps of gathered turns is their number and their figures. A row costs some microseconds to make, pass on and
judge, a column of rows a tenth of that.
"""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from forensics.events import Event, Run
from forensics.parsers._pi import CALL_END, Message, reply, visible
from forensics.parsers._pi_entries import Entry
from forensics.parsers._pi_prompt import is_wrapped
from forensics.parsers._pi_rows import Reader
from forensics.sane import all_millis, millis

LONGEST = 512
"""Replies after which one is told, so that a run of any length takes little memory."""

Figures = tuple[int, datetime, int, int | None, int, int, int, float | None]
"""Line, time, context, total as reported, input, cached, output, cost."""
Row = tuple[int, Entry]
_NONE: Row = 0, Entry()


class _Turn(msgspec.Struct, gc=False):
    """A turn that went well: its prompt, its first reply, the figures of all its replies, its answer."""

    prompt: Row
    first: Row
    run: list[Figures]
    answer: Row


class Turns:
    """What has been gathered and not told yet: whole turns, the last of them, then a prompt, then a run of replies."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.gathered: list[Figures] = []
        self._prompts = 0
        """Turns gathered."""
        self._last: _Turn | None = None
        """The last turn that went well, where it was not told yet."""
        self.prompt: Row | None = None
        """The prompt of the turn that goes on, where it was not told yet."""
        self.run: list[Figures] = []
        self.first = _NONE
        """The first reply of the run."""
        self.last = _NONE
        """The last reply of the run."""
        self.goes_on = False
        """The row before was a good reply that calls a tool, or a prompt that was not told yet."""
        self.gathers = False
        """A turn that begins now may be gathered."""
        self._asked = False
        """A person's prompt was told, and all went well since."""
        self._steady = False
        """A turn that went well was told, and only such turns and aborted ones since."""

    @property
    def line(self) -> int:
        """The last line that is gathered; 0 where none is."""
        lines = [self.run[-1][0]] if self.run else []
        lines += [self._last.answer[0]] if self._last is not None else []
        return max((*lines, self.prompt[0] if self.prompt is not None else 0))

    def ask(self, line: int, entry: Entry) -> None:
        """Take a person's prompt after a turn that went well: that turn is over, and nobody will ask for its rows."""
        if self._last is not None:
            self.gathered += self._last.run
            self._prompts += 1
            self._last = None
        self.prompt = line, entry
        self.goes_on, self.gathers = True, False

    def answer(self, line: int, entry: Entry, figures: Figures) -> None:
        """Take the reply that ends the turn well."""
        assert self.prompt is not None
        self.run.append(figures)
        self._last = _Turn(self.prompt, self.first, self.run, (line, entry))
        self.prompt, self.run = None, []
        self.goes_on, self.gathers = False, len(self.gathered) < LONGEST

    def settled(self) -> Iterator[Event]:
        """Tell whole turns and the prompt of the one that goes on, because its next row is no ordinary one."""
        if self._last is not None:
            turn, self._last = self._last, None
            yield self._prompt(turn.prompt)
            steps = turn.run[:-1]
            if steps:
                yield self._tell(turn.first)
            event = self._tell(turn.answer)
            if steps[1:]:
                event.run = _columns(steps[1:])
            yield event
        if self.prompt is not None:
            prompt, self.prompt = self.prompt, None
            yield self._prompt(prompt)
            self._asked = True
            if self.run:
                yield self._tell(self.first)
                del self.run[0]
        if self.run:
            self._reader.last_reply = millis(self.run[-1][1])

    def ended_by(self, event: Event, session: str) -> Iterator[Event]:
        """End the run before a row that is told; a reply brings the run along, if it is dated as the run is."""
        if self.run and event.kind == "reply" and event.ts is not None:
            event.run = _columns(self.run)
            self.run = []
        elif self.run:
            yield self._ended(session)
        stop = event.stop if event.kind == "reply" else None
        asked = event.kind == "prompt" and event.origin == "human"
        well = self._asked and stop == "done"
        aborted = self._asked and stop == "aborted"
        self.goes_on = stop == "tool" and self._reader.broken is None
        self._asked = asked or (self._asked and self.goes_on)
        self._steady = well or (self._steady and (aborted or self._asked))
        self.gathers = self._steady and (well or aborted)

    def told(self, session: str) -> Iterator[Event]:
        """Tell all that has been gathered."""
        yield from self.settled()
        if self.run:
            yield self._ended(session)

    def _ended(self, session: str) -> Event:
        line, entry = self.last
        assert entry.message is not None
        source = self._reader.source
        event = reply(entry.message, source, session, line, entry.id, ts=millis(self.run.pop()[1]))
        if self.run:
            event.run = _columns(self.run)
            self.run = []
        return event

    def _prompt(self, row: Row) -> Event:
        event = self._tell(row)
        if self.gathered:
            event.run = _columns(self.gathered)
            event.run.prompts = self._prompts
            self.gathered, self._prompts = [], 0
        return event

    def _tell(self, row: Row) -> Event:
        line, entry = row
        event = self._reader.told(line, entry, millis(entry.timestamp))  # type: ignore[arg-type]
        assert event is not None
        return event


def figures_of(line: int, time: datetime, message: Message) -> Figures | None:
    """Give the figures of a reply whose usage is whole; of any other `None`."""
    usage = message.usage
    if usage is None or message.provider == "openclaw":
        return None
    fresh, output, cost = usage.input, usage.output, usage.cost
    try:
        cached: int = usage.cache_read + usage.cache_write  # type: ignore[operator]
        context: int = fresh + cached + output  # type: ignore[operator]
    except TypeError:  # a part is not told
        return None
    if not context:
        return None
    price = None if cost is None else cost.total
    return line, time, context, usage.total_tokens or None, fresh, cached, output, price  # type: ignore[return-value]


def is_step(message: Message) -> bool:
    """Tell a reply that surely calls a tool."""
    return message.stop_reason == "toolUse" and bytes(message.content)[-3:] == CALL_END


def is_answer(message: Message) -> bool:
    """Tell a reply that surely ends its turn well: it generated something, and there is text."""
    if message.stop_reason != "stop" or message.usage is None or not message.usage.output:
        return False
    text = visible(message.content)
    return text is not None and bool(text.strip())


def is_plain(message: Message) -> bool:
    """Tell a prompt that a person surely typed, and whose text says so without its wrapping."""
    if message.role != "user" or bytes(message.provenance):
        return False
    text = visible(message.content)
    return text is not None and not is_wrapped(text)


def _columns(run: list[Figures]) -> Run:
    """Turn the rows of a run into columns."""
    lines, times, contexts, totals, fresh, cached, output, prices = zip(*run, strict=True)
    paid = [price for price in prices if price is not None] if None in prices else prices
    return Run(
        lines,
        all_millis(times),
        contexts,
        totals,
        input=sum(fresh),
        cached=sum(cached),
        output=sum(output),
        cost=sum(paid) if paid else None,
    )
