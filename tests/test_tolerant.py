import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.tolerant import damage, salvage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("line", [b"", b"   ", b"\r"], ids=["empty", "spaces", "carriage-return"])
def test_a_blank_line_holds_nothing_and_nothing_is_wrong_with_it(line: bytes) -> None:
    assert salvage(line) == ([], None)


def test_a_clean_record_comes_back_as_it_is() -> None:
    assert salvage(b'{"a": "NaN is a word", "b": [1, null]}') == ([{"a": "NaN is a word", "b": [1, None]}], None)


@pytest.mark.parametrize(
    ("line", "values", "reason"),
    [
        pytest.param(b'{"a":1}\0\0', [{"a": 1}], "NUL bytes", id="nul"),
        pytest.param(b'{"a":"\xff"}', [{"a": "\ufffd"}], "invalid UTF-8 at byte 6 of the line", id="utf-8"),
        pytest.param(b'{"a":NaN}', [{"a": None}], "NaN or Infinity read as null", id="nan"),
        pytest.param(b'{"a":"\\ud800"}', [{"a": "\ufffd"}], "lone surrogate", id="surrogate"),
        pytest.param(b'{"a":1}{"b":2}', [{"a": 1}, {"b": 2}], "several records on one line", id="concatenated"),
        pytest.param(b'{"a":1} tail', [{"a": 1}], "text after the record", id="tail"),
        pytest.param(b'{"a":"x\x0by"}', [{"a": "x\x0by"}], "control character in a string", id="control"),
        pytest.param(b"plain words", [], "not JSON", id="words"),
        pytest.param(
            b'{"a":1,"b', [], "torn or broken JSON: Unterminated string starting at at character 7", id="torn"
        ),
        pytest.param(b'{"a":' + b"[" * 100_000, [], "nested too deeply", id="deep"),
    ],
)
def test_a_damaged_line_gives_what_can_be_had_and_says_what_was_wrong(
    line: bytes, values: list[object], reason: str
) -> None:
    assert salvage(line) == (values, reason)


def test_a_pair_of_surrogates_is_a_character_and_not_a_fault() -> None:
    assert salvage(b'{"a":"\\ud83d\\ude00"}') == ([{"a": "\U0001f600"}], None)


@given(st.dictionaries(st.text(), JSON))
def test_whatever_json_writes_is_read_back_without_complaint(value: dict[str, object]) -> None:
    surrogates = any(0xD800 <= ord(character) <= 0xDFFF for character in json.dumps(value, ensure_ascii=False))
    result = salvage(json.dumps(value).encode())
    assert surrogates or result == ([value], None)


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(line: bytes) -> None:
    values, reason = salvage(line)
    assert values or reason or not line.strip().strip(b"\xef\xbb\xbf \t\r\n\x0b\x0c\x1c\x1d\x1e\x1f")


@given(st.dictionaries(st.text(), JSON, min_size=1), st.integers(min_value=1))
def test_a_torn_record_is_never_a_smaller_record(value: dict[str, object], cut: int) -> None:
    whole = json.dumps(value).encode()
    assert salvage(whole[: len(whole) - 1 - cut % (len(whole) - 1)]).values == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(b"", None, id="empty"),
        pytest.param("a\tb \u2028 \ufffd".encode(), None, id="text"),
        pytest.param(b"a\0b", "NUL bytes", id="nul"),
        pytest.param(b"ab\xff", "invalid UTF-8 at byte 2 of the line", id="utf-8"),
        pytest.param(b"\0\xc3", "NUL bytes; invalid UTF-8 at byte 1 of the line", id="both"),
    ],
)
def test_what_no_program_wrote_into_a_line_of_text_is_named(line: bytes, reason: str | None) -> None:
    assert damage(line) == reason


def test_a_figure_of_5000_digits_costs_no_record_its_other_fields() -> None:
    line = b'{"a":%s,"b":7,"c":-%s,"d":NaN}{"e":%s}' % (b"9" * 5000, b"9" * 5000, b"9" * 640)
    (first, second), reason = salvage(line)
    assert first == {"a": float("inf"), "b": 7, "c": float("-inf"), "d": None}
    assert second == {"e": int("9" * 640)}
    assert reason == "several records on one line"


def test_a_figure_of_5000_digits_is_no_control_character() -> None:
    assert salvage(b'{"a":%s,"b":NaN}' % (b"9" * 5000))[1] == "NaN or Infinity read as null"
