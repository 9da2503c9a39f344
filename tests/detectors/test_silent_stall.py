import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import failed, prompt, reply, written

FileOf = Callable[[Path], File]
Row = Mapping[str, object]
DAY_AFTER = 1772614800000  # 2026-03-04T09:00:00Z


@pytest.fixture
def file(samples: Path, file_of: FileOf) -> File:
    return file_of(samples / "detectors" / "silent_stall.jsonl")


def _stalls(file: File, now: int | None = None, idle: int = 1800) -> list[Finding]:
    file.now = now
    return detect(file, ["silent-stall"], {"silent-stall": {"idle": idle}})


def test_nothing_fires_on_the_quiet_sessions(file: File) -> None:
    assert len([session for session in file.sessions if session.id.startswith("quiet")]) == 7
    assert not [finding for finding in _stalls(file, DAY_AFTER) if (finding.session or "").startswith("quiet")]


def test_a_failure_that_nobody_took_up_until_new_work_came(file: File) -> None:
    first, second = _stalls(file)
    assert (first.session, first.severity, first.confidence, first.lines) == (
        "fires-new-work",
        "error",
        "medium",
        [35, 36, 37],
    )
    assert first.measures == {"idle_seconds": 7200.0, "class": "overflow", "compacted": "no", "ended": "new work"}
    assert (second.session, second.severity, second.lines) == ("fires-provider", "warning", [41, 42])


def test_the_end_of_a_session_is_not_judged_without_the_time_of_the_scan(file: File) -> None:
    assert {finding.session for finding in _stalls(file)} == {"fires-new-work", "fires-provider"}


def test_the_end_of_a_session_counts_once_it_is_long_ago(file: File) -> None:
    ends = [finding for finding in _stalls(file, DAY_AFTER) if finding.measures["ended"] == "nothing"]
    assert [(f.session, f.severity, f.confidence, f.lines) for f in ends] == [
        ("fires-at-the-end", "error", "medium", [47]),
        ("fires-cut-at-the-end", "warning", "low", [50]),
    ]
    assert ends[0].measures["idle_seconds"] == 172760.0


def test_a_session_that_may_be_open_is_left_alone(file: File) -> None:
    end = max(session.end or 0 for session in file.sessions)
    assert not [f for f in _stalls(file, end + 60_000, 100_000) if f.measures["ended"] == "nothing"]


def test_the_threshold_is_an_option(file: File) -> None:
    assert [f.session for f in _stalls(file, idle=7200)] == ["fires-new-work"]


def test_the_end_is_not_judged_where_the_last_lines_could_not_be_read(file: File) -> None:
    file.lost = 51
    assert not [finding for finding in _stalls(file, DAY_AFTER) if finding.measures["ended"] == "nothing"]


FAILED = {"kind": "reply", "stop": "error", "fault": "overflow", "ts": "2026-03-01T09:00:10Z"}
START = {"kind": "compact", "trigger": "overflow", "ts": "2026-03-01T09:00:11Z"}
END = {"kind": "compacted", "trigger": "overflow", "ts": "2026-03-01T09:00:12Z"}
PROMPT = {"kind": "prompt", "origin": "human", "text": "Now paint the gate.", "ts": "2026-03-01T12:00:00Z"}


def _written(tmp_path: Path, file_of: FileOf, *rows: Row) -> File:
    path = tmp_path / "session.jsonl"
    first = {"kind": "prompt", "origin": "human", "text": "Paint the fence.", "ts": "2026-03-01T09:00:00Z"}
    path.write_text("".join(json.dumps({"session": "s", **row}) + "\n" for row in (first, *rows)))
    return file_of(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([FAILED, START], "the record ends inside a compaction"),
        ([FAILED, START, {**END, "outcome": "unknown"}], "the record ends inside a compaction"),
        (
            [FAILED, START, {**END, "outcome": "dropped", "will_retry": True}],
            "the record ends where the agent said that it would go on",
        ),
    ],
)
def test_a_record_that_ends_in_the_midst_of_the_recovery_is_no_error(
    tmp_path: Path, file_of: FileOf, rows: list[Row], words: str
) -> None:
    """Print mode ends its event stream there; what ran after that is in no line (pi 0.73, Atomic)."""
    (found,) = _stalls(_written(tmp_path, file_of, *rows), DAY_AFTER)
    assert (found.severity, found.confidence) == ("warning", "low")
    assert found.message.endswith(f", and nothing followed until the scan (72.0 h later): {words}")


def test_work_that_lay_still_until_a_person_came_is_an_error_whatever_the_agent_had_said(
    tmp_path: Path, file_of: FileOf
) -> None:
    ended = {**END, "outcome": "failed", "will_retry": True}
    (found,) = _stalls(_written(tmp_path, file_of, FAILED, START, ended, PROMPT), DAY_AFTER)
    assert (found.severity, found.confidence, found.measures["ended"]) == ("error", "medium", "new work")


def test_a_compaction_that_ended_without_a_promise_leaves_an_error(tmp_path: Path, file_of: FileOf) -> None:
    ended = {**END, "outcome": "dropped", "will_retry": False}
    (found,) = _stalls(_written(tmp_path, file_of, FAILED, START, ended), DAY_AFTER)
    assert (found.severity, found.confidence) == ("error", "medium")


@pytest.mark.parametrize(
    ("seconds", "told"), [(1800, "30.0 min"), (3599, "60.0 min"), (3600, "1.0 h"), (9000, "2.5 h")]
)
def test_a_short_stall_is_not_told_as_no_hours(tmp_path: Path, seconds: int, told: str) -> None:
    rows = [prompt(), failed("overloaded", ts=0), prompt("Now sow the whole lawn in front of it.", ts=seconds), reply()]
    (finding,) = written("silent-stall", tmp_path / "stall.jsonl", *rows)
    assert f"nothing followed for {told} until a person came with new work" in finding.message
