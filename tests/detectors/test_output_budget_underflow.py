from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import failed, prompt, written


@pytest.fixture
def findings(samples: Path, file_of: Callable[[Path], File]) -> list[Finding]:
    return detect(file_of(samples / "detectors" / "output_budget_underflow.jsonl"), ["output-budget-underflow"])


def _of(findings: list[Finding], session: str) -> list[Finding]:
    return [finding for finding in findings if finding.session == session]


def test_nothing_fires_on_the_quiet_sessions(findings: list[Finding]) -> None:
    assert not [finding for finding in findings if (finding.session or "").startswith("quiet")]


def test_a_run_without_a_good_reply_is_one_finding(findings: list[Finding]) -> None:
    run, alone = _of(findings, "fires-underflow")
    assert (run.severity, run.lines, alone.lines) == ("error", [11, 14], [18])
    assert run.measures == {"occurrences": 2, "asked": 1, "minimum": 16, "maximum": None, "followed": "person"}
    assert alone.measures["followed"] == "agent"


def test_a_budget_above_the_maximum_that_broke_a_compaction(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-above-maximum")
    assert finding.lines == [22]
    assert finding.measures == {
        "occurrences": 1,
        "asked": 339835,
        "minimum": 1,
        "maximum": 65537,
        "followed": "nothing",
    }


@pytest.mark.parametrize("digits", [16, 100, 5000])
def test_a_number_that_no_count_of_tokens_has_is_unknown(tmp_path: Path, digits: int) -> None:
    """The file is read all the same, and the other figures of the error are told."""
    huge = "9" * digits
    path = tmp_path / "digits.jsonl"
    said = [
        f"max_output_tokens: integer below minimum value. Expected a value >= 16, but got {huge}",
        f"max_tokens must be at least {huge}, got -1",
        f"max_tokens must be in the range from 1 to {huge}, got {huge}",
    ]
    found = [
        [finding.measures[name] for name in ("asked", "minimum", "maximum")]
        for error in said
        for finding in written("output-budget-underflow", path, prompt(), failed("output-budget", error=error))
    ]
    assert found == [[None, 16, None], [-1, None, None], [None, 1, None]]
    (fits,) = written(
        "output-budget-underflow", path, prompt(), failed("output-budget", error=f"below minimum, got {'9' * 15}")
    )
    assert fits.measures["asked"] == 10**15 - 1
