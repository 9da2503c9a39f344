from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import end, prompt, written


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


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ([1, 0, 0], " (1 model call)"),
        ([1, None, None], " (1 to 3 model calls)"),
        ([2, 2, 1], " (5 model calls)"),
        ([0, 0, 0], " (0 model calls)"),
        ([1, 1, 1], ""),
        ([None, None, None], ""),
    ],
)
def test_repeats_that_asked_no_model_are_not_told_as_calls(tmp_path: Path, requests: list[Any], told: str) -> None:
    rows = [end("no-summary", fault="empty-summary", requests=calls) for calls in requests]
    (finding,) = written("starved-summary", tmp_path / "echoes.jsonl", prompt(), *rows)
    assert finding.message == f"3 of 3 summaries starved in this file: 0 cut at the output budget, 3 empty{told}"


def test_figures_of_a_session_that_may_go_on_in_another_file_are_the_files(tmp_path: Path) -> None:
    starved = end("no-summary", fault="empty-summary")
    (alone,) = written("no-summary", tmp_path / "alone.jsonl", prompt(), starved)
    assert "(100%) in this file" in alone.message
    (one,) = written("no-summary", tmp_path / "two.jsonl", prompt(), starved, prompt(session="other"))
    assert "(100%) in this session" in one.message
