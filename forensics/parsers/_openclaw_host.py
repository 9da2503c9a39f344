"""The starts and ends of OpenClaw's gateway, as its log tells of them."""

from forensics.events import Event
from forensics.parsers._openclaw_lines import Entry
from forensics.parsers._pi import TEXT_LIMIT

_PARTS = frozenset({"gateway", "shutdown", "openclaw", "clawdbot", ""})
_UP = ("ready", "listening on ws", "http server listening")
_GOING = ("signal SIG", "received SIG", "completed cleanly")
_CRASHES = ("Unhandled promise rejection", "Uncaught exception")


class Host:
    """Whether the gateway is up; `None` until the log first says so. Each start and each end is one row."""

    def __init__(self) -> None:
        self._up: bool | None = None

    def row(self, entry: Entry) -> Event | None:
        """Give the row of an entry that tells of a start, an end or a crash of the process."""
        if entry.subsystem not in _PARTS:
            return None
        text = entry.text
        event = Event(kind="note", line=entry.line, ts=entry.ts, text=text[:TEXT_LIMIT])
        if "Gateway failed to start" in text:
            event.kind, event.error = "exit", text
            return event
        if any(crash in text for crash in _CRASHES):
            event.error = text
            return event
        if entry.subsystem == "gateway" and text.startswith(_UP):
            return self._started(event)
        if entry.subsystem in {"gateway", "shutdown"} and text.startswith(_GOING):
            return self._ended(event)
        if entry.subsystem == "gateway" and text == "starting..." and self._up:
            event.text = "no end was logged before this start"
            return self._ended(event)
        return None

    def _started(self, event: Event) -> Event | None:
        event.kind, was, self._up = "spawn", self._up, True
        return None if was else event

    def _ended(self, event: Event) -> Event | None:
        event.kind, was, self._up = "exit", self._up, False
        return None if was is False else event
