"""Session files of the pi family: pi v1 to v3, Atomic, OpenClaw before its database."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from forensics.events import Event
from forensics.parse import Head, Piece, Source, parser, writer
from forensics.parsers._pi_brief import brief
from forensics.parsers._pi_capture import MARKS, PREFIXES, RULES, pieces, write
from forensics.parsers._pi_diagnostics import Attempts, beside, decode, event_of
from forensics.parsers._pi_rows import Reader
from forensics.parsers._pi_stream import is_header
from forensics.parsers._pi_tree import Branch, Tree

HOLD_BYTES = 64 << 20
"""Up to this size the rows of a file wait in memory until its branches are known; a larger one is read twice."""

_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage", "system"})
_FOREIGN = frozenset({"parentUuid", "sessionId", "uuid"})
_ENTRIES = {
    "model_change": {"provider", "modelId"},
    "thinking_level_change": {"thinkingLevel"},
    "compaction": {"summary", "firstKeptEntryId"},
    "context_compaction": {"deletedTargets"},
    "branch_summary": {"summary", "fromId"},
    "custom": {"customType"},
    "custom_message": {"customType"},
}


class _Link(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    id: str | None = None
    parent_id: str | UnsetType | None = UNSET


_LINKS = msgspec.json.Decoder(_Link)


def _recognised(head: Head) -> bool:
    return head.is_json_lines(_is_entry, lambda record: is_header(record) or _is_sure(record))


def _is_entry(record: dict[str, Any]) -> bool:
    """Tell an entry of any type, also one of an extension's own; those of v1 have no `parentId`."""
    if not isinstance(record.get("type"), str) or not isinstance(record.get("timestamp"), str):
        return False
    return is_header(record) or _is_sure(record) or ("parentId" in record and isinstance(record.get("id"), str))


def _is_sure(record: dict[str, Any]) -> bool:
    """Tell an entry that no other format has."""
    message = record.get("message")
    if record.get("type") == "message":
        role = message.get("role") if isinstance(message, dict) else None
        return isinstance(role, str) and role in _ROLES and record.keys().isdisjoint(_FOREIGN)
    return any(record.get("type") == kind and keys <= record.keys() for kind, keys in _ENTRIES.items())


@parser("pi", failures="no", held=True, when=_recognised)
def pi(source: Source) -> Iterator[Event]:
    """Sessions of pi, Atomic and OpenClaw (under `~/.pi`, `~/.atomic`, `~/.openclaw`), JSON lines.

    The agent is told by what only it writes; where nothing does, it is pi. A file with branches gives a session per
    branch: the live one ends with the last record, an abandoned one is named `<session>/<its last record>` and holds
    only its own rows. A failed compaction leaves no record here (it does in the event stream), except as an empty
    summary, as Atomic's `fresh` boundary, and in Atomic's diagnostic files beside the session, which are read too.
    A record that is written again as it was counts once; one of the same id that says something else is kept.
    """
    side_files = beside(source.path)
    source.brief = source.brief and not side_files
    reader = Reader(source)
    if source.size <= HOLD_BYTES:
        held = list(_read(reader, held=True))
        abandoned = reader.abandoned()
        if abandoned and source.brief:  # which branch a row lies on shows at the end: none may be left out
            source.restart(brief=False)
            reader = Reader(source)
            held = list(_read(reader, held=True))
        rows = iter(held)
    else:
        abandoned = _branches(source)
        source.brief = source.brief and not abandoned
        rows = _read(reader, held=False)
    if side_files:
        rows = _with_attempts(source, reader, rows, side_files)
    return _apart(reader, rows, abandoned) if abandoned else rows


def _read(reader: Reader, *, held: bool) -> Iterator[Event]:
    return brief(reader, held=held) if reader.source.brief else reader.rows(held=held)


def _branches(source: Source) -> dict[str, Branch]:
    """Read a large file's links alone, ahead of its rows; the second reading tells what is wrong with its lines."""
    trees: list[Tree] = []
    for _, link in Source(source.path).decoded(_LINKS):
        if link.type == "session" or not trees:
            trees.append(Tree(link.id if link.type == "session" and link.id else ""))
        elif link.id is not None and link.id not in trees[-1]:
            trees[-1].add(link.id, link.parent_id)
    return {record: branch for tree in trees for record, branch in tree.abandoned().items()}


def _with_attempts(source: Source, reader: Reader, rows: Iterable[Event], paths: list[Path]) -> Iterator[Event]:
    """Put the failed attempts that side files tell of among the session's rows, by their times."""
    waiting: Attempts | None = None
    for row in rows:
        if waiting is None:
            waiting = Attempts(_side_events(source, reader, paths))
        yield from waiting.before(row)
        yield row
    if waiting is not None:
        yield from waiting.rest()


def _side_events(source: Source, reader: Reader, paths: list[Path]) -> Iterator[Event]:
    for path in paths:
        try:
            one, trouble = decode(path.read_bytes())
        except OSError as error:
            one, trouble = None, error.strerror or str(error)
        if trouble is not None:
            said = "cannot be read" if one is None else "is read in part"
            source.notes.append(f"{path.name} beside the session {said}: {trouble}")
        if one is None:
            continue
        source.companions.append(path)
        source.failures = "partly"
        reader.header.agent = reader.header.agent or "atomic"
        yield event_of(one, reader.header.session or "", path)


def _apart(reader: Reader, rows: Iterable[Event], abandoned: dict[str, Branch]) -> Iterator[Event]:
    """Give the rows of abandoned branches their own sessions."""
    begun: set[str] = set()
    for row in rows:
        branch = abandoned.get(row.record or "")
        if branch is not None:
            row.session = branch.session
            if branch.session not in begun:
                begun.add(branch.session)
                yield Event(
                    kind="session",
                    session=branch.session,
                    line=row.line,
                    agent=reader.header.agent,
                    parent=branch.parent,
                )
        yield row


@writer(pi, suffix=".jsonl", pieces=pieces, rules=RULES, marks=MARKS, prefixes=PREFIXES)
def pi_writer(kept: Sequence[Piece], target: Path) -> None:
    """Write a session file, its tree mended around what is left out, with Atomic's diagnostic files beside it."""
    write(kept, target)
