from pathlib import Path

import pytest

from forensics.events import Event
from forensics.sane import FIRST, LAST, LIMIT, guarded, is_time
from forensics.source import Malformed, Source

HUGE = 10**400


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntwo\nthree\n")
    return Source(path)


def test_rows_with_figures_that_can_be_are_passed_on_as_they_are(source: Source) -> None:
    rows = [
        Event(kind="reply", ts=FIRST, input=0, output=LIMIT - 1, cost=0.0),
        Event(kind="exit", ts=LAST - 1, code=-1),
        Event(kind="note"),
    ]
    assert list(guarded(rows, source)) == rows
    assert source.malformed == []


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("input", -1, "input is negative"),
        ("context", HUGE, "context is 2^53 or more"),
        ("before", LIMIT, "before is 2^53 or more"),
        ("requests", -HUGE, "requests is negative"),
        ("cost", float("inf"), "cost is 2^53 or more"),
        ("cost", float("nan"), "cost is not a number"),
        ("cost", -0.5, "cost is negative"),
        ("code", HUGE, "code is 2^53 or more"),
        ("ts", FIRST - 1, "ts is no time from 2015 to 2100"),
        ("ts", LAST, "ts is no time from 2015 to 2100"),
        ("sent", -HUGE, "sent is no time from 2015 to 2100"),
    ],
)
def test_a_figure_that_cannot_be_one_becomes_unknown_and_its_line_is_listed(
    source: Source, column: str, value: float, reason: str
) -> None:
    row = Event(kind="reply", line=2, output=5)
    setattr(row, column, value)
    assert list(guarded([row], source)) == [Event(kind="reply", line=2, output=5)]
    assert source.malformed == [Malformed(2, 4, reason, salvaged=True)]


def test_a_window_that_cannot_be_one_has_no_source_either(source: Source) -> None:
    (row,) = guarded([Event(kind="model", record="m1", cap=-5, cap_source="recorded")], source)
    assert (row.cap, row.cap_source) == (None, None)
    assert source.malformed == [Malformed(0, 0, "m1: cap is negative", salvaged=True)]


def test_what_is_a_time() -> None:
    assert [is_time(ms) for ms in (None, FIRST - 1, FIRST, LAST - 1, LAST)] == [False, False, True, True, False]
