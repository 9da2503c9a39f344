"""One input file being read: its lines and records, tolerantly, with the coverage of that reading."""

import sqlite3
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Generic, Literal, NamedTuple, TypeVar, cast

import msgspec
from msgspec import UNSET

from forensics.database import TORN, open_sqlite
from forensics.fitting import fitted, reason_of, rescue
from forensics.tolerant import salvage
from forensics.wal import unused

CHUNK_BYTES = 8 << 20
BUFFER_BYTES = 512 << 10
BATCH_BYTES = 128 << 10
_REASONS = 1000
_MORE = "; and more"
LONGEST = 16 << 20
"""Of a line that is longer only the beginning is given on, where files are read in blocks."""
_BOM = b"\xef\xbb\xbf"
_NOTHING = (b"", b"null")
Observable = Literal["yes", "partly", "no"]
T = TypeVar("T", bound=msgspec.Struct)
V = TypeVar("V")


class Unreadable(Exception):  # noqa: N818
    """The file cannot be read at all; the message says why."""


class Malformed(NamedTuple):
    """A line that was not clean: 1-based line, byte offset in the file, why, and whether records were saved."""

    line: int
    offset: int
    reason: str
    salvaged: bool


class Block(NamedTuple):
    """Whole lines: the byte offset of the first, the data, how many bytes of the last line are not in it."""

    offset: int
    data: bytes
    lost: int


def too_long(lost: int) -> str:
    """Say what became of a line of which `lost` bytes were not read."""
    return f"longer than {LONGEST >> 20} MiB: the last {lost:,} bytes of the line are passed over"


class Batch(NamedTuple, Generic[T]):
    """Records of lines that follow each other, with the line of each; a damaged line may have none, or several."""

    lines: Sequence[int]
    records: list[T]


