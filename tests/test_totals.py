"""Each record once, though several files hold it; figures that belong together from one view."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics import totals
from forensics.cli import run
from forensics.scan import Options, SessionTotals, scan_file
from forensics.summary import Report, summarise
from forensics.totals import same_records, stretches

Row = dict[str, Any]


def at(second: int) -> str:
    return f"2026-07-01T10:{second // 60:02}:{second % 60:02}Z"


def replies(seconds: Iterable[int]) -> list[Row]:
    """A prompt and its reply, a second later."""
    return [
        row
        for second in seconds
        for row in (
            {"kind": "prompt", "ts": at(second), "origin": "human", "text": f"Do task {second} please"},
            {"kind": "reply", "ts": at(second + 1), "stop": "done", "context": 1000 + second, "cost": 1.0},
        )
    ]


def written(folder: Path, **files: list[Row]) -> Report:
    found = []
    for name, rows in files.items():
        path = folder / f"{name}.jsonl"
        head = {"kind": "session", "agent": "demo", "ts": rows[0]["ts"]}
        path.write_text("".join(f"{json.dumps(row | {'session': 's'})}\n" for row in (head, *rows)))
        found.append(scan_file(path, path.name, Options()))
    return summarise(found)


def told(report: Report) -> tuple[int | None, int | None, float | None]:
    total = report.summary
    return total.prompts, total.replies, total.cost


def test_recordings_that_overlap_in_time_and_share_no_record_are_added(tmp_path: Path) -> None:
    """Two files of ten replies each, one second of overlap, came as copies: $10 of $20."""
    report = written(tmp_path, a=replies(range(0, 20, 2)), b=replies(range(17, 37, 2)))
    assert told(report) == (20, 20, 20.0)
    assert report.summary.copies == []


def test_a_shorter_copy_counts_for_nothing_more(tmp_path: Path) -> None:
    report = written(tmp_path, a=replies(range(0, 40, 2)), b=replies(range(0, 20, 2)), c=replies(range(20, 40, 2)))
    assert told(report) == (20, 20, 20.0)
    assert [(one.file, one.others) for one in report.summary.copies] == [("a.jsonl", ["b.jsonl", "c.jsonl"])]


def test_a_short_copy_of_a_long_recording_is_known_by_its_ends(tmp_path: Path) -> None:
    parts = {"b": replies(range(0, 4, 2)), "c": replies(range(1796, 1800, 2))}
    report = written(tmp_path, a=replies(range(0, 1800, 2)), **parts)
    assert told(report) == (900, 900, 900.0)
    assert [(one.file, one.others) for one in report.summary.copies] == [("a.jsonl", ["b.jsonl", "c.jsonl"])]


def test_of_recordings_that_share_some_records_each_counts_once_and_the_coverage_says_so(tmp_path: Path) -> None:
    report = written(tmp_path, a=replies(range(0, 40, 2)), b=replies(range(30, 50, 2)))
    assert told(report) == (25, 25, 25.0)
    assert [one.notes for one in report.coverage.inputs] == [
        [],
        [
            "session s: 10 of its rows are in no fuller file, others are in a.jsonl: the totals count each record"
            " once, by reading both again"
        ],
    ]


@pytest.mark.parametrize(
    ("parts", "truth"),
    [
        ([range(0, 102, 2), range(100, 426, 2), range(426, 600, 2)], 300),
        ([range(0, 404, 2), range(344, 588, 2), range(588, 600, 2)], 300),
        ([range(0, 308, 2), range(0, 150, 2), range(150, 300, 2), range(300, 450, 2), range(450, 600, 2)], 300),
        ([range(0, 600, 2), range(1, 301, 2)], 450),
    ],
)
def test_what_overlapping_recordings_hold_together_counts_each_record_once(
    tmp_path: Path, parts: list[range], truth: int
) -> None:
    """A log that shares its one first record with the last of another lost the other's 50."""
    total = written(tmp_path, **{f"f{at}": replies(part) for at, part in enumerate(parts)}).summary
    assert (total.prompts, total.replies, total.cost) == (truth, truth, truth)


def test_logs_of_single_runs_count_where_they_hold_more_than_the_log_of_all(tmp_path: Path) -> None:
    """Of a session the log of the process held 12 of 16 requests, those of its steps all; the log alone counted."""
    steps = {f"step{n}": replies(range(n * 20, n * 20 + 16, 2)) for n in range(3)}
    report = written(tmp_path, log=[row for rows in steps.values() for row in rows][8:40], **steps)
    assert told(report) == (24, 24, 24.0)


def test_a_recorded_retry_storm_has_all_its_requests_and_errors_that_can_be(corpus: Path) -> None:
    """12 replies, 12 errors, beside two replies that ended well."""
    folder = corpus / "recorded" / "opencode-1.18.33" / "f_retry_storm"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    total = summarise([scan_file(path, path.as_posix(), Options()) for path in files]).summary
    assert (total.prompts, total.replies, total.errors) == (4, 16, {"overloaded": 12, "rate-limit": 2})
    assert (total.length_stops, total.aborted) == (0, 0)


