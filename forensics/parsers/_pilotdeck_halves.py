"""Search a large PilotDeck log in two processes: this one takes the first half, a fork of it the second.

What costs time in such a log is the search, not the few rows that it gives; those travel cheaply.
"""

import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from forensics.events import Event
from forensics.parse import Malformed, Source
from forensics.parsers._pilotdeck_garbage import is_garbage
from forensics.parsers._pilotdeck_lines import Check, Line, Taker, part, starts_anew

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SPLIT_BYTES = 96 << 20
_NEAR_BYTES = 1 << 20
_BATCH = 2048
_HELD_BYTES = 64 << 20
_WAITING_BYTES = 4 << 20
_TAKEN = Event(kind="note")


class _Found(msgspec.Struct, array_like=True, gc=False):
    """A line that the other process found; `check` or `message` is set."""

    number: int
    offset: int
    stamp: bytes | None
    process: bytes | None
    message: bytes | None
    check: Check | None


class _Batch(msgspec.Struct, array_like=True):
    """What travels between the processes; `lines` is set in the last one."""

    found: list[_Found]
    lines: int | None = None
    malformed: list[Malformed] = []


_DECODER = msgspec.msgpack.Decoder(_Batch)


def lines(source: Source, take: Taker) -> Iterator[Line | Event]:
    """Yield what `part` yields for the whole file, and count `source.lines`."""
    middle = _middle(source)
    if middle is None:
        source.lines = yield from part(source, take)
        return
    with _second_half(source, middle) as connection:
        first = yield from part(source, take, 0, middle)
        source.lines = yield from _received(connection, source, take, first)


def _middle(source: Source) -> int | None:
    """Give a line start near the middle where no event goes on from the line before; `None` to leave it whole."""
    if source.size < SPLIT_BYTES or sys.platform != "linux" or (os.cpu_count() or 1) < 2:
        return None
    import multiprocessing  # noqa: PLC0415  (only large logs need it)

    # A fork of a process with threads can hang; a daemon may not have children.
    if threading.active_count() > 1 or multiprocessing.current_process().daemon:
        return None
    start = source.size // 2
    with source.path.open("rb") as stream:
        stream.seek(start)
        near = stream.read(_NEAR_BYTES)
    at = starts_anew(near)
    return None if at is None else start + at


@contextmanager
def _second_half(source: Source, middle: int) -> "Iterator[Connection]":
    import multiprocessing  # noqa: PLC0415  (only large logs need it)

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_search, args=(source.path, middle, theirs), daemon=True)
    child.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        child.terminate()
        child.join()


def _search(path: Path, middle: int, connection: "Connection") -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source = Source(path)
    found: list[_Found] = []
    held: list[bytes] = []
    size = waiting = 0

    def take(number: int, stamp: bytes | None, check: Check) -> Event:
        found.append(_Found(number, 0, stamp, None, None, check))
        return _TAKEN

    walk = part(source, take, middle)
    while True:
        try:
            line = next(walk)
        except StopIteration as end:
            held.append(msgspec.msgpack.encode(_Batch(found, end.value, source.malformed)))
            break
        if isinstance(line, Line):
            found.append(_Found(*line, None))
            waiting += len(line.message)
        if len(found) >= _BATCH or waiting > _WAITING_BYTES:
            held.append(msgspec.msgpack.encode(_Batch(found)))
            found.clear()
            waiting = 0
            size += len(held[-1])
            if size > _HELD_BYTES:
                _send(connection, held)
    _send(connection, held)


def _send(connection: "Connection", held: list[bytes]) -> None:
    for data in held:
        connection.send_bytes(data)
    held.clear()


def _received(connection: "Connection", source: Source, take: Taker, before: int) -> Generator[Line | Event, None, int]:
    """Yield what the other process found, its lines numbered on; return how many lines the file has."""
    while True:
        try:
            batch = _DECODER.decode(connection.recv_bytes())
        except EOFError as error:
            raise RuntimeError("the process that searched the second half of the log died") from error
        for one in batch.found:
            number = before + one.number
            if one.check is None:
                yield Line(number, one.offset, one.stamp, one.process, one.message or b"")
            else:
                yield take(number, one.stamp, one.check) or one.check.line(number, one.stamp)
        if batch.lines is not None:
            listed = {bad.line for bad in source.malformed}
            found = [Malformed(before + bad[0], *bad[1:]) for bad in batch.malformed]
            source.malformed += [bad for bad in found if not is_garbage(bad) or bad.line not in listed]
            return before + batch.lines
