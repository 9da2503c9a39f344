"""The limits of the crash-loop detector, each on both sides."""

from typing import Any

import pytest

from tests.rows import end, found, start


def _spawn(ts: int | None) -> dict[str, Any]:
    return {"kind": "spawn", "session": None, "tool": "gateway", "ts": ts}


def _exit(ts: int | None, code: int | None = 1) -> dict[str, Any]:
    return {"kind": "exit", "session": None, "tool": "gateway", "ts": ts, "code": code}


def _note(text: str | None) -> dict[str, Any]:
    return {"kind": "note", "session": None, "tool": "gateway", "text": text}


def _figures(*rows: dict[str, Any], **options: Any) -> dict[str, Any]:
    (finding,) = found("crash-loop", *rows, **options)
    return finding.measures


def test_one_exit_is_none_and_two_are() -> None:
    assert not found("crash-loop", _spawn(0), _exit(5_000))
    assert _figures(_spawn(0), _exit(5_000), _spawn(6_000), _exit(9_000))["exits"] == 2


@pytest.mark.parametrize(("life", "at_once"), [(999, 1), (1_000, 0), (1_001, 0)])
def test_an_exit_under_a_second_after_its_start_is_immediate(life: int, at_once: int) -> None:
    figures = _figures(_spawn(0), _exit(5_000), _spawn(6_000), _exit(6_000 + life))
    assert (figures["immediate_respawn"], figures["elsewhere"]) == (at_once, 2 - at_once)


def test_an_exit_whose_start_is_not_on_record_is_not_immediate() -> None:
    figures = _figures(_exit(5_000), _spawn(6_000), _exit(6_500))
    assert (figures["immediate_respawn"], figures["elsewhere"]) == (1, 1)


@pytest.mark.parametrize("times", [(None, 5_000), (0, None)])
def test_a_missing_time_makes_what_needs_it_unknown(times: tuple[int | None, int | None]) -> None:
    figures = _figures(_spawn(times[0]), _exit(times[1]), _spawn(6_000), _exit(9_000))
    assert (figures["immediate_respawn"], figures["in_compaction_window"], figures["elsewhere"]) == (None, None, None)


@pytest.mark.parametrize(("first", "last", "hours"), [(0, 3_600_000, 1.0), (None, 5, None), (5, None, None)])
def test_hours_run_from_the_first_exit_to_the_last(first: int | None, last: int | None, hours: float | None) -> None:
    assert _figures(_exit(first), _exit(last))["hours"] == hours


def test_hours_are_exact_over_years() -> None:
    assert _figures(_exit(0), _exit(3_600_000 * 10_000_000))["hours"] == 10_000_000.0


@pytest.mark.parametrize(("after", "inside"), [(60_000, 1), (60_001, 0)])
def test_a_compaction_up_to_a_minute_before_is_near(after: int, inside: int) -> None:
    figures = _figures(_spawn(0), start(ts=1_000), end(ts=2_000), _exit(2_000 + after), _spawn(500_000), _exit(900_000))
    assert (figures["in_compaction_window"], figures["compaction_in_flight"]) == (inside, 0)


def test_the_window_is_an_option() -> None:
    rows = (_spawn(0), start(ts=1_000), end(ts=2_000), _exit(102_000), _spawn(500_000), _exit(900_000))
    assert _figures(*rows, window=100.0)["in_compaction_window"] == 1
    assert _figures(*rows, window=99.0)["in_compaction_window"] == 0


def test_an_open_compaction_is_near_however_long_ago_it_began() -> None:
    figures = _figures(_spawn(0), start(ts=1_000), _exit(900_000), _spawn(1_000_000), _exit(1_900_000))
    assert (figures["in_compaction_window"], figures["compaction_in_flight"]) == (1, 1)


def test_a_compaction_of_an_earlier_life_is_not_near() -> None:
    figures = _figures(start(ts=1_000), end(ts=2_000), _spawn(3_000), _exit(9_000), _spawn(10_000), _exit(19_000))
    assert (figures["in_compaction_window"], figures["elsewhere"]) == (0, 2)


def test_an_open_compaction_of_an_earlier_life_is_not_near() -> None:
    figures = _figures(_spawn(0), start(ts=1_000), _spawn(3_000), _exit(9_000), _spawn(10_000), _exit(19_000))
    assert (figures["in_compaction_window"], figures["compaction_in_flight"]) == (0, 0)


def test_a_compaction_on_the_very_line_of_no_start_belongs_to_the_first_life() -> None:
    figures = _figures(start(ts=1_000), _exit(2_000), _spawn(9_000), _exit(19_000))
    assert (figures["in_compaction_window"], figures["compaction_in_flight"]) == (1, 1)


def test_a_compaction_without_a_time_leaves_it_open() -> None:
    figures = _figures(_spawn(0), start(ts=None), end(ts=None), _exit(9_000), _spawn(10_000), _exit(19_000))
    assert figures["in_compaction_window"] is None


def test_only_an_announced_shutdown_is_handled_and_only_once() -> None:
    figures = _figures(
        _spawn(0), _note("shutdown snapshot"), _exit(5_000), _spawn(6_000), _note("ready"), _note(None), _exit(9_000),
    )  # fmt: skip
    assert figures["handled"] == 1
    assert _figures(_note("shutdown snapshot"), _exit(5_000), _exit(9_000))["handled"] == 1


def test_a_start_forgets_the_shutdown_before_it() -> None:
    assert _figures(_note("shutdown snapshot"), _spawn(0), _exit(5_000), _exit(9_000))["handled"] == 0


def test_clean_exits_and_exits_without_a_code_are_told_apart() -> None:
    figures = _figures(_spawn(0), _exit(1, 0), _exit(2, None), _exit(3, 1), _exit(4, 134), {**_note("x"), "code": 0})
    assert (figures["exits"], figures["clean_exits"]) == (2, 1)


def test_the_evidence_is_the_exits_and_the_starts_that_died_at_once() -> None:
    (finding,) = found("crash-loop", _spawn(0), _exit(5_000), _spawn(6_000), _exit(6_100), _exit(9_000))
    assert finding.lines == [2, 3, 4, 5]
    assert (finding.severity, finding.confidence) == ("error", "high")


def test_rows_of_a_source_without_lines_are_no_trouble() -> None:
    rows = (_spawn(0), start(ts=1_000), end(ts=2_000), _exit(9_000), _spawn(10_000), _exit(19_000))
    figures = _figures(*({**row, "line": None, "record": f"r{at}"} for at, row in enumerate(rows)))
    assert figures["exits"] == 2


def test_the_latest_of_several_open_compactions_counts() -> None:
    old, new = {**start(ts=1), "session": "old"}, {**start(ts=4_000), "session": "new"}
    figures = _figures(old, _spawn(3_000), new, _exit(9_000), _spawn(10_000), _exit(19_000))
    assert (figures["compaction_in_flight"], figures["in_compaction_window"]) == (1, 1)


def test_an_exit_without_a_time_after_a_compaction_leaves_it_open_too() -> None:
    figures = _figures(_spawn(0), start(ts=1_000), end(ts=2_000), _exit(None), _spawn(10_000), _exit(19_000))
    assert (figures["in_compaction_window"], figures["exits"]) == (None, 2)
