"""What a forked session copied from its parent counts once, where it happened."""

import json
from pathlib import Path
from typing import Any

import pytest

from forensics.cli import run
from forensics.scan import Options, load, scan_file
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


@pytest.mark.parametrize("told", [(ONE,), (TWO,), (ONE, TWO)])
def test_a_fork_is_known_though_only_one_of_the_two_shows_its_agent(tmp_path: Path, told: tuple[str, ...]) -> None:
    """A fork was once counted whole beside its parent of which it was said that it was not read."""
    rows = {name: [*FILES[name]] for name in (ONE, TWO)}
    for name in told:
        last = rows[name][-1]
        rows[name].append(
            {"type": "context_compaction", "id": "w", "parentId": last["id"], "timestamp": "2026-08-01T12:00:00.000Z"}
        )
    for name, lines in rows.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in lines))
    report = summarise([scan_file(tmp_path / name, name, Options()) for name in rows])
    assert (report.summary.prompts, report.summary.replies, report.summary.cost) == (3, 3, 7.0)
    assert not [note for one in report.coverage.inputs for note in one.notes if "was not read" in note]


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
            "session two: the rows from before 2026-08-01T09:59:00.000Z are copied from session one: all of 4 are in"
            " session one too: the totals count each record once, by reading both again"
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


def written(folder: Path, **files: list[Row]) -> Report:
    """Write files and scan them."""
    found = []
    for name, rows in files.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        found.append(scan_file(path, path.name, Options()))
    return summarise(found)


def told(report: Report) -> tuple[Any, ...]:
    total = report.summary
    return total.prompts, total.replies, total.cost, total.manual_continues, total.waiting_seconds


FORK = FILES[TWO]


@pytest.mark.parametrize("kept", [0, 1, 2, 3, 4])
def test_what_a_cut_file_of_the_parent_lacks_counts_in_the_fork(tmp_path: Path, kept: int) -> None:
    """Of a parent of which only the header was left, a fork's six prompts came as one: all that it copied went."""
    assert told(written(tmp_path, one=FILES[ONE][: kept + 1], two=FORK)) == (3, 3, 7.0, 1, 300.0)


@pytest.mark.parametrize("torn", [(1,), (2,), (3,), (4,), (2, 3)])
def test_what_torn_lines_of_the_parent_lack_counts_in_the_fork(tmp_path: Path, torn: tuple[int, ...]) -> None:
    lines = [json.dumps(row) for row in FILES[ONE]]
    (tmp_path / "one.jsonl").write_text(
        "".join(f"{line[:20] if at in torn else line}\n" for at, line in enumerate(lines))
    )
    (tmp_path / "two.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in FORK))
    report = summarise([scan_file(tmp_path / name, name, Options()) for name in ("one.jsonl", "two.jsonl")])
    assert told(report) == (3, 3, 7.0, 1, 300.0)
    held = 4 - len(torn)
    assert report.coverage.inputs[1].notes == [
        f"session two: the rows from before 2026-08-01T09:59:00.000Z are copied from session one: {held} of 4 are in"
        " session one too: the totals count each record once, by reading both again"
    ]


def test_forks_of_a_session_that_was_not_read_count_what_they_share_once(tmp_path: Path) -> None:
    """Two forks of a missing session held its rows twice."""
    other = [
        head("sib", "10:30:00", ONE),
        *COMMON,
        asked("d0", "a3", "10:30:01", "Or so"),
        said("d1", "d0", "10:31:00", 16.0),
    ]
    report = written(tmp_path, two=FORK, sib=other)
    assert told(report) == (4, 4, 23.0, 1, 300.0)
    assert {(one.detector, one.session, tuple(one.also)) for one in report.findings} == {
        ("manual-continue", "two", ("sib.jsonl",)),
        ("length-stop", "two", ("sib.jsonl",)),
    }


def test_a_fork_of_a_fork_that_was_not_read_counts_what_the_first_session_holds_once(tmp_path: Path) -> None:
    """With the second of three sessions missing, eight replies came of five."""
    assert told(written(tmp_path, one=FILES[ONE], three=FILES[THREE])) == (4, 4, 15.0, 1, 300.0)


def test_a_fork_of_a_session_of_which_two_files_differ(tmp_path: Path) -> None:
    more = [asked("x0", "a3", "09:30:01", "More"), said("x1", "x0", "09:30:10", 32.0)]
    third = [asked("y0", "a3", "09:40:01", "Else"), said("y1", "y0", "09:40:10", 64.0)]
    report = written(tmp_path, one=[*FILES[ONE], *more], copy=[*FILES[ONE], *third], two=FORK)
    assert told(report) == (5, 5, 103.0, 1, 300.0)


def test_files_too_large_to_be_read_twice_give_an_upper_bound_and_the_coverage_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forensics.again.MOST_BYTES", 100)
    report = written(tmp_path, one=FILES[ONE][:2], two=FORK)
    assert told(report) == (4, 3, 7.0, 1, 300.0)
    assert report.coverage.inputs[1].notes == [
        "session two: the rows from before 2026-08-01T09:59:00.000Z are copied from session one; they were not held"
        " against it, as the files are too large or have changed: the totals count them here too and are an upper bound"
    ]


def test_sessions_that_share_nothing_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("forensics.again.load", refuse)
    lone = [head("lone", "08:00:00"), asked("z0", None, "08:00:01", "Hi"), said("z1", "z0", "08:00:09", 1.0)]
    assert told(written(tmp_path, one=FILES[ONE], lone=lone, copy=FILES[ONE])) == (3, 3, 4.0, 1, 300.0)
    assert told(written(tmp_path, two=FORK, lone=lone)) == (4, 4, 8.0, 1, 300.0)


def test_a_log_is_not_read_again_where_its_session_has_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(path: Path, *rest: Any) -> dict[str, Any]:
        read.append(path.name)
        return load(path, *rest)

    monkeypatch.setattr("forensics.again.load", noted)
    results = []
    for name in (ONE, TWO, "log.jsonl"):
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in FILES.get(name, FILES[ONE])))
        results.append(scan_file(tmp_path / name, name, Options()))
    results[2].input.parser = "openclaw-log"  # type: ignore[union-attr]
    assert summarise(results).summary.cost == 7.0
    assert read == [ONE, TWO]
