"""Lines of opencode's two log formats, as records.

Old (to 1.16.1, `packages/core/src/util/log.ts`): `INFO  2026-04-01T04:32:45 +0ms service=... key=value ... message`,
values unquoted, so that they may hold spaces and line breaks. New (since 1.16.2, `observability/logging.ts`):
`timestamp=... level=INFO run=... message=... key=value ...`, values quoted as JSON where they need it.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from forensics.parse import Source
from forensics.patterns import later
from forensics.sane import read_time
from forensics.tolerant import damage

HEADS = (b"timestamp=", b"INFO ", b"ERROR ", b"WARN ", b"DEBUG ")
NEW = later(r'timestamp=(\S+) level=(\w+) run=(\S+) message=("(?:[^"\\]|\\.)*+"|\S*)(.*)', re.DOTALL)
OLD = later(r"(INFO|ERROR|WARN|DEBUG) +(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) \+\d+ms (.*)", re.DOTALL)
_PAIR = later(r'([\w.]+)=("(?:[^"\\]|\\.)*+"|\S*)')
_NEW_WANTED = later(rb' message=(?:loop|process|stream|created|"exiting loop"|"stream error") ')
_OLD_WANTED = (b" loop", b" process", b" stream", b" stream error", b" created")
_MESSAGES = ("exiting loop", "stream error", "loop", "process", "stream", "created")
_SIMPLE = ("sessionID", "session.id", "messageID", "providerID", "modelID", "small", "agent", "step", "service", "id")
_FIELD = later(rf"(?:^|\s)({'|'.join(map(re.escape, _SIMPLE))}|version|parentID)=(\S+)")
_ERROR = later(r"(?:^| )error=(.*?)(?: stack=| process$|$)", re.DOTALL)
_API = later(r'"(?:message|errorMessage)":\s*"((?:[^"\\]|\\.)*+)"')
_STATUS = later(r'"statusCode":(\d{3})')
_BOM = b"\xef\xbb\xbf"
LIMIT = 1 << 20
"""Characters of one record that are looked at: request bodies are logged whole."""


class Entry(NamedTuple):
    """One log record of interest. `run` names the process (`None` in the old format: one process per file)."""

    line: int
    ts: int | None
    error: bool
    message: str
    run: str | None
    fields: dict[str, str]

    @property
    def session(self) -> str | None:
        """The session it is about."""
        return self.fields.get("session.id") or self.fields.get("sessionID")


def entries(source: Source) -> Iterator[Entry]:
    """Yield the records of interest; a line that begins none may be part of an error, and is passed over elsewhere."""
    for line, offset, data in _logical(source):
        text = data[:LIMIT].decode(errors="replace")
        entry = _new(line, text) if text.startswith("timestamp=") else _old(line, text, data)
        if entry is None:
            source.reject(line, offset, "torn log line")
        elif entry.message:
            if entry.ts is None:
                source.doubt(line, "a time that is none")
            yield entry


def _logical(source: Source) -> Iterator[tuple[int, int, bytes]]:
    """Yield (line, byte offset, text) of each record that may be of interest."""
    start: tuple[int, int] | None = None
    held: list[bytes] = []
    for first, offset, lines in source.chunks():
        at = offset
        for number, raw in enumerate(lines, first):
            line, bad = raw.removeprefix(_BOM), damage(raw)
            if bad is not None:
                line = line.replace(b"\0", b"")
                source.reject(number, at, bad, salvaged=line.startswith(HEADS))
            if line.startswith(HEADS):
                if start is not None:
                    yield *start, _joined(held)
                source.records += 1
                start = (number, at) if line.startswith(b"ERROR ") else None
                held = [line.removesuffix(b"\r")]
                if start is None and _wanted(line):
                    yield number, at, held[0]
            elif start is not None:
                held.append(line.removesuffix(b"\r"))
            elif not source.records and bad is None and line.strip():
                source.reject(number, at, "before the first log line")
            at += len(raw) + 1
    if start is not None:
        yield *start, _joined(held)


def _joined(lines: list[bytes]) -> bytes:
    """Join the lines of an error of the old format, which ends with its message; another program's come after it."""
    ends = (at for at in range(len(lines), 0, -1) if lines[at - 1].rstrip().endswith(_OLD_WANTED))
    return b"\n".join(lines[: next(ends, len(lines))])


def _wanted(line: bytes) -> bool:
    """Pass over what is of no interest before it is decoded."""
    if line.startswith(b"timestamp="):
        return _NEW_WANTED.search(line, 0, 160) is not None or b" level=" not in line[:64]
    return line.rstrip().endswith(_OLD_WANTED)


def _new(line: int, text: str) -> Entry | None:
    match = NEW.match(text)
    if match is None:
        return None
    time, level, run, message, rest = match.groups()
    said = message.strip('"')
    if said not in _MESSAGES:
        return Entry(line, None, error=False, message="", run=run, fields={})
    if '"' in rest:
        fields = {name: _unquoted(value) for name, value in _PAIR.findall(rest)}
    else:
        fields = dict(pair.split("=", 1) for pair in rest.split() if "=" in pair)
    return Entry(line, read_time(time), level == "ERROR", said, run, fields)


def _old(line: int, text: str, data: bytes) -> Entry | None:
    match = OLD.match(text)
    if match is None:
        return None
    level, time, rest = match.groups()
    tail = data[-64:].decode(errors="replace").rstrip() if len(data) > LIMIT else rest.rstrip()
    message = next((name for name in _MESSAGES if tail.endswith(" " + name)), "")
    # Values are not quoted: those of interest stand before any that holds free text.
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(rest[:4096]):
        fields.setdefault(name, value)
    if level == "ERROR" and message:
        fields["error"] = _words(rest, fields.get("service", ""))
    if message == "created" and fields.get("service") != "session":
        message = ""
    return Entry(line, read_time(time), level == "ERROR", message, None, fields)


def _words(rest: str, service: str) -> str:
    """Give the words of an old-format error; a request's error is JSON that holds the whole request before them."""
    match = _ERROR.search(rest)
    said = match.group(1) if match else rest
    if service != "llm":
        return said.strip()
    after = said[said.rfind('"statusCode"') :] if '"statusCode"' in said else said[-4096:]
    status, words = _STATUS.search(after), _API.search(after.replace('\\"', '"'))
    return " ".join(filter(None, (words.group(1) if words else after[:400], status.group(1) if status else None)))


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value.strip('"')
