"""Incidents 3 and 4: opencode sessions, as the SQLite database and as `opencode export` writes them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from common import ms, number, sentences, token

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SCHEMA = """
create table project (id text primary key, worktree text not null, vcs text, name text, time_created integer not null,
  time_updated integer not null, sandboxes text not null);
create table session (id text primary key, project_id text not null, parent_id text, slug text not null,
  directory text not null, title text not null, version text not null, cost real default 0 not null,
  tokens_input integer default 0 not null, tokens_output integer default 0 not null,
  tokens_reasoning integer default 0 not null, tokens_cache_read integer default 0 not null,
  tokens_cache_write integer default 0 not null, model text, time_created integer not null,
  time_updated integer not null, time_compacting integer, time_archived integer);
create table message (id text primary key, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null);
create table part (id text primary key, message_id text not null, session_id text not null,
  time_created integer not null, time_updated integer not null, data text not null);
create index message_session_idx on message (session_id);
create index part_message_idx on part (message_id);
"""


class Session:
    """An opencode session: messages with their parts, ids made from the time as opencode makes them."""

    def __init__(self, name: str, version: str, start: str, model: str) -> None:
        self.name = name
        self.version = version
        self.model = model
        self.now = ms(start)
        self.started = self.now
        self.count = 0
        self.words = sentences()
        self.messages: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
        self.prompt = ""
        self.id = "ses_" + self._id(complement=True)

    def _id(self, *, complement: bool = False) -> str:
        self.count += 1
        low = (self.now * 4096 + self.count % 4096) & (1 << 48) - 1
        tail = "".join(_BASE62[int(token(f"{self.name}:{self.count}:{i}", 4), 16) % 62] for i in range(14))
        return f"{(~low & (1 << 48) - 1) if complement else low:012x}{tail}"

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * 1000)

    def _message(self, info: dict[str, Any], *parts: dict[str, Any]) -> str:
        name = "msg_" + self._id()
        held = [{"id": "prt_" + self._id(), "sessionID": self.id, "messageID": name, **part} for part in parts]
        self.messages.append(({"id": name, "sessionID": self.id, **info}, held))
        return name

    def user(self, *parts: dict[str, Any], after: float = 0) -> None:
        """A row with role user: typed, replayed, or a compaction marker."""
        self.wait(after)
        self.prompt = self._message(
            {
                "role": "user",
                "time": {"created": self.now},
                "agent": "build",
                "model": {"providerID": "anthropic", "modelID": self.model},
            },
            *parts,
        )

    def assistant(
        self,
        finish: str | None,
        tokens: tuple[int, int, int],
        *parts: dict[str, Any],
        seconds: float,
        cost: float = 0,
        mode: str = "build",
        completed: bool = True,
    ) -> None:
        """One provider step; `tokens` are input, output and cache read. No `finish` and no tokens: it overflowed."""
        created = self.now
        self.wait(seconds)
        fresh, output, cached = tokens
        info: dict[str, Any] = {
            "parentID": self.prompt,
            "role": "assistant",
            "mode": mode,
            "agent": mode,
            "path": {"cwd": "/w", "root": "/w"},
            "cost": cost,
            "tokens": {"input": fresh, "output": output, "reasoning": 0, "cache": {"read": cached, "write": 0}},
            "modelID": self.model,
            "providerID": "anthropic",
            "time": {"created": created, "completed": self.now} if completed else {"created": created},
        }
        if mode == "compaction":
            info["summary"] = True
        if finish:
            info["tokens"]["total"] = sum(tokens)
            info["finish"] = finish
            closing_part = {"type": "step-finish", "reason": finish, "cost": cost, "tokens": info["tokens"]}
            parts = (*parts, closing_part)
        self._message(info, *parts)

    def work(self, steps: int, context: int, cost: float = 0.02) -> None:
        """Good steps, all but the last with a tool call."""
        for left in range(steps, 0, -1):
            tool = {
                "type": "tool",
                "callID": f"call_{self.count}",
                "tool": "read",
                "state": {
                    "status": "completed",
                    "input": {"filePath": "/w/a.py"},
                    "output": next(self.words),
                    "title": "a.py",
                    "metadata": {},
                    "time": {"start": self.now, "end": self.now + 20},
                },
            }
            text = {"type": "text", "text": next(self.words)}
            size = context - left * 900
            finish, part = ("tool-calls", tool) if left > 1 else ("stop", text)
            self.assistant(finish, (700, 180, size - 880), part, seconds=7.4, cost=cost)

    def export(self) -> dict[str, Any]:
        """The document of `opencode export`."""
        return {
            "info": {
                "id": self.id,
                "slug": "quiet-ledger",
                "projectID": "global",
                "directory": "/w",
                "title": "Ledger",
                "version": self.version,
                "time": {"created": self.started, "updated": self.now},
            },
            "messages": [{"info": info, "parts": parts} for info, parts in self.messages],
        }

    def write_export(self, path: Path) -> None:
        """Write the export with the line that opencode prints to stderr captured in front of it."""
        text = json.dumps(self.export(), indent=2, ensure_ascii=False)
        path.write_text(f"Exporting session: {self.id}\n{text}\n", encoding="utf-8", newline="\n")

    def write_database(self, path: Path) -> None:
        """Write the V1 tables, rows in the order of their ids, as an old database holds them after a vacuum."""
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as database:
            database.executescript(SCHEMA)
            database.execute("insert into project values ('global', '/', null, null, ?, ?, '[]')", (self.started,) * 2)
            spent = sum(info.get("cost", 0) for info, _ in self.messages)
            database.execute(
                "insert into session (id, project_id, slug, directory, title, version, cost, time_created,"
                " time_updated) values (?, 'global', 'quiet-ledger', '/w', 'Ledger', ?, ?, ?, ?)",
                (self.id, self.version, round(spent, 6), self.started, self.now),
            )
            for info, parts in sorted(self.messages, key=lambda row: str(row[0]["id"])):
                at = info["time"]["created"]
                database.execute("insert into message values (?, ?, ?, ?, ?)", (*_row(info, "id", "sessionID", at=at),))
                for part in parts:
                    row = _row(part, "id", "messageID", "sessionID", at=at)
                    database.execute("insert into part values (?, ?, ?, ?, ?, ?)", (*row,))
            database.commit()
            database.execute("vacuum")


def _row(record: dict[str, Any], *keys: str, at: int) -> list[Any]:
    data = {key: value for key, value in record.items() if key not in {"id", "sessionID", "messageID"}}
    return [*(record[key] for key in keys), at, at, json.dumps(data, separators=(",", ":"), ensure_ascii=False)]


def _overflowed(log: Session, seconds: float) -> None:
    log.assistant(None, (0, 0, 0), seconds=seconds)


def _compact(log: Session, tokens: tuple[int, int, int], seconds: float, cost: float) -> None:
    log.user({"type": "compaction", "auto": True, "overflow": True})
    summary = {"type": "text", "text": "## Goal\nImport the ledger.\n## Progress\nNothing yet."}
    log.assistant("stop", tokens, summary, seconds=seconds, cost=cost, mode="compaction")


def replay(folder: Path) -> None:
    """Incident 3: 2,145 cycles in 12.8 hours, $296.00 of summaries; the session crosses the wrap of opencode's ids."""
    cycles = 2145
    log = Session("opencode-replo", "1.18.12", "2026-08-14T04:00:00", "claude-sonnet-4-5")
    log.user({"type": "text", "text": "Look at the importer."})
    log.work(6, 31_000)
    whole = {"type": "text", "text": "Check every row: [shortened]"}
    log.user(whole, after=120)
    start = log.now
    span = 12.8 * 3600 * 1000
    for cycle in range(cycles):
        log.now = start + round(span * cycle / cycles)
        _overflowed(log, 2.1)
        last = cycle == cycles - 1
        _compact(log, (580_000 + cycle % 700, 900, 0), 18.9, 0.128 if last else 0.138)
        log.user(whole)
    log.now = start + round(span)
    log.assistant(None, (0, 0, 0), seconds=0, completed=False)
    log.write_database(folder / "opencode.db")
    _healthy(folder, "opencode-replo-healthy", "1.18.12", "2026-08-16T09:00:00")


