"""Tables and words on a narrow screen."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.cli import run
from forensics.cli._fit import fit

TABLE = "name      count  said\nfirst         1  a long word on it\nsecond       12  b\n"


def test_text_that_fits_or_goes_to_a_file_is_as_it_was() -> None:
    assert fit(TABLE, None) == TABLE
    assert fit(TABLE, 34) == TABLE


def test_a_long_last_column_is_folded_in_its_place() -> None:
    long = TABLE.replace("a long word on it", "a long word on it, and then some more of it")
    assert fit(long, 40) == (
        "name      count  said\n"
        "first         1  a long word on it, and\n"
        "                 then some more of it\n"
        "second       12  b\n"
    )


def test_a_table_that_is_too_wide_is_stacked_under_its_head() -> None:
    assert fit(TABLE, 30) == "first\n  count: 1\n  said: a long word on it\nsecond\n  count: 12\n  said: b\n"


def test_columns_that_are_one_space_apart_in_the_head_are_two() -> None:
    text = "         all failures  output-budget transient\n  paced  no            yes, 0        no\n"
    assert fit(text, 30) == "  paced\n    all failures: no\n    output-budget: yes, 0\n    transient: no\n"


def test_a_table_without_a_head_keeps_its_first_row() -> None:
    assert fit(TABLE, 30, headed=False) == (
        "name\n  count\n  said\nfirst\n  1\n  a long word on it\nsecond\n  12\n  b\n"
    )


def test_words_are_folded_with_their_indent_and_those_longer_than_a_line_are_cut() -> None:
    assert fit("  one two three four\nx\n\n/a/path/without/spaces\n", 12) == (
        "  one two\n    three\n    four\nx\n\n/a/path/with\n  out/spaces\n"
    )


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["p", "q q", "c,", "ddddd"])] * 2, st.sampled_from(["", "a", "bb b"])), min_size=1
    )
)
def test_no_word_is_lost(rows: list[tuple[str, str, str]]) -> None:
    every = [("h1", "h2", "h3"), *rows]
    text = "".join("  ".join(cell.ljust(9) for cell in row).rstrip() + "\n" for row in every)
    for headed in (True, False):
        found = fit(text, 20, headed=headed).replace("h2:", "").replace("h3:", "").split()
        wanted = [word for row in rows for cell in row for word in cell.split()]
        assert [word for word in found if word not in {"h1", "h2", "h3"}] == wanted


@pytest.mark.parametrize(
    "asked",
    [
        ["list"],
        ["prove"],
        ["prove", "pi"],
        ["prove", "--assume", "help"],
        ["replay", "samples/incidents/atomic-1690/session.jsonl", "--decisions"],
    ],
)
def test_the_tables_of_list_prove_and_replay_fit_a_narrow_screen(
    asked: list[str], samples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(samples.parent)
    monkeypatch.setenv("COLUMNS", "44")
    assert run(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 10
    assert [line for line in lines if len(line) > 44] == []
    monkeypatch.delenv("COLUMNS")
    assert run(asked) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) > 80
