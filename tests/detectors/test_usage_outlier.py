from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File


@pytest.fixture
def file(samples: Path, file_of: Callable[[Path], File]) -> File:
    return file_of(samples / "detectors" / "usage_outlier.jsonl")


@pytest.fixture
def found(file: File) -> dict[str | None, Finding]:
    return {finding.session: finding for finding in detect(file, ["usage-outlier"])}


def test_growth_a_cut_and_a_total_slightly_above_its_parts_stay_quiet(found: dict[str | None, Finding]) -> None:
    assert found.keys() == {"adds-up", "absurd", "one-spike", "contexts-add-up"}


def test_totals_that_add_up(found: dict[str | None, Finding]) -> None:
    finding = found["adds-up"]
    assert (finding.severity, finding.confidence, finding.lines) == ("warning", "high", [9, 10, 11, 12])
    assert finding.measures == {
        "value": 101_000,
        "plausible": 20_400,
        "ratio": 4.951,
        "rows": 4,
        "of": 6,
        "reason": "running sum",
    }


def test_a_total_689_times_its_estimate(found: dict[str | None, Finding]) -> None:
    assert (found["absurd"].measures["value"], found["absurd"].measures["ratio"]) == (41_340_000, 689.0)


def test_outliers_are_left_out_of_the_peak(file: File, found: dict[str | None, Finding]) -> None:
    peaks = {session.id: session.peak for session in file.sessions}
    assert peaks["one-spike"] == 47_872
    assert peaks["contexts-add-up"] == 18_100
    assert peaks["adds-up"] == 20_400
    assert found["one-spike"].confidence == "low"
    assert found["contexts-add-up"].lines == [23, 24, 25]
