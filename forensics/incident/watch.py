"""What a report needs of every row of a file, taken while the rows stream by: sizes, costs and silences."""

from array import array
from collections.abc import Iterator

from forensics.events import Event

SILENCE = 15 * 60_000
"""Milliseconds without a row from which a stretch counts as a gap of the record."""
_NONE = -1
_MOST = 1 << 62


class Trace:
    """One session's rows that carry a size or a cost, in order, and the stretches without any row."""

    def __init__(self) -> None:
        self.seq = array("q")
        self.ts = array("q")
        self.contexts = array("q")
        self.caps = array("q")
        self.cost = array("d")
        """Dollars of the row itself; 0 where none are recorded."""
        self.priced = False
        self.untimed = 0
        """Rows kept here that carry no time."""
        self.silences: list[tuple[int, int, str]] = []
        """(last time before, first time after, kind of the row that ended it)."""
        self.first: int | None = None
        """The earliest time of a row."""
        self.last: int | None = None
        """The latest time of a row."""
        self._rows = 0

    def add(self, event: Event) -> None:
        """Take a row."""
        self._rows += 1
        ts = event.ts
        if ts is not None and -1 < ts < _MOST:
            if self.last is not None and ts - self.last >= SILENCE:
                self.silences.append((self.last, ts, _ender(event)))
            self.last = ts if self.last is None else max(ts, self.last)
            self.first = ts if self.first is None else min(ts, self.first)
        else:
            ts = None
        context, cost, cap = event.context, event.cost, event.cap
        if context is None and cost is None and cap is None:
            return
        self.untimed += ts is None
        self.seq.append(self._rows)
        self.ts.append(_NONE if ts is None else ts)
        self.contexts.append(context if context is not None and -1 < context < _MOST else _NONE)
        self.caps.append(cap if cap is not None and 0 < cap < _MOST else _NONE)
        self.cost.append(cost or 0.0)
        self.priced = self.priced or cost is not None


def _ender(event: Event) -> str:
    if event.kind == "prompt":
        return "a prompt by a person" if event.origin in {"human", "queued"} else "a prompt"
    return _ENDERS.get(event.kind, "another row")


_ENDERS = {
    "reply": "a reply",
    "tool": "a tool call",
    "compact": "a compaction",
    "compacted": "a compaction's end",
    "budget": "a budget check",
    "exit": "a process exit",
    "spawn": "a process start",
    "retry": "a retry",
}


class Watch:
    """Looks at every row of one file on its way from the parser to the sessions."""

    def __init__(self) -> None:
        self.traces: dict[str | None, Trace] = {}

    def __call__(self, events: Iterator[Event]) -> Iterator[Event]:
        """Pass the rows on."""
        traces = self.traces
        for event in events:
            trace = traces.get(event.session)
            if trace is None:
                trace = traces[event.session] = Trace()
            trace.add(event)
            yield event
