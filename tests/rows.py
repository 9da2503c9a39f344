"""Sessions made of a few rows, for tests that look at one limit of a detector."""

import json
from pathlib import Path
from typing import Any

from forensics.detect import Finding, detect
from forensics.events import Event
from forensics.scan import Options, Result, scan_file
from forensics.timeline import File


def file_of_rows(*rows: dict[str, Any], log: bool = False, cap: int | None = None) -> File:
    """Build a file of rows of session `s`, one line each; a row may name another session, `None` for the host's."""
    events = [Event(**{"session": "s", "line": line, **row}) for line, row in enumerate(rows, 1)]
    return File("f", "plain", "demo", log=log).build(events, cap)


def found(name: str, *rows: dict[str, Any], log: bool = False, **options: Any) -> list[Finding]:
    """Run one detector over the rows."""
    return detect(file_of_rows(*rows, log=log), [name], {name: options})


def prompt(text: str = "Paint the fence.", **more: Any) -> dict[str, Any]:
    """A person's prompt."""
    return {"kind": "prompt", "origin": "human", "text": text, "size": len(text), **more}


def reply(stop: str = "done", **more: Any) -> dict[str, Any]:
    """A reply."""
    return {"kind": "reply", "stop": stop, **more}


def failed(fault: str = "overflow", **more: Any) -> dict[str, Any]:
    """A reply that failed."""
    return {"kind": "reply", "stop": "error", "fault": fault, **more}


def start(trigger: str = "threshold", **more: Any) -> dict[str, Any]:
    """The start of a compaction."""
    return {"kind": "compact", "trigger": trigger, **more}


def end(outcome: str = "summary", **more: Any) -> dict[str, Any]:
    """The end of a compaction."""
    return {"kind": "compacted", "outcome": outcome, **more}


def scanned(path: Path, *rows: dict[str, Any], cap: int | None = None) -> Result:
    """Write the rows to a file of the plain format, as session `s` one second apart, and scan it.

    A row's `ts` may be seconds since 2026-07-01 10:00 UTC, or `None` for a row without a time.
    """
    begin = 1_782_900_000
    lines = []
    for number, row in enumerate(({"kind": "session", "agent": "demo"}, *rows), 1):
        ts = row.get("ts", number)
        given = {"session": "s", **row, "ts": None if ts is None else (begin + ts) * 1000}
        lines.append(json.dumps({name: value for name, value in given.items() if value is not None}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return scan_file(path, path.name, Options(cap=cap))


def written(name: str, path: Path, *rows: dict[str, Any], cap: int | None = None) -> list[Finding]:
    """Give what one detector finds in the rows when they are written to a file and scanned (see `scanned`)."""
    return [one for one in scanned(path, *rows, cap=cap).findings if one.detector == name]
