"""Good replies and whole turns of a brief reading, gathered into columns instead of told row by row.

A turn is gathered where it went well from a person's prompt to its answer, or where the person stopped it or wrote
while it went on, and a person's prompt comes next; where the turn before it was such a one; and where a good reply was
told since anything else happened (a failure, a compaction): what detectors ask of the time after that is in it. A turn
that the person stopped or cut short is gathered with a later one that went well: until then a failure may ask what
came before.
What a session keeps of gathered turns is their number and their figures. A row costs some microseconds to make, pass
on and judge, a column of rows a tenth of that.
"""

from array import array
from datetime import datetime

import msgspec

from forensics.events import GOOD_STOPS, Event, Run
from forensics.parsers._pi import CALL_END, NO_RAW, AssistantMessage, UserMessage, is_model_reply, reply, visible
from forensics.parsers._pi_entries import Entry
from forensics.parsers._pi_prompt import is_wrapped
from forensics.parsers._pi_rows import Reader
from forensics.sane import all_millis, millis

LONGEST = 512
"""Replies after which one is told, so that a run of any length takes little memory."""
MOST = 64
"""Turns after which they are told, where the person stopped one after the other."""

Figures = tuple[int, datetime, int, int, int, int, int, float | None]
"""Line, time, context, total as reported (-1: none), input, cached, output, cost."""
Row = tuple[int, Entry]
_NONE: Row = 0, Entry()


class _Turn(msgspec.Struct, gc=False):
    """A turn that is over: its prompt, its first step, the figures of all its replies, the reply that ended it."""

    prompt: Row
    first: Row
    run: list[Figures]
    end: Row | None
    """The last reply; `None` where there is none."""
    stopped: datetime | None = None
    """When the person stopped it."""
    measured: bool = True
    """The figures of the last reply are the last of the run."""
    well: bool = False
    """It came to its answer."""


class Turns:
    """What has been gathered and not told yet: whole turns, the last of them, then a prompt, then a run of replies."""

    def __init__(self, reader: Reader, out: list[Event]) -> None:
        self._reader = reader
        self._out = out
        """Where what is told goes."""
        self._gathered: list[Figures] = []
        self._prompts = 0
        """Turns gathered."""
        self._stopped = 0
        """Turns among them that the person stopped."""
        self._unmeasured: list[datetime] = []
        """The times of the replies that ended these, where they have no figures."""
        self._recent: list[_Turn] = []
        """The last turn that went well, and those after it that did not, where they were not told yet."""
        self.prompt: Row | None = None
        """The prompt of the turn that goes on, where it was not told yet."""
        self._run: list[Figures] = []
        self._first = _NONE
        """The first reply of the run."""
        self._last = _NONE
        """The last reply of the run."""
        self.goes_on = False
        """The row before was a good reply that calls a tool, or a prompt that was not told yet."""
        self.gathers = False
        """A turn that begins now may be gathered."""
        self._asked = False
        """A person's prompt was told, and all went well since."""
        self._shown = False
        """A good reply was told, and nothing but turns that went well or were stopped since the row before them."""

    @property
    def line(self) -> int:
        """The last line that is gathered; 0 where none is."""
        lines = [self._run[-1][0]] if self._run else []
        lines += [(self._recent[-1].end or self._recent[-1].prompt)[0]] if self._recent else []
        return max((*lines, self.prompt[0] if self.prompt is not None else 0))

    @property
    def may_omit(self) -> bool:
        """A row that only says when it was written may be left out: the time is asked for where a person waits."""
        return self.gathers or (self.goes_on and (self._asked or self.prompt is not None))

    @property
    def may_ask(self) -> bool:
        """A person's prompt may be gathered."""
        return self.gathers or (self.prompt is not None and self._has_room)

    @property
    def _has_room(self) -> bool:
        return len(self._gathered) < LONGEST and len(self._recent) < MOST

    def ask(self, line: int, entry: Entry) -> None:
        """Take a person's prompt: where the turn before it went well, nobody will ask for the rows of that.

        What was stopped or cut short since the last turn that went well is kept: the next failure looks back as far
        as that.
        """
        if self.prompt is not None:
            self._recent.append(_Turn(self.prompt, self._first, self._run, self._last if self._run else None))
            self._run = []
        elif self._recent and self._recent[-1].well:
            for turn in self._recent:
                self._gathered += turn.run
                if turn.stopped is not None:
                    self._stopped += 1
                    self._unmeasured += [] if turn.measured else [turn.stopped]
            self._prompts += len(self._recent)
            self._recent = []
        self.prompt = line, entry
        self.goes_on, self.gathers = True, False

    def steps(self, run: list[Figures], first: Row, last: Row) -> None:
        """Take replies that call tools, one or more; `first` and `last` are the rows of the outer ones."""
        if not self._run:
            self._first = first
        self._run += run
        self._last = last
        if len(self._run) >= LONGEST:
            self.tell(self._reader.session)

    def end(self, row: Row, figures: Figures | None, stopped: datetime | None = None) -> None:
        """Take the reply that ends the turn: well, unless the person `stopped` it then."""
        assert self.prompt is not None
        if figures is not None:
            self._run.append(figures)
        measured = figures is not None
        self._recent.append(_Turn(self.prompt, self._first, self._run, row, stopped, measured, stopped is None))
        self.prompt, self._run = None, []
        self.goes_on = False
        self.gathers = self._has_room

    def settle(self) -> None:
        """Tell whole turns and the prompt of the one that goes on, because its next row is no ordinary one."""
        for turn in self._recent:
            self._prompt(turn.prompt)
            steps = turn.run[:-1] if turn.measured else turn.run
            if steps:
                self._out.append(self._told(turn.first))
            if turn.end is not None:
                event = self._told(turn.end)
                if steps[1:]:
                    event.run = _columns(steps[1:])
                self._out.append(event)
        self._recent = []
        if self.prompt is not None:
            prompt, self.prompt = self.prompt, None
            self._prompt(prompt)
            self._asked = True
            if self._run:
                self._out.append(self._told(self._first))
                del self._run[0]
        if self._run:
            self._reader.last_reply = millis(self._run[-1][1])

    def end_by(self, event: Event, session: str) -> None:
        """End the run before a row that is told; a reply brings the run along, if it is dated as the run is."""
        if self._run and event.kind == "reply" and event.ts is not None:
            event.run = _columns(self._run)
            self._run = []
        elif self._run:
            self._end_run(session)
        stop = event.stop if event.kind == "reply" else None
        asked = event.kind == "prompt" and event.origin == "human"
        over = self._asked and stop in {"done", "aborted"}
        self.goes_on = stop == "tool" and self._reader.broken is None
        self._asked = asked or (self._asked and self.goes_on)
        self._shown = (over or self._asked) and (self._shown or stop in GOOD_STOPS)
        self.gathers = self._shown and over

    def tell(self, session: str) -> None:
        """Tell all that has been gathered."""
        self.settle()
        if self._run:
            self._end_run(session)

    def _end_run(self, session: str) -> None:
        line, entry = self._last
        assert entry.message is not None
        source = self._reader.source
        event = reply(entry.message, source, session, line, entry.id, ts=millis(self._run.pop()[1]))
        if self._run:
            event.run = _columns(self._run)
            self._run = []
        self._out.append(event)

    def _prompt(self, row: Row) -> None:
        event = self._told(row)
        if self._gathered:
            run = event.run = _columns(self._gathered)
            run.prompts, run.stopped, run.unmeasured = self._prompts, self._stopped, all_millis(self._unmeasured)
            self._gathered, self._prompts, self._stopped, self._unmeasured = [], 0, 0, []
        self._out.append(event)

    def _told(self, row: Row) -> Event:
        line, entry = row
        event = self._reader.told(line, entry, millis(entry.timestamp))  # type: ignore[arg-type]
        assert event is not None
        return event


