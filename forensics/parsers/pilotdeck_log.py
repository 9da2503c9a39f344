"""The PilotDeck log parser."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from forensics.events import Event
from forensics.parse import Piece, Source, lenient, parser, reason_of, writer
from forensics.parsers._pilotdeck_attempt import Compactor
from forensics.parsers._pilotdeck_capture import LOG_RULES, PREFIXES, log_pieces, write_log
from forensics.parsers._pilotdeck_clock import Clock
from forensics.parsers._pilotdeck_halves import lines
from forensics.parsers._pilotdeck_host import Host
from forensics.parsers._pilotdeck_lines import LOG_LINE, OWN_LINE, Line
from forensics.parsers._pilotdeck_stages import STAGES, Details, decoded, unquoted
from forensics.patterns import later
from forensics.sane import figure, guarded
from forensics.tolerant import salvage

_STAGE = later(rb"\[context:auto-compact\] ([a-z_]+)(?: (?=\{)|$)")
_BROKEN = later(
    r"\[agent:auto-compact\] (?P<stage>[\w-]+) failed sessionId=(?P<session>\S*) turnId=\S*: (?P<error>.*)", re.DOTALL
)
_FIELD = later(r'"(sessionId|turnId|error|reason)":("(?:[^"\\]|\\.)*")|"(preTokens|postTokens)":(\d+)(?=[,}])')
_TORN_ERROR = later(r'"error":"(?P<words>(?:[^"\\]|\\.)+)\\?\s*$')
_PLACE = later(r"(?: starting at)? at (?:byte \d+ of the line|character \d+)")
_NAMELESS = "(no session)"
_TURNS = 1000


@parser(
    "pilotdeck",
    failures="yes",
    log=True,
    held=True,
    hides={"prompts", "replies", "errors", "length_stops", "aborted", "manual_continues"},
    when=lambda head: head.is_log(LOG_LINE, OWN_LINE),
)
def pilotdeck_log(source: Source) -> Iterator[Event]:
    """PilotDeck's `runtime.log`, or its gateway's output as a terminal shows it.

    The desktop host writes it to its log folder (`pilotdeck-desktop/logs/runtime.log`), CRLF on Windows, one line
    for each piece of output that it gets. Rows come from the `[context:auto-compact]` lines and from those about the
    gateway's starts and exits; other lines are counted and passed over. An event that the host cut across lines is
    put together and stands at its first line. Sessions are told apart by their id.

    `context` is the whole prompt (`snapshot.tokens`), `messages` and `before` the messages alone (`preTokens`),
    `after` likewise, unless a later tier cut more than it says. `cap` is the window without the room kept for the
    answer. `total` is the prompt size that the provider reported for an earlier request, `estimate` the agent's own
    estimate of that request.

    `full_compaction_started` starts an attempt. `full_compaction_no_summary` ends it without a summary, unless a
    later tier made one (`full_compaction_completed` with `summarySucceeded`); a `full_compaction_completed` that
    did not succeed is no success. `requests` is 0 for an error repeated in the 60 s cooldown after a failed summary
    and unknown where the log cannot tell. A start without an end stays open: the process died, or the log ends.

    The log holds neither prompts nor replies; a failed request shows only as a retry, where one was made. Builds
    before August 2026 write no compaction lines: such a log shows no compaction, failed or not.
    """
    log = _Log(source)
    for _ in lines(source, log.line, log.staged):
        yield from log.rows
        log.rows.clear()
    log.close()
    yield from log.rows
    if not log.compactors:
        source.failures = "no"
        source.hides.add("compactions")


class _Log:
    """What is known of the log so far; `rows` are those of the lines taken since they were last fetched."""

    def __init__(self, source: Source) -> None:
        self.compactors: dict[str, Compactor] = {}
        self.rows: list[Event] = []
        self._source = source
        self._clock = Clock()
        self._host = Host(self._clock)
        self._turns: dict[str, str] = {}
        self._whole: dict[str, Compactor] = {}
        """Those whose session's id is as the line has it."""
        self._odd = False
        """A figure or a time may be none: from here on each row is looked at again."""

    def staged(self, line: int, ts: int | None, stage: str, details: Details) -> None:
        """Take a stage of auto-compaction, with times and figures that can be."""
        self._host.alive()
        self._source.records += 1
        compactor = self._whole.get(details.sessionId)
        if compactor is None or details.turnId not in self._turns:
            compactor = self._compactor(self._session(details), line, ts)
            if compactor.session == details.sessionId:
                self._whole[compactor.session] = compactor
        self._add(compactor.take(stage, details, line, ts))

    def line(self, line: Line) -> None:
        """Take any other line that says something."""
        ts = self._clock.read(line.stamp)
        if ts is None and line.stamp is not None:
            self._source.reject(line.number, line.offset, "a time that is none", salvaged=True)
        self._odd = self._odd or (ts is not None and self._clock.odd)
        found = _STAGE.match(line.message)
        if found is not None:
            self._stage(line, ts, found[1].decode(), line.message[found.end() :])
            return
        text = line.message.decode(errors="replace")
        broken = _BROKEN.match(text)
        self._source.records += 1
        if broken is not None:
            overflow = broken["stage"] == "model-error-recovery"
            compactor = self._compactor(broken["session"], line.number, ts)
            self._add(compactor.fail(broken["error"], line.number, ts, overflow=overflow))
            return
        row, turn = self._host.row(line, text)
        if turn:
            for one in self.compactors.values():
                self._add(one.restart())
        if row is not None:
            self.rows += guarded([row], self._source)  # it has a code, and may have a time of its own

    def close(self) -> None:
        """Let go of the rows held back at the end of the file."""
        for compactor in self.compactors.values():
            self._add(compactor.flush())

    def _add(self, rows: list[Event]) -> None:
        self.rows += guarded(rows, self._source) if self._odd else rows

    def _stage(self, line: Line, ts: int | None, stage: str, payload: bytes) -> None:
        if stage not in STAGES:
            self._source.unknown[stage] += 1
        if payload:
            details = self._details(line, stage, payload)
            if details is not None:
                self.staged(line.number, ts, stage, details)
            return
        self._host.alive()
        self._source.records += 1
        text = f"{stage} without details"
        self._add([Event(kind="note", line=line.number, ts=ts, tool="gateway", text=text)])

    def _details(self, line: Line, stage: str, payload: bytes) -> Details | None:
        try:
            return decoded(payload)
        except (msgspec.DecodeError, RecursionError):
            self._odd = True
        rescued = salvage(payload)
        lost: list[str] = []
        details = lenient(_rounded(rescued.values[0]), Details, lost) if rescued.values else None
        if details is None and stage.startswith("full_compaction_"):
            details = _partial(payload)
        reason = reason_of(_PLACE.sub("", rescued.reason) if rescued.reason else None, lost)
        if reason or details is None:
            reason = reason or "not a JSON object"
            self._source.reject(line.number, line.offset, reason, salvaged=details is not None)
        return details

    def _session(self, details: Details) -> str:
        """Give the session's id; a character torn by the host is mended by the turn's id, which is plain ASCII."""
        session = details.sessionId or _NAMELESS
        if "\ufffd" in session:
            return self._turns.get(details.turnId, session)
        if details.turnId not in self._turns:
            if len(self._turns) >= 2 * _TURNS:  # all at once: to drop the oldest for each new one is slow
                self._turns = dict(islice(self._turns.items(), _TURNS, None))
            self._turns[details.turnId] = session
        return session

    def _compactor(self, session: str, line: int, ts: int | None) -> Compactor:
        compactor = self.compactors.get(session)
        if compactor is None:
            compactor = self.compactors[session] = Compactor(session, fresh=self._host.known_start)
            self._add([Event(kind="session", session=session, line=line, ts=ts, agent="pilotdeck")])
        return compactor


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    return round(value) if isinstance(value, float) and isfinite(value) else value


def _partial(payload: bytes) -> Details | None:
    """Read what a torn record of an attempt still says: that it happened is not lost with its end."""
    known: dict[str, Any] = {}
    text = payload.decode(errors="replace")
    for name, value, count, digits in _FIELD.findall(text):
        known[name or count] = unquoted(value) if name else figure(digits)
    torn = _TORN_ERROR.search(text)
    if torn is not None:
        known.setdefault("error", torn["words"])
    return Details(**known) if "sessionId" in known else None


@writer(pilotdeck_log, suffix=".log", pieces=log_pieces, rules=LOG_RULES, prefixes=PREFIXES)
def pilotdeck_log_writer(kept: Sequence[Piece], target: Path) -> None:
    """Write a log of the lines that say something; an event that the host cut across lines comes out whole."""
    write_log(kept, target)
