"""The gate: no detector loses precision or recall against the committed figures. And the scorecard's own arithmetic."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import detectors
from forensics.timeline import File
from tests import scorecard
from tests.scorecard import Case, Figures, confusions, kept, labels, precision, recall, scorecard_table, tally
from tests.scorecard_truth import loops

REWRITE = "if that is meant and reviewed: python -m tests.scorecard --write"


@cache
def _samples() -> tuple[Case, ...]:
    return tuple(scorecard.samples())


def _losses(figures: Figures, kind: str) -> list[str]:
    before, after = kept()[kind], figures[kind]
    return [
        f"{name}: {what.__name__} {what(before[name])} -> {what(after.get(name, [0, 0, 0, 0]))}"
        for name in before
        for what in (precision, recall)
        if (what(after.get(name, [0, 0, 0, 0])) or 0.0) < (what(before[name]) or 0.0)
    ]


def test_no_detector_is_worse_on_the_samples_than_the_committed_figures() -> None:
    assert _losses(tally(_samples()), "samples") == [], REWRITE


def test_the_committed_figures_of_the_samples_are_the_present_ones() -> None:
    assert kept()["samples"] == tally(_samples())["samples"], REWRITE


@pytest.mark.usefixtures("corpus")
def test_no_detector_is_worse_on_the_recordings_than_the_committed_figures() -> None:
    found = tally(scorecard.recordings())
    assert _losses(found, "recordings") == [], REWRITE
    assert {name: sum(counts) for name, counts in found["recordings"].items()} == {
        name: sum(counts) for name, counts in kept()["recordings"].items()
    }, REWRITE


def test_every_detector_is_labelled_to_fire_somewhere_and_to_be_quiet_somewhere() -> None:
    figures = tally(_samples())["samples"]
    assert figures.keys() == detectors().keys()
    for name, (true, _, missed, silent) in figures.items():
        assert true + missed > 0, name
        assert silent > 0, name


def test_every_session_of_every_sample_has_its_label(samples: Path, file_of: Callable[[Path], File]) -> None:
    found = {path.name for path in (samples / "detectors").iterdir() if path.name != "labels.json"}
    assert labels().keys() == found
    for name, sessions in labels().items():
        file = file_of(samples / "detectors" / name)
        named = {session.id for session in file.sessions} | ({scorecard.HOST} if file.host else set())
        assert sessions.keys() == named, name
        for wanted in sessions.values():
            assert {one.removesuffix("?") for one in wanted} <= detectors().keys()
            assert wanted == sorted(wanted)


def test_a_session_named_quiet_for_a_detector_is_labelled_so() -> None:
    for name, sessions in labels().items():
        detector = name.removesuffix(".jsonl").replace("_", "-")
        for session, wanted in sessions.items():
            if session.startswith("quiet"):
                assert detector not in wanted, session
            elif session.startswith("fires"):
                assert detector in wanted, session


CASES = [
    Case("samples", "a", "x", expected=True, fired=True),
    Case("samples", "b", "x", expected=True, fired=False),
    Case("samples", "c", "x", expected=False, fired=True),
    Case("samples", "d", "x", expected=False, fired=False),
    Case("recordings", "e", "y", expected=False, fired=False),
]


def test_counts_shares_and_confusions() -> None:
    figures = tally(CASES)
    assert figures == {"recordings": {"y": [0, 0, 0, 1]}, "samples": {"x": [1, 1, 1, 1]}}
    assert (precision([1, 1, 1, 1]), recall([1, 1, 1, 1])) == (0.5, 0.5)
    assert (precision([3, 1, 0, 0]), recall([3, 1, 0, 0])) == (0.75, 1.0)
    assert precision([0, 0, 2, 1]) is None
    assert recall([0, 1, 0, 1]) is None
    assert confusions(CASES) == ["b: x must fire and does not", "c: x fires and must not"]


def test_a_loss_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_scorecard.kept", lambda: {"samples": {"x": [2, 0, 0, 1]}})
    assert _losses(tally(CASES), "samples") == ["x: precision 1.0 -> 0.5", "x: recall 1.0 -> 0.5"]


def test_the_table_has_a_row_per_detector_and_needs_no_recordings() -> None:
    table = scorecard_table()
    assert table.count("\n") == 2 + len(detectors())
    assert "| `manual-continue` | 1 (" in table
    assert scorecard_table({}).count("not labelled") == 2 * len(detectors())


def test_the_command_prints_the_table_and_the_confusions() -> None:
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "tests.scorecard"], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("| detector | samples: precision |")
    assert "labelled cases" in done.stdout


def test_the_committed_figures_are_laid_out_as_they_are_written() -> None:
    assert scorecard.KEPT.read_text(encoding="utf-8") == scorecard._laid_out(kept())
    assert json.loads(scorecard._laid_out(kept())) == kept()


def _events(text: str) -> list[dict[str, Any]]:
    """Read `step class outcome` triples: S a summary's request, n a normal one."""
    classes = {"S": "summary", "n": "normal"}
    return [{"step": int(one[0]), "class": classes[one[1]], "outcome": one[2:]} for one in text.split()]


@pytest.mark.parametrize(
    ("events", "failed", "loop"),
    [
        ("1ntool 1Stext 1ntool 1ntext", [], False),
        ("1ntool 1Stext 1noverflow", [1], False),
        ("1noverflow 1Stext 1noverflow 1Stext 1ntool", [], True),
        ("1noverflow 1Stext 1Stext 1ntool", [], False),
        ("2noverflow 2Stext 2noverflow 3Stext 3ntext", [2], True),
        ("2Stext 2ntext 3Stext 3ntext", [], False),
        ("1Sempty 1ntext 1Sempty 1ntext 1Sempty", [], True),
        ("1Sempty 1ntext 1Sempty 1ntext", [], False),
        ("1Sempty 1ntool 1ntool 1ntool 1ntool 1Sempty 1ntext 1Sempty", [], False),
        ("1Stext 1ntool 1Stext 1ntool 1Stext 1ntool 1Stext 1ntool", [], True),
        ("1Stext 1ntool 1Stext 1ntool 1Stext 1ntool", [], False),
        ("1Stext 1ntool 2Stext 2ntool 3Stext 3ntool 4Stext 4ntool", [], False),
    ],
)
def test_what_a_loop_is_to_the_models_side(events: str, failed: list[int], loop: bool) -> None:
    truth = {"failed_turns": failed, "turns_without_normal_request": []}
    assert loops(_events(events), truth) is loop
