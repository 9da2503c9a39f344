from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import end, prompt, reply, scanned, start, written


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


def test_the_first_figure_after_a_compaction_that_jumps_is_an_outlier(tmp_path: Path) -> None:
    """Only a fall after a compaction is no wonder; and no other detector takes the figure for a size."""
    before = [prompt(), *[reply("tool", context=1000)] * 3, start(), end()]
    made = scanned(tmp_path / "after_compaction.jsonl", *before, reply("tool", context=200_000), reply(context=900))
    (finding,) = made.findings
    assert (finding.detector, finding.lines) == ("usage-outlier", [8])
    assert [finding.measures[name] for name in ("value", "plausible", "reason")] == [200_000, 1000, "jump"]
    assert made.sessions[0].peak_context == 1000
    made = scanned(tmp_path / "grows.jsonl", *before, reply("tool", context=200_000), reply(context=190_000))
    assert [one.detector for one in made.findings] == ["ineffective-compaction"]


def test_a_figure_that_cannot_be_one_requests_called_for_no_compaction(tmp_path: Path) -> None:
    """The last figure before the compaction is an absurd one, so the size that called for it is the one before."""
    sizes = [reply("tool", context=size) for size in (10_000, 10_000, 500_000)]
    rows = [prompt(), *sizes, start(), reply("tool", context=900), end(), reply("tool", context=9900), reply()]
    found = {one.detector: one.measures for one in scanned(tmp_path / "before.jsonl", *rows).findings}
    assert found.keys() == {"usage-outlier", "ineffective-compaction"}
    assert found["ineffective-compaction"]["before"] == 10_000


@pytest.mark.parametrize(("outcome", "lines"), [("skipped", [[4]]), ("failed", []), ("summary", [])])
def test_a_compaction_that_had_nothing_to_do_explains_no_fall(
    tmp_path: Path, outcome: str, lines: list[list[int]]
) -> None:
    sizes = [reply("tool", context=10_000), reply("tool", context=500_000)]
    made = [prompt(), *sizes, end(outcome), reply(context=9000)]
    found = written("usage-outlier", tmp_path / "skipped.jsonl", *made)
    assert [one.lines for one in found] == lines
