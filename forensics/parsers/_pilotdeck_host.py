"""Lines of a PilotDeck log that are about its processes: starts, exits, what the gateway said of its own end."""

import re

from forensics.events import Event
from forensics.faults import classify
from forensics.parsers._pilotdeck_clock import Clock
from forensics.parsers._pilotdeck_lines import Line
from forensics.patterns import later
from forensics.sane import figure

_GATEWAY = "gateway"
_EXIT = later(
    r"(?:(?:Desktop )?[Gg]ateway )?(?:exited\b.*?|exit )\(?(?:exit )?code=(?P<code>-?\d+|null)\)?"
    r"(?: signal=(?P<signal>\w+))?"
)
_SPAWN = later(r"=== (?P<ts>\S+) spawn gateway|spawn ")
_RETRY = later(
    r"\[PilotDeck\] (?P<kind>transientRetry|zeroUsageRetry): (?P<error>.*?)"
    r" \(attempt \d+/\d+(?:, delay=\d+ms)?(?:, session=(?P<session>[^)]*))?\)"
)
_READY = "PilotDeck server listening"
_TEXT = 200


class Host:
    """The processes seen so far. A message that tells of an exit a second time is a note, not another exit."""

    def __init__(self, clock: Clock) -> None:
        self.known_start = False
        """A start of the gateway is in the log."""
        self._clock = clock
        self._ended: str | None = None
        """The first word of the message that told of the exit, until the next sign of life."""

    def alive(self) -> None:
        """Take a sign of life of the gateway."""
        self._ended = None

    def row(self, line: Line, text: str) -> tuple[Event | None, bool]:
        """Give the row of a message about processes, and whether a new process's life begins or ends there."""
        ts = self._clock.read(line.stamp)
        spawn = _SPAWN.match(text)
        if spawn is not None:
            self.known_start, self._ended = True, None
            ts = self._clock.read(spawn["ts"].encode()) if spawn["ts"] else ts
            return self._event("spawn", line, ts, text), True
        found = _EXIT.match(text)
        if found is not None and "before it was ready" not in text:
            return self._exit(line, ts, text, found)
        if text.startswith(_READY):
            self.known_start, self._ended = True, None
            return self._event("note", line, ts, _READY), True
        return self._said(line, ts, text), False

    def _exit(self, line: Line, ts: int | None, text: str, found: re.Match[str]) -> tuple[Event, bool]:
        told = text.split(" ", 1)[0]
        if self._ended is not None and self._ended != told:
            return self._event("note", line, ts, text), False
        self._ended = told
        code = None if found["code"] == "null" else figure(found["code"])
        row = self._event("exit", line, ts, text)
        row.code = code
        return row, True

    def _said(self, line: Line, ts: int | None, text: str) -> Event:
        retry = _RETRY.match(text)
        if retry is not None:
            self._ended = None
            fault = classify(retry["error"]) if retry["kind"] == "transientRetry" else None
            return Event(
                kind="retry",
                session=retry["session"],
                line=line.number,
                ts=ts,
                error=retry["error"],
                fault=fault,
                text=retry["kind"],
            )
        row = self._event("note", line, ts, text)
        if " failed" in text or "before it was ready" in text:
            row.error = text[:_TEXT]
        return row

    def _event(self, kind: str, line: Line, ts: int | None, text: str) -> Event:
        return Event(kind=kind, line=line.number, ts=ts, tool=_GATEWAY, text=text[:_TEXT])  # type: ignore[arg-type]
