"""Good replies of a brief reading, gathered into columns instead of told one by one.

A row costs a microsecond to make, pass on and add up; a column of rows a quarter of that. What a session keeps of a
run of good replies is its ends and its figures, so nothing is lost.
"""

from forensics.events import Event, Run
from forensics.parse import Source
from forensics.parsers._pi import CALL_END, Message, reply

_Held = tuple[int, str | None, int, Message, int, int, int, int, int, float | None]


class Runs:
    """The run of good replies that goes on, if one does. `open`: the last row told was a good reply."""

    def __init__(self, source: Source) -> None:
        self.open = False
        self._source = source
        self._held: _Held | None = None
        self._run = Run([], [], [], [])

    def take(self, line: int, record: str | None, ts: int | None, message: Message) -> bool:
        """Take a reply that goes on with the run; any that is not quite ordinary is refused."""
        if not self.open or message.stop_reason != "toolUse" or ts is None:
            return False
        usage = message.usage
        if usage is None or message.provider == "openclaw":
            return False
        fresh, output, cost = usage.input, usage.output, usage.cost
        try:
            cached: int = usage.cache_read + usage.cache_write  # type: ignore[operator]
            context: int = fresh + cached + output  # type: ignore[operator]
        except TypeError:  # a part is not told
            return False
        total, price = usage.total_tokens or -1, None if cost is None else cost.total
        if not context or not bytes(message.content).endswith(CALL_END):
            return False
        if self._held is not None:
            self._push(self._held)
        self._held = line, record, ts, message, fresh, cached, output, context, total, price  # type: ignore[assignment]
        return True

    def _push(self, held: _Held) -> None:
        line, _, ts, _, fresh, cached, output, context, total, price = held
        run = self._run
        run.lines.append(line)
        run.times.append(ts)
        run.contexts.append(context)
        run.totals.append(total)
        run.input += fresh
        run.cached += cached
        run.output += output
        if price is not None:
            run.cost = (run.cost or 0.0) + price

    def end(self, session: str) -> Event | None:
        """End the run and give its last reply, with the ones before it; `None` where no run goes on."""
        if self._held is None:
            return None
        line, record, ts, message = self._held[:4]
        event = reply(message, self._source, session, line, record, ts=ts)
        if self._run.lines:
            event.run, self._run = self._run, Run([], [], [], [])
        self._held = None
        return event
