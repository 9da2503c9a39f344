"""The beginning of a file as a recogniser sees it: bytes, lines, JSON objects, tables."""

import json
import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from forensics.database import open_sqlite
from forensics.patterns import later
from forensics.tolerant import salvage

NEAR_BYTES = 64 << 10
HEAD_BYTES = 1 << 20
FAR_BYTES = 8 << 20
"""How far is read when a file's first lines are longer than the first MiB."""
HEAD_LINES = 400
HEAD_OBJECTS = 24
_CLEAN = 3
"""So many lines in a row that are all of one kind settle what kind of file it is."""
_SENTENCE = 200
_BRACES = 8 << 10
_SQLITE_MAGIC = b"SQLite format 3\0"
_BOM = b"\xef\xbb\xbf"
_BLANK = later(rb"(?:[ \t\r\0]*\n)+")
_DAMAGE = later(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_QUOTES = later(
    rb"```|~~~|#{1,6} \S|(?:User|Human|Assistant|AI|System): |<(?:!doctype|html|pre|code)\b|.*(?:\"\"\"|''')\s*$",
    re.IGNORECASE,
)
"""A line of a page, a conversation or a program that shows a file's lines further down."""
_OPENS = later(rb"(?:[a-zA-Z*)]:|^\{.*:|=|[=(:,][ (\[{\"']+|`|<\w+>|<<-?['\"]?\w+['\"]?)\s*$")
"""The end of a line of words or code that leads to something."""
_MEMBER = later(rb'(?:^|,)"[^"\\]+":["\[{\dtfn-]')
"""What tells the rest of a line of JSON whose beginning was lost from words: programs write it without spaces."""


class Look(NamedTuple):
    """A line that is not blank: its JSON objects; else whether it is text, or binary, and no JSON, torn or whole."""

    objects: list[dict[str, Any]]
    words: bool
    binary: bool = False


class Head:
    """The beginning of a file, seen as a recogniser may need it: bytes, lines, JSON objects, or tables.

    Only 64 KiB are read until more are asked for: most files show what they are in their first lines. NUL bytes before
    the first other byte are passed over, as they stand where a crash lost what was written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start = 0
        with path.open("rb", buffering=0) as stream:
            self.size = os.fstat(stream.fileno()).st_size
            near = stream.read(NEAR_BYTES)
            while near and not near.strip(b"\0"):
                self._start += len(near)
                near = stream.read(HEAD_BYTES)
        if near.startswith(b"\0"):
            self._start += len(near) - len(near.lstrip(b"\0"))
        self._near = self._read(NEAR_BYTES) if self._start else near.removeprefix(_BOM)
        self._lines: list[bytes] = []
        self._looks: list[Look] = []
        self._walked = self._walk()

    def _read(self, size: int) -> bytes:
        with self.path.open("rb") as stream:
            stream.seek(self._start)
            return stream.read(size).removeprefix(_BOM)

    @cached_property
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
        return self._near if self.size - self._start <= NEAR_BYTES else self._read(HEAD_BYTES)

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
        return self.some(HEAD_OBJECTS)

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first JSON object of the file that is not empty, or an empty one."""
        return (
            self._clean[0] if self._clean else next((one for look in self.looks() for one in look.objects if one), {})
        )

    def some(self, count: int) -> list[dict[str, Any]]:
        """Give the first `count` of `objects`, without decoding more lines than that takes."""
        found: list[dict[str, Any]] = []
        for look in self.looks():
            found.extend(look.objects)
            if len(found) >= count:
                break
        return found[:count]

    def looks(self) -> Iterator[Look]:
        """Yield what the first lines hold, decoding no more of them than are asked for."""
        at = 0
        while True:
            if at == len(self._looks):
                line = self._line(at)
                if line is None:
                    return
                self._looks.append(_look(line))
            yield self._looks[at]
            at += 1

    def lines(self) -> Iterator[bytes]:
        """Yield the first lines that are not blank, without NUL bytes and line ends: 400 at most."""
        at = 0
        while (line := self._line(at)) is not None:
            yield line
            at += 1

    def is_json_lines(
        self,
        own: Callable[[dict[str, Any]], bool | None],
        sure: Callable[[dict[str, Any]], bool] | None = None,
    ) -> bool:
        """Tell whether most of the first lines are JSON objects of one format.

        `own` tells an object that has the format's shape (`None`: it may belong to several formats and does not
        count), `sure` one that no other format has. Torn lines do not count, wherever they stand; lines of text
        before the first object and a few after it do no harm, nor do binary lines while they are not the most.
        """
        if self._clean:
            verdicts = [own(record) for record in self._clean]
            if True not in verdicts and False in verdicts:
                return False
            if False not in verdicts and (sure is None or any(map(sure, compress(self._clean, verdicts)))):
                return True
        if not self.first:
            return False
        mine = others = after = binary = 0
        before: list[bytes] = []
        certain = False
        for at, look in enumerate(self.looks()):
            for record in filter(None, look.objects):
                verdict = own(record)
                mine += verdict is True
                others += verdict is False
                certain = certain or (verdict is True and (sure is None or sure(record)))
            binary += look.binary
            if look.words and mine + others:
                after += 1
            elif look.words:
                before.append(self._lines[at])
            if mine + others >= HEAD_OBJECTS:
                break
        return certain and mine > others and mine >= binary and _told(mine, before, after)

    def is_log(self, line: re.Pattern[bytes], sure: re.Pattern[bytes]) -> bool:
        """Tell whether most of the first lines begin as a log's lines do, and one as only that log's lines do.

        Both patterns are matched at the beginnings of lines (`sure` needs MULTILINE). Indented lines do not count,
        wherever they stand; lines of text before the first one and a few after it do no harm, nor do damaged lines
        while they are not the most.
        """
        if self._is_braced:
            return False
        mine = after = damaged = 0
        before: list[bytes] = []
        for text in self.lines():
            if line.match(text):
                mine += 1
            elif text[:1] in b" \t{}])":
                continue
            elif _is_damaged(text):
                damaged += 1
            elif mine:
                after += 1
            else:
                before.append(text)
        if not mine or mine < damaged or not _told(mine, before, after):
            return False
        return any(map(sure.match, self.lines())) or sure.search(self.data) is not None

    @cached_property
    def _clean(self) -> list[dict[str, Any]]:
        """The objects of the first lines where each of them holds one, which nearly always settles what the file is."""
        lines = self._near.split(b"\n", _CLEAN)
        try:
            records = [msgspec.json.decode(line) for line in lines[:_CLEAN]]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return []
        return records if len(lines) > _CLEAN and all(isinstance(one, dict) and one for one in records) else []

    @cached_property
    def _is_braced(self) -> bool:
        """Nearly all of the first lines begin as JSON objects do."""
        first = self._near[:_BRACES]
        braced = first.count(b"\n{") + first.startswith(b"{")
        return self.is_sqlite or braced * 4 > first.count(b"\n") * 3

    def _line(self, at: int) -> bytes | None:
        while at >= len(self._lines):
            line = next(self._walked, None)
            if line is None:
                return None
            self._lines.append(line)
        return self._lines[at]

    def _walk(self) -> Iterator[bytes]:
        """Read the first lines that are whole; more than 64 KiB only where these hold too few."""
        block, at, found = self._near, 0, 0
        further = iter((HEAD_BYTES, FAR_BYTES))
        while found < HEAD_LINES and not self.is_sqlite:
            end = block.find(b"\n", at)
            if end < 0 and len(block) < self.size - self._start - len(_BOM):
                size = next(further, None) if found < HEAD_OBJECTS else None
                if size is None:
                    return
                block = self._read(size)
                continue
            line = block[at : end if end >= 0 else None].rstrip()
            if b"\0" in line:
                line = line.replace(b"\0", b"").rstrip()
            if line:
                found += 1
                yield line
            if end < 0:
                return
            at = end + 1
            if not line and (blank := _BLANK.match(block, at)):
                at = blank.end()


def is_quotation(before: list[bytes]) -> bool:
    """Tell whether the lines before something are of a page, a conversation or a program that shows it."""
    return bool(before) and (
        any(map(_QUOTES.match, before)) or _OPENS.search(before[-1].rstrip()[-_SENTENCE:]) is not None
    )


def _told(mine: int, before: list[bytes], after: int) -> bool:
    """Tell a file with some lines of another program in it from a text that shows some lines of such a file."""
    if not before:
        return mine >= after
    return not is_quotation(before) and mine > 2 * after + min(len(before), 2) and mine * 8 > len(before)


def _look(line: bytes) -> Look:
    if line.startswith(b"[") or b"{" not in line:
        damaged = _is_damaged(line)
        words = line[:1] not in b" \t" and not damaged and _MEMBER.search(line) is None
        return Look([], words=words, binary=damaged)
    objects = [value for value in _values(line) if isinstance(value, dict)]
    if objects or line.startswith(b"{") or line.endswith(b"}") or _MEMBER.search(line):
        return Look(objects, words=False)
    damaged = _is_damaged(line)
    return Look([], words=not damaged, binary=damaged)


def _values(line: bytes) -> list[Any]:
    try:
        return [msgspec.json.decode(line)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return salvage(line).values


def _is_damaged(line: bytes) -> bool:
    """Tell bytes that nobody meant as text: control characters, invalid UTF-8, brackets in heaps."""
    if _DAMAGE.search(line) or line.startswith((b"[[", b"[{")):
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return True
    return False


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_OPENED = frozenset({b"{", b"["})
"""First lines of JSON that is written over several."""


def looks_like(head: Head) -> str:
    """Say what a file that nothing recognises looks like."""
    if not head.size:
        return "empty file"
    if head.is_sqlite:
        return f"SQLite with tables {', '.join(sorted(head.tables)[:8]) or 'none'}: not a format that is read"
    if head.data.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd-compressed: decompress it first"
    if head.data.startswith(b"\x1f\x8b"):
        return "gzip-compressed: decompress it first"
    if head.data.lstrip().split(b"\n", 1)[0].rstrip() in _OPENED:
        return "JSON document: not a format that is read"
    if head.data.lstrip().startswith(b"[") and (len(head.data) < head.size or _is_document(head.data)):
        return "JSON document: not a format that is read"
    looks = list(head.looks())
    if sum(look.binary for look in looks) * 2 > len(looks):
        is_schema = b"CREATE TABLE " in head.data
        return "SQLite whose header is damaged" if is_schema else "binary data: not a format that is read"
    if head.objects and head.first:
        return f"JSON lines with keys {', '.join(sorted(head.first)[:8])}: not a format that is read"
    document = "JSON document: " if _is_document(head.data) else ""
    return f"{document}not a format that is read"


def _is_document(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
