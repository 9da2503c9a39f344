import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forensics.source
from forensics.fitting import lenient
from forensics.parse import recognise
from forensics.source import Malformed, Source, Unreadable


class Inner(msgspec.Struct):
    size: int | None = None


class Row(msgspec.Struct):
    a: int | None = None
    inner: Inner | None = None
    raw: msgspec.Raw = msgspec.Raw(b"null")


DECODER = msgspec.json.Decoder(Row)
Write = Callable[[bytes], Source]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(data: bytes) -> Source:
        path = tmp_path / "file.jsonl"
        path.write_bytes(data)
        return Source(path)

    return made


def _read(source: Source) -> list[tuple[int, int | None]]:
    return [(line, row.a) for line, row in source.decoded(DECODER)]


def test_an_empty_file_has_no_lines_and_no_complaints(write: Write) -> None:
    source = write(b"")
    assert _read(source) == []
    assert (source.lines, source.records, source.malformed) == (0, 0, [])


def test_lines_are_numbered_from_one_and_the_last_needs_no_line_end(write: Write) -> None:
    source = write(b'{"a":1}\n{"a":2}')
    assert _read(source) == [(1, 1), (2, 2)]
    assert (source.lines, source.records) == (2, 2)


def test_only_a_line_feed_ends_a_line(write: Write) -> None:
    source = write('{"a":1,"t":"\u2028\u0085"}\r\n{"a":2}\r\n'.encode())
    assert _read(source) == [(1, 1), (2, 2)]
    assert source.malformed == []


def test_blank_lines_count_as_lines_and_not_as_records(write: Write) -> None:
    source = write(b'{"a":1}\n\n  \n{"a":4}\n')
    assert _read(source) == [(1, 1), (4, 4)]
    assert (source.lines, source.records, source.malformed) == (4, 2, [])


def test_a_byte_order_mark_is_skipped_and_noted(write: Write) -> None:
    source = write(b'\xef\xbb\xbf{"a":1}\n')
    assert _read(source) == [(1, 1)]
    assert source.notes == ["UTF-8 byte order mark skipped"]
    assert source.malformed == []


def test_a_bad_line_costs_that_line_and_is_listed_with_its_byte_offset(write: Write) -> None:
    source = write(b'{"a":1}\n{"a":2,"x\n{"a":3}\n')
    assert _read(source) == [(1, 1), (3, 3)]
    (bad,) = source.malformed
    assert (bad.line, bad.offset, bad.salvaged) == (2, 8, False)
    assert bad.reason.startswith("torn or broken JSON")


def test_invalid_utf_8_in_a_field_nobody_asked_for_is_still_listed(write: Write) -> None:
    source = write(b'{"a":1}\n{"a":2,"text":"\xff"}\n')
    assert _read(source) == [(1, 1), (2, 2)]
    assert source.malformed == [Malformed(2, 8, "invalid UTF-8 at byte 15 of the line", salvaged=True)]


def test_two_records_on_a_line_are_both_kept_and_two_lines_are_never_one_record(write: Write) -> None:
    source = write(b'{"a":1}{"a":2}\n{"a":\n3}\n')
    assert _read(source) == [(1, 1), (1, 2)]
    assert [(bad.line, bad.salvaged) for bad in source.malformed] == [(1, True), (2, False), (3, False)]


def test_a_field_of_an_unexpected_shape_does_not_cost_the_record(write: Write) -> None:
    source = write(b'{"a":"many","inner":{"size":"7"},"raw":[1]}\n')
    ((_, row),) = source.decoded(DECODER)
    assert (row.a, row.inner, bytes(row.raw)) == (None, Inner(7), b"[1]")
    reason = "field a is not int but str; field inner.size is not int but str (converted)"
    assert source.malformed == [Malformed(1, 0, reason, salvaged=True)]


def test_a_json_value_that_is_no_object_is_listed(write: Write) -> None:
    source = write(b'[1]\n{"a":2}\n')
    assert _read(source) == [(2, 2)]
    assert [bad.reason for bad in source.malformed] == ["not a JSON object"]


def test_a_line_of_25_megabytes_is_an_ordinary_line(write: Write) -> None:
    source = write(b'{"a":1}\n{"a":2,"t":"' + b"x" * 25_000_000 + b'"}\n{"a":3}\n')
    assert _read(source) == [(1, 1), (2, 2), (3, 3)]
    assert source.malformed == []


@given(
    st.lists(st.sampled_from([b'{"a":1}', b"", b"[", b'{"a":1}{"a":2}', b'{"a":"\xff"}', b"\0" * 3]), max_size=12),
    st.integers(min_value=1, max_value=40),
)
@settings(max_examples=60)
def test_how_the_file_falls_into_blocks_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], block: int
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "file"
    path.write_bytes(b"\n".join(lines))
    whole, cut = Source(path), Source(path)
    rows = _read(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forensics.source, "CHUNK_BYTES", block)
        assert _read(cut) == rows
    assert (cut.lines, cut.records, cut.malformed) == (whole.lines, whole.records, whole.malformed)


def test_lenient_refuses_what_is_no_object() -> None:
    assert lenient(["a"], Row) is None


