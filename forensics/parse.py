"""Recognise a file by its content and read it into events, tolerantly, with coverage.

A parser is one decorated plain function in `forensics/parsers/`: it takes a `Source` and yields `Event`s in file
order. Everything that a parser could not read is kept in the source's coverage; nothing is dropped in silence.
"""

import importlib
import json
import pkgutil
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast

import msgspec

from forensics.events import Event
from forensics.tolerant import Salvage, salvage

HEAD_BYTES = 1 << 20
CHUNK_BYTES = 8 << 20
HEAD_OBJECTS = 200
_SQLITE_MAGIC = b"SQLite format 3\0"
_BOM = b"\xef\xbb\xbf"

Observable = Literal["yes", "partly", "no"]
T = TypeVar("T", bound=msgspec.Struct)


class NotRecognised(Exception):  # noqa: N818  (an answer about the file, not an error of the program)
    """No parser, or more than one, recognises the file. The message says what it looks like instead."""


class Unreadable(Exception):  # noqa: N818
    """The file cannot be read at all; the message says why."""


class Malformed(NamedTuple):
    """A line that was not clean: 1-based line, byte offset in the file, why, and whether records were saved."""

    line: int
    offset: int
    reason: str
    salvaged: bool


class Head:
    """The first MiB of a file, seen as a recogniser may need it: bytes, JSON lines, a document, or tables."""

    def __init__(self, path: Path, data: bytes, size: int) -> None:
        self.path = path
        self.size = size
        self.data = data.removeprefix(_BOM)

    @cached_property
    def tables(self) -> dict[str, frozenset[str]]:
        """SQLite tables with their columns; empty for any other file."""
        if not self.data.startswith(_SQLITE_MAGIC):
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
        if self.data.startswith(_SQLITE_MAGIC):
            return []
        lines = self.data.split(b"\n")
        if len(self.data) < self.size:
            lines.pop()
        found: list[dict[str, Any]] = []
        for line in lines[:HEAD_OBJECTS]:
            found.extend(value for value in salvage(line).values if isinstance(value, dict))
        return found

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first JSON object of the file, or an empty one."""
        return self.objects[0] if self.objects else {}


class Parser(NamedTuple):
    """A registered parser: its name for users, the agent it reads, how it recognises a file, the function."""

    name: str
    agent: str
    failures: Observable
    log: bool
    recognises: Callable[[Head], bool]
    read: "Callable[[Source], Iterator[Event]]"
    page: str


class Source:
    """One input file being read, and the coverage of that reading."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.name = name or path.as_posix()
        self.lines: int | None = None
        self.records = 0
        self.duplicates = 0
        self.malformed: list[Malformed] = []
        self.unknown: Counter[str] = Counter()
        """Record types that the parser does not know, with how often each came."""
        self.notes: list[str] = []
        """What the reader should know of this file, a sentence each (BOM skipped, clock went back at line 7)."""
        self.companions: list[Path] = []
        """Files beside this one that the parser read as part of it."""
        self.failures: Observable | None = None
        """Set by a parser when this very file shows more or less of failed compactions than its format does."""

    @cached_property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    def chunks(self) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield (first line number, byte offset, lines) in blocks; lines end at 0x0A alone and lose it.

        A carriage return before it goes with the line end. `lines` counts up as blocks are read.
        """
        self.lines = 0
        offset = 0
        pending: list[bytes] = []
        with self.path.open("rb") as stream:
            while block := stream.read(CHUNK_BYTES):
                cut = block.rfind(b"\n")
                if cut < 0:
                    pending.append(block)
                    continue
                data = b"".join((*pending, block[:cut]))
                pending = [block[cut + 1 :]] if cut + 1 < len(block) else []
                lines = data.split(b"\n")
                first = self.lines + 1
                self.lines += len(lines)
                yield first, offset, lines
                offset += len(data) + 1
        if pending:
            self.lines += 1
            yield self.lines, offset, [b"".join(pending)]

    def decoded(self, decoder: "msgspec.json.Decoder[T]") -> Iterator[tuple[int, T]]:
        """Yield (line, record) for JSON lines; a line that does not fit is read tolerantly, alone, and listed."""
        return chain.from_iterable(self._batch(decoder, first, offset, lines) for first, offset, lines in self.chunks())

    def _batch(
        self, decoder: "msgspec.json.Decoder[T]", first: int, offset: int, lines: list[bytes]
    ) -> Iterator[tuple[int, T]]:
        decode = decoder.decode
        # msgspec passes over the fields it is not asked for without looking at their bytes, so the whole line is
        # checked here: 40 ms for 500 MB where it is ASCII.
        if all(map(bytes.isascii, lines)) or _is_utf8(lines):
            try:
                records = [decode(line) for line in lines]
            except (msgspec.DecodeError, RecursionError):
                pass
            else:
                self.records += len(records)
                return zip(range(first, first + len(lines)), records, strict=True)
        return iter(self._tolerant(decoder, first, offset, lines))

    def _tolerant(
        self, decoder: "msgspec.json.Decoder[T]", first: int, offset: int, lines: list[bytes]
    ) -> list[tuple[int, T]]:
        found: list[tuple[int, T]] = []
        for number, line in enumerate(lines, first):
            found.extend((number, record) for record in self._line(decoder, number, offset, line))
            offset += len(line) + 1
        self.records += len(found)
        return found

    def _line(self, decoder: "msgspec.json.Decoder[T]", number: int, offset: int, line: bytes) -> list[T]:
        if number == 1 and line.startswith(_BOM):
            self.notes.append("UTF-8 byte order mark skipped")
            line, offset = line[len(_BOM) :], offset + len(_BOM)
        if not line.strip():
            return []
        try:
            if line.isascii() or _is_utf8([line]):
                return [decoder.decode(line)]
        except (msgspec.DecodeError, RecursionError):
            pass
        rescued = salvage(line)
        kind = cast("type[T]", decoder.type)
        records = [record for value in rescued.values if (record := lenient(value, kind)) is not None]
        if rescued.reason is None and not records:
            rescued = Salvage(rescued.values, "not a JSON object")
        if rescued.reason is not None:
            self.reject(number, offset, rescued.reason, salvaged=bool(records))
        return records

    def reject(self, line: int, offset: int, reason: str, *, salvaged: bool = False) -> None:
        """List a line that was not clean."""
        self.malformed.append(Malformed(line, offset, reason, salvaged))

    @contextmanager
    def sqlite(self) -> Iterator[sqlite3.Connection]:
        """Open the file as a read-only SQLite database that leaves nothing beside it.

        Raises `Unreadable` when it is locked away, torn or not a database.
        """
        try:
            with open_sqlite(self.path) as database:
                yield database
        except sqlite3.DatabaseError as error:
            raise Unreadable(f"SQLite: {error}") from error


def _is_utf8(lines: list[bytes]) -> bool:
    try:
        for line in lines:
            line.decode()
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def open_sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database read-only, with its write-ahead log where there is one.

    SQLite writes a `-shm` file beside a database that has a log, even when it only reads: such a pair is read from
    a temporary copy. A database without a log is opened as immutable, which touches nothing.
    """
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
            copy = Path(folder) / "copy.db"
            shutil.copyfile(path, copy)
            shutil.copyfile(log, copy.with_name("copy.db-wal"))
            with closing(sqlite3.connect(copy)) as database:
                yield database
    else:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            yield database


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def lenient(value: Any, kind: type[T]) -> T | None:
    """Convert a JSON object field by field: a field of an unexpected shape is left out, the record is kept."""
    if not isinstance(value, dict):
        return None
    known: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name not in value:
            continue
        inner = value[field.encode_name]
        if field.type is msgspec.Raw:
            known[field.name] = msgspec.Raw(msgspec.json.encode(inner))
            continue
        try:
            known[field.name] = msgspec.convert(inner, field.type, strict=False)
        except (msgspec.ValidationError, ValueError):
            struct = _struct_of(field.type)
            if struct is not None and (part := lenient(inner, struct)) is not None:
                known[field.name] = part
    try:
        return kind(**known)
    except TypeError:  # a field without a default is missing
        return None


