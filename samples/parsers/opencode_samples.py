"""Write the opencode samples of this folder: one made-up session as database, export and JSON tree.

    python samples/parsers/opencode_samples.py [FOLDER]

The session has the traps a real one has: ids that wrap while it runs (sorting by id would begin with the end), a
message that the provider rejects as too long, is compacted and sent again, a summary that comes out empty, a reply
of two steps, a reply of reasoning alone, a prompt sent while the agent was busy, and an agent's own prompts.
"""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

START = 1786706390000  # five seconds before the ids' 48 bits wrap, on 14 August 2026
SESSION = "ses_05e6a1000001greenhouse"
CHILD = "ses_05e6a0000001seedlings"
NOTHING = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
TABLES = """
create table session (id text primary key, project_id text not null, parent_id text, slug text not null,
  directory text not null, title text not null, version text not null, cost real not null default 0,
  tokens_input integer not null default 0, tokens_output integer not null default 0,
  tokens_reasoning integer not null default 0, tokens_cache_read integer not null default 0,
  tokens_cache_write integer not null default 0, time_created integer not null, time_updated integer not null);
create table message (id text primary key, session_id text not null, time_created integer not null,
  time_updated integer not null, data text not null);
create table part (id text primary key, message_id text not null, session_id text not null,
  time_created integer not null, time_updated integer not null, data text not null);
create index message_session_time_created_id_idx on message (session_id, time_created, id);
create index part_message_id_id_idx on part (message_id, id);
"""

_SESSION_ROW = "insert into session values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

Row = dict[str, Any]


def ident(prefix: str, ms: int, counter: int) -> str:
    """Give an id as opencode makes them: the low 48 bits of milliseconds times 4,096, then the counter."""
    return f"{prefix}_{(ms * 4096 + counter) & (2**48 - 1):012x}greenhouse{counter:04d}"


class _Writer:
    """Collects the messages of one session, a second apart."""

    def __init__(self, session: str, start: int) -> None:
        self.session = session
        self.now = start
        self.count = 0
        self.messages: list[Row] = []

    def add(self, info: Row, parts: list[Row], *, after: int = 1000) -> str:
        """Add a message made `after` milliseconds; give its id."""
        self.now += after
        self.count += 1
        key = ident("msg", self.now, self.count)
        whole = {"id": key, "sessionID": self.session, **info}
        whole["time"] = {"created": self.now, **info.get("time", {})}
        self.messages.append(
            {"info": whole, "parts": [self._part(key, number, part) for number, part in enumerate(parts)]}
        )
        return key

    def _part(self, key: str, number: int, part: Row) -> Row:
        return {
            "id": ident("prt", self.now, self.count * 10 + number),
            "sessionID": self.session,
            "messageID": key,
            **part,
        }

    def user(self, *parts: Row, after: int = 1000) -> str:
        """Add a user message."""
        model = {"providerID": "demo", "modelID": "demo-mini"}
        return self.add({"role": "user", "agent": "build", "model": model}, list(parts), after=after)

    def assistant(self, parent: str, *parts: Row, took: int | None = 400, **more: Any) -> str:
        """Add an assistant message that ended `took` milliseconds after it began; `None`: it did not end."""
        steps = [part for part in parts if part["type"] == "step-finish"]
        info = {
            "role": "assistant",
            "parentID": parent,
            "mode": "build",
            "agent": "build",
            "modelID": "demo-mini",
            "providerID": "demo",
            "cost": round(sum(step["cost"] for step in steps), 4),
            "tokens": steps[-1]["tokens"] if steps else NOTHING,
            "time": {} if took is None else {"completed": self.now + 1000 + took},
            **more,
        }
        return self.add(info, list(parts))


def _text(words: str, **more: Any) -> Row:
    return {"type": "text", "text": words, **more}


def _step(reason: str, given: int, made: int, *, thought: int = 0, read: int = 0, cost: float = 0.0) -> Row:
    cache = {"read": read, "write": 0}
    tokens = {
        "total": given + made + thought + read,
        "input": given,
        "output": made,
        "reasoning": thought,
        "cache": cache,
    }
    return {"type": "step-finish", "reason": reason, "cost": cost, "tokens": tokens}


def _read(writer: _Writer) -> Row:
    """Give a tool call of the message that comes next."""
    state = {
        "status": "completed",
        "input": {"filePath": "beds.md"},
        "output": "...",
        "title": "beds.md",
        "metadata": {},
        "time": {"start": writer.now + 1200, "end": writer.now + 1300},
    }
    return {"type": "tool", "tool": "read", "callID": f"call_{writer.count}", "state": state}


def _summary(writer: _Writer, marker: str, *parts: Row, **more: Any) -> str:
    return writer.assistant(marker, *parts, mode="compaction", agent="compaction", summary=True, **more)