def test_a_value_that_does_not_fit_is_never_left_out_in_silence_and_is_not_quoted(write: Write) -> None:
    source = write(b'{"a":1}\n{"inner":{"size":"a secret"}}\n{"a":1e400}\n{"a":[],"inner":[]}\n')
    assert [(line, row.a, row.inner) for line, row in source.decoded(DECODER)] == [
        (1, 1, None),
        (2, None, Inner(None)),
        (3, None, None),
        (4, None, None),
    ]
    assert source.malformed == [
        Malformed(2, 8, "field inner.size is not int but str", salvaged=True),
        Malformed(3, 38, "field a is not int but float", salvaged=True),
        Malformed(4, 50, "field a is not int but array; field inner is not object but array", salvaged=True),
    ]


class Many(msgspec.Struct):
    rows: list[Inner] = []


def test_of_many_values_that_do_not_fit_the_first_are_named_and_the_rest_counted(write: Write) -> None:
    source = write(b'{"rows":[' + b",".join([b'{"size":"x"}'] * 7) + b"]}\n")
    ((_, row),) = source.decoded(msgspec.json.Decoder(Many))
    assert row.rows == [Inner(None)] * 7
    assert source.malformed[0].reason.endswith("field rows[4].size is not int but str; 2 more fields")


def test_an_object_where_a_list_of_records_belongs_does_not_cost_the_record(write: Write) -> None:
    source = write(b'{"rows":{}}\n{"rows":{"size":1}}\n{"rows":[{"size":2}]}\n')
    assert [row.rows for _, row in source.decoded(msgspec.json.Decoder(Many))] == [[], [], [Inner(2)]]
    assert [(bad.line, bad.reason) for bad in source.malformed] == [
        (1, "field rows is not array but object"),
        (2, "field rows is not array but object"),
    ]


def test_a_line_that_is_doubted_after_it_was_read_is_listed_once_with_its_offset(write: Write) -> None:
    source = write(b'{"a":1}\n{"a":"x"}\n{"a":3}\n')
    for line, _ in source.decoded(DECODER):
        source.doubt(line, f"doubt {line}")
    assert sorted(source.malformed) == [
        Malformed(1, 0, "doubt 1", salvaged=True),
        Malformed(2, 8, "field a is not int but str; doubt 2", salvaged=True),
        Malformed(3, 18, "doubt 3", salvaged=True),
    ]
    source.doubt(None, "it is odd", record="r7")
    assert source.malformed[-1] == Malformed(0, 0, "r7: it is odd", salvaged=True)


@given(st.lists(st.binary(max_size=9).filter(lambda line: b"\n" not in line), max_size=30), st.data())
@settings(max_examples=60)
def test_any_line_can_be_read_again_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("again") / "file"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    source = Source(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forensics.source, "BATCH_BYTES", 20)
        list(source.decoded(DECODER))
    for number in data.draw(st.lists(st.integers(1, max(1, len(lines))), max_size=8 if lines else 0)):
        before = sum(len(line) + 1 for line in lines[: number - 1])
        assert source.line_at(number) == (before, lines[number - 1].removesuffix(b"\r"))


class Outer(msgspec.Struct):
    rows: list[Inner] | None = None
    one: Inner | None = None


def test_in_a_list_of_records_an_odd_field_costs_that_field_alone() -> None:
    row = lenient({"rows": [{"size": 1}, {"size": {}}, 7, {"size": 3}], "one": [{"size": 1}]}, Outer)
    assert row is not None
    assert row.rows == [Inner(1), Inner(None), Inner(3)]
    assert row.one is None


def test_a_database_with_a_torn_schema_is_unreadable_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "torn.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table session (id text primary key)")
        database.commit()
    data = path.read_bytes()
    at = data.index(b"session")
    path.write_bytes(data[:at] + b"\x8f\xf2(((((" + data[at + 7 :])
    with pytest.raises(Unreadable, match="SQLite: "):
        recognise(path)


class _Usual(msgspec.Struct, tag_field="kind", tag="usual"):
    a: int | None = None


class _Rest(msgspec.Struct, tag_field="kind", tag="rest"):
    a: int | None = None


def test_lines_that_the_usual_decoder_does_not_know_go_to_the_other_and_keep_their_numbers(write: Write) -> None:
    lines = [b'{"kind":"usual","a":1}', b'{"a":2}', b'{"kind":"usual","a":3}', b'{"a":4}', b'{"kind":"usual","a":5}']
    source = write(b"\n".join(lines) + b"\n")
    usual = cast("msgspec.json.Decoder[Row]", msgspec.json.Decoder(_Usual | _Rest))
    found = list(source.decoded(DECODER, usual))
    assert [(line, row.a, type(row).__name__) for line, row in found] == [
        (1, 1, "_Usual"), (2, 2, "Row"), (3, 3, "_Usual"), (4, 4, "Row"), (5, 5, "_Usual")
    ]  # fmt: skip
    assert (source.lines, source.records, source.malformed) == (5, 5, [])


def test_a_bad_line_among_usual_ones_is_listed_alone(write: Write) -> None:
    source = write(b'{"kind":"usual","a":1}\n{"a":2}\n{"kind":"usual","a":\n{"kind":"usual","a":4}{"a":5}\n{"a":6}\n')
    usual = cast("msgspec.json.Decoder[Row]", msgspec.json.Decoder(_Usual | _Rest))
    assert [(line, row.a) for line, row in source.decoded(DECODER, usual)] == [(1, 1), (2, 2), (4, 4), (4, 5), (5, 6)]
    assert [(one.line, one.offset, one.salvaged) for one in source.malformed] == [(3, 31, False), (4, 52, True)]
