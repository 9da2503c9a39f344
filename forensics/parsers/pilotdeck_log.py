"""The PilotDeck log parser."""

import re
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from forensics.events import Event
from forensics.parse import Piece, Source, lenient, parser, reason_of, writer
from forensics.parsers._pilotdeck_attempt import STAGES, Compactor, Details
from forensics.parsers._pilotdeck_capture import LOG_RULES, PREFIXES, log_pieces, write_log
from forensics.parsers._pilotdeck_halves import lines
from forensics.parsers._pilotdeck_host import Host
from forensics.parsers._pilotdeck_lines import LOG_LINE, OWN_LINE, Check, Clock, Line
from forensics.sane import figure
from forensics.tolerant import salvage

_DECODE = msgspec.json.Decoder(Details).decode
_STAGE = re.compile(rb"\[context:auto-compact\] ([a-z_]+)(?: (?=\{)|$)")
_BROKEN = re.compile(
    r"\[agent:auto-compact\] (?P<stage>[\w-]+) failed sessionId=(?P<session>\S*) turnId=\S*: (?P<error>.*)", re.DOTALL
)
_FIELD = re.compile(r'"(sessionId|turnId|error|reason)":("(?:[^"\\]|\\.)*")|"(preTokens|postTokens)":(\d+)(?=[,}])')
_PLACE = re.compile(r"(?: starting at)? at (?:byte \d+ of the line|character \d+)")
_NAMELESS = "(no session)"
_TURNS = 1000


@parser(
    "pilotdeck",
    failures="yes",
    log=True,
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
    for found in lines(source, log.check):
        if isinstance(found, Event):
            yield found
        else:
            yield from log.rows(found)
    source.records += log.checks
    yield from log.close()
    if not log.compactors:
        source.failures = "no"


class _Log:
    def __init__(self, source: Source) -> None:
        self.compactors: dict[str, Compactor] = {}
        self.checks = 0
        self._source = source
        self._clock = Clock()
        self._host = Host(self._clock)
        self._turns: dict[str, str] = {}

    def rows(self, line: Line) -> Iterator[Event]:
        """Give the rows of a line."""
        found = _STAGE.match(line.message)
        if found is not None:
            yield from self._stage(line, found[1].decode(), line.message[found.end() :])
            return
        text = line.message.decode(errors="replace")
        broken = _BROKEN.match(text)
        self._source.records += 1
        if broken is not None:
            yield from self._compactor(broken["session"], line)
            overflow = broken["stage"] == "model-error-recovery"
            ts = self._clock.read(line.stamp)
            yield from self.compactors[broken["session"]].fail(broken["error"], line.number, ts, overflow=overflow)
            return
        row, turn = self._host.row(line, text)
        if turn:
            yield from self._restart()
        if row is not None:
            yield row

    def check(self, line: int, stamp: bytes | None, check: Check) -> Event | None:
        """Give the row of a budget check that let the request through, where no other row depends on it."""
        compactor = self.compactors.get(check.sessionId)
        snapshot = check.snapshot
        if compactor is None or compactor.holds or snapshot is None:
            return None
        self._host.alive()
        self.checks += 1
        compactor.turn = check.turnId
        cap, total = snapshot.maxContextTokens, snapshot.calibrationActualInputTokens
        return Event(
            kind="budget",
            session=compactor.session,
            line=line,
            ts=self._clock.read(stamp),
            context=snapshot.tokens,
            cap=cap,
            cap_source=None if cap is None else "recorded",
            total=total,
            estimate=None if total is None else snapshot.estimate,
        )

    def close(self) -> Iterator[Event]:
        """Give the rows held back at the end of the file."""
        for compactor in self.compactors.values():
            yield from compactor.flush()

    def _restart(self) -> Iterator[Event]:
        for compactor in self.compactors.values():
            yield from compactor.restart()

    def _stage(self, line: Line, stage: str, payload: bytes) -> Iterator[Event]:
        if stage not in STAGES:
            self._source.unknown[stage] += 1
        if not payload:
            self._host.alive()
            self._source.records += 1
            ts = self._clock.read(line.stamp)
            yield Event(kind="note", line=line.number, ts=ts, tool="gateway", text=f"{stage} without details")
            return
        details = self._details(line, stage, payload)
        if details is not None:
            yield from self._taken(stage, details, line)

    def _taken(self, stage: str, details: Details, line: Line) -> Iterator[Event]:
        self._host.alive()
        self._source.records += 1
        session = self._session(details)
        yield from self._compactor(session, line)
        ts = self._clock.read(line.stamp)
        yield from self.compactors[session].take(stage, details, line.number, ts)

    def _details(self, line: Line, stage: str, payload: bytes) -> Details | None:
        try:
            return _decoded(payload)
        except (msgspec.DecodeError, RecursionError):
            pass
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
            self._turns[details.turnId] = session
            if len(self._turns) > _TURNS:
                del self._turns[next(iter(self._turns))]
        return session

    def _compactor(self, session: str, line: Line) -> Iterator[Event]:
        if session not in self.compactors:
            self.compactors[session] = Compactor(session, fresh=self._host.known_start)
            yield Event(
                kind="session",
                session=session,
                line=line.number,
                ts=self._clock.read(line.stamp),
                agent="pilotdeck",
            )


def _decoded(payload: bytes) -> Details:
    """Read the JSON behind a stage. msgspec passes over what it is not asked for: the bytes are looked at here."""
    if not payload.isascii():
        try:
            payload.decode()
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError("invalid UTF-8") from error
    return _DECODE(payload)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    return round(value) if isinstance(value, float) and isfinite(value) else value


def _partial(payload: bytes) -> Details | None:
    """Read what a torn record of an attempt still says: that it happened is not lost with its end."""
    known: dict[str, Any] = {}
    for name, text, count, digits in _FIELD.findall(payload.decode(errors="replace")):
        known[name or count] = msgspec.json.decode(text) if name else figure(digits)
    return Details(**known) if "sessionId" in known else None


@writer(pilotdeck_log, suffix=".log", pieces=log_pieces, rules=LOG_RULES, prefixes=PREFIXES)
def pilotdeck_log_writer(kept: Sequence[Piece], target: Path) -> None:
    """Write a log of the lines that say something; an event that the host cut across lines comes out whole."""
    write_log(kept, target)
