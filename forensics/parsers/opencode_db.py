"""opencode's database: sessions, messages and parts (V1) and session messages (V2)."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from forensics.events import Event
from forensics.parse import TORN, Head, Piece, Source, Unreadable, parser, writer
from forensics.parsers._opencode import Conversation, session_event
from forensics.parsers._opencode_capture import MARKS, PREFIXES, RULES, rows, write_rows
from forensics.parsers._opencode_shapes import (
    Cache,
    Info,
    Message,
    Part,
    Place,
    SessionInfo,
    Times,
    Tokens,
    created,
    decoded,
)
from forensics.parsers._opencode_v2 import Timeline, V2Row
from forensics.sane import FIRST, LAST, LIMIT, NO_TIME

_INFO = msgspec.json.Decoder(Info)
_PART = msgspec.json.Decoder(Part)
_V2 = msgspec.json.Decoder(V2Row)
_SESSION = {"id", "version", "time_created"}
_V1_TABLES = {
    "message": {"id", "session_id", "time_created", "data"},
    "part": {"id", "message_id", "time_created", "data"},
}
_V2_TABLES = {"session_message": {"id", "session_id", "type", "seq", "time_created", "data"}}
_COLUMNS = (
    "parent_id",
    "fork_session_id",
    "cost",
    "tokens_input",
    "tokens_output",
    "tokens_reasoning",
    "tokens_cache_read",
    "tokens_cache_write",
)


def _has(tables: dict[str, frozenset[str]], wanted: dict[str, set[str]]) -> bool:
    return all(columns <= tables.get(table, frozenset()) for table, columns in wanted.items())


def _recognised(head: Head) -> bool:
    tables = head.tables
    return _has(tables, {"session": _SESSION}) and (_has(tables, _V1_TABLES) or _has(tables, _V2_TABLES))


@parser("opencode", failures="yes", when=_recognised)
def opencode_db(source: Source) -> Iterator[Event]:
    """SQLite database of opencode (`opencode.db`, since February 2026), with its write-ahead log where there is one.

    Evidence is given as message ids: a database has no lines. Rows are read by time, then id. A compaction that
    failed, was cut short or came out empty shows as such; of a request that was tried again only the last error
    shows, and the requests that make a session's title do not show at all. That the provider rejected a request as
    too long is inferred from the compaction marker after it: opencode stores no error for it. No context window is
    recorded: it is known only where a provider's error says it. A cost of 0 is taken as unknown: it is what opencode
    writes where it has no price, too.
    """
    with source.sqlite() as database:
        database.text_factory = bytes  # a text that is not UTF-8 costs its row, not the file
        tables = _tables(database)
        for session in _sessions(source, database, tables):
            yield session_event(session, None)
            last = 0
            if _has(tables, _V1_TABLES):
                conversation = Conversation(session, source.unknown)
                for message in _messages(source, database, session.id or ""):
                    last = max(last, created(message.info) or 0)
                    yield from conversation.add(message)
                yield from conversation.close()
                if note := conversation.spent.difference(session):
                    source.notes.append(note)
            if _has(tables, _V2_TABLES):
                yield from _v2(source, database, session, last)
        if not source.records and source.malformed:
            raise Unreadable(f"SQLite: {source.malformed[0].reason}")
        _strangers(source, database, tables)


def _tables(database: sqlite3.Connection) -> dict[str, frozenset[str]]:
    names = [_text(row[0]) for row in database.execute("select name from sqlite_master where type = 'table'")]
    return {
        name: frozenset(_text(row[1]) for row in database.execute(f'pragma table_info("{name}")'))
        for name in names
        if name in {"session", "message", "part", "session_message"}
    }


def _sessions(source: Source, database: sqlite3.Connection, tables: dict[str, frozenset[str]]) -> Iterator[SessionInfo]:
    there = [name for name in _COLUMNS if name in tables["session"]]
    chosen = ", ".join(("id", "version", "time_created", *there))
    query = f"select {chosen} from session order by time_created, id"  # noqa: S608  (constants)
    known = set()
    for row in list(_rows(source, database, "sessions", query)):
        source.records += 1
        if not isinstance(row[0], bytes):
            source.reject(0, 0, "a session whose id is no text")
            continue
        info = _session(source, row, there)
        known.add(info.id)
        yield info
    for table in ("message", "session_message"):
        if table in tables:
            query = f"select distinct session_id from {table} order by 1"  # noqa: S608  (constants)
            owners = {_text(owner) for (owner,) in _rows(source, database, table, query) if isinstance(owner, bytes)}
            for orphan in sorted(owners - known):
                known.add(orphan)
                source.notes.append(f"session {orphan}: its row is gone, its messages are not")
                yield SessionInfo(id=orphan)


def _strangers(source: Source, database: sqlite3.Connection, tables: dict[str, frozenset[str]]) -> None:
    """List the rows that no session or message owns, so that nothing reads them."""
    for table in ("message", "session_message"):
        if table in tables:
            query = f"select count(*) from {table} where typeof(session_id) <> 'text'"  # noqa: S608  (constants)
            for (count,) in _rows(source, database, table, query):
                if count:
                    source.reject(0, 0, f"rows of {table} that name no session: {count}")
    if _has(tables, _V1_TABLES):
        query = (
            "select message_id, count(*) from part where not exists"
            " (select 1 from message where message.id = part.message_id) group by 1"
        )
        for message, count in _rows(source, database, "parts of no message", query):
            source.reject(0, 0, f"parts of message {_text(message)}, which is not there: {count}")


def _session(source: Source, row: tuple[Any, ...], there: list[str]) -> SessionInfo:
    more = dict(zip(there, row[3:], strict=True))
    parent, fork = more.get("parent_id"), more.get("fork_session_id")
    what = f"session {_text(row[0])}"
    figures = {
        name.removeprefix("tokens_"): _figure(source, f"{what}: {name}", more.get(name))
        for name in there
        if name.startswith("tokens_")
    }
    tokens = Tokens(
        input=figures.get("input"),
        output=figures.get("output"),
        reasoning=figures.get("reasoning"),
        cache=Cache(read=figures.get("cache_read"), write=figures.get("cache_write")),
    )
    return SessionInfo(
        id=_text(row[0]),
        parent_id=_text(parent) if parent else None,
        fork_id=_text(fork) if fork else None,
        version=_text(row[1]) if row[1] else None,
        cost=_figure(source, f"{what}: cost", more.get("cost")),
        tokens=tokens if figures else None,
        time=Times(created=_time(source, what, row[2])),
    )


def _messages(source: Source, database: sqlite3.Connection, session: str) -> Iterator[Message]:
    query = "select id, time_created, data from message where session_id = ? order by time_created, id"
    rows = _rows(source, database, f"messages of {session}", query, session)
    for key, time, data in rows:
        source.records += 1
        doubts = source.doubts
        info = decoded(source, _bytes(data), _INFO, Place(0, 0, f"message {_text(key)}"))
        if info is None:
            continue
        info.id, info.session_id = _text(key), session
        if info.time is None or info.time.created is None:
            created_at = _time(source, f"message {_text(key)}", time)
            info.time = Times(created=created_at, completed=info.time.completed if info.time else None)
        parts = list(_parts(source, database, key))
        yield Message(info, parts, doubted=source.doubts > doubts)


def _parts(source: Source, database: sqlite3.Connection, message: bytes) -> Iterator[Part]:
    query = "select id, data from part where message_id = ? order by time_created, id"
    rows = _rows(source, database, f"parts of {_text(message)}", query, _text(message))
    for key, data in rows:
        source.records += 1
        part = decoded(source, _bytes(data), _PART, Place(0, 0, f"part {_text(key)} of {_text(message)}"))
        if part is not None:
            part.id = _text(key)
            yield part


def _v2(source: Source, database: sqlite3.Connection, session: SessionInfo, last: int) -> Iterator[Event]:
    """Read a session's V2 rows; those from before the last V1 message are the same messages, carried over."""
    timeline = Timeline(session, source.unknown)
    query = "select id, type, time_created, data from session_message where session_id = ? order by seq, id"
    rows = _rows(source, database, f"session messages of {session.id}", query, session.id or "")
    for key, kind, time, data in rows:
        source.records += 1
        when = _time(source, f"session message {_text(key)}", time)
        if last and (when is None or when <= last):
            source.duplicates += 1
            continue
        row = decoded(source, _bytes(data), _V2, Place(0, 0, f"session message {_text(key)}"))
        if row is not None:
            row.id, row.type = _text(key), _text(kind)
            if row.time is None or row.time.created is None:
                row.time = Times(created=when, completed=row.time.completed if row.time else None)
            yield from timeline.add(row)
    yield from timeline.close()


def _rows(
    source: Source, database: sqlite3.Connection, what: str, query: str, *values: str
) -> Iterator[tuple[Any, ...]]:
    """Yield a query's rows; what lies on a torn page is listed, and what lies elsewhere is still read."""
    try:
        yield from database.execute(query, values)
    except TORN as error:
        source.reject(0, 0, f"{what}: {error}")


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


def _figure(source: Source, what: str, value: object) -> int | float | None:
    if value is None or (isinstance(value, (int, float)) and 0 <= value < LIMIT):
        return value
    source.reject(0, 0, f"{what} is no figure", salvaged=True)
    return None


def _time(source: Source, what: str, value: object) -> int | float | None:
    if value is None or (isinstance(value, (int, float)) and FIRST <= value < LAST):
        return value
    source.reject(0, 0, f"{what}: its time {NO_TIME}", salvaged=True)
    return None


@writer(opencode_db, suffix=".db", pieces=rows, rules=RULES, marks=MARKS, prefixes=PREFIXES, lined=False)
def opencode_db_writer(kept: Sequence[Piece], target: Path) -> None:
    """Write a database with the tables and columns that are read."""
    write_rows(kept, target)