@pytest.mark.parametrize("common", [10, 50, 100, 200])
def test_copies_that_both_went_on_count_every_turn_of_both(tmp_path: Path, common: int) -> None:
    """Two copies of 200 turns, one with ten more and one with two, came to 385 replies; of 50, to 60."""
    start = 2 * common
    one = replies([*range(0, start, 2), *range(start, start + 20, 2)])
    other = replies([*range(0, start, 2), *range(start + 1000, start + 1004, 2)])
    for row in other[2 * common :]:
        if row["kind"] == "reply":
            row["cost"] = 100.0
    assert told(written(tmp_path, a=one, b=other)) == (common + 12, common + 12, common + 210.0)


def test_equal_rows_of_one_file_are_several(tmp_path: Path) -> None:
    twice = [*replies([0]), *replies([2]), *replies([2]), *replies([4])]
    assert told(written(tmp_path, a=[*twice, *replies([8])], b=[*twice, *replies([6])])) == (6, 6, 6.0)


def test_the_wait_for_a_person_counts_once_where_copies_went_on(tmp_path: Path) -> None:
    cut: list[Row] = [
        {"kind": "prompt", "ts": at(0), "origin": "human", "text": "Write a long story please"},
        {"kind": "reply", "ts": at(10), "stop": "length", "context": 900, "cost": 1.0},
        {"kind": "prompt", "ts": at(100), "origin": "human", "text": "continue"},
        {"kind": "reply", "ts": at(110), "stop": "done", "context": 990, "cost": 1.0},
    ]
    report = written(tmp_path, a=[*cut, *replies([200])], b=[*cut, *replies([300])])
    assert told(report) == (4, 4, 4.0)
    assert (report.summary.manual_continues, report.summary.waiting_seconds) == (1, 90.0)


def test_a_compaction_that_only_the_shorter_copy_tells_counts(tmp_path: Path) -> None:
    """The table showed a compaction that the totals did not have."""
    attempt = [{"kind": "compacted", "ts": at(9), "outcome": "no-summary", "cost": 0.5}]
    report = written(tmp_path, a=replies(range(0, 20, 2)), b=[*replies(range(0, 8, 2)), *attempt])
    assert told(report) == (10, 10, 10.5)
    assert (report.summary.compactions.attempts, report.summary.compactions.no_summary) == (1, 1)


def test_two_views_of_one_process_whose_rows_are_dated_differently_count_each_record_once(tmp_path: Path) -> None:
    """A log and a step's own output told one request each in their way: 32 replies of 31."""
    log = [
        {"kind": "prompt", "ts": at(0), "origin": "human"},
        {"kind": "reply", "ts": at(3), "record": "m1"},
        {"kind": "reply", "ts": at(9), "record": "m3", "stop": "done"},
    ]
    step = [
        {"kind": "prompt", "ts": at(0), "origin": "human"},
        {"kind": "reply", "ts": at(4), "record": "m1", "stop": "tool"},
        {"kind": "reply", "ts": at(6), "record": "m2", "stop": "done"},
    ]
    for files in ({"a": log, "b": step}, {"a": step, "b": log}):
        report = written(tmp_path, **files)
        assert (report.summary.prompts, report.summary.replies) == (1, 3)


def test_the_file_that_tells_how_a_reply_ended_is_believed(tmp_path: Path) -> None:
    """A log that ends during a request hid the error that the step's own output has."""
    log = [
        {"kind": "prompt", "ts": at(0), "origin": "human"},
        {"kind": "reply", "ts": at(3), "record": "m1", "stop": "done"},
        {"kind": "reply", "ts": at(6), "record": "m2"},
    ]
    step = [{"kind": "prompt", "ts": at(5)}, {"kind": "reply", "ts": at(8), "record": "m2", "stop": "error"}]
    for files in ({"a": log, "b": step}, {"a": step, "b": log}):
        total = written(tmp_path, **files).summary
        assert (total.replies, total.errors) == (2, {"unknown": 1})


def test_logs_that_reach_beyond_one_another_and_tell_no_figures_count_each_record_once(tmp_path: Path) -> None:
    def log(*seconds: int) -> list[Row]:
        return [{"kind": "reply", "ts": at(second), "record": f"m{second}", "stop": "done"} for second in seconds]

    report = written(tmp_path, whole=log(1, 5, 9), first=log(1, 3, 5), last=log(8, 9, 12))
    assert report.summary.replies == 6


def test_a_recorded_session_has_the_replies_of_its_database(corpus: Path) -> None:
    folder = corpus / "recorded" / "opencode-1.18.33" / "c_empty_summary"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert summarise([scan_file(path, path.as_posix(), Options()) for path in files]).summary.replies == 31


