"""Write a small file of a format that is read: the registry of writers, and what they and `capture` share.

A writer is a second decorated plain function in a parser's file. Its `pieces` give a file's records as JSON values;
the function itself writes some of them as a valid file of the same format. `rules` say what each field holds: a field
that no rule names is left out, so that nothing unknown is ever shared.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from forensics.source import Source
from forensics.tolerant import salvage

How = (
    Literal["id", "name", "time", "text", "error", "words", "number", "inside", "json", "path", "version", "empty"]
    | frozenset[str]
)
"""What a field holds, and so what becomes of it.

`id`: renamed, the same everywhere. `name` (of a model, provider, tool): kept where public, else renamed. `time`: moved.
`text`: filler of the same length. `error`: the words of errors are kept where they may be, all others are filler;
`words`: they are kept in any case (codes, what a host process says). `number`: kept, truth values too. `inside`: an
object or a list, looked into. `json`: a text that holds JSON, looked into. `path`: replaced. `version`: kept where it
is nothing but one. `empty`: an object whose content is dropped. A set of words: kept where it is one of them.
"""

Rules = Mapping[str, tuple[How, ...]]
"""Field name, or `parent.field`, to what it may hold. Several: the first that fits the value's type and content."""


class Wanted(NamedTuple):
    """What of a file a capture looks at: physical lines, record ids, sessions. A writer may give more than that."""

    lines: frozenset[int]
    records: frozenset[str]
    sessions: frozenset[str]


class Piece(msgspec.Struct, kw_only=True):
    """One record of a file, which a capture keeps or leaves out."""

    value: dict[str, Any]
    table: str = ""
    """Which of the format's kinds of record, where it has several: a table, a part of a document, a file beside."""
    line: int | None = None
    record: str | None = None
    fixed: bool = False
    """The format needs it: never left out."""
    owner: int | None = None
    """Position of the piece that this one is a part of: it goes where that one goes."""
    above: int | None = None
    """Position of the nearest piece above it in a tree."""
    link: str | None = None
    """The field that names the record above it."""


class Writer(NamedTuple):
    """A registered writer: which parser's files it writes, and how."""

    name: str
    suffix: str
    pieces: Callable[[Source, Wanted | None], Iterator[Piece]]
    """Give a file's records in file order; `None`: all of them."""
    write: Callable[[Sequence[Piece], Path], None]
    """Write the pieces, in their order, as a file of the format, with any file that belongs beside it."""
    rules: Rules
    marks: str | None
    """A regular expression: what it matches in a text says what kind of text it is, and is kept."""
    prefixes: tuple[str, ...]
    """Beginnings of ids that say what the id is of, and are kept."""
    lined: bool
    """Each piece is a line, except those of files beside."""


REGISTRY: dict[str, Writer] = {}


def words(text: str) -> frozenset[str]:
    """Give the set of words of a text."""
    return frozenset(text.split())


def writer(
    parser: Callable[..., Any],
    *,
    suffix: str,
    pieces: Callable[[Source, Wanted | None], Iterator[Piece]],
    rules: Rules,
    marks: str | None = None,
    prefixes: tuple[str, ...] = (),
    lined: bool = True,
) -> Callable[[Callable[[Sequence[Piece], Path], None]], Callable[[Sequence[Piece], Path], None]]:
    """Register the writer for a parser's files; the parser may be any callable with its name."""

    def register(function: Callable[[Sequence[Piece], Path], None]) -> Callable[[Sequence[Piece], Path], None]:
        name = parser.__name__.replace("_", "-")
        REGISTRY[name] = Writer(name, suffix, pieces, function, rules, marks, prefixes, lined)
        return function

    return register


def json_lines(source: Source, wanted: Wanted | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give (line, object) of a file of JSON lines: the wanted lines and the first; what is torn is left out."""
    for first, _, lines in source.chunks():
        for at in _positions(first, len(lines), wanted):
            line = lines[at].removeprefix(b"\xef\xbb\xbf")
            if line.strip():
                yield from ((first + at, value) for value in _values(line) if isinstance(value, dict))


def _positions(first: int, count: int, wanted: Wanted | None) -> Sequence[int]:
    if wanted is None:
        return range(count)
    found = sorted(line - first for line in wanted.lines if first <= line < first + count)
    return found if first > 1 or 0 in found else [0, *found]


def _values(line: bytes) -> list[Any]:
    try:
        return [msgspec.json.decode(line)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return salvage(line).values


def write_json_lines(values: Sequence[Mapping[str, Any]], target: Path) -> None:
    """Write one JSON object per line, UTF-8."""
    target.write_bytes(b"".join(msgspec.json.encode(value) + b"\n" for value in values))
