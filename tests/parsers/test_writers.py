"""Writers are the inverse of reading: all records, written, read back to the same events; no secret comes through."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics.capture import writers
from forensics.capturing.anonymise import Anonymiser, survivors
from forensics.events import Event, fields
from forensics.parse import Source, read, recognise
from forensics.writing import Piece, Wanted

SAMPLES = Path(__file__).parent.parent.parent / "samples" / "parsers"
SECRET = "Zanzibar9"


def _samples() -> Iterator[Path]:
    for path in sorted([*SAMPLES.iterdir(), *SAMPLES.glob("atomic_diagnostic/*.jsonl")]):
        if path.is_file() and path.suffix not in {".py", ".sql"}:
            yield path


ALL = [path for path in _samples() if recognise(path).name in writers()]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [fields(event) for event in read(Source(path))]


def _pieces(path: Path) -> list[Piece]:
    return list(writers()[recognise(path).name].pieces(Source(path), None))


def _without(row: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def test_every_format_that_can_be_captured_has_a_sample_here() -> None:
    assert {recognise(path).name for path in ALL} == writers().keys()
    assert writers().keys() == {
        "openclaw-db", "opencode-db", "opencode-export", "pi", "pi-events", "pilotdeck-chat", "pilotdeck-log", "plain",
    }  # fmt: skip


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_all_records_written_read_back_to_the_same_events(path: Path, tmp_path: Path) -> None:
    """Line numbers may differ (torn lines are left out), and what OpenClaw wraps messages in, apart from its time."""
    one = writers()[recognise(path).name]
    target = tmp_path / path.name
    one.write(_pieces(path), target)
    assert recognise(target).name == one.name
    before, after = _rows(path), _rows(target)
    loose = {"line"} | ({"size"} if "openclaw" in path.name else set())
    assert [_without(row, loose) for row in after] == [_without(row, loose) for row in before]


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_anonymous_records_read_back_to_events_of_the_same_kind(path: Path, tmp_path: Path) -> None:
    """What is a word, a figure or a gap in time stays; names, ids and texts do not."""
    one = writers()[recognise(path).name]
    pieces = _pieces(path)
    anonymiser = Anonymiser(one, pieces, keep_errors=True)
    target = tmp_path / path.name
    one.write([anonymiser.piece(piece) for piece in pieces], target)
    assert recognise(target).name == one.name
    before, after = list(read(Source(path))), list(read(Source(target)))
    assert [_shape(event, 0) for event in after] == [_shape(event, anonymiser.shift) for event in before]


def _shape(event: Event, shift: int) -> dict[str, Any]:
    kept = {"kind", "origin", "stop", "fault", "trigger", "outcome", "before", "after", "requests", "will_retry"}
    kept |= {"context", "messages", "cap", "cap_source", "input", "cached", "output", "reasoning", "total", "estimate"}
    kept |= {"cost", "code"}
    shape = {name: value for name, value in fields(event).items() if name in kept}
    shape |= {"ts": None if event.ts is None else event.ts + shift, "agent": event.agent and "agent"}
    return shape


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_a_secret_in_every_field_never_survives(path: Path) -> None:
    one = writers()[recognise(path).name]
    poisoned = [msgspec.structs.replace(piece, value=_poisoned(piece.value)) for piece in _pieces(path)]
    for keep_errors in (True, False):
        anonymiser = Anonymiser(one, poisoned, keep_errors=keep_errors)
        made = [anonymiser.piece(piece) for piece in poisoned]
        written = repr([piece.value for piece in made])
        assert SECRET.lower() not in written.lower()
        assert survivors(poisoned, written.encode(), one) == []


def _poisoned(value: Any) -> Any:
    """Put the secret into every text but those that say what a record is, as a field, and as a field's name."""
    if isinstance(value, dict):
        return {key: _poisoned(inner) for key, inner in value.items()} | {SECRET: 1, "unknown": SECRET}
    if isinstance(value, list):
        return [*(_poisoned(inner) for inner in value), SECRET]
    if isinstance(value, str):
        return f"{value} {SECRET}" if not value.startswith("{") else value.replace('":"', f'":"{SECRET} ')
    return value


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_no_record_at_all_is_a_file_that_can_be_written(path: Path, tmp_path: Path) -> None:
    one = writers()[recognise(path).name]
    target = tmp_path / path.name
    one.write([], target)
    assert target.is_file()


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_of_a_file_only_the_wanted_records_are_taken_or_all_of_a_session(path: Path) -> None:
    one = writers()[recognise(path).name]
    every = _pieces(path)
    few = list(one.pieces(Source(path), Wanted(frozenset({2, 3}), frozenset(), frozenset())))
    assert len(few) < len(every) or one.name == "opencode-export"
    if one.lined:
        assert {piece.line for piece in few if piece.table != "beside"} <= {None, 1, 2, 3}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_any_choice_of_records_is_a_file_that_can_be_read(path: Path, tmp_path: Path, data: st.DataObject) -> None:
    """Reading never breaks, whatever is left out, and reads no torn line in what was written."""
    one = writers()[recognise(path).name]
    pieces = _pieces(path)
    chosen = data.draw(st.sets(st.integers(0, len(pieces) - 1)))
    target = tmp_path / path.name
    target.unlink(missing_ok=True)
    one.write([piece for at, piece in enumerate(pieces) if at in chosen], target)
    source = Source(target)
    parser = recognise(path)
    list(parser.read(source))
    strangers = re.compile(r"parts that name another message|parts of message \S+, which is not there")
    assert [bad for bad in source.malformed if not strangers.search(bad.reason)] == []


def test_a_database_stays_one_with_nothing_but_what_is_read(tmp_path: Path) -> None:
    path = SAMPLES / "opencode_db.db"
    target = tmp_path / "small.db"
    writers()["opencode-db"].write(_pieces(path), target)
    with closing(sqlite3.connect(target)) as database:
        names = {row[0] for row in database.execute("select name from sqlite_master where type = 'table'")}
        titles = {row[0] for row in database.execute("select title from session")}
    assert names == {"session", "message", "part", "session_message"}
    assert titles == {"capture"}
    assert [path.name for path in tmp_path.iterdir()] == ["small.db"]


def test_an_export_stays_a_document_of_info_and_messages(tmp_path: Path) -> None:
    target = tmp_path / "small.json"
    writers()["opencode-export"].write(_pieces(SAMPLES / "opencode_export.json"), target)
    document = msgspec.json.decode(target.read_bytes())
    assert list(document) == ["info", "messages"]
    assert all(list(message) == ["info", "parts"] for message in document["messages"])


def test_a_log_line_keeps_what_its_host_wrote_before_it(tmp_path: Path) -> None:
    target = tmp_path / "small.log"
    pieces = _pieces(SAMPLES / "pilotdeck_log.log")
    one = writers()["pilotdeck-log"]
    anonymiser = Anonymiser(one, pieces, keep_errors=True)
    one.write([anonymiser.piece(piece) for piece in pieces], target)
    stamped = re.compile(r"2020-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \[gateway\] \[context:auto-compact\] [a-z_]+ \{")
    lines = target.read_text(encoding="utf-8").splitlines()
    assert sum(stamped.match(line) is not None for line in lines) > 5
