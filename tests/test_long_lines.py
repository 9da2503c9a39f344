"""A line of hundreds of megabytes costs neither memory nor time: of the logs' lines only the beginning is looked at."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forensics.parsers._pilotdeck_lines
import forensics.source
from forensics.parse import Source, read

LONGEST = 4096
Write = Callable[[bytes], Path]
LOGS = ["pilotdeck_log.log", "opencode_log.log", "opencode_log_old.log", "openclaw_log_console.log"]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forensics.source, "LONGEST", LONGEST)
    monkeypatch.setattr(forensics.source, "CHUNK_BYTES", 1024)
    monkeypatch.setattr(forensics.parsers._pilotdeck_lines, "_BLOCK_BYTES", 1024)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(data: bytes) -> Path:
        path = tmp_path / "a.log"
        path.write_bytes(data)
        return path

    return made


def _blocks(path: Path, size: int) -> Iterator[tuple[int, bytes, int]]:
    yield from Source(path).blocks(size)


def test_a_line_of_the_greatest_length_is_given_whole(write: Write) -> None:
    data = b"a\n" + b"x" * LONGEST + b"\nb\n"
    assert all(lost == 0 for _, _, lost in _blocks(write(data), 64))
    assert b"\n".join(block for _, block, _ in _blocks(write(data), 64)) == data.removesuffix(b"\n")


def test_a_longer_line_ends_a_block_of_its_own_and_what_is_missing_is_counted(write: Write) -> None:
    data = b"a\n" + b"x" * (LONGEST + 900) + b"\nb\nc"
    blocks = list(_blocks(write(data), 64))
    assert blocks[0] == (0, b"a", 0)
    assert blocks[1] == (2, b"x" * LONGEST, 900)
    assert b"\n".join(block for _, block, _ in blocks[2:]) == b"b\nc"
    assert all(data[offset:].startswith(block) for offset, block, _ in blocks)


def test_nul_bytes_before_the_words_of_a_line_do_not_count(write: Write) -> None:
    data = b"a\n" + b"\0" * (LONGEST * 3) + b"words\nb"
    blocks = list(_blocks(write(data), 64))
    assert [(offset, block.replace(b"\0", b""), lost) for offset, block, lost in blocks] == [
        (0, b"a", 0),
        (2, b"words", 0),
        (2 + LONGEST * 3 + 6, b"b", 0),
    ]


@given(st.lists(st.sampled_from([b"a", b"\n", b"\0" * 50, b"x" * 70, b"y" * 5000]), max_size=12), st.integers(1, 99))
def test_blocks_hold_every_line_at_its_offset(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], size: int
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "a.log"
    data = b"".join(parts)
    path.write_bytes(data)
    lines = []
    for offset, block, lost in Source(path).blocks(size):
        here = data[offset:].replace(b"\0", b"")
        found = block.replace(b"\0", b"").split(b"\n")
        assert here.startswith(found[0])
        assert not lost or len(block) == forensics.source.LONGEST
        lines += found
    whole = data.replace(b"\0", b"").split(b"\n")
    assert len(lines) in {len(whole), len(whole) - 1}
    assert all(line.startswith(ours) for ours, line in zip(lines, whole, strict=False))
    assert all(ours == line for ours, line in zip(lines, whole, strict=False) if len(line) < 1000 and b"y" not in line)


@pytest.mark.parametrize("name", LOGS)
def test_a_very_long_line_is_listed_and_costs_no_other(samples: Path, write: Write, name: str) -> None:
    data = (samples / "parsers" / name).read_bytes()
    lines = data.splitlines(keepends=True)
    clean = Source(write(data))
    rows = [(row.kind, row.session, row.stop, row.outcome) for row in read(clean)]
    source = Source(write(b"".join([*lines[:5], b"x" * 10_000 + b"\n", *lines[5:]])))
    assert [(row.kind, row.session, row.stop, row.outcome) for row in read(source)] == rows
    reason = "longer than 0 MiB: the last 5,904 bytes of the line are passed over"
    assert [(one.line, one.offset) for one in source.malformed if one.reason == reason] == [
        (6, len(b"".join(lines[:5])))
    ]
    assert (source.lines, source.records) == ((clean.lines or 0) + 1, clean.records)