def no_shrink(folder: Path) -> None:
    """Incident 4: 35 summaries in a row, each fine by itself, each next turn overflowing."""
    log = Session("opencode-37584", "1.18.2", "2026-07-14T20:00:00", "gpt-5.2")
    log.user({"type": "text", "text": "Bring the ledger's tests up to date."})
    log.work(9, 118_000)
    task = {"type": "text", "text": "Now do the same for the reports."}
    log.user(task, after=300)
    log.work(4, 167_000)
    for cycle in range(35):
        _overflowed(log, 3.2)
        _compact(log, (101_000 + 37 * cycle, 1_400, 0), 52 + cycle % 11, 0.31)
        log.user(task)
        log.wait(number(f"gap:{cycle}", 30_000, 86_000) / 1000)
    log.assistant(None, (0, 0, 0), seconds=0, completed=False)
    log.write_export(folder / "export.json")
    _healthy(folder, "opencode-37584-healthy", "1.18.2", "2026-07-16T09:00:00")


def _healthy(folder: Path, name: str, version: str, start: str) -> None:
    """Compactions that work: after each the next steps fit and the work goes on."""
    log = Session(name, version, start, "claude-sonnet-4-5")
    log.user({"type": "text", "text": "Split the importer in two."})
    for _ in range(3):
        log.work(5, 150_000)
        log.user({"type": "text", "text": next(log.words)}, after=50)
        log.work(3, 172_000)
        log.user({"type": "compaction", "auto": True, "overflow": False})
        summary = {"type": "text", "text": f"## Goal\nSplit the importer.\n\n## Progress\n{next(log.words)}"}
        log.assistant("stop", (2_000, 1_100, 168_000), summary, seconds=31, cost=0.12, mode="compaction")
        go_on = {"type": "text", "text": "Continue if you have next steps", "synthetic": True}
        log.user({**go_on, "metadata": {"compaction_continue": True}})
        log.work(4, 30_000)
        log.user({"type": "text", "text": next(log.words)}, after=90)
    log.work(2, 40_000)
    log.write_export(folder / "healthy.json")
