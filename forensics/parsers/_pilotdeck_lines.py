"""Find the lines of a PilotDeck process log that say something, without looking at the others.

The desktop host writes `<ISO time> [gateway] <piece>` for every line of every chunk that it gets through a pipe, with
no buffer between chunks: a long line can be cut in two, each half with a prefix of its own. Source and web builds
write the same messages bare, or with a `[gateway] ` from `concurrently`.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator
from itertools import chain
from typing import NamedTuple

import msgspec

from forensics.parse import Block, Source, too_long
from forensics.parsers._pilotdeck_clock import Clock
from forensics.parsers._pilotdeck_garbage import list_garbage
from forensics.parsers._pilotdeck_stages import DECODE, STAGES, Details, decoded
from forensics.patterns import later

_BOM = b"\xef\xbb\xbf"
_ANSI = rb"(?:\x1b\[[0-9;]*m)*"
_ISO = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
_ODD = rb"[^\s\[]{23}Z(?= \[gateway\] )"
"""A time of which a byte is damaged, where it can be nothing else."""
_PREFIX = rb"%b(?:%b )?%b(?:\[(?:gateway|runtime-supervisor|restart-supervisor)\]%b )?" % (_ANSI, _ISO, _ANSI, _ANSI)
_ANY_PREFIX = _PREFIX.replace(rb"(?:%b )?" % _ISO, rb"(?:(?:%b|%b) )?+" % (_ISO, _ODD))
_OWN = (
    rb"\[(?:context:auto-compact\] |agent:auto-compact\] |PilotDeck\] (?:transient|zeroUsage)Retry"
    rb"|telemetry\] shutdown snapshot|runtime\] stop failed|AgentLoop\] Blocking |openai-stream\] max_output_reached)"
    rb"|PilotDeck server listening|exit(?:ed)? code=|spawn "
    rb"|(?:Desktop )?[Gg]ateway (?:exited|failed|operation failed)"
)
_STARTS = later(rb"(?:%b(?:%b)|=== %b spawn gateway)" % (_ANY_PREFIX, _OWN, _ISO))
_ANYWHERE = later(rb"\n(?:%b(?:%b)|=== %b spawn gateway)" % (_ANY_PREFIX, _OWN, _ISO))
# Where the host has put its prefix before every line, its end leads to all that is wanted. A few letters of each
# message are enough here, and twice as fast: what is found is looked at again.
_HOSTED = later(
    rb"Z (?:\[gateway\] (?:\[(?:con|age|Pil|tel|run|Age|ope)|exit|spaw|PilotDeck s|[Gg]ateway |Desktop )|Gateway )"
)
_STAMPED = later(_ISO + rb" ")
_HEAD = later(
    rb"%b(?:(%b|%b) )?%b(?:\[(gateway|server|runtime-supervisor|restart-supervisor)\]%b )?"
    % (_ANSI, _ISO, _ODD, _ANSI, _ANSI)
)
_MESSAGE = later(rb"%b|=== %b spawn gateway" % (_OWN, _ISO))
_DETAILED = later(rb"\[context:auto-compact\] [a-z_]+ \{")
_KNOWN_START = later(rb"\[[A-Za-z][\w:./ -]*\] |PilotDeck |WebSocket: |Token: |spawn |exited code=|\(node:\d+\) ")
LOG_LINE = later(
    rb"%b(?:%b|PilotDeck |Desktop gateway |Gateway |Bundled |Playwright |Failed to )"
    rb"|%b \[(?:gateway|server)\] |=== %b spawn gateway " % (_PREFIX, _KNOWN_START.pattern, _ISO, _ISO)
)
"""What the lines of a PilotDeck log begin with, whoever wrote them."""
OWN_LINE = later(
    rb"(?m)^(?:%b(?:\[(?:context|agent):auto-compact\] [a-z_-]+(?: \{| failed sessionId=|\r?$)"
    rb"|PilotDeck server listening: http|PilotDeck Desktop runtime |PilotDeck home ready at |PilotDeck Web UI ready: "
    rb"|\[PilotDeck\] (?:transient|zeroUsage)Retry: )"
    rb"|%b \[gateway\] (?:spawn .*pilotdeck|exited code=\S+ signal=)"
    rb"|(?:%b )?\[r\w+-supervisor\] Gateway exited code=|=== %b spawn gateway )" % (_PREFIX, _ISO, _ISO, _ISO)
)
"""What only PilotDeck's lines begin with."""
_STAGE = b"[context:auto-compact] "
_NAMES = {name.encode(): name for name in STAGES}
_LONGEST_NAME = max(map(len, _NAMES)) + 2
_STAMP = b"2026-01-01T00:00:00.000"
"""What stands before a hit where the host has put its prefix."""
_GATEWAY = b"Z [gateway] "
_ISO_LENGTH = 24
_LF = 10
_BLOCK_BYTES = 110 << 10
"""Small enough for the allocator to use the same memory again."""
_HOSTED_BYTES = 32 << 10
_LOOKS = 8
_PIECES = 16