def _main_session() -> _Writer:
    writer = _Writer(SESSION, START)
    begin = {"type": "step-start"}
    one = writer.user(
        _text("Which beds are free? See @beds.md"),
        _text("Called the read tool on beds.md", synthetic=True),
        {"type": "file", "mime": "text/plain", "filename": "beds.md", "url": "data:text/plain;base64,QmVkcw=="},
    )
    writer.assistant(one, begin, _read(writer), _step("tool-calls", 900, 40, read=100, cost=0.01), finish="tool-calls")
    writer.assistant(
        one, begin, _text("Beds two and five."), _step("stop", 40, 8, read=1000, cost=0.002), finish="stop"
    )
    two = writer.user(_text("Plan them for all four seasons."), after=3000)
    writer.assistant(two)
    marker = writer.user({"type": "compaction", "auto": True, "overflow": True})
    _summary(writer, marker, begin, _text("## Goal\nPlan the beds."), _step("stop", 700, 60, cost=0.02), finish="stop")
    replay = writer.user(_text("Plan them for all four seasons."), after=402)
    down = {"message": "The service is overloaded.", "statusCode": 503, "isRetryable": True}
    writer.assistant(replay, error={"name": "APIError", "data": down})
    three = writer.user(_text("continue"), after=60000)
    steps = (
        _step("tool-calls", 500, 20, cost=0.03),
        begin,
        _text("Spring: peas. Summer:"),
        _step("length", 60, 32, cost=0.01),
    )
    writer.assistant(three, begin, _read(writer), *steps, took=5000, finish="length")
    writer.user(_text("And mind the frost."), after=2000)
    marker = writer.user({"type": "compaction", "auto": True, "overflow": False}, after=3001)
    thought = {"type": "reasoning", "text": "What matters here?", "time": {"start": 1, "end": 2}}
    _summary(writer, marker, begin, thought, _step("length", 800, 0, thought=2000, cost=0.05), finish="length")
    go_on = _text("Continue if you have next steps.", synthetic=True, metadata={"compaction_continue": True})
    four = writer.user(go_on, after=403)
    writer.assistant(four, begin, thought, _step("stop", 300, 0, thought=90, cost=0.004), finish="stop")
    five = writer.user(_text("Write the plan down."))
    aborted = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    writer.assistant(five, begin, _text("The pl"), error=aborted)
    marker = writer.user({"type": "compaction", "auto": False})
    _summary(writer, marker, took=None)
    return writer


def _child_session() -> _Writer:
    writer = _Writer(CHILD, START + 1500)
    one = writer.user(_text("List the seed packets."), after=10)
    writer.assistant(
        one, {"type": "step-start"}, _text("Peas, beans."), _step("stop", 70, 7, cost=0.001), finish="stop"
    )
    return writer


def _session_row(writer: _Writer, parent: str | None) -> Row:
    steps = [part for message in writer.messages for part in message["parts"] if part["type"] == "step-finish"]
    totals = {name: sum(step["tokens"][name] for step in steps) for name in ("input", "output", "reasoning")}
    totals["cache"] = {"read": sum(step["tokens"]["cache"]["read"] for step in steps), "write": 0}
    return {
        "id": writer.session,
        "slug": "quiet-fern",
        "projectID": "global",
        "directory": "/home/demo/greenhouse",
        **({"parentID": parent} if parent else {}),
        "title": "Greenhouse",
        "version": "1.18.4",
        "cost": round(sum(step["cost"] for step in steps), 4),
        "tokens": totals,
        "time": {"created": writer.messages[0]["info"]["time"]["created"] - 10, "updated": writer.now},
    }


def _without(row: Row, *names: str) -> str:
    return json.dumps({name: value for name, value in row.items() if name not in names}, separators=(",", ":"))


def _write_database(path: Path, sessions: list[tuple[Row, _Writer]]) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES)
        for row, writer in sessions:
            tokens, time = row["tokens"], row["time"]
            cells = (
                row["id"],
                "global",
                row.get("parentID"),
                row["slug"],
                row["directory"],
                row["title"],
                row["version"],
            )
            sums = (row["cost"], tokens["input"], tokens["output"], tokens["reasoning"], tokens["cache"]["read"], 0)
            database.execute(_SESSION_ROW, (*cells, *sums, time["created"], time["updated"]))
            for message in writer.messages:
                info = message["info"]
                when = info["time"]["created"]
                data = _without(info, "id", "sessionID")
                database.execute(
                    "insert into message values (?, ?, ?, ?, ?)", (info["id"], row["id"], when, when, data)
                )
                for part in message["parts"]:
                    data = _without(part, "id", "sessionID", "messageID")
                    cells = (part["id"], info["id"], row["id"], when, when, data)
                    database.execute("insert into part values (?, ?, ?, ?, ?, ?)", cells)
        database.commit()
        database.execute("vacuum")


def _write_tree(folder: Path, sessions: list[tuple[Row, _Writer]]) -> None:
    for row, writer in sessions:
        _write_json(folder / "session" / "global" / f"{row['id']}.json", row)
        for message in writer.messages:
            info = message["info"]
            _write_json(folder / "message" / row["id"] / f"{info['id']}.json", info)
            for part in message["parts"]:
                _write_json(folder / "part" / info["id"] / f"{part['id']}.json", part)


def _write_json(path: Path, value: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8", newline="\n")


def write(folder: Path) -> None:
    """Write every sample into the folder."""
    main, child = _main_session(), _child_session()
    sessions = [(_session_row(main, None), main), (_session_row(child, SESSION), child)]
    _write_database(folder / "opencode_db.db", sessions)
    _write_tree(folder / "opencode_tree", sessions[1:])
    export = json.dumps({"info": sessions[0][0], "messages": main.messages}, indent=2)
    captured = f"Exporting session: {SESSION}\n{export}\n"
    (folder / "opencode_export.json").write_text(captured, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