def figures_of(line: int, time: datetime, message: AssistantMessage) -> Figures | None:
    """Give the figures of a reply; `None` where it has none, or may be no model's."""
    usage, cost = message.usage, message.usage.cost
    fresh, output = usage.input, usage.output
    cached = usage.cache_read + usage.cache_write
    context = fresh + cached + output
    if not context or message.provider == "openclaw":
        return None
    return line, time, context, usage.total_tokens or -1, fresh, cached, output, None if cost is None else cost.total


def is_step(message: AssistantMessage) -> bool:
    """Tell a reply that surely calls a tool."""
    return message.stop_reason == "toolUse" and bytes(message.content)[-3:] == CALL_END


def is_answer(message: AssistantMessage) -> bool:
    """Tell a reply that surely ends its turn well: it generated something, and there is text."""
    if message.stop_reason != "stop" or not message.usage.output:
        return False
    text = visible(message.content)
    return text is not None and bool(text.strip())


def is_stopped(message: AssistantMessage, figures: Figures | None) -> bool:
    """Tell a model's reply that the person stopped, of which all figures are known or none."""
    if message.stop_reason != "aborted" or message.provider == "openclaw" or not is_model_reply(message):
        return False
    return figures is not None or not message.usage.total_tokens


def is_plain(message: UserMessage) -> bool:
    """Tell a prompt that a person surely typed, and whose text says so without its wrapping."""
    if message.provenance is not NO_RAW and bytes(message.provenance):
        return False
    text = visible(message.content)
    return text is not None and not is_wrapped(text)


def _columns(run: list[Figures]) -> Run:
    """Turn the rows of a run into columns."""
    lines, times, contexts, totals, fresh, cached, output, prices = zip(*run, strict=True)
    paid = [price for price in prices if price is not None] if None in prices else prices
    return Run(
        array("q", lines),
        times,
        array("q", contexts),
        array("q", totals),
        start=millis(times[0]),
        end=millis(times[-1]),
        input=sum(fresh),
        cached=sum(cached),
        output=sum(output),
        costs=paid,
    )
