"""Say what of a write-ahead log SQLite did not use, and why: it passes over all of that without a word.

The format is that of https://www.sqlite.org/fileformat2.html#the_write_ahead_log: a header of 32 bytes, then frames of
24 bytes and a page each. A frame counts when its salts are the header's, its checksum goes on from the frame before it,
and a later frame (or itself) ends its transaction. Frames of other salts are left from an earlier round of the log.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
_PAGES = frozenset(1 << power for power in range(9, 17))


class Unused(NamedTuple):
    """Words on what was not used; `damaged`: it was lost, rather than not finished when the files were copied."""

    words: str
    damaged: bool


class _Frame(NamedTuple):
    """A frame of this round of the log, whether its checksum is right."""

    whole: bool
    right: bool


def unused(log: Path, used: int) -> Unused | None:
    """Tell what of the log was not used, when SQLite has used its first `used` frames; `None` when nothing was."""
    with log.open("rb") as stream:
        head = stream.read(_HEADER.size)
        if not head:
            return None
        page = _page(head)
        if page is None:
            return Unused(f"{log.name} is no write-ahead log of SQLite: nothing of it is used", damaged=True)
        frames = list(_frames(stream, _HEADER.unpack(head), page, used))
    late = frames[used:]
    if not late:
        return None
    what = f"of the {len(frames)} frames of {log.name} the last {len(late)} are not used: "
    if not all(frame.right for frame in late):
        return Unused(what + ("damaged or cut" if all(frame.whole for frame in late) else "cut"), damaged=True)
    return Unused(what + "their transaction is not finished", damaged=False)


def _page(head: bytes) -> int | None:
    """Give the size of a page, from a header that can be one."""
    if len(head) < _HEADER.size:
        return None
    magic, _, size, *_ = _HEADER.unpack(head)
    size = 1 << 16 if size == 1 else size
    right = _sums(head[:24], (0, 0), little=magic == _MAGIC) == struct.unpack(">2I", head[24:])
    return size if magic in {_MAGIC, _MAGIC + 1} and size in _PAGES and right else None


def _frames(stream: BinaryIO, header: tuple[int, ...], page: int, used: int) -> Iterator[_Frame]:
    """Yield the frames of this round, the last of which may be cut; those that SQLite used are right."""
    salts, sums = header[4:6], header[6:8]
    number = other = 0
    while data := stream.read(_FRAME.size + page):
        if len(data) < _FRAME.size + page:
            same = len(data) < 16 or struct.unpack(">2I", data[8:16]) == salts
            yield from [_Frame(whole=False, right=False)] if same else []
            return
        fields = _FRAME.unpack(data[: _FRAME.size])
        if fields[2:4] != salts:
            other += 1
            continue
        yield from [_Frame(whole=True, right=False)] * other  # no earlier round's, as this round goes on after them
        number, other, follows = number + other + 1, 0, other == 0
        right = number <= used or (
            follows and _sums(data[:8] + data[_FRAME.size :], sums, little=header[0] == _MAGIC) == fields[4:6]
        )
        sums = fields[4:6]
        yield _Frame(whole=True, right=right)


def _sums(data: bytes, start: tuple[int, ...], *, little: bool) -> tuple[int, int]:
    one, two = start
    for first, second in struct.iter_unpack("<2I" if little else ">2I", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
