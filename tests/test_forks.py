"""What a forked session copied from its parent counts once, where it happened."""

import json
from pathlib import Path
from typing import Any

import pytest

from forensics.cli import run
from forensics.scan import Options, scan_file
from forensics.summary import Report, summarise

Row = dict[str, Any]


def head(name: str, time: str, parent: str | None = None) -> Row:
    row = {"type": "session", "version": 3, "id": name, "timestamp": f"2026-08-01T{time}.000Z", "cwd": "/x"}
    return row | ({"parentSession": f"/h/{parent}"} if parent else {})


def entry(name: str, above: str | None, time: str, **message: Any) -> Row:
    return {
        "type": "message",
        "id": name,
        "parentId": above,
        "timestamp": f"2026-08-01T{time}.000Z",
        "message": message,
    }


def asked(name: str, above: str | None, time: str, text: str) -> Row:
    return entry(name, above, time, role="user", content=[{"type": "text", "text": text}])


def said(name: str, above: str, time: str, cost: float, stop: str = "stop") -> Row:
    usage = {
        "input": 1000,
        "output": 100,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": 1100,
        "cost": {"total": cost},
    }
    return entry(
        name,
        above,
        time,
        role="assistant",
        content=[{"type": "text", "text": "ok"}],
        provider="p",
        model="m",
        api="a",
        usage=usage,
        stopReason=stop,
    )


COMMON = [
    asked("a0", None, "09:00:01", "Write a long story please"),
    said("a1", "a0", "09:00:10", 1.0, "length"),
    asked("a2", "a1", "09:05:10", "continue"),
    said("a3", "a2", "09:05:20", 2.0),
]
ONE = "2026-08-01T09-00-00-000Z_one.jsonl"
TWO = "2026-08-01T09-59-00-000Z_two.jsonl"
THREE = "2026-08-01T11-00-00-000Z_three.jsonl"
SECOND = [*COMMON, asked("b0", "a3", "10:00:01", "Now another"), said("b1", "b0", "10:00:10", 4.0)]
FILES = {
    ONE: [head("one", "09:00:00"), *COMMON],
    TWO: [head("two", "09:59:00", ONE), *SECOND],
    THREE: [
        head("three", "11:00:00", TWO),
        *SECOND,
        asked("c0", "b1", "11:00:01", "And a third"),
        said("c1", "c0", "11:00:10", 8.0),
    ],
}


def scanned(folder: Path, *names: str) -> Report:
    for name in names:
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in FILES[name]))
    return summarise([scan_file(folder / name, name, Options()) for name in names])


@pytest.mark.parametrize(
    ("names", "prompts", "replies", "cost"),
    [((ONE, TWO), 3, 3, 7.0), ((TWO, ONE), 3, 3, 7.0), ((ONE, TWO, THREE), 4, 4, 15.0)],
)
def test_rows_that_a_fork_copied_count_once(
    tmp_path: Path, names: tuple[str, ...], prompts: int, replies: int, cost: float
) -> None:
    """A fork of $3 and another $4 came to $10, five prompts and two manual continues."""
    total = scanned(tmp_path, *names).summary
    assert (total.prompts, total.replies, total.cost) == (prompts, replies, cost)
    assert (total.manual_continues, total.length_stops, total.waiting_seconds) == (1, 1, 300.0)


def test_a_finding_about_copied_rows_is_shown_once_in_the_session_where_it_happened(tmp_path: Path) -> None:
    report = scanned(tmp_path, ONE, TWO, THREE)
    assert {(one.detector, one.session, one.file, tuple(one.also)) for one in report.findings} == {
        ("manual-continue", "one", ONE, (TWO, THREE)),
        ("length-stop", "one", ONE, (TWO, THREE)),
    }


def test_an_expectation_counts_what_was_copied_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned(tmp_path, ONE, TWO)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "forensics.toml").write_text("[expect]\nmax-manual-continues = 1\n")
    assert run(["check", ".", "--fail-on", "never"]) == 0


def test_the_coverage_says_what_was_copied(tmp_path: Path) -> None:
    inputs = {one.path: one.notes for one in scanned(tmp_path, ONE, TWO).coverage.inputs}
    assert inputs == {
        ONE: [],
        TWO: [
            "session two: the rows up to 2026-08-01T09:05:20.000Z are copied from session one: the totals count them"
            " there alone"
        ],
    }


def test_a_fork_alone_keeps_what_it_copied(tmp_path: Path) -> None:
    report = scanned(tmp_path, TWO)
    assert (report.summary.prompts, report.summary.cost, report.summary.manual_continues) == (3, 7.0, 1)
    assert {one.session for one in report.findings} == {"two"}
    assert report.coverage.inputs[0].notes == [
        "session two: the rows from before 2026-08-01T09:59:00.000Z are copied from session one, which was not read:"
        " the totals count them here"
    ]


def test_a_file_in_the_name_of_the_parent_that_holds_none_of_the_copied_rows_takes_none_away(tmp_path: Path) -> None:
    (tmp_path / ONE).write_text(
        "".join(
            f"{json.dumps(row)}\n"
            for row in (head("one", "09:00:00"), asked("z", None, "09:30:00", "Else?"), said("y", "z", "09:30:09", 1.0))
        )
    )
    (tmp_path / TWO).write_text("".join(f"{json.dumps(row)}\n" for row in FILES[TWO]))
    total = summarise([scan_file(tmp_path / name, name, Options()) for name in (ONE, TWO)]).summary
    assert (total.prompts, total.cost) == (4, 8.0)
