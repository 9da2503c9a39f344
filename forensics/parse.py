"""Recognise a file by its content and read it into events.

A parser is one decorated plain function in `forensics/parsers/`: it takes a `Source` and yields `Event`s in file
order. Everything that a parser could not read is kept in the source's coverage; nothing is dropped in silence.
"""

import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from forensics.events import Event
from forensics.source import TORN, Malformed, Observable, Source, Unreadable, lenient, open_sqlite
from forensics.tolerant import salvage
from forensics.writing import Piece, Rules, Wanted, json_lines, words, write_json_lines, writer

__all__ = [
    "TORN",
    "Head",
    "Malformed",
    "NotRecognised",
    "Observable",
    "Parser",
    "Piece",
    "Rules",
    "Source",
    "Unreadable",
    "Wanted",
    "json_lines",
    "lenient",
    "open_sqlite",
    "parser",
    "parsers",
    "read",
    "recognise",
    "words",
    "write_json_lines",
    "writer",
]

NEAR_BYTES = 64 << 10
HEAD_BYTES = 1 << 20
HEAD_OBJECTS = 24
_SQLITE_MAGIC = b"SQLite format 3\0"
_BOM = b"\xef\xbb\xbf"


class NotRecognised(Exception):  # noqa: N818  (an answer about the file, not an error of the program)
    """No parser, or more than one, recognises the file. The message says what it looks like instead."""