class _Pending:
    """The beginning of a line whose end was not seen yet, but for runs of NUL bytes and what is too much of it."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.bytes = 0
        self.kept = 0
        self._lost = 0

    def add(self, part: bytes) -> None:
        self.bytes += len(part)
        if part.startswith(b"\0"):
            part = b"\0" + part.lstrip(b"\0")
        room = LONGEST - self.kept
        self._lost += max(0, len(part) - room)
        if room:
            self.parts.append(part[:room])
            self.kept += len(self.parts[-1])

    def block(self, offset: int) -> Block:
        return Block(offset, b"".join(self.parts), self._lost)


class Source:
    """One input file being read, and the coverage of that reading."""

    def __init__(self, path: Path, name: str | None = None, *, brief: bool = False) -> None:
        self.path = path
        self.name = name or path.as_posix()
        self.restart(brief=brief)

    def restart(self, *, brief: bool) -> None:
        """Forget what was read, to read the file from its beginning."""
        self.brief = brief
        """Only the sessions' story is wanted: a parser may leave out tool rows that another row follows, and good
        replies between others (`Event.run`)."""
        self.lines: int | None = None
        self.records = 0
        self.duplicates = 0
        self.malformed: list[Malformed] = []
        self.unknown: Counter[str] = Counter()
        """Record types that the parser does not know, with how often each came."""
        self.left_out: Counter[str] = Counter()
        """Rows of each session that a brief reading did not pass on, but for those that came as columns."""
        self.notes: list[str] = []
        """What the reader should know of this file, a sentence each (BOM skipped, clock went back at line 7)."""
        self.companions: list[Path] = []
        """Files beside this one that the parser read as part of it."""
        self.failures: Observable | None = None
        """Set by a parser when this very file shows more or less of failed compactions than its format does."""
        self.hides: set[str] = set()
        """Totals of a session that this very file does not show whole: they are null. `compactions`: where it shows
        none, there may have been some."""
        self.doubts = 0
        """How often something was listed: a reader can tell whether what it just decoded was whole."""
        self._starts: list[tuple[int, int]] = []
        """Line and byte offset at which each batch of lines begins."""
        self._listed: dict[tuple[int, str | None], int] = {}
        """Where in `malformed` a line stands, and whose line it is."""
        self._again: dict[int, list[bytes]] = {}
        """The batches that were read again last, by their first line."""

    @cached_property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    def blocks(self, size: int | None = None, start: int = 0, stop: int | None = None) -> "Iterator[Block]":
        """Yield data in blocks of whole lines; the last line of each has lost its line end.

        For readers that search the bytes instead of looking at every line, who fare best with a `size` that stays in
        the processor's cache. `start` and `stop` bound the bytes read. It counts no lines: `lines` is left to the
        reader.
        """
        size = size or CHUNK_BYTES
        left = sys.maxsize if stop is None else stop - start
        offset, pending = start, _Pending()
        with self.path.open("rb", buffering=0) as stream:
            stream.seek(start)
            while block := stream.read(min(size, left)):
                left -= len(block)
                cut = block.rfind(b"\n")
                if cut < 0:
                    pending.add(block)
                    continue
                if pending.bytes > pending.kept:  # it stands alone, so that the offsets in every block are right
                    end = block.find(b"\n")
                    pending.add(block[:end])
                    yield pending.block(offset)
                    offset += pending.bytes + 1
                    pending = _Pending()
                    block, cut = block[end + 1 :], cut - end - 1
                if cut >= 0:
                    data = b"".join((*pending.parts, memoryview(block)[:cut]))
                    pending = _Pending()
                    yield Block(offset, data, 0)
                    offset += len(data) + 1
                if cut + 1 < len(block):
                    pending.add(block[cut + 1 :])
        if pending.bytes:
            yield pending.block(offset)

    def chunks(self) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield (first line number, byte offset, lines) in blocks; lines end at 0x0A alone and lose it.

        A carriage return before it goes with the line end. `lines` counts up as blocks are read.
        """
        self.lines = 0
        for offset, data, lost in self.blocks():
            lines = data.split(b"\n")
            first = self.lines + 1
            self.lines += len(lines)
            self._starts.append((first, offset))
            if lost:
                self.reject(self.lines, offset, too_long(lost))
            yield first, offset, lines

    def decoded(
        self, decoder: "msgspec.json.Decoder[T]", usual: "msgspec.json.Decoder[T] | None" = None
    ) -> Iterator[tuple[int, T]]:
        """Yield (line, record) for JSON lines; a line that does not fit is read tolerantly, alone, and listed.

        `usual` decodes the lines that files mostly consist of into something cheaper; any other goes to `decoder`.
        """
        return chain.from_iterable(zip(*batch, strict=True) for batch in self.batches(decoder, usual))

    def batches(
        self, decoder: "msgspec.json.Decoder[T]", usual: "msgspec.json.Decoder[T] | None" = None
    ) -> Iterator[Batch[T]]:
        """Yield what `decoded` does in batches of some dozens of lines, for readers that work on whole columns."""
        usual = usual or decoder
        for first, offset, lines in self._lines():
            yield self._batch(decoder, usual, first, offset, lines)

    def _lines(self) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield (first line number, byte offset, lines with their ends) in batches that fit into a processor's cache.

        That is a quarter cheaper for a JSON decoder than splitting large blocks.
        """
        self.lines = offset = 0
        with self.path.open("rb", buffering=BUFFER_BYTES) as stream:
            while lines := stream.readlines(BATCH_BYTES):
                first = self.lines + 1
                if first == 1 and lines[0].endswith(b"\r\n"):
                    self.notes.append("lines end with CRLF")
                self.lines += len(lines)
                self._starts.append((first, offset))
                yield first, offset, lines
                offset = stream.tell()

    def _batch(
        self,
        decoder: "msgspec.json.Decoder[T]",
        usual: "msgspec.json.Decoder[T]",
        first: int,
        offset: int,
        lines: list[bytes],
    ) -> Batch[T]:
        # msgspec passes over the fields it is not asked for without looking at their bytes, so the whole line is
        # checked here: 40 ms for 500 MB where it is ASCII.
        if all(map(bytes.isascii, lines)) or _is_utf8(lines):
            records = _records(decoder, usual, lines)
            if records is not None:
                self.records += len(records)
                return Batch(range(first, first + len(lines)), records)
        return self._tolerant(decoder, first, offset, lines)

    def _tolerant(self, decoder: "msgspec.json.Decoder[T]", first: int, offset: int, lines: list[bytes]) -> Batch[T]:
        numbers: list[int] = []
        found: list[T] = []
        for number, line in enumerate(lines, first):
            records = self._line(decoder, number, offset, line.removesuffix(b"\n"))
            found += records
            numbers += [number] * len(records)
            offset += len(line)
        self.records += len(found)
        return Batch(numbers, found)

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
        records, reason = rescue(line, cast("type[T]", decoder.type))
        self.reject(number, offset, reason, salvaged=bool(records))
        return records

    def reject(self, line: int, offset: int, reason: str, *, salvaged: bool = False, of: str | None = None) -> None:
        """List a line that was not clean, once: whatever else is said of it is added, and it is lost if anything is.

        `of` says whose line it is where it is not this file's: a session's in a database, a file's beside this one.
        """
        self.doubts += 1
        at = self._listed.setdefault((line, of), len(self.malformed)) if line else len(self.malformed)
        if at == len(self.malformed):
            self.malformed.append(Malformed(line, offset, f"{of}: {reason}" if of else reason, salvaged))
            return
        known = self.malformed[at]
        self.malformed[at] = known._replace(
            reason=_joined(known.reason, reason, of), salvaged=known.salvaged and salvaged
        )

    def is_listed(self, line: int) -> bool:
        """Say whether a line of this file is listed already."""
        return (line, None) in self._listed

    def doubt(self, line: int | None, reason: str, *, record: str | None = None, lost: bool = False) -> None:
        """List a line of which something could not be used (`lost`: nothing), when it was decoded already.

        Where there are no lines the record is named.
        """
        if not line:
            self.reject(0, 0, f"{record}: {reason}" if record else reason, salvaged=not lost)
        else:
            place = 0 if self.is_listed(line) else self.line_at(line)[0]
            self.reject(line, place, reason, salvaged=not lost)

    def inner(
        self,
        raw: msgspec.Raw,
        decoder: "msgspec.json.Decoder[V]",
        line: int | None,
        name: str,
        record: str | None = None,
    ) -> "V | None":
        """Decode a field that was kept as it stood; what of it does not fit is left out, and its line listed.

        `None` when it is absent, null, or nothing of it fits.
        """
        data = bytes(raw)
        if data in _NOTHING:
            return None
        try:
            return decoder.decode(data)
        except (msgspec.DecodeError, RecursionError):
            pass
        rescued = salvage(data)
        lost: list[str] = []
        found = fitted(rescued.values[0], decoder.type, lost, name) if rescued.values else UNSET
        self.doubt(line, reason_of(rescued.reason, lost) or f"field {name} not read at the first try", record=record)
        return None if found is UNSET else cast("V", found)

    def line_at(self, line: int) -> tuple[int, bytes]:
        """Read one line again, of those read so far: its byte offset and its bytes, without the line end."""
        if not self._starts:  # it was read as blocks
            self._starts.extend(self._places())
        at = max(0, bisect_right(self._starts, (line, sys.maxsize)) - 1)
        number, offset = self._starts[at] if self._starts else (1, 0)
        batch = self._again.get(number)
        if batch is None:
            after = self._starts[at + 1][0] if at + 1 < len(self._starts) else (self.lines or line) + 1
            with self.path.open("rb") as stream:
                stream.seek(offset)
                batch = list(islice(stream, after - number))
            for old in list(self._again)[:-1]:  # a line is held against an earlier one: two batches are at work
                del self._again[old]
            self._again[number] = batch
        found = batch[line - number] if line - number < len(batch) else b""
        return offset + sum(map(len, batch[: line - number])), found.removesuffix(b"\n").removesuffix(b"\r")

    def _places(self) -> Iterator[tuple[int, int]]:
        line, offset = 1, 0
        with self.path.open("rb", buffering=BUFFER_BYTES) as stream:
            while lines := stream.readlines(BATCH_BYTES):
                yield line, offset
                line += len(lines)
                offset += sum(map(len, lines))

    @contextmanager
    def sqlite(self) -> Iterator[sqlite3.Connection]:
        """Open the file as a read-only SQLite database that leaves nothing beside it.

        What its write-ahead log holds and SQLite passes over is listed or noted. Raises `Unreadable` when it is locked
        away, torn or not a database.
        """
        try:
            with open_sqlite(self.path) as database:
                self._look_at_log(database)
                yield database
        except TORN as error:
            raise Unreadable(f"SQLite: {error}") from error

    def _look_at_log(self, database: sqlite3.Connection) -> None:
        log = self.path.with_name(self.path.name + "-wal")
        if not log.is_file() or not log.stat().st_size:
            return
        # The database is a copy, so that its log may be worked off: that is how SQLite says how much of it counts.
        used = max(0, database.execute("pragma wal_checkpoint(passive)").fetchone()[1])
        if used and log not in self.companions:
            self.companions.append(log)
        left = unused(log, used)
        if left is not None and left.damaged:
            self.reject(0, 0, left.words)
        elif left is not None:
            self.notes.append(left.words)


def _records(
    decoder: "msgspec.json.Decoder[T]", usual: "msgspec.json.Decoder[T]", lines: list[bytes]
) -> list[T] | None:
    """Decode lines that hold a record each; `None` where one does not."""
    records: list[T] = []
    rest = iter(lines)
    while len(records) < len(lines):
        try:
            records.extend(map(usual.decode, rest))
        except (msgspec.DecodeError, RecursionError):  # the line after the last that was taken
            try:
                records.append(decoder.decode(lines[len(records)]))
            except (msgspec.DecodeError, RecursionError):
                return None
    return records


def _joined(known: str, reason: str, of: str | None) -> str:
    """Add a reason to those known of a line, which may have records without number."""
    if known.endswith(_MORE) or f"; {reason};" in f"; {known.removeprefix(f'{of}: ')};":
        return known
    return known + (f"; {reason}" if len(known) < _REASONS else _MORE)


def _is_utf8(lines: list[bytes]) -> bool:
    try:
        for line in lines:
            line.decode()
    except UnicodeDecodeError:
        return False
    return True
