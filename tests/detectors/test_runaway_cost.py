from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File

FileOf = Callable[[Path], File]


@pytest.fixture
def file(samples: Path, file_of: FileOf) -> File:
    return file_of(samples / "detectors" / "runaway_cost.jsonl")


@pytest.fixture
def findings(file: File) -> list[Finding]:
    return detect(file, ["runaway-cost"])


def _of(findings: list[Finding], session: str) -> list[Finding]:
    return [finding for finding in findings if finding.session == session]


def test_nothing_fires_on_the_quiet_sessions(findings: list[Finding]) -> None:
    assert not [finding for finding in findings if (finding.session or "").startswith("quiet")]


def test_recovery_that_costs_more_than_the_work(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-share")
    assert (finding.severity, finding.lines) == ("warning", [28, 33])
    assert finding.measures == {
        "cost": 2.25,
        "total_cost": 3.25,
        "share": 0.6923,
        "recovery_tokens": None,
        "total_tokens": None,
        "compactions": 3,
        "failed_replies": 3,
        "unpriced": 3,
    }


def test_a_large_sum_counts_whatever_its_share(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-absolute")
    assert (finding.measures["cost"], finding.measures["total_cost"]) == (55.0, 465.0)


def test_without_a_recorded_cost_tokens_are_held_against_tokens(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-tokens")
    assert (finding.measures["cost"], finding.measures["total_cost"]) == (None, None)
    assert (finding.measures["recovery_tokens"], finding.measures["total_tokens"]) == (2412000, 2913000)


def test_the_limits_are_options(file: File) -> None:
    options = {"runaway-cost": {"dollars": 100.0, "share": 0.9, "tokens": 10_000_000}}
    assert detect(file, ["runaway-cost"], options) == []


def test_the_loop_that_cost_296_dollars(samples: Path, file_of: FileOf) -> None:
    (finding,) = detect(file_of(samples / "incidents" / "opencode-replo" / "opencode.db"), ["runaway-cost"])
    assert (finding.measures["cost"], finding.measures["compactions"]) == (296.0, 2145)
