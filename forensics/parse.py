"""Recognise a file by its content and read it into events.

A parser is one decorated plain function in `forensics/parsers/`: it takes a `Source` and yields `Event`s in file
order. Everything that a parser could not read is kept in the source's coverage; nothing is dropped in silence.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from forensics import plugins
from forensics.database import TORN, open_sqlite
from forensics.events import Event
from forensics.fitting import lenient, reason_of, rescue
from forensics.head import HEAD_BYTES, Head, is_quotation, looks_like
from forensics.sane import guarded
from forensics.source import Batch, Block, Malformed, Observable, Source, Unreadable, too_long
from forensics.writing import Piece, Rules, Wanted, json_lines, words, write_json_lines, writer

__all__ = [
    "HEAD_BYTES",
    "TORN",
    "Batch",
    "Block",
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
    "is_quotation",
    "json_lines",
    "lenient",
    "open_sqlite",
    "parser",
    "parsers",
    "read",
    "reason_of",
    "recognise",
    "rescue",
    "too_long",
    "words",
    "write_json_lines",
    "writer",
]


class NotRecognised(Exception):  # noqa: N818  (an answer about the file, not an error of the program)
    """No parser, or more than one, recognises the file. The message says what it looks like instead."""


class Parser(NamedTuple):
    """A registered parser: its name for users, the agent it reads, how it recognises a file, the function."""

    name: str
    agent: str
    failures: Observable
    log: bool
    held: bool
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
    held: bool = False,
    hides: Iterable[str] = (),
    json_lines: dict[str, object] | None = None,
    sqlite: dict[str, set[str]] | None = None,
    when: Callable[[Head], bool] | None = None,
) -> "Callable[[Callable[[Source], Iterator[Event]]], Callable[[Source], Iterator[Event]]]":
    """Register a parser for `agent`.

    `failures`: can the format show a failed compaction at all? `log`: the file is a process's log, so that figures
    are told for the file rather than per session. `held`: the parser itself holds every figure and time to what one
    can be (`forensics.sane`), so that its rows need no second look. `hides` names the totals of a session that the
    format never shows (`prompts`, `replies`, `errors`, `length_stops`, `aborted`, `manual_continues`): they are null
    instead of 0.

    It recognises a file when every condition given holds: `json_lines` maps keys that most of the first JSON objects
    have to a value or a type; `sqlite` maps tables to columns they must have; `when` is a function of the `Head`
    (for logs, `head.is_log(line, sure)`).
    """

    def recognises(head: Head) -> bool:
        return (
            (json_lines is None or head.is_json_lines(lambda record: _matches(record, json_lines)))
            and (sqlite is None or all(columns <= head.tables.get(table, set()) for table, columns in sqlite.items()))
            and (when is None or when(head))
        )

    def register(function: Callable[[Source], Iterator[Event]]) -> Callable[[Source], Iterator[Event]]:
        name = function.__name__.replace("_", "-")
        REGISTRY[name] = Parser(
            name, agent, failures, log, held, frozenset(hides), recognises, function, function.__doc__ or ""
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

    plugins.load(folder)
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
        raise NotRecognised(looks_like(head))
    if len(found) > 1:
        raise NotRecognised(f"recognised by {', '.join(one.name for one in found)}: please report this file's format")
    return found[0]


def read(source: Source, chosen: Parser | None = None) -> Iterator[Event]:
    """Yield the events of a file in file order.

    Raises `NotRecognised` or `Unreadable` as `recognise` does.
    """
    chosen = chosen or recognise(source.path)
    try:
        yield from chosen.read(source) if chosen.held else guarded(chosen.read(source), source)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
