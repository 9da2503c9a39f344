"""Find the messages of an `opencode export` document, whole or cut, and the line on which each begins."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from msgspec import Raw

from forensics.patterns import later

START = later(rb'\{\s*"info"\s*:\s*\{(?!\s*"role")')
"""Where a document begins: whatever a terminal wrote before it is passed over."""
MESSAGES = later(rb'"messages"\s*:\s*\[')
_PRETTY = later(rb'^    \{\r?\n      "info": \{', re.MULTILINE)
_BRACKET = later(rb'["{}\[\]]')
_STRING = later(rb'(?:[^"\\]+|\\.)*+"', re.DOTALL)
_BETWEEN = later(rb"[\s,]*")
_BROKEN = "a broken message; what follows it cannot be told apart"
PIPE = 65536
"""What a pipe holds on Linux: an export whose reader was slow ends at a multiple of it."""


class Document(msgspec.Struct):
    """The export as a whole."""

    info: Raw
    messages: list[Raw]


class Piece(NamedTuple):
    """One JSON object of the document: the offsets of its bytes, the 1-based line it begins on."""

    offset: int
    end: int
    line: int


class Trouble(NamedTuple):
    """Where the document is broken, and how."""

    offset: int
    line: int
    reason: str


_DECODER = msgspec.json.Decoder(Document)


class Lines:
    """Physical lines of offsets that only ever grow: linear over the whole document."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._line = 1

    def of(self, offset: int) -> int:
        """Give the 1-based line of an offset; of the end, that of the last byte."""
        offset = min(offset, len(self._data) - 1)
        self._line += self._data.count(b"\n", self._at, offset)
        self._at = offset
        return self._line


def pieces(data: bytes, start: int) -> Iterator[Piece | Trouble]:
    """Yield the session's own object, then each message object, in order; what is broken as `Trouble`.

    `start` is where the document begins.
    """
    lines = Lines(data)
    try:
        document = _DECODER.decode(memoryview(data)[start:])
    except (msgspec.DecodeError, RecursionError):
        yield from _walked(data, start, lines)
        return
    at = start
    for raw in (document.info, *document.messages):
        text = bytes(raw)
        at = data.index(text, at)
        yield Piece(at, at + len(text), lines.of(at))
        at += len(text)


def _walked(data: bytes, start: int, lines: Lines) -> Iterator[Piece | Trouble]:
    """Walk a document that is cut, followed by other text, or broken somewhere inside."""
    info = data.index(b"{", start + 1)
    end = end_of(data, info)
    if end is None:
        yield Trouble(info, lines.of(info), f"the document ends inside the session's own record{_cut(data)}")
        return
    yield Piece(info, end, lines.of(info))
    array = MESSAGES.search(data, end)
    if array is None:
        yield Trouble(end, lines.of(end), f"the document ends before its messages{_cut(data)}")
        return
    at = array.end()
    while True:
        at = _skipped(data, at)
        if at >= len(data):
            yield Trouble(at, lines.of(at), f"the document ends between messages{_cut(data)}")
            return
        if data[at : at + 1] == b"]":
            yield from _after(data, at + 1, lines)
            return
        end = end_of(data, at) if data[at : at + 1] == b"{" else at
        if end is not None and end > at and _is_message(data[at:end]):
            yield Piece(at, end, lines.of(at))
            at = end
            continue
        following = _PRETTY.search(data, at + 1)
        if following is None:
            yield Trouble(at, lines.of(at), _BROKEN if end else f"the document ends inside a message{_cut(data)}")
            return
        yield Trouble(at, lines.of(at), "a broken message")
        at = following.start() + 4


def end_of(data: bytes, at: int) -> int | None:
    """Give the offset after the object or array that begins at `at`; `None` when the data ends first."""
    depth = 0
    while bracket := _BRACKET.search(data, at):
        at = bracket.end()
        mark = data[at - 1]
        if mark == 0x22:
            string = _STRING.match(data, at)
            if string is None:
                return None
            at = string.end()
        elif mark in b"{[":
            depth += 1
        else:
            depth -= 1
            if depth <= 0:
                return at
    return None


def _is_message(data: bytes) -> bool:
    return b'"info"' in data[:64] or b'"parts"' in data[:64]


def _skipped(data: bytes, at: int) -> int:
    between = _BETWEEN.match(data, at)
    return between.end() if between else at


def _after(data: bytes, at: int, lines: Lines) -> Iterator[Trouble]:
    closing = re.compile(rb"\s*\}?\s*").match(data, at)
    at = closing.end() if closing else at
    if at < len(data):
        yield Trouble(at, lines.of(at), "text after the document")


def _cut(data: bytes) -> str:
    if len(data) % PIPE:
        return ""
    return f", at {len(data):,} bytes: an export to a pipe is cut at a multiple of {PIPE:,}"
