from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File


@pytest.fixture
def found(samples: Path, file_of: Callable[[Path], File]) -> dict[str | None, Finding]:
    file = file_of(samples / "detectors" / "starved_summary.jsonl")
    return {finding.session: finding for finding in detect(file, ["starved-summary"])}


def test_attempts_that_failed_otherwise_stay_quiet(found: dict[str | None, Finding]) -> None:
    assert found.keys() == {"starved", "just-empty"}


def test_truncated_and_empty_are_one_family_with_figures_apart(found: dict[str | None, Finding]) -> None:
    finding = found["starved"]
    assert (finding.severity, finding.confidence) == ("error", "high")
    assert finding.measures == {
        "starved": 4,
        "truncated": 2,
        "empty": 2,
        "attempts": 5,
        "echoes": 1,
        "output_tokens": 4000,
        "reasoning_share": 0.8667,
    }
    assert finding.lines == [6, 8, 10, 12]


def test_an_empty_summary_alone_may_have_another_cause(found: dict[str | None, Finding]) -> None:
    finding = found["just-empty"]
    assert (finding.severity, finding.confidence, finding.lines) == ("warning", "low", [16])
    assert finding.measures["output_tokens"] is None
