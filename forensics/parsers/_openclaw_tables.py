"""The tables of OpenClaw's agent database (2026.9 on) that hold sessions, their entries and their runs."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from forensics.parse import Source, lenient
from forensics.parsers._pi import NO_RAW, Message, told_time
from forensics.parsers._zstd import CorruptError, decompressed
from forensics.sane import LIMIT, Count, Millis

_LIMIT = 64 << 20
_MACHINE = frozenset({"cron", "spawn", "internal", "plugin"})


class Stored(NamedTuple):
    """A session as its tables describe it; `machine`: a program opened it, not a person."""

    session: str
    parent: str | None
    cap: int | None
    compactions: int | None
    machine: bool


class Run(NamedTuple):
    """The end of one run's model calls; the last message where it is whole enough to be read."""

    seq: int
    ts: int | None
    stop: str | None
    message: Message | None
    timed_out_in_compaction: bool


class _Node(msgspec.Struct, gc=False, rename="camel"):
    session_id: str | None = None
    context_tokens: Count | None = None
    compaction_count: Count | None = None


class _RunData(msgspec.Struct, gc=False, rename="camel"):
    stop_reason: str | None = None
    timed_out_during_compaction: bool | None = None
    messages_snapshot: Raw = NO_RAW


class _RunEvent(msgspec.Struct, gc=False):
    type: str = ""
    ts: datetime | Millis | None = None
    data: Raw = NO_RAW


class _Model(msgspec.Struct, gc=False):
    message: Raw = NO_RAW


class _Navigation(msgspec.Struct, gc=False):
    navigation: Raw = NO_RAW
    model: Raw = NO_RAW


_NODE = msgspec.json.Decoder(_Node)
_RUN_EVENT = msgspec.json.Decoder(_RunEvent)
_RUN_DATA = msgspec.json.Decoder(_RunData)
_SNAPSHOT = msgspec.json.Decoder(list[Raw])
_NAVIGATION = msgspec.json.Decoder(_Navigation)


def columns(database: sqlite3.Connection, table: str) -> frozenset[str]:
    """Name a table's columns; none where there is no such table."""
    return frozenset(str(row[0]) for row in database.execute("select name from pragma_table_info(?)", (table,)))


def version(database: sqlite3.Connection) -> str | None:
    """Give the version of OpenClaw that made the database, where it says so."""
    if "app_version" not in columns(database, "schema_meta"):
        return None
    row = database.execute("select app_version from schema_meta where app_version is not null limit 1").fetchone()
    return str(row[0]) if row else None


def sessions(database: sqlite3.Connection, source: Source) -> list[Stored]:
    """List the sessions that have entries, in the order in which they were begun."""
    names = database.execute(
        "select session_id, count(*) from transcript_events group by 1 order by min(created_at), 1"
    ).fetchall()
    windows = _records(database, "session_windows", "session_id")
    nodes = _records(database, "session_nodes", "session_key")
    for name, count in names:
        if not isinstance(name, str):
            source.reject(0, 0, f"{count} entries whose session id is no text")
    return [_stored(name, windows.get(name, {}), nodes, source) for name, _ in names if isinstance(name, str)]


def _records(database: sqlite3.Connection, table: str, key: str) -> dict[str, dict[str, Any]]:
    if key not in columns(database, table):
        return {}
    cursor = database.execute(f"select * from {table}")  # noqa: S608  (one of two names above)
    fields = [column[0] for column in cursor.description]
    return {str(row[fields.index(key)]): dict(zip(fields, row, strict=True)) for row in cursor}


def _stored(name: str, window: dict[str, Any], nodes: dict[str, dict[str, Any]], source: Source) -> Stored:
    node = nodes.get(str(window.get("session_key")), {})
    above = nodes.get(str(window.get("parent_session_key") or node.get("parent_session_key")), {})
    text = node.get("entry_json")
    raw = Raw(text.encode(errors="replace")) if isinstance(text, str) else NO_RAW
    entry = source.inner(raw, _NODE, None, "entry_json", f"session node of {name}") or _Node()
    current = entry.session_id == name
    parent = window.get("previous_session_id") or above.get("current_session_id")
    return Stored(
        name,
        parent if isinstance(parent, str) and parent != name else None,
        entry.context_tokens if current and entry.context_tokens else None,
        entry.compaction_count if current else None,
        node.get("created_via") in _MACHINE,
    )