class Line(NamedTuple):
    """A line that says something: where, when the host got it (its own text), which process, and the message."""

    number: int
    offset: int
    stamp: bytes | None
    process: bytes | None
    message: bytes


Staged = Callable[[int, int | None, str, Details], None]
"""Takes a stage of auto-compaction whose JSON is whole: line, time, name, JSON."""
Lined = Callable[[Line], None]
"""Takes any other line that says something."""


def starts_anew(near: bytes) -> int | None:
    """Give the first place in some bytes where a line begins that goes on from none before it."""
    at = near.find(b"\n") + 1
    while at:
        end = near.find(b"\n", at)
        stamp, _, message = _parts(near, at, end if end >= 0 else len(near))
        if stamp is not None and (_KNOWN_START.match(message) or _MESSAGE.match(message)):
            return at
        at = end + 1
    return None


def part(
    source: Source, lined: Lined, staged: Staged | None = None, start: int = 0, stop: int | None = None
) -> Generator[None, None, int]:
    """Hand on the lines between two line starts, numbered from 1, a block of them at a time; return how many there are.

    Without `staged` every line goes to `lined`.
    """
    number = 1
    rest = b""
    clock = Clock()
    for (offset, block, lost), last in _marked(source.blocks(_BLOCK_BYTES, start, stop)):
        begin = offset - len(rest) - 1 if rest else offset
        data = rest + b"\n" + block if rest else block
        if begin == 0 and data.startswith(_BOM):
            source.notes.append("UTF-8 byte order mark skipped")
            data, begin = data.removeprefix(_BOM), len(_BOM)
        scan = _Scan(source, data, begin, number, clock, last=last or lost > 0)
        scan.hand_on(lined, staged)
        seen = data[: len(data) - len(scan.rest)]
        list_garbage(source, seen, begin, number)
        number, rest = scan.number, scan.rest
        if lost:
            source.reject(number - 1, begin + data.rfind(b"\n") + 1, too_long(lost))
        yield
    return number - 1


def _marked(blocks: Iterator[Block]) -> Iterator[tuple[Block, bool]]:
    """Say of each block whether it is the last one."""
    held: Block | None = None
    for block in blocks:
        if held is not None:
            yield held, False
        held = block
    if held is not None:
        yield held, True


