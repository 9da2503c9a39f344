"""The event table as a file: Parquet, CSV or JSON lines with the columns of `events.SCHEMA`, or Timesketch's lines."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from forensics import safe
from forensics.events import SCHEMA, Event, fields
from forensics.incident.evidence import words
from forensics.parse import Parser, Source, read
from forensics.safe import cell, plain
from forensics.times import iso

BATCH = 100_000
_TIMES = ("ts", "sent")
_OF_SESSION = ("agent", "version", "parent")
Row = dict[str, Any]
"""The non-null columns of a row; times are UTC milliseconds."""


def rows(
    source: Source, chosen: Parser, counts: Counter[str] | None = None, clean: Callable[[Row], Row] | None = None
) -> Iterator[Row]:
    """Yield the rows of a file, the columns that a session's first row tells filled in on all of its rows.

    `counts` gets the number of rows of each session; `clean` changes each row before it goes out.
    """
    counts = Counter() if counts is None else counts
    told: dict[str | None, Row] = {}
    for event in read(source, chosen):
        row = fields(event)
        session = event.session
        if event.kind == "session":
            told[session] = told.get(session, {}) | {name: row[name] for name in _OF_SESSION if name in row}
        if session is not None:
            counts[session] += 1
            row["seq"] = counts[session]
        whole = {"file": source.name, "agent": chosen.agent} | told.get(session, {}) | row
        yield clean(whole) if clean else whole


def json_lines(table: Iterable[Row], chosen: Parser) -> Iterator[bytes]:
    """Write rows as JSON lines that the plain parser reads as the same events; a time is always ISO 8601, or null."""
    for row in table:
        line = row | {name: iso(row[name]) for name in _TIMES if name in row}
        if row["kind"] != "session":
            for name in _OF_SESSION:
                line.pop(name, None)
        elif chosen.name == "plain" and row["agent"] == chosen.agent:  # it was not told, only assumed
            del line["agent"]
        yield _line(line)


def _line(row: Row) -> bytes:
    try:
        data = msgspec.json.encode(row)
    except UnicodeEncodeError:
        data = msgspec.json.encode({name: _mended(value) for name, value in row.items()})
    if data.isascii() and b"\x7f" not in data:
        return data + b"\n"
    return safe.json(data.decode()).encode() + b"\n"


def _mended(value: Any) -> Any:
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


def csv_lines(table: Iterable[Row], _chosen: Parser) -> Iterator[bytes]:
    """Write rows as CSV without a header; no cell can be taken for a formula."""
    for row in table:
        text = io.StringIO()
        csv.writer(text, lineterminator="\r\n").writerow([_cell(name, row.get(name)) for name in SCHEMA])
        yield text.getvalue().encode("utf-8", "replace")


def csv_header() -> bytes:
    """Give the line of column names."""
    return ",".join(SCHEMA).encode() + b"\r\n"


def _cell(name: str, value: Any) -> Any:
    if name in _TIMES and value is not None:
        return iso(value)
    if isinstance(value, bool):
        return str(value).lower()
    return cell(value) if isinstance(value, str) else value


def timesketch_lines(table: Iterable[Row], _chosen: Parser) -> Iterator[bytes]:
    """Write rows as timeline tools read them: a message, a time, what the time is of. Rows without a time stay out."""
    for row in table:
        time = row.get("ts")
        when = iso(time)
        if time is None or when is None:
            continue
        event = Event(**{name: value for name, value in row.items() if name in Event.__struct_fields__})
        told = {"message": plain(words(event)), "datetime": when, "timestamp": time * 1000}
        told |= {"timestamp_desc": _DESCRIPTIONS.get(row["kind"], "Event recorded"), "data_type": "forensics:event"}
        yield _line(told | {name: value for name, value in row.items() if name not in _TIMES})


_DESCRIPTIONS = {
    "prompt": "Prompt recorded", "reply": "Reply recorded", "tool": "Tool called", "compact": "Compaction started",
    "compacted": "Compaction ended", "spawn": "Process started", "exit": "Process exited",
}  # fmt: skip

LINES: dict[str, tuple[Callable[[Iterable[Row], Parser], Iterator[bytes]], Callable[[], bytes]]] = {
    "csv": (csv_lines, csv_header),
    "jsonl": (json_lines, bytes),
    "timesketch": (timesketch_lines, bytes),
}


class LineFile:
    """A table written line by line: files are kept apart until it is known which of them to leave out."""

    def __init__(self, kind: str, spool: IO[bytes]) -> None:
        self._lines, self._header = LINES[kind]
        self._spool = spool
        self._parts: dict[str, tuple[int, int]] = {}

    def add(self, source: Source, chosen: Parser, clean: Callable[[Row], Row] | None = None) -> int:
        """Read a file into the table; give how many sessions it holds.

        Raises `Unreadable`; what was read until then is left out.
        """
        counts: Counter[str] = Counter()
        start = self._spool.tell()
        self._spool.writelines(self._lines(rows(source, chosen, counts, clean), chosen))
        self._parts[source.name] = (start, self._spool.tell())
        return len(counts)

    def blocks(self, without: frozenset[str]) -> Iterator[bytes]:
        """Give the table's bytes, the named files left out."""
        yield self._header()
        for name, (start, end) in self._parts.items():
            if name in without:
                continue
            self._spool.seek(start)
            yield from iter(partial(self._block, end), b"")

    def _block(self, end: int) -> bytes:
        return self._spool.read(min(1 << 20, end - self._spool.tell()))


class ParquetFile:
    """A table in memory until it is written: columns of a batch of rows at a time, about 100 bytes a row."""

    def __init__(self) -> None:
        import polars as pl  # noqa: PLC0415  (slow to import, needed for Parquet alone)

        self._polars = pl
        types = {"String": pl.String, "Int64": pl.Int64, "Float64": pl.Float64, "Boolean": pl.Boolean}
        self._types = {
            name: pl.Datetime("ms", "UTC") if column.dtype == "Datetime" else types[column.dtype]
            for name, column in SCHEMA.items()
        }
        self._parts: dict[str, list[Any]] = {}

    def add(self, source: Source, chosen: Parser, clean: Callable[[Row], Row] | None = None) -> int:
        """Read a file into the table; give how many sessions it holds.

        Raises `Unreadable`; what was read until then is left out.
        """
        counts: Counter[str] = Counter()
        frames: list[Any] = []
        columns: dict[str, list[Any]] = {name: [] for name in SCHEMA}
        for row in rows(source, chosen, counts, clean):
            for name, values in columns.items():
                values.append(_mended(row.get(name)))
            if len(columns["kind"]) >= BATCH:
                frames.append(self._frame(columns))
                columns = {name: [] for name in SCHEMA}
        self._parts[source.name] = [*frames, self._frame(columns)]
        return len(counts)

    def write(self, path: Path, without: frozenset[str]) -> None:
        """Write the table, the named files left out."""
        self.frame(without).write_parquet(path, compression="zstd")

    def frame(self, without: frozenset[str] = frozenset()) -> Any:
        """Give the table as a polars `DataFrame`, the named files left out."""
        frames = [frame for name, parts in self._parts.items() if name not in without for frame in parts]
        return self._polars.concat([self._frame({name: [] for name in SCHEMA}), *frames])

    def _frame(self, columns: dict[str, list[Any]]) -> Any:
        return self._polars.DataFrame(columns, schema=self._types)
