"""OpenClaw's log lines, in the form of its file log (tslog JSON lines) and of its console, as one shape."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from forensics.parse import Head, Source
from forensics.parsers._pi import milliseconds
from forensics.patterns import later
from forensics.sane import NO_TIME
from forensics.tolerant import damage, salvage

_COLOUR = rb"(?:\x1b\[[\d;]*m)*"
_JOURNAL = rb"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ \S+\[\d+\]: )?"
_TIME = rb"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d))"
_START = _JOURNAL + _COLOUR + _TIME + _COLOUR + rb" +" + _COLOUR
_LINE = later(_START + rb"(?:\[(?P<subsystem>[\w./:-]{1,60})\]" + _COLOUR + rb" )?(?P<text>.*)", re.DOTALL)
_ANSI = later(r"\x1b\[[\d;]*m")
_OURS = later(
    rb"(?m)^"
    + _START
    + rb"\[(?:agent/embedded|agents/[\w/-]+|compaction-safeguard|gateway/ws|openclaw|clawdbot|gateway\]"
    + _COLOUR
    + rb" (?:ready|starting\.\.\.|signal SIG\w+ received|received SIG\w+; shutting down|listening on ws|agent model:"
    rb"|Gateway failed to start))"
)
BOM = b"\xef\xbb\xbf"
_PRODUCTS = ("openclaw", "clawdbot", "moltbot")


class Entry(NamedTuple):
    """A log entry: 1-based line, UTC milliseconds, the part that wrote it, its words, its structured fields."""

    line: int
    ts: int | None
    subsystem: str
    text: str
    data: dict[str, Any]
    trace: str | None


class _Meta(msgspec.Struct, gc=False):
    date: str | None = None


class _Tslog(msgspec.Struct, gc=False):
    zero: Any = msgspec.field(name="0", default=None)
    one: Any = msgspec.field(name="1", default=None)
    two: Any = msgspec.field(name="2", default=None)
    meta: _Meta | None = msgspec.field(name="_meta", default=None)
    time: str | None = None
    message: Any = None
    trace: str | None = msgspec.field(name="traceId", default=None)


_DECODER = msgspec.json.Decoder(_Tslog)


def is_file_log(head: Head) -> bool:
    """Tell OpenClaw's own tslog lines from another program's."""
    return head.is_json_lines(_is_entry, _names_openclaw)


def is_console_log(head: Head) -> bool:
    """Tell the console form by the parts of OpenClaw that only it has."""
    return head.is_log(_LINE, _OURS)


def _is_entry(record: dict[str, Any]) -> bool:
    return "0" in record and isinstance(record.get("_meta"), dict)


def _names_openclaw(record: dict[str, Any]) -> bool:
    meta = record["_meta"]
    parents = meta.get("parentNames")
    names = [*(parents if isinstance(parents, list) else ()), meta.get("name")]
    return any(name in _PRODUCTS for name in names)


def entries(source: Source) -> Iterator[Entry]:
    """Yield the entries of either form; which one is told by most of the first lines."""
    yield from _from_json(source) if is_file_log(Head(source.path)) else _from_console(source)


def _from_json(source: Source) -> Iterator[Entry]:
    subsystems: dict[str, str] = {}
    for line, record in source.decoded(_DECODER):
        yield _entry(source, line, record, subsystems)


def _entry(source: Source, line: int, record: _Tslog, subsystems: dict[str, str]) -> Entry:
    zero, one, two = record.zero, record.one, record.two
    subsystem, words, data = "", "", {}
    if isinstance(zero, str):
        if zero not in subsystems:
            subsystems[zero] = _subsystem(zero)
        subsystem = subsystems[zero]
    elif isinstance(zero, dict):
        words = str(zero.get("message", ""))
    if subsystem or isinstance(zero, dict):
        data = one if isinstance(one, dict) else {}
        words = next((str(part) for part in (one, two) if isinstance(part, str)), words) if subsystem else words
    else:
        words = zero if isinstance(zero, str) else str(record.message or "")
    return Entry(line, _time(source, line, record), subsystem, words, data, record.trace)


def _time(source: Source, line: int, record: _Tslog) -> int | None:
    time = record.time or (record.meta.date if record.meta else None)
    ts = milliseconds(time)
    if ts is None and time is not None:
        source.doubt(line, f"its time {NO_TIME}")
    return ts


def _subsystem(name: str) -> str:
    values = salvage(name.encode(errors="replace")).values if name.startswith("{") else []
    found = values[0].get("subsystem") if values and isinstance(values[0], dict) else None
    return found if isinstance(found, str) else ""


def _from_console(source: Source) -> Iterator[Entry]:
    """Lines without a time go on with the entry before them; they hold stack traces and wrapped words."""
    subsystems: dict[str, str] = {}
    for first, start, lines in source.chunks():
        offset = start
        for line, raw in enumerate(lines, first):
            clean = raw.removeprefix(BOM).rstrip(b"\r").replace(b"\0", b"")
            match = _LINE.match(clean)
            bad = damage(raw)
            if bad is not None:
                source.reject(line, offset, bad, salvaged=match is not None)
            if match is not None:
                source.records += 1
                text = _ANSI.sub("", match["text"].decode(errors="replace"))
                subsystem = (match["subsystem"] or b"").decode()
                ts = milliseconds(match["time"].decode())
                if ts is None:
                    source.doubt(line, f"its time {NO_TIME}")
                yield Entry(line, ts, subsystem, text, {}, None)
            elif (record := _structured(clean)) is not None:
                source.records += 1
                yield _entry(source, line, record, subsystems)
            elif not source.records and bad is None and clean.strip():
                source.reject(line, offset, "before the first log line")
            offset += len(raw) + 1


def _structured(line: bytes) -> _Tslog | None:
    """Read a line of the other form, where both went to one file."""
    if not line.startswith(b'{"'):
        return None
    try:
        record = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return record if record.meta is not None and record.zero is not None else None