def entries(database: sqlite3.Connection, source: Source, session: str) -> Iterator[tuple[int, bytes]]:
    """Yield (seq, JSON) of a session's entries; a row that cannot be unpacked gives what its outline says of it.

    A `seq` that is no whole number is 0, and listed; where there is one, the rows are read in the order of time.
    """
    odd = "select 1 from transcript_events where session_id = ? and (typeof(seq) <> 'integer' or seq < 0)"
    order = "seq" if database.execute(odd, (session,)).fetchone() is None else "created_at, seq"
    rows = database.execute(f"{_selected(database)} order by {order}", (session,))
    for seq, text, packed, outline in rows:
        number = numbered(source, f"session {session}", seq)
        plain = text if text is not None else _unpacked(source, session, number, packed, outline)
        if plain:
            yield number, plain


def entry_at(database: sqlite3.Connection, session: str, seq: int) -> bytes:
    """Give the JSON of one entry again, as it is stored."""
    row = database.execute(f"{_selected(database)} and seq = ?", (session, seq)).fetchone()
    return b"" if row is None else bytes(row[1] if row[1] is not None else row[2] or b"")


def _selected(database: sqlite3.Connection) -> str:
    names = columns(database, "transcript_events")
    wanted = [
        f"cast({name} as blob)" if name in names else "null" for name in ("event_json", "event_zstd", "navigation_json")
    ]
    return f"select seq, {', '.join(wanted)} from transcript_events where session_id = ?"  # noqa: S608  (fixed names)


def numbered(source: Source, what: str, seq: object) -> int:
    """Give a row's `seq`; the source lists one that is no whole number, and it is 0."""
    if isinstance(seq, int) and 0 <= seq < LIMIT:
        return seq
    source.reject(0, 0, f"{what}: a seq that is no whole number", salvaged=True)
    return 0


def _unpacked(source: Source, session: str, seq: int, packed: bytes | None, outline: bytes | None) -> bytes:
    try:
        return decompressed(packed or b"", _LIMIT)
    except CorruptError as error:
        found = _outlined(outline)
        reason = f"Zstandard: {error}; its tokens and words are unknown"
        source.reject(seq, 0, reason, salvaged=bool(found), of=f"session {session}")
        return found


def _outlined(outline: bytes | None) -> bytes:
    try:
        found = _NAVIGATION.decode(outline or b"{}")
    except (msgspec.DecodeError, RecursionError):
        return b""
    return bytes(found.model) or bytes(found.navigation)


def runs(database: sqlite3.Connection, source: Source, session: str) -> list[Run]:
    """Give how the model calls of each run ended: a run that is retried leaves only its last error as an entry."""
    return sorted(_runs(database, source, session), key=lambda run: run.ts or 0)


def _runs(database: sqlite3.Connection, source: Source, session: str) -> Iterator[Run]:
    if not {"session_id", "seq", "event_json"} <= columns(database, "trajectory_runtime_events"):
        return
    rows = database.execute(
        "select seq, cast(event_json as blob) from trajectory_runtime_events where session_id = ? order by seq",
        (session,),
    )
    for seq, text in rows:
        if text is None or b'"model.completed"' not in text:
            continue
        name = f"session {session}, run event"
        number = numbered(source, name, seq)
        event = source.inner(Raw(text), _RUN_EVENT, None, "event_json", name) or _RunEvent()
        if event.type == "model.completed":
            data = source.inner(event.data, _RUN_DATA, None, "data", name) or _RunData()
            ts = told_time(event.ts, source, None, name)
            yield Run(number, ts, data.stop_reason, _last(data), bool(data.timed_out_during_compaction))


def _last(data: _RunData) -> Message | None:
    """Give the run's last message. OpenClaw cuts long records: what it cut away is unknown, and may be the end."""
    with suppress(msgspec.DecodeError, RecursionError):
        messages = _SNAPSHOT.decode(bytes(data.messages_snapshot) or b"[]")
        message = lenient(msgspec.json.decode(messages[-1]), Message) if messages else None
        if message is not None and message.role == "assistant" and message.stop_reason == data.stop_reason:
            return message
    return None
