"""The rows of OpenClaw's database as a capture takes them: entries as pi's, and what the other tables say of them."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from forensics.parse import Piece, Rules, Source, Wanted, words
from forensics.parsers._openclaw_tables import columns, entries, sessions
from forensics.parsers._pi_capture import RULES as ENTRY_RULES
from forensics.parsers._pi_capture import unwrapped
from forensics.tolerant import salvage

RULES: Rules = {
    **ENTRY_RULES,
    "row": ("inside",),
    "session_id": ("id",),
    "session_key": ("id",),
    "previous_session_id": ("id",),
    "current_session_id": ("id",),
    "parent_session_key": ("id",),
    "sessionId": ("id",),
    "seq": ("number",),
    "created_at": ("time",),
    "created_via": (words("operator spawn channel cron talk run plugin internal"),),
    "entry_json": ("json",),
    "contextTokens": ("number",),
    "compactionCount": ("number",),
    "app_version": ("version",),
    "ts": ("time",),
    "type": (*ENTRY_RULES["type"], words("model.completed")),
    "messagesSnapshot": ("inside",),
    "timedOutDuringCompaction": ("number",),
    "timedOut": ("number",),
}
_SCHEMA = """
create table schema_meta (meta_key text primary key, app_version text);
create table session_nodes (session_key text primary key, current_session_id text, entry_json text, created_via text,
  parent_session_key text);
create table session_windows (session_id text primary key, session_key text, previous_session_id text,
  parent_session_key text, created_at integer);
create table transcript_events (session_id text, seq integer, event_json text, created_at integer,
  primary key (session_id, seq));
create table trajectory_runtime_events (session_id text, seq integer, event_json text, created_at integer,
  primary key (session_id, seq));
"""
_PLAIN: dict[str, tuple[str, ...]] = {
    "schema_meta": ("app_version",),
    "session_nodes": ("session_key", "current_session_id", "entry_json", "created_via", "parent_session_key"),
    "session_windows": ("session_id", "session_key", "previous_session_id", "parent_session_key", "created_at"),
}
_EVENTS = ("transcript_events", "trajectory_runtime_events")


def pieces(source: Source, wanted: Wanted | None) -> Iterator[Piece]:
    """Give the rows that describe sessions, then each wanted session's entries, then how its runs ended."""
    number = 0
    with source.sqlite() as database:
        for table, names in _PLAIN.items():
            for value in _rows(database, table, names):
                yield Piece(value=value, table=table)
                number += 1
        for stored in sessions(database, source):
            if wanted is None or stored.session in wanted.sessions:
                found = [*_entries(database, source, stored.session, number)]
                number += len(found)
                yield from found
                runs = [*_runs(database, stored.session)]
                number += len(runs)
                yield from runs


def _rows(database: sqlite3.Connection, table: str, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    there = columns(database, table)
    known = [name for name in names if name in there]
    if known:
        for row in database.execute(f"select {', '.join(known)} from {table}"):  # noqa: S608  (constants)
            yield {name: value for name, value in zip(known, row, strict=True) if value is not None}


def _entries(database: sqlite3.Connection, source: Source, session: str, number: int) -> Iterator[Piece]:
    query = "select seq, created_at from transcript_events where session_id = ?"
    made = dict(database.execute(query, (session,)).fetchall())
    places: dict[str, int] = {}
    for seq, text in entries(database, source, session):
        for value in salvage(text).values:
            if not isinstance(value, dict):
                continue
            name, above = value.get("id"), value.get("parentId")
            if isinstance(name, str):
                places.setdefault(name, number)
            row = {"session_id": session, "seq": seq, "created_at": made.get(seq)}
            yield Piece(
                value=unwrapped(value) | {"row": row},
                table="transcript_events",
                record=name if isinstance(name, str) else None,
                above=places.get(above) if isinstance(above, str) else None,
                link="parentId",
            )
            number += 1


def _runs(database: sqlite3.Connection, session: str) -> Iterator[Piece]:
    if "event_json" not in columns(database, "trajectory_runtime_events"):
        return
    query = "select seq, event_json, created_at from trajectory_runtime_events where session_id = ? order by seq"
    for seq, text, created in database.execute(query, (session,)):
        values = salvage(str(text).encode(errors="replace")).values
        if not values or not isinstance(values[0], dict) or values[0].get("type") != "model.completed":
            continue
        value = values[0]
        data = value.get("data")
        if isinstance(data, dict) and isinstance(shown := data.get("messagesSnapshot"), list):
            value["data"] = {**data, "messagesSnapshot": shown[-1:]}
        row = {"session_id": session, "seq": seq, "created_at": created}
        yield Piece(value=value | {"row": row}, table="trajectory_runtime_events")


def write(kept: Sequence[Piece], target: Path) -> None:
    """Write a database of the tables and columns that are read."""
    with closing(sqlite3.connect(target)) as database:
        database.executescript(f"pragma journal_mode = off; pragma synchronous = off; {_SCHEMA}")
        for piece in kept:
            value = dict(piece.value)
            if piece.table in _EVENTS:
                value = value.pop("row") | {"event_json": msgspec.json.encode(value).decode()}
            elif piece.table == "schema_meta":
                value = {"meta_key": "primary"} | value
            marks = ", ".join("?" * len(value))
            query = f"insert or ignore into {piece.table} ({', '.join(value)}) values ({marks})"  # noqa: S608  (constants)
            database.execute(query, tuple(value.values()))
        database.commit()
