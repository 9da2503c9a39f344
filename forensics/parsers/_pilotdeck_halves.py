"""Search a large PilotDeck log in two processes: this one takes the first part, a fork of it the rest.

The fork only searches and decodes; the rows, of which each depends on those before it, are made here. The more rows a
log has, the less of the search is left to this process.
"""

import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from forensics.parse import Malformed, Source
from forensics.parsers._pilotdeck_garbage import is_garbage
from forensics.parsers._pilotdeck_lines import Line, Lined, Staged, part, starts_anew
from forensics.parsers._pilotdeck_stages import Details

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SPLIT_BYTES = 96 << 20
_NEAR_BYTES = 1 << 20
_SAMPLES = 16
_SAMPLE_BYTES = 64 << 10
_STAGE = b"] [context:auto-compact] "
_ROW_BYTES = 2400
"""What each row costs this process, in bytes of search."""
_BATCH = 1024
_BATCH_BYTES = 1 << 20
_WAITING = 64
"""Batches that the fork may be ahead."""


class _Batch(msgspec.Struct, array_like=True):
    """What travels between the processes: stages column by column, and where other lines stand between them."""

    numbers: list[int]
    times: list[int | None]
    stages: list[str]
    details: list[Details]
    lines: list[tuple[int, Line]]
    """Each with how many of the stages stand before it."""
    total: int | None = None
    """How many lines were searched; set in the last batch."""
    malformed: list[Malformed] = []

    def rows(self, start: int, stop: int) -> "zip[tuple[int, int | None, str, Details]]":
        """Give the stages between two places."""
        columns = (self.numbers, self.times, self.stages, self.details)
        return zip(*(column[start:stop] for column in columns), strict=True)


_DECODER = msgspec.msgpack.Decoder(_Batch)


def lines(source: Source, lined: Lined, staged: Staged) -> Iterator[None]:
    """Hand on what `part` hands on for the whole file, and count `source.lines`."""
    middle = _middle(source)
    if middle is None:
        source.lines = yield from part(source, lined, staged)
        return
    with _rest(source, middle) as connection:
        first = yield from part(source, lined, staged, 0, middle)
        source.lines = yield from _received(connection, source, lined, staged, first)


def _middle(source: Source) -> int | None:
    """Give a line start for the fork to begin, where no event goes on from the line before; `None` for no fork."""
    if source.size < SPLIT_BYTES or sys.platform != "linux" or (os.cpu_count() or 1) < 2:
        return None
    import multiprocessing  # noqa: PLC0415  (only large logs need it)

    # A fork of a process with threads can hang; a daemon may not have children.
    if threading.active_count() > 1 or multiprocessing.current_process().daemon:
        return None
    with source.path.open("rb", buffering=0) as stream:
        start = _share(stream, source.size)
        stream.seek(start)
        near = stream.read(_NEAR_BYTES)
    at = starts_anew(near)
    return None if at is None else start + at


def _share(stream: BinaryIO, size: int) -> int:
    """Give how many bytes this process should search: half of a log without rows, next to none of a busy one."""
    found = 0
    for sample in range(_SAMPLES):
        stream.seek(size // _SAMPLES * sample)
        found += stream.read(_SAMPLE_BYTES).count(_STAGE)
    rows = found * size // (_SAMPLES * _SAMPLE_BYTES)
    return max(size // 2 - rows * _ROW_BYTES, min(size // 2, _NEAR_BYTES))


@contextmanager
def _rest(source: Source, middle: int) -> "Iterator[Connection]":
    import multiprocessing  # noqa: PLC0415  (only large logs need it)

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_search, args=(source.path, middle, theirs, ours), daemon=True)
    child.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        child.terminate()
        child.join()


def _search(path: Path, start: int, connection: "Connection", reader: "Connection") -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reader.close()  # as long as it is open here too, the pipe does not break when the other process is killed
    source = Source(path)
    waiting: Queue[bytes] = Queue(_WAITING)
    sender = threading.Thread(target=_send, args=(waiting, connection), daemon=True)
    sender.start()
    found = _Found()
    walk = part(source, found.line, found.stage, start)
    while True:
        try:
            next(walk)
        except StopIteration as end:
            found.batch.total = end.value
            break
        if found.full:
            waiting.put(found.take(source))
    waiting.put(found.take(source))
    waiting.put(b"")
    sender.join()


def _send(waiting: "Queue[bytes]", connection: "Connection") -> None:
    try:
        while data := waiting.get():
            connection.send_bytes(data)
    except OSError:
        os._exit(1)  # nobody listens any more; the search must not wait for room


class _Found:
    """What was found and not sent yet."""

    def __init__(self) -> None:
        self.batch = _Batch([], [], [], [], [])
        self._bytes = 0

    @property
    def full(self) -> bool:
        """Whether it is worth sending."""
        return len(self.batch.numbers) + len(self.batch.lines) >= _BATCH or self._bytes > _BATCH_BYTES

    def stage(self, line: int, ts: int | None, stage: str, details: Details) -> None:
        """Take a stage of auto-compaction."""
        batch = self.batch
        batch.numbers.append(line)
        batch.times.append(ts)
        batch.stages.append(stage)
        batch.details.append(details)

    def line(self, line: Line) -> None:
        """Take any other line."""
        self.batch.lines.append((len(self.batch.numbers), line))
        self._bytes += len(line.message)

    def take(self, source: Source) -> bytes:
        """Give it as it is sent, with what the source listed, and begin anew."""
        self.batch.malformed = source.malformed
        source.restart(brief=False)
        data = msgspec.msgpack.encode(self.batch)
        self.batch, self._bytes = _Batch([], [], [], [], []), 0
        return data


def _received(
    connection: "Connection", source: Source, lined: Lined, staged: Staged, before: int
) -> Generator[None, None, int]:
    """Hand on what the other process found, its lines numbered on; return how many lines the file has."""
    while True:
        try:
            batch = _DECODER.decode(connection.recv_bytes())
        except EOFError as error:
            raise RuntimeError("the process that searched the rest of the log died") from error
        for bad in batch.malformed:
            if not is_garbage(bad):
                _list(source, before, bad)
        at = 0
        for place, line in [*batch.lines, (len(batch.numbers), None)]:
            for number, ts, stage, details in batch.rows(at, place):
                staged(before + number, ts, stage, details)
            at = place
            if line is not None:
                lined(line._replace(number=before + line.number))
        yield
        for bad in batch.malformed:
            if is_garbage(bad) and not source.is_listed(before + bad.line):
                _list(source, before, bad)
        if batch.total is not None:
            return before + batch.total


def _list(source: Source, before: int, bad: Malformed) -> None:
    source.reject(before + bad.line, bad.offset, bad.reason, salvaged=bad.salvaged)
