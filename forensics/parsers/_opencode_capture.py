"""The rows of opencode's database and the objects of its export as a capture takes them."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from forensics.parse import TORN, Piece, Rules, Source, Wanted, words
from forensics.parsers._opencode_document import START, Trouble
from forensics.parsers._opencode_document import pieces as objects
from forensics.tolerant import salvage

_TYPES = words("""
text reasoning tool step-start step-finish file patch snapshot agent subtask retry compaction user assistant synthetic
skill system shell agent-switched location-switched model-switched idle
""")
_NAMES = words("""
APIError ContextOverflowError MessageAbortedError MessageOutputLengthError ProviderAuthError UnknownError
StructuredOutputError
""")
_NUMBERS = words("""
cost total output reasoning read write tokens_input tokens_output tokens_reasoning tokens_cache_read tokens_cache_write
statusCode isRetryable attempt synthetic ignored auto overflow compaction_continue seq
""")
_TIMES = words("created completed updated start end compacted at time_created time_updated")
_KINDS = words("""
running completed error pending failed auto manual stop length tool-calls content-filter other unknown
""")
RULES: Rules = {
    **dict.fromkeys(_NUMBERS, ("number",)),
    **dict.fromkeys(_TIMES, ("time",)),
    **dict.fromkeys(words("id sessionID parentID messageID callID parent_id fork_session_id"), ("id",)),
    **dict.fromkeys(words("session_id message_id project_id"), ("id",)),
    **dict.fromkeys(words("modelID providerID agent mode"), ("name",)),
    **dict.fromkeys(words("tokens cache time metadata model content retry"), ("inside",)),
    "tool": ("name",),
    "role": (words("user assistant"),),
    "type": (_TYPES,),
    "finish": (_KINDS, "words"),
    "reason": (_KINDS, "words"),
    "status": ("number", _KINDS),
    "error": ("inside", "error"),
    "error.name": (_NAMES, "words"),
    "error.type": (_NAMES, "words"),
    "error.data": ("inside",),
    "data": ("json",),
    "message": ("error",),
    "responseBody": ("error",),
    "name": ("name",),
    "model.id": ("name",),
    "summary": ("number", "empty", "text"),
    "text": ("text",),
    "prompt": ("text",),
    "url": ("text",),
    "mime": (words("image/png image/jpeg image/gif image/webp application/pdf text/plain application/x-directory"),),
    "state": ("inside",),
    "input": ("number", "empty"),
    "version": ("version",),
    "directory": ("path",),
}
MARKS = (
    r"^\[Attached (?:image/(?:png|jpeg|gif|webp)|application/pdf): |^\[redacted:|\]$"
    r"|^data:(?=[a-z])|^Continue if you have next steps"
)
PREFIXES = ("ses_", "msg_", "prt_", "evt_")
_SCHEMA = """
create table session (id text primary key, project_id text not null default 'project', parent_id text,
  fork_session_id text, slug text not null default 'capture', directory text not null default '/project',
  title text not null default 'capture', version text not null default '', cost real not null default 0,
  tokens_input integer, tokens_output integer, tokens_reasoning integer, tokens_cache_read integer,
  tokens_cache_write integer, time_created integer not null default 0, time_updated integer not null default 0);
create table message (id text primary key, session_id text not null, time_created integer not null,
  time_updated integer not null default 0, data text not null);
create table part (id text primary key, message_id text not null, session_id text,
  time_created integer not null, time_updated integer not null default 0, data text not null);
create table session_message (id text primary key, session_id text not null, type text not null, seq integer not null,
  time_created integer not null, time_updated integer not null default 0, data text not null);
"""
_COLUMNS: dict[str, tuple[str, ...]] = {
    "session": (
        "id", "parent_id", "fork_session_id", "version", "directory", "cost", "tokens_input", "tokens_output",
        "tokens_reasoning", "tokens_cache_read", "tokens_cache_write", "time_created", "time_updated",
    ),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
    "session_message": ("id", "session_id", "type", "seq", "time_created", "time_updated", "data"),
}  # fmt: skip
_OWNER = {"session": "id", "message": "session_id", "part": "session_id", "session_message": "session_id"}


def rows(source: Source, wanted: Wanted | None) -> Iterator[Piece]:
    """Give the rows of the wanted sessions; a part belongs to its message."""
    places: dict[str, int] = {}
    number = 0
    with source.sqlite() as database:
        database.text_factory = lambda data: data.decode(errors="replace")
        for table in _COLUMNS:
            for value in _table(database, table):
                session = value.get(_OWNER[table])
                if table == "part" and session is None and value.get("message_id") not in places:
                    continue
                if wanted is not None and session is not None and session not in wanted.sessions:
                    continue
                if table == "message":
                    places[str(value["id"])] = number
                owner = places.get(str(value.get("message_id"))) if table == "part" else None
                yield Piece(value=value, table=table, record=str(value["id"]), owner=owner)
                number += 1


def _table(database: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    there = {row[0] for row in database.execute("select name from pragma_table_info(?)", (table,))}
    names = [name for name in _COLUMNS[table] if name in there]
    if "id" not in names:
        return
    try:
        for row in database.execute(f"select {', '.join(names)} from {table} order by time_created, id"):  # noqa: S608  (constants)
            yield {name: value for name, value in zip(names, row, strict=True) if value is not None}
    except TORN:  # what lies on a torn page is no part of a capture
        return


def write_rows(kept: Sequence[Piece], target: Path) -> None:
    """Write a database of the tables and columns that are read."""
    with closing(sqlite3.connect(target)) as database:
        database.executescript(f"pragma journal_mode = off; pragma synchronous = off; {_SCHEMA}")
        for piece in kept:
            value = {name: piece.value[name] for name in _COLUMNS[piece.table] if name in piece.value}
            marks = ", ".join("?" * len(value))
            query = f"insert into {piece.table} ({', '.join(value)}) values ({marks})"  # noqa: S608  (constants)
            database.execute(query, tuple(value.values()))
        database.commit()


def parts(source: Source, _: Wanted | None) -> Iterator[Piece]:
    """Give the session's own object, then its messages, each followed by its parts."""
    data = source.path.read_bytes()
    start = START.search(data)
    number = 0
    for piece in objects(data, start.start()) if start else ():
        if isinstance(piece, Trouble):
            continue
        value = next((one for one in salvage(data[piece.offset : piece.end]).values if isinstance(one, dict)), {})
        if number == 0:
            yield Piece(value=value, table="session", line=piece.line, fixed=True)
            number += 1
            continue
        info = value.get("info")
        owner, number = number, number + 1
        yield Piece(value=info if isinstance(info, dict) else {}, table="message", line=piece.line, record=_id(info))
        for part in value.get("parts") or []:
            if isinstance(part, dict):
                yield Piece(value=part, table="part", line=piece.line, record=_id(part), owner=owner)
                number += 1


def _id(value: Any) -> str | None:
    name = value.get("id") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


def write_document(kept: Sequence[Piece], target: Path) -> None:
    """Write an export as `opencode export` lays it out."""
    session: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    for piece in kept:
        if piece.table == "session":
            session = piece.value
        elif piece.table == "message":
            messages.append({"info": piece.value, "parts": []})
        elif messages:
            messages[-1]["parts"].append(piece.value)
    document = msgspec.json.encode({"info": session, "messages": messages})
    target.write_bytes(msgspec.json.format(document, indent=2))
