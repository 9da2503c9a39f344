from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import end, failed, prompt, start, written

FileOf = Callable[[Path], File]
RETRIED = (
    "opencode-1.18.33/f_retry_storm*/log/opencode.log",
    "openclaw-2026.9.6/f_retry_storm/log/openclaw.log",
    "openclaw-2026.9.6/f_retry_storm/state/agents/main/agent/openclaw-agent.sqlite",
    "pi-*/f_retry_storm/session/*.jsonl",
    "atomic-*/f_retry_storm/session/*.jsonl",
)


@pytest.fixture
def file(samples: Path, file_of: FileOf) -> File:
    return file_of(samples / "detectors" / "failure_loop.jsonl")


def _loops(file: File, failures: int = 10) -> list[Finding]:
    return detect(file, ["failure-loop"], {"failure-loop": {"failures": failures}})


def _of(file: File, session: str) -> Finding:
    (finding,) = [one for one in _loops(file) if one.session == session]
    return finding


def test_nothing_fires_on_the_quiet_sessions(file: File) -> None:
    assert len([session for session in file.sessions if session.id.startswith("quiet")]) == 6
    assert {one.session for one in _loops(file)} == {
        "fires-without-delay",
        "fires-over-a-continuation",
        "fires-past-a-failed-compaction",
    }


def test_refused_requests_without_a_delay_are_one_finding(file: File) -> None:
    finding = _of(file, "fires-without-delay")
    assert (finding.severity, finding.confidence, finding.lines) == ("error", "high", [95, 96, 119])
    assert finding.measures == {
        "failures": 24,
        "seconds": 1.15,
        "period_seconds": 0.05,
        "faults": "unknown 24",
        "error": None,
        "compactions": 0,
        "cost": None,
        "tokens": None,
        "ended_by": "nothing",
    }
    assert finding.message.startswith("24 requests in a row failed (unknown)")
    assert finding.message.endswith("without a delay")


def test_the_agents_own_continuation_is_no_new_work(file: File) -> None:
    finding = _of(file, "fires-over-a-continuation")
    assert finding.lines == [120, 121, 133]
    measures = finding.measures
    assert (measures["failures"], measures["faults"]) == (12, "overloaded 6, transport 6")
    assert (measures["cost"], measures["tokens"], measures["error"]) == (0.12, 5400, "the connection was reset")
    assert measures["ended_by"] == "reply"


def test_a_compaction_that_failed_does_not_end_the_run(file: File) -> None:
    finding = _of(file, "fires-past-a-failed-compaction")
    assert finding.lines == [135, 136, 151]
    assert (finding.measures["failures"], finding.measures["compactions"]) == (14, 1)
    assert finding.measures["ended_by"] == "prompt"


def test_the_threshold_is_an_option(file: File) -> None:
    assert "quiet-bounded-retries" in {one.session for one in _loops(file, 9)}
    assert {one.session for one in _loops(file, 12)} == {"fires-without-delay", "fires-over-a-continuation"}


def test_bounded_retries_as_recorded_are_no_loop(corpus: Path, file_of: FileOf) -> None:
    paths = [path for pattern in RETRIED for path in corpus.glob(f"recorded/{pattern}")]
    assert len(paths) > len(RETRIED)
    files = [file_of(path) for path in paths]
    assert not [finding for file in files for finding in _loops(file)]


@pytest.mark.parametrize(("agent", "failures"), [("pilotdeck-v260806", 74), ("pilotdeck-1104fd9e-head", 75)])
def test_the_worst_recorded_loop_is_found(agent: str, failures: int, corpus: Path, file_of: FileOf) -> None:
    (path,) = (corpus / "recorded" / agent / "b_overflow_loop").glob("pilot_home/projects/*/chats/*.jsonl")
    (finding,) = _loops(file_of(path))
    assert finding.measures["failures"] == failures
    assert 0 < float(finding.measures["period_seconds"] or 0) < 1


def test_a_loop_of_compactions_is_not_told_twice(corpus: Path, file_of: FileOf) -> None:
    folder = corpus / "recorded" / "opencode-1.18.33" / "b_overflow_loop"
    for path in (folder / "opencode.db", folder / "log" / "opencode.log"):
        assert detect(file_of(path), ["compaction-loop"])
        assert not _loops(file_of(path))


def test_a_clock_that_went_back_leaves_times_unknown(tmp_path: Path) -> None:
    rows = [failed("overloaded", ts=1000 - 5 * at) for at in range(12)]
    (finding,) = written("failure-loop", tmp_path / "failure_back.jsonl", prompt(), *rows)
    assert (finding.measures["seconds"], finding.measures["period_seconds"]) == (None, None)
    assert finding.message == "12 requests in a row failed (overloaded) and nothing changed between them"
    (finding,) = written("failure-loop", tmp_path / "moment.jsonl", prompt(), *[failed("overloaded", ts=5)] * 12)
    assert "over 0.1 s, without a delay" in finding.message


def test_a_compaction_that_had_nothing_to_do_changes_nothing(tmp_path: Path) -> None:
    """Its start too: whether it changed anything is known at its end."""
    path = tmp_path / "skipped.jsonl"
    (finding,) = written("failure-loop", path, prompt(), *[failed(), start("overflow"), end("skipped")] * 15)
    assert (finding.measures["failures"], finding.measures["compactions"]) == (15, 0)
    assert written("failure-loop", path, prompt(), *[failed(), start("overflow"), end("failed")] * 15) == []
    assert written("failure-loop", path, prompt(), *[failed(), start("overflow")] * 15) == []
    (finding,) = written("failure-loop", path, prompt(), *[failed()] * 10, start(), end("failed"), failed())
    assert (finding.measures["failures"], finding.measures["compactions"]) == (11, 1)
