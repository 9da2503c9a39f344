"""OpenClaw's agent database, from 2026.9 on."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import TypeVar, cast

import msgspec

from forensics.events import Event
from forensics.parse import Batch, Piece, Source, parser, rescue, writer
from forensics.parsers._openclaw_capture import RULES, pieces, write
from forensics.parsers._openclaw_tables import Run, Stored, entries, entry_at, runs, sessions, version
from forensics.parsers._pi import Message, milliseconds, reply
from forensics.parsers._pi_capture import MARKS, PREFIXES
from forensics.parsers._pi_entries import Entry
from forensics.parsers._pi_rows import Reader

T = TypeVar("T", bound=msgspec.Struct)
_BROKEN = frozenset({"error", "aborted"})
_SAME_MS = 5_000
"""A run's last error is written as an entry within this time of the run's own end."""


@parser("openclaw", failures="partly", sqlite={"transcript_events": {"session_id", "seq", "event_json", "created_at"}})
def openclaw_db(source: Source) -> Iterator[Event]:
    """OpenClaw's database (`~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite`), with its sessions' entries.

    The entries are those of a pi session, one row each. A run that OpenClaw retries keeps only its last error as an
    entry; the errors before it stand in the table of runs and are read from there. A prompt's own time is when it was
    sent, its row's when the run began. Compactions that failed are in no table, except one that ran out of time: the
    log has them.
    """
    with source.sqlite() as database:
        app = version(database)
        for stored in sessions(database, source):
            yield from _session(source, database, stored, app)


def _session(source: Source, database: Connection, stored: Stored, app: str | None) -> Iterator[Event]:
    rows = _Rows(source, database, stored)
    reader = Reader(rows)
    held = list(reader.rows(held=True))
    abandoned = reader.abandoned()
    rows.broken = [row.ts for row in held if row.stop in _BROKEN and row.kind == "reply" and row.ts is not None]
    waiting = _Waiting(runs(database, source, stored.session), rows, stored.session)
    compactions = 0
    begun: set[str] = set()
    for event in held:
        event.line = None
        branch = abandoned.get(event.record or "")
        if event.kind == "session":
            event.session, event.agent, event.version = stored.session, "openclaw", app
            event.parent = stored.parent or event.parent
            event.cap, event.cap_source = stored.cap, "recorded" if stored.cap else None
        elif branch is not None:
            event.session = branch.session
            if branch.session not in begun:
                begun.add(branch.session)
                yield Event(kind="session", session=branch.session, agent="openclaw", parent=branch.parent)
        else:
            event.session = stored.session
            yield from waiting.before(event)
        compactions += event.kind == "compacted"
        rows.complete(event)
        yield event
    yield from waiting.rest()
    rows.tell(compactions)


class _Rows(Source):
    """A session's rows as `Reader` takes them: lines are numbered by `seq`."""

    def __init__(self, source: Source, database: Connection, stored: Stored) -> None:
        super().__init__(source.path, source.name)
        self._outer = source
        self._database = database
        self._stored = stored
        self._name = f"session {stored.session}"
        self._sent: dict[str, int] = {}
        self.replied: set[int] = set()
        self.broken: list[int] = []
        self._last_reply: int | None = None

    def batches(
        self, decoder: "msgspec.json.Decoder[T]", usual: "msgspec.json.Decoder[T] | None" = None
    ) -> Iterator[Batch[T]]:
        del usual  # rows are looked at before they are passed on: they are all whole
        for seq, text in entries(self._database, self._outer, self._stored.session):
            for record in self._records(decoder, seq, text):
                self._outer.records += 1
                if isinstance(record, Entry):
                    self._look(record)
                yield Batch([seq], [record])

    def _records(self, decoder: "msgspec.json.Decoder[T]", seq: int, text: bytes) -> list[T]:
        try:
            return [decoder.decode(text)]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        found, reason = rescue(text, cast("type[T]", decoder.type))
        self._outer.reject(seq, 0, reason, salvaged=bool(found), of=self._name)
        return found

    def doubt(self, line: int | None, reason: str, *, record: str | None = None, lost: bool = False) -> None:
        self.doubts += 1
        self._outer.reject(line or 0, 0, reason, salvaged=not lost, of=record if record and not line else self._name)

    def line_at(self, line: int) -> tuple[int, bytes]:
        return 0, entry_at(self._database, self._stored.session, line)

    def _look(self, entry: Entry) -> None:
        message = entry.message
        ts = milliseconds(message.timestamp) if message is not None else None
        if message is None or ts is None:
            return
        if message.role == "assistant":
            self.replied.add(ts)
        elif message.role == "user" and entry.id is not None:
            self._sent[entry.id] = ts

    def holds(self, run: Run) -> bool:
        """Tell whether the failure that a run ended with is an entry, too."""
        if run.message is not None and run.message.timestamp is not None:
            return milliseconds(run.message.timestamp) in self.replied
        return run.ts is not None and any(abs(ended - run.ts) < _SAME_MS for ended in self.broken)

    def complete(self, event: Event) -> None:
        """Add to a row what its entry does not say by itself: when it was sent, who opened the session."""
        if event.kind == "reply":
            self._last_reply = event.ts if event.ts is not None else self._last_reply
        if event.kind != "prompt":
            return
        sent = self._sent.get(event.record or "")
        if event.sent is None and sent is not None and event.ts is not None and sent < event.ts:
            event.sent = sent
            if event.origin == "human" and self._last_reply is not None and sent < self._last_reply:
                event.origin = "queued"
        if self._stored.machine and event.origin == "human":
            event.origin = "synthetic"

    def tell(self, compactions: int) -> None:
        """Hand the coverage over to the file's own."""
        name = self._stored.session
        self._outer.duplicates += self.duplicates
        self._outer.unknown.update(self.unknown)
        self._outer.notes.extend(f"session {name}, row {note.removeprefix('line ')}" for note in self.notes)
        counted = self._stored.compactions
        if counted is not None and counted != compactions:
            self._outer.notes.append(
                f"session {name}: OpenClaw counts {counted} compactions, its entries hold {compactions}"
            )


class _Waiting:
    """Failures that only the table of runs holds, to be put among the entries by their times."""

    def __init__(self, found: list[Run], rows: _Rows, session: str) -> None:
        self._events = [event for run in found for event in _events(run, rows, session)]

    def before(self, event: Event) -> Iterator[Event]:
        while event.ts is not None and self._events and (self._events[0].ts or 0) < event.ts:
            yield self._events.pop(0)

    def rest(self) -> Iterator[Event]:
        yield from self._events


def _events(run: Run, rows: _Rows, session: str) -> Iterator[Event]:
    record = f"trajectory_runtime_events:{session}:{run.seq}"
    if run.timed_out_in_compaction:
        yield Event(
            kind="compacted",
            session=session,
            record=record,
            ts=run.ts,
            outcome="failed",
            fault="transport",
            error="timed out during compaction",
        )
    if run.stop in _BROKEN and not rows.holds(run):
        message = run.message or Message(stop_reason=run.stop)
        yield reply(message, rows, session, None, record, ts=run.ts)


@writer(openclaw_db, suffix=".sqlite", pieces=pieces, rules=RULES, marks=MARKS, prefixes=PREFIXES, lined=False)
def openclaw_db_writer(kept: Sequence[Piece], target: Path) -> None:
    """Write a database with the tables and columns that are read."""
    write(kept, target)
