"""Each record once, though several files hold it; figures that belong together from one view."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from forensics.scan import Options, scan_file
from forensics.summary import Report, summarise

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
            "session s: about 50% of its records are in no other file, the rest is in a.jsonl: the totals hold each"
            " once, as an estimate"
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
def test_what_overlapping_recordings_hold_together_is_estimated_within_a_few_in_a_hundred(
    tmp_path: Path, parts: list[range], truth: int
) -> None:
    """A log that shares its one first record with the last of another lost the other's 50."""
    total = written(tmp_path, **{f"f{at}": replies(part) for at, part in enumerate(parts)}).summary
    assert total.replies == pytest.approx(truth, rel=0.04)


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