class Head:
    """The beginning of a file, seen as a recogniser may need it: bytes, JSON lines, or tables.

    Only 64 KiB are read until more are asked for: most files show what they are in their first lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size
        with path.open("rb") as stream:
            self._near = stream.read(NEAR_BYTES).removeprefix(_BOM)

    @property
    def is_sqlite(self) -> bool:
        """The file is an SQLite database."""
        return self._near.startswith(_SQLITE_MAGIC)

    @property
    def near(self) -> bytes:
        """The first 64 KiB, without a byte order mark."""
        return self._near

    @cached_property
    def data(self) -> bytes:
        """The first MiB, without a byte order mark."""
        if self.size <= NEAR_BYTES:
            return self._near
        with self.path.open("rb") as stream:
            return stream.read(HEAD_BYTES).removeprefix(_BOM)

    @cached_property
    def tables(self) -> dict[str, frozenset[str]]:
        """SQLite tables with their columns; empty for any other file."""
        if not self.is_sqlite:
            return {}
        with open_sqlite(self.path) as database:
            names = [row[0] for row in database.execute("select name from sqlite_master where type = 'table'")]
            return {
                name: frozenset(row[1] for row in database.execute(f"pragma table_info({_quoted(name)})"))
                for name in names
            }

    @cached_property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects of the first lines, bad lines passed over; empty when the file is not JSON lines."""
        return self.some(None)

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first JSON object of the file, or an empty one."""
        return next(iter(self.some(1)), {})

    def some(self, count: int | None) -> list[dict[str, Any]]:
        """Give the first `count` of `objects`, without decoding more lines than that takes."""
        while count is None or len(self._found) < count:
            line = next(self._lines, None)
            if line is None:
                break
            self._found.extend(value for value in _values(line) if isinstance(value, dict))
        return self._found[:count]

    @cached_property
    def _found(self) -> list[dict[str, Any]]:
        return []

    @cached_property
    def _lines(self) -> Iterator[bytes]:
        """The first lines that are whole; more than 64 KiB are read only when these hold too few."""
        block, whole, at = self._near, self.size <= NEAR_BYTES, 0
        for _ in range(0 if self.is_sqlite else HEAD_OBJECTS):
            end = block.find(b"\n", at)
            if end < 0 and not whole:
                block, whole = self.data, self.size <= HEAD_BYTES
                end = block.find(b"\n", at)
            if end < 0:
                if whole and at < len(block):
                    yield block[at:]
                return
            yield block[at:end]
            at = end + 1


def _values(line: bytes) -> list[Any]:
    try:
        return [msgspec.json.decode(line)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return salvage(line).values


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Parser(NamedTuple):
    """A registered parser: its name for users, the agent it reads, how it recognises a file, the function."""

    name: str
    agent: str
    failures: Observable
    log: bool
    hides: frozenset[str]
    recognises: Callable[[Head], bool]
    read: "Callable[[Source], Iterator[Event]]"
    page: str


REGISTRY: dict[str, Parser] = {}


def parser(
    agent: str,
    *,
    failures: Observable,
    log: bool = False,
    hides: Iterable[str] = (),
    json_lines: dict[str, object] | None = None,
    sqlite: dict[str, set[str]] | None = None,
    text: bytes | None = None,
    when: Callable[[Head], bool] | None = None,
) -> "Callable[[Callable[[Source], Iterator[Event]]], Callable[[Source], Iterator[Event]]]":
    """Register a parser for `agent`.

    `failures`: can the format show a failed compaction at all? `log`: the file is a process's log, so that figures
    are told for the file rather than per session. `hides` names the totals of a session that the format never shows
    (`prompts`, `replies`, `errors`, `length_stops`, `aborted`, `manual_continues`): they are null instead of 0.

    It recognises a file when every condition given holds: `json_lines` maps keys of the first JSON object to a value
    or a type; `sqlite` maps tables to columns they must have; `text` is a regular expression searched in the first
    MiB of a file that does not begin with JSON lines; `when` is a function of the `Head`.
    """

    def recognises(head: Head) -> bool:
        return (
            (json_lines is None or _matches(head.first, json_lines))
            and (sqlite is None or all(columns <= head.tables.get(table, set()) for table, columns in sqlite.items()))
            and (text is None or (not head.is_sqlite and not head.first and re.search(text, head.data) is not None))
            and (when is None or when(head))
        )

    def register(function: Callable[[Source], Iterator[Event]]) -> Callable[[Source], Iterator[Event]]:
        name = function.__name__.replace("_", "-")
        REGISTRY[name] = Parser(
            name, agent, failures, log, frozenset(hides), recognises, function, function.__doc__ or ""
        )
        return function

    return register


def _matches(record: dict[str, Any], wanted: dict[str, object]) -> bool:
    return bool(record) and all(
        key in record and (isinstance(record[key], want) if isinstance(want, type) else record[key] == want)
        for key, want in wanted.items()
    )


@cache
def parsers() -> dict[str, Parser]:
    """Every parser by name, found by importing the folder."""
    import forensics.parsers as folder  # noqa: PLC0415  (the folder imports this module)

    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{module.name}")
    return dict(sorted(REGISTRY.items()))


def recognise(path: Path) -> Parser:
    """Give the one parser that recognises the file.

    Raises `NotRecognised` when none or several do, `Unreadable` when it cannot be opened.
    """
    try:
        head = Head(path)
        found = [one for one in parsers().values() if one.recognises(head)]
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    except TORN as error:
        raise Unreadable(f"SQLite: {error}") from error
    if not found:
        raise NotRecognised(_looks_like(head))
    if len(found) > 1:
        raise NotRecognised(f"recognised by {', '.join(one.name for one in found)}: please report this file's format")
    return found[0]


def _looks_like(head: Head) -> str:
    if not head.size:
        return "empty file"
    if head.is_sqlite:
        return f"SQLite with tables {', '.join(sorted(head.tables)[:8]) or 'none'}: not a format that is read"
    if head.data.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd-compressed: decompress it first"
    if head.data.startswith(b"\x1f\x8b"):
        return "gzip-compressed: decompress it first"
    if head.objects:
        return f"JSON lines with keys {', '.join(sorted(head.first)[:8])}: not a format that is read"
    try:
        json.loads(head.data)
    except ValueError:
        return "not a format that is read"
    return "JSON document: not a format that is read"


def read(source: Source, chosen: Parser | None = None) -> Iterator[Event]:
    """Yield the events of a file in file order.

    Raises `NotRecognised` or `Unreadable` as `recognise` does.
    """
    chosen = chosen or recognise(source.path)
    try:
        yield from chosen.read(source)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