def test_copies_too_large_to_be_read_twice_give_a_lower_bound_and_the_coverage_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forensics.again.MOST_BYTES", 100)
    report = written(tmp_path, a=replies(range(0, 40, 2)), b=replies(range(30, 50, 2)))
    assert told(report) == (20, 20, 20.0)
    assert [one.notes for one in report.coverage.inputs] == [
        [
            "session s: other files hold some of its records too, and may hold others; they were not read again, as"
            " they are too large or have changed: the totals are a lower bound"
        ],
        [],
    ]


def test_the_screen_says_that_totals_are_a_lower_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, a=replies(range(0, 40, 2)), b=replies(range(30, 50, 2)))
    words = "the totals are a lower bound: 1 session in files too large to be read twice"
    for most, told_there in ((1 << 20, False), (100, True)):
        monkeypatch.setattr("forensics.again.MOST_BYTES", most)
        run(["scan", str(tmp_path), "--fail-on", "never", "--jobs", "1"])
        assert (words in capsys.readouterr().out.splitlines()) is told_there


_TIMES = st.none() | st.integers(0, 12)


@given(spans=st.lists(st.tuples(_TIMES, _TIMES), max_size=12))
def test_entries_are_grouped_as_if_each_were_held_against_all(
    spans: list[tuple[int | None, int | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("one") / "s.jsonl"
    path.write_text("".join(f"{json.dumps(row | {'session': 's'})}\n" for row in replies([0])))
    (whole,) = scan_file(path, "s.jsonl", Options()).sessions
    entries = [
        replace(whole, file=f"{at}", seen=None, active_from=start, end=end) for at, (start, end) in enumerate(spans)
    ]
    groups: list[list[SessionTotals]] = []
    for one in sorted(entries, key=lambda entry: (entry.active_from or 0, entry.file)):
        joined = [group for group in groups if any(same_records(one, other) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(entry for group in joined for entry in group), one])
    assert stretches(entries) == groups


def test_a_session_in_many_files_one_after_another_is_held_against_its_neighbours_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thousand logs of one session took six seconds, two million comparisons of them."""
    asked: list[str] = []

    def counted(one: SessionTotals, other: SessionTotals) -> bool:
        asked.append(other.file)
        return same_records(one, other)

    monkeypatch.setattr(totals, "same_records", counted)
    report = written(tmp_path, **{f"f{at:03}": replies([at * 10]) for at in range(60)})
    assert told(report) == (60, 60, 60.0)
    assert len(asked) == 0


@pytest.mark.parametrize("rows", [1, 3])
def test_copies_of_a_session_whose_rows_all_have_one_time_count_once(tmp_path: Path, rows: int) -> None:
    """One began when the other ended, so they were taken for stretches side by side and added."""
    row = {"kind": "reply", "session": "s", "ts": 1_782_900_000_000, "stop": "done", "context": 900, "input": 900}
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text((json.dumps(row) + "\n") * rows)
    results = [scan_file(tmp_path / f"{name}.jsonl", f"{name}.jsonl", Options()) for name in ("a", "b")]
    summary = summarise(results).summary
    assert (summary.replies, summary.input_tokens, len(summary.copies)) == (rows, 900 * rows, 1)


def test_a_row_without_figures_at_which_one_file_ends_and_the_other_begins_counts_once(tmp_path: Path) -> None:
    def row(second: int, **more: object) -> str:
        return json.dumps({"session": "s", "ts": 1_782_900_000_000 + 1000 * second, **more}) + "\n"

    lines = [
        row(0, kind="reply", stop="done", context=100, input=100),
        row(1, kind="prompt", origin="human", text="Paint the fence."),
        row(2, kind="reply", stop="done", context=300, input=300),
    ]
    (tmp_path / "a.jsonl").write_text("".join(lines[:2]))
    (tmp_path / "b.jsonl").write_text("".join(lines[1:]))
    results = [scan_file(tmp_path / f"{name}.jsonl", f"{name}.jsonl", Options()) for name in ("a", "b")]
    summary = summarise(results).summary
    assert (summary.prompts, summary.replies, summary.input_tokens) == (1, 2, 400)


def test_files_that_touch_and_share_no_row_are_added_and_nothing_else_is_said(tmp_path: Path) -> None:
    time = 1_782_900_000_000
    first = [{"ts": time, "context": 100, "input": 100}, {"ts": time + 1000, "context": 200, "input": 200}]
    then = [{"ts": time + 1000, "context": 300, "input": 300}]
    for name, rows in (("a", first), ("b", then)):
        lines = [json.dumps({"kind": "reply", "session": "s", "stop": "done", **row}) + "\n" for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    results = [scan_file(tmp_path / f"{name}.jsonl", f"{name}.jsonl", Options()) for name in ("a", "b")]
    report = summarise(results)
    assert (report.summary.replies, report.summary.input_tokens) == (3, 600)
    assert [note for one in report.coverage.inputs for note in one.notes] == []
