"""The event table's own JSON lines: what `forensics read` writes, what any agent can be exported to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec

from forensics.events import SCHEMA, CapSource, Event, Fault, Kind, Origin, Outcome, Stop, Trigger
from forensics.parse import (
    Head,
    Piece,
    Rules,
    Source,
    Wanted,
    json_lines,
    parser,
    words,
    write_json_lines,
    writer,
)
from forensics.sane import Amount, Millis, read_time

_KINDS = frozenset(get_args(Kind))


class _Row(Event, kw_only=True, gc=False):
    """An event as written: times may be ISO 8601 instead of milliseconds, and the file's name may stand in it."""

    kind: Kind | msgspec.UnsetType = msgspec.UNSET  # type: ignore[assignment]
    ts: Millis | str | None = None  # type: ignore[assignment]
    sent: Millis | str | None = None  # type: ignore[assignment]
    cost: Amount | None = None
    file: str | None = None


_DECODER = msgspec.json.Decoder(_Row)
_NAMES = [
    field for field in Event.__struct_fields__ if field not in {"kind", "nth", "seq", "run", "line", "ts", "sent"}
]


def _recognised(head: Head) -> bool:
    return head.is_json_lines(_is_row, lambda record: record["kind"] in _KINDS)


def _is_row(record: dict[str, Any]) -> bool:
    return isinstance(record.get("kind"), str) and record.keys() <= SCHEMA.keys()


@parser("plain", failures="yes", when=_recognised)
def plain(source: Source) -> Iterator[Event]:
    """One JSON object per line, each an event: `kind` is required, every other column may be absent.

    `ts` is ISO 8601 (UTC unless it names a zone) or milliseconds since 1970; `line` is always the physical line of
    this file. A session may begin with a `session` row that names its agent and version. A row whose `kind` is missing
    or unknown is listed and kept as a note; a prompt counts as a person's where `origin` says so.
    """
    known: set[str] = set()
    nobodys = 0
    for line, row in source.decoded(_DECODER):
        if row.session is not None and row.session not in known:
            known.add(row.session)
            if row.kind != "session" and (row.agent or row.version):
                yield Event(kind="session", session=row.session, line=line, agent=row.agent, version=row.version)
        kind = _kind(source, line, row)
        nobodys += kind == "prompt" and row.origin is None
        yield Event(
            kind=kind,
            **{name: getattr(row, name) for name in _NAMES},
            line=line,
            ts=_milliseconds(source, line, row.ts),
            sent=_milliseconds(source, line, row.sent),
        )
    if nobodys:
        many = f"{nobodys:,} prompt{'' if nobodys == 1 else 's'}"
        verb = "is" if nobodys == 1 else "are"
        source.notes.append(f"{many} without an origin {verb} not counted as a person's")


def _kind(source: Source, line: int, row: _Row) -> Kind:
    if isinstance(row.kind, str):
        return row.kind
    if b'"kind"' not in source.line_at(line)[1]:
        source.doubt(line, "field kind is missing")
    return "note"


def _milliseconds(source: Source, line: int, value: float | str | None) -> int | None:
    if not isinstance(value, str):
        return None if value is None else int(value)
    ms = read_time(value)
    if ms is None:
        source.doubt(line, "a time that is none")
    return ms


_FIGURES = frozenset(name for name, column in SCHEMA.items() if column.dtype in {"Int64", "Float64", "Boolean"})
RULES: Rules = {
    **dict.fromkeys(_FIGURES, ("number",)),
    **dict.fromkeys(words("session record parent digest"), ("id",)),
    **dict.fromkeys(words("provider model api tool"), ("name",)),
    **dict.fromkeys(words("ts sent"), ("time",)),
    "kind": (_KINDS,),
    "origin": (frozenset(get_args(Origin)),),
    "stop": (frozenset(get_args(Stop)),),
    "fault": (frozenset(get_args(Fault)),),
    "trigger": (frozenset(get_args(Trigger)),),
    "outcome": (frozenset(get_args(Outcome)),),
    "cap_source": (frozenset(get_args(CapSource)),),
    "agent": ("name",),
    "version": ("version",),
    "error": ("error",),
    "text": ("text",),
}
MARKS = r"^recovery ended: |shutdown snapshot"


def _pieces(source: Source, wanted: Wanted | None) -> Iterator[Piece]:
    for line, value in json_lines(source, wanted):
        record = value.get("record")
        yield Piece(value=value, line=line, record=record if isinstance(record, str) else None)


@writer(plain, suffix=".jsonl", pieces=_pieces, rules=RULES, marks=MARKS)
def plain_writer(kept: Sequence[Piece], target: Path) -> None:
    """Write events, one per line."""
    write_json_lines([piece.value for piece in kept], target)