class _Scan:
    """The search of one block. Afterwards `number` is the line after it and `rest` what the next block must finish."""

    def __init__(self, source: Source, data: bytes, offset: int, number: int, clock: Clock, *, last: bool) -> None:
        self.number = number
        self.rest = b""
        self._offset = offset
        self._clock = clock
        self._last = last
        self._nuls: list[tuple[int, int]] = []
        self._raw = data
        self._data = self._without_nuls(source, data) if b"\0" in data else data

    def hand_on(self, lined: Lined, staged: Staged | None) -> None:
        """Hand on the block's lines that say something."""
        data = self._data
        hosted = _hosted(data)
        back, ahead = (len(_STAMP), len(_GATEWAY)) if hosted else (0, 0)
        starts, find, count = data.startswith, data.find, data.count
        clock, read, names, decode = self._clock, self._clock.read, _NAMES, DECODE
        number, at, end = self.number, 0, -1
        for hit in self._hits(hosted=hosted):
            place = hit.start()
            place += data[place] == _LF
            if place < end:
                continue
            end = find(b"\n", place)
            if end < 0:
                end = len(data)
            start = place - back
            if staged and starts(_STAGE, place + ahead) and (start == 0 or data[start - 1] == _LF):
                name = place + ahead + len(_STAGE)
                brace = find(b" {", name, name + _LONGEST_NAME)
                stage = names.get(data[name:brace])
                ts = read(data[start : place + 1]) if hosted else None
                if stage and (not hosted or (ts is not None and not clock.odd)):
                    payload = data[brace + 1 : end]
                    try:
                        details = decode(payload) if payload.isascii() else decoded(payload)
                    except (msgspec.DecodeError, RecursionError):
                        pass
                    else:
                        number += count(b"\n", at, start)
                        at = start
                        staged(number, ts, stage, details)
                        continue
            start = data.rfind(b"\n", 0, place) + 1
            stamp, process, message = _parts(data, start, end)
            if not _MESSAGE.match(message):
                continue
            number += count(b"\n", at, start)
            at = start
            if _DETAILED.match(message) and not _whole(message):
                joined = self._joined(end, process, message)
                if joined is None:
                    self.number, self.rest = number, self._raw[self._place(start) - self._offset :]
                    return
                message = joined
            lined(Line(number, self._place(start), stamp, process, message))
        self.number = number + count(b"\n", at) + 1

    def _hits(self, *, hosted: bool) -> Iterator[re.Match[bytes]]:
        if hosted:
            return _HOSTED.finditer(self._data)
        first = _STARTS.match(self._data)
        return chain((first,) if first else (), _ANYWHERE.finditer(self._data))

    def _joined(self, end: int, process: bytes | None, message: bytes) -> bytes | None:
        """Put the pieces of a cut event together; as it was when they do not fit, `None` when more data is needed."""
        whole = message
        for _ in range(_PIECES):
            start = end + 1
            if start > len(self._data):
                return message if self._last else None
            end = self._data.find(b"\n", start)
            end = len(self._data) if end < 0 else end
            _, other, piece = _parts(self._data, start, end)
            if other != process:
                continue
            if _KNOWN_START.match(piece):
                break
            whole += piece
            if _whole(whole):
                return whole
        return message

    def _without_nuls(self, source: Source, data: bytes) -> bytes:
        line, at, end, lost = self.number, 0, -1, 0
        for run in re.finditer(rb"\0+", data):
            lost += run.end() - run.start()
            self._nuls.append((run.end() - lost, lost))
            if run.start() < end:
                continue
            start = data.rfind(b"\n", 0, run.start()) + 1
            line, at = line + data.count(b"\n", at, start), start
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            source.reject(line, self._offset + start, "NUL bytes", salvaged=True)
        return data.replace(b"\0", b"")

    def _place(self, start: int) -> int:
        at = bisect_left(self._nuls, start, key=lambda nul: nul[0])
        return self._offset + start + (self._nuls[at - 1][1] if at else 0)


def _parts(data: bytes, start: int, end: int) -> tuple[bytes | None, bytes | None, bytes]:
    head = _HEAD.match(data, start, end)
    stamp, process = head.groups() if head else (None, None)
    return stamp, process, data[head.end() if head else start : end].removesuffix(b"\r")


def _hosted(data: bytes) -> bool:
    """Whether the host's prefix stands before the lines: looked at on many places of a large block."""
    if len(data) < _HOSTED_BYTES:
        return False
    step = max(1, len(data) // _LOOKS)
    starts = (data.find(b"\n", place) + 1 for place in range(0, len(data) - step, step))
    return _STAMPED.match(data) is not None and all(_STAMPED.match(data, start) for start in starts if start)


def _whole(message: bytes) -> bool:
    if not message.endswith(b"}"):
        return False
    if message.count(b"{") == message.count(b"}"):
        return True
    try:
        msgspec.json.decode(message[message.index(b"{") :])
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
