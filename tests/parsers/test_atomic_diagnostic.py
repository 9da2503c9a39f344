import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise

STEM = "2026-08-20T09-00-00-000Z_atomic-demo"


def _folder(samples: Path) -> Path:
    return samples / "parsers" / "atomic_diagnostic"


def test_another_document_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / f"{STEM}-compaction-success-1787217312100-x.json"
    path.write_text('{"version": 1, "model": {}}', encoding="utf-8")
    with pytest.raises(NotRecognised):
        recognise(path)


def test_a_side_file_alone_is_one_failed_attempt(samples: Path, events_of: Callable[[Path], list[Event]]) -> None:
    path = _folder(samples) / f"{STEM}-compaction-diagnostic-1787217312100-st100.json"
    assert recognise(path).name == "atomic-diagnostic"
    header, attempt = events_of(path)
    assert (header.kind, header.session) == ("session", "atomic-demo")
    assert (attempt.kind, attempt.outcome, attempt.fault, attempt.ts) == (
        "compacted",
        "no-summary",
        "empty-summary",
        1787217312100,
    )
    assert (attempt.record, attempt.cap, attempt.output, attempt.requests) == (path.name, 272000, 4000, 1)


def test_a_torn_side_file_is_listed(samples: Path, tmp_path: Path) -> None:
    name = f"{STEM}-compaction-diagnostic-1787217312100-st100.json"
    torn = tmp_path / name
    torn.write_bytes((_folder(samples) / name).read_bytes()[:200])
    source = Source(torn)
    assert [event.kind for event in read(source)] == ["session"]
    assert [(one.line, one.offset) for one in source.malformed] == [(1, 0)]


def test_the_session_takes_its_side_files_in_the_order_of_time(samples: Path) -> None:
    source = Source(_folder(samples) / f"{STEM}.jsonl")
    rows = list(read(source))
    assert source.failures == "partly"
    assert [path.name[-10:] for path in source.companions] == ["st100.json", "co700.json", "co800.json"]
    attempts = [(row.line, row.outcome, row.fault, row.requests) for row in rows if row.kind == "compacted"]
    assert attempts == [
        (None, "no-summary", "empty-summary", 1),
        (9, "summary", None, None),
        (12, "no-summary", "overflow", 2),
    ]
    at = next(index for index, row in enumerate(rows) if row.line is None)
    assert (rows[at - 1].line, rows[at + 1].line) == (7, 8)


def test_requests_that_one_attempt_made_are_summed(samples: Path, events_of: Callable[[Path], list[Event]]) -> None:
    rows = events_of(_folder(samples) / f"{STEM}.jsonl")
    (fresh,) = [row for row in rows if row.line == 12]
    assert (fresh.input, fresh.output) == (131900, 16)
    assert fresh.error == "Compaction planner request exceeded the model context window"


def test_side_files_after_the_last_row_are_not_lost(samples: Path, tmp_path: Path) -> None:
    for path in _folder(samples).iterdir():
        shutil.copy(path, tmp_path / path.name)
    session = tmp_path / f"{STEM}.jsonl"
    lines = session.read_bytes().splitlines(keepends=True)
    session.write_bytes(b"".join(lines[:11]))
    rows = list(read(Source(session)))
    assert [(row.kind, row.outcome, row.fault, row.requests) for row in rows[-1:]] == [
        ("compacted", "failed", "overflow", 2)
    ]


def test_a_side_file_that_cannot_be_read_is_noted(samples: Path, tmp_path: Path) -> None:
    shutil.copy(_folder(samples) / f"{STEM}.jsonl", tmp_path)
    (tmp_path / f"{STEM}-compaction-diagnostic-1787217312100-x.json").write_text("{", encoding="utf-8")
    source = Source(tmp_path / f"{STEM}.jsonl")
    list(read(source))
    assert source.companions == []
    assert "cannot be read" in source.notes[0]
