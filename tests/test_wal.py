"""What SQLite passes over in a write-ahead log without a word is said: damage as such, and what was not finished."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from forensics.parse import Source, read
from forensics.wal import Unused, unused

HEAD, FRAME = 32, 24 + 4096


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of three transactions, one frame each."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma page_size = 4096")
        database.execute("create table t (a)")
        database.execute("pragma journal_mode = wal")
        database.execute("pragma wal_autocheckpoint = 0")
        for value in range(3):
            database.execute("insert into t values (?)", (value,))
            database.commit()
        data = path.with_name("a.db-wal").read_bytes()
    assert len(data) == HEAD + 3 * FRAME
    copy = tmp_path / "copy-wal"
    copy.write_bytes(data)
    return copy


def _used(log: Path, tmp_path: Path) -> int:
    """Ask SQLite itself how many frames of a log it uses."""
    path = tmp_path / "asked.db"
    path.write_bytes((tmp_path / "a.db").read_bytes())
    path.with_name("asked.db-wal").write_bytes(log.read_bytes())
    with closing(sqlite3.connect(path)) as database:
        return max(0, int(database.execute("pragma wal_checkpoint(passive)").fetchone()[1]))


def test_of_a_whole_log_nothing_is_left(log: Path) -> None:
    assert unused(log, 3) is None


def test_an_empty_log_holds_nothing(log: Path) -> None:
    log.write_bytes(b"")
    assert unused(log, 0) is None


def test_frames_of_an_earlier_round_are_not_missed(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[HEAD + 2 * FRAME + 8] ^= 1
    log.write_bytes(data)
    assert unused(log, 2) is None


def test_frames_whose_transaction_is_not_finished_are_no_damage(log: Path) -> None:
    assert unused(log, 1) == Unused(
        "of the 3 frames of copy-wal the last 2 are not used: their transaction is not finished", damaged=False
    )


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (0, 12, "copy-wal is no write-ahead log of SQLite: nothing of it is used"),
        (0, HEAD + 700, "of the 1 frames of copy-wal the last 1 are not used: cut"),
        (0, HEAD + 2 * FRAME + 700, "of the 3 frames of copy-wal the last 1 are not used: cut"),
        (1, None, "copy-wal is no write-ahead log of SQLite: nothing of it is used"),
    ],
)
def test_a_cut_log_is_damaged(log: Path, tmp_path: Path, start: int, end: int | None, words: str) -> None:
    log.write_bytes(log.read_bytes()[start:end])
    assert unused(log, _used(log, tmp_path)) == Unused(words, damaged=True)


@pytest.mark.parametrize(
    "at", [0, 13, 30, HEAD + 5, HEAD + 8, HEAD + 500, HEAD + FRAME + 9, HEAD + FRAME + 17, HEAD + 2 * FRAME + 4000]
)
def test_a_changed_byte_is_found_where_sqlite_stops(log: Path, tmp_path: Path, at: int) -> None:
    data = bytearray(log.read_bytes())
    data[at] ^= 0x10
    log.write_bytes(data)
    found = unused(log, _used(log, tmp_path))
    assert found is not None
    assert found.damaged


def test_random_bytes_beside_a_database_are_said_not_to_be_used(samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes((samples / "parsers" / "opencode_db.db").read_bytes())
    clean = list(read(Source(path)))
    path.with_name("opencode.db-wal").write_bytes(random.Random(1).randbytes(40_000))
    source = Source(path)
    assert list(read(source)) == clean
    words = "opencode.db-wal is no write-ahead log of SQLite: nothing of it is used"
    assert [(bad.reason, bad.salvaged) for bad in source.malformed] == [(words, False)]
    assert source.companions == []