def _struct_of(annotation: Any) -> type[msgspec.Struct] | None:
    options = (annotation, *getattr(annotation, "__args__", ()))
    return next((kind for kind in options if isinstance(kind, type) and issubclass(kind, msgspec.Struct)), None)


REGISTRY: dict[str, Parser] = {}


def parser(
    agent: str,
    *,
    failures: Observable,
    log: bool = False,
    json_lines: dict[str, object] | None = None,
    sqlite: dict[str, set[str]] | None = None,
    text: bytes | None = None,
    when: Callable[[Head], bool] | None = None,
) -> "Callable[[Callable[[Source], Iterator[Event]]], Callable[[Source], Iterator[Event]]]":
    """Register a parser for `agent`.

    `failures`: can the format show a failed compaction at all? `log`: the file is a process's log, so that figures
    are told for the file rather than per session. It recognises a file when every condition given holds:
    `json_lines` maps keys of the first JSON object to a value or a type; `sqlite` maps tables to columns they must
    have; `text` is a regular expression searched in the first MiB; `when` is a function of the `Head`.
    """

    def recognises(head: Head) -> bool:
        return (
            (json_lines is None or _matches(head.first, json_lines))
            and (sqlite is None or all(columns <= head.tables.get(table, set()) for table, columns in sqlite.items()))
            and (text is None or (not head.tables and re.search(text, head.data) is not None))
            and (when is None or when(head))
        )

    def register(function: Callable[[Source], Iterator[Event]]) -> Callable[[Source], Iterator[Event]]:
        name = function.__name__.replace("_", "-")
        REGISTRY[name] = Parser(name, agent, failures, log, recognises, function, function.__doc__ or "")
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
        size = path.stat().st_size
        with path.open("rb") as stream:
            data = stream.read(HEAD_BYTES)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    head = Head(path, data, size)
    try:
        found = [one for one in parsers().values() if one.recognises(head)]
    except sqlite3.DatabaseError as error:
        raise Unreadable(f"SQLite: {error}") from error
    if not found:
        raise NotRecognised(_looks_like(head))
    if len(found) > 1:
        raise NotRecognised(f"recognised by {', '.join(one.name for one in found)}: please report this file's format")
    return found[0]


def _looks_like(head: Head) -> str:
    if not head.size:
        return "empty file"
    if head.data.startswith(_SQLITE_MAGIC):
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
