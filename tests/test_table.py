import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryFile

import polars as pl
import pytest

from forensics.events import SCHEMA
from forensics.parse import Source, read, recognise
from forensics.safe import plain
from forensics.table import LineFile, ParquetFile, csv_lines, json_lines, rows

LINES = (
    '{"kind":"session","session":"s","agent":"demo","version":"1.0","ts":"2026-07-01T10:00:00.123Z"}\n'
    '{"kind":"prompt","session":"s","origin":"human","ts":1782900001000,"text":"=cmd() \\u001b[31m"}\n'
    '{"kind":"note","ts":1782900002000}\n'
    '{"kind":"reply","session":"t","stop":"done","context":1200,"cost":0.25,"will_retry":false}\n'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text(LINES)
    return path


def source(path: Path) -> Source:
    return Source(path, "in.jsonl")


def test_rows_know_their_file_session_and_agent(path: Path) -> None:
    found = list(rows(source(path), recognise(path)))
    assert [(row.get("session"), row.get("seq"), row["agent"], row.get("version")) for row in found] == [
        ("s", 1, "demo", "1.0"),
        ("s", 2, "demo", "1.0"),
        (None, None, "plain", None),
        ("t", 1, "plain", None),
    ]
    assert {row["file"] for row in found} == {"in.jsonl"}


def text_of(kind: str, *paths: Path, without: frozenset[str] = frozenset()) -> str:
    with TemporaryFile() as spool:
        table = LineFile(kind, spool)
        for one in paths:
            table.add(Source(one, one.name), recognise(one))
        return b"".join(table.blocks(without)).decode()


def test_json_lines_read_back_as_the_same_events(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    again.write_text(text_of("jsonl", path))
    assert recognise(again).name == "plain"
    assert list(read(Source(again))) == list(read(Source(path)))


def test_the_plain_sample_survives_two_round_trips(samples: Path, tmp_path: Path) -> None:
    sample = samples / "parsers" / "plain.jsonl"
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    once.write_text(text_of("jsonl", sample))
    twice.write_text(text_of("jsonl", once))
    assert list(read(Source(twice))) == list(read(Source(sample)))


def test_a_time_that_no_calendar_holds_is_unknown(tmp_path: Path) -> None:
    far = tmp_path / "far.jsonl"
    far.write_text('{"kind":"note","session":"s","ts":99999999999999999}\n')
    (line,) = text_of("jsonl", far).splitlines()
    assert "ts" not in json.loads(line)


def test_lone_surrogates_are_mended(path: Path) -> None:
    row = {"kind": "note", "agent": "x", "text": "a\ud800b"}
    (line,) = json_lines([row], recognise(path))
    assert json.loads(line)["text"] == "a\ufffdb"


def test_csv_has_every_column_and_no_formula(path: Path) -> None:
    found = list(csv.DictReader(io.StringIO(text_of("csv", path), newline="")))
    assert list(found[0]) == list(SCHEMA)
    assert [row["kind"] for row in found] == ["session", "prompt", "note", "reply"]
    assert found[1]["text"] == "'=cmd() \\x1b[31m"
    assert (found[0]["ts"], found[3]["will_retry"], found[3]["cost"]) == ("2026-07-01T10:00:00.123Z", "false", "0.25")


def test_files_that_belong_to_others_are_left_out(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"kind":"note","session":"o"}\n')
    lines = text_of("jsonl", path, other, without=frozenset({"in.jsonl"})).splitlines()
    assert [json.loads(line)["file"] for line in lines] == ["other.jsonl"]


def test_parquet_has_the_documented_types(path: Path, tmp_path: Path) -> None:
    table = ParquetFile()
    assert table.add(source(path), recognise(path)) == 2
    table.write(tmp_path / "out.parquet", frozenset())
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame.columns == list(SCHEMA)
    assert frame.schema["ts"] == pl.Datetime("ms", "UTC")
    assert [str(frame.schema[name]).split("(")[0] for name in SCHEMA] == [one.dtype for one in SCHEMA.values()]
    assert frame["kind"].to_list() == ["session", "prompt", "note", "reply"]
    assert frame["will_retry"].to_list() == [None, None, None, False]


def test_numbers_beyond_64_bits_are_unknown_and_their_line_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"kind":"reply","session":"s","stop":"done","context":99999999999999999999999}\n')
    table, read_from = ParquetFile(), Source(path)
    table.add(read_from, recognise(path))
    table.write(tmp_path / "out.parquet", frozenset())
    assert pl.read_parquet(tmp_path / "out.parquet")["context"].to_list() == [None]
    assert [bad.line for bad in read_from.malformed] == [1]


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    ParquetFile().write(tmp_path / "out.parquet", frozenset())
    assert pl.read_parquet(tmp_path / "out.parquet").shape == (0, len(SCHEMA))


@pytest.mark.parametrize("kind", ["jsonl", "timesketch"])
def test_rows_hold_no_sign_that_a_screen_obeys(kind: str, tmp_path: Path) -> None:
    text = "a\x9b2J\u202eb\x7f\u2066 \U000e0041ü"
    path = tmp_path / "in.jsonl"
    row = {"kind": "note", "session": text, "text": text, "ts": "2026-07-01T10:00:00Z"}
    path.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    (line,) = text_of(kind, path).splitlines()
    assert not {one for one in line if plain(one) != one}
    assert (json.loads(line)["text"], json.loads(line)["session"]) == (text, text)


@pytest.mark.parametrize("time", [1 << 62, -(1 << 62)])
def test_a_time_is_a_text_or_unknown_in_every_row(time: int, path: Path) -> None:
    """It was a number in the rows whose time no calendar holds, and a text in all others."""
    (line,) = json_lines([{"kind": "note", "agent": "x", "ts": time, "sent": 0}], recognise(path))
    assert json.loads(line) == {"kind": "note", "ts": None, "sent": "1970-01-01T00:00:00.000Z"}
    (cells,) = csv.reader(io.StringIO(next(csv_lines([{"kind": "note", "ts": time}], recognise(path))).decode()))
    assert dict(zip(SCHEMA, cells, strict=True))["ts"] == ""
