from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import Finding, detect
from forensics.events import Event
from forensics.timeline import File


@pytest.fixture
def found(samples: Path, file_of: Callable[[Path], File]) -> dict[str | None, Finding]:
    file = file_of(samples / "detectors" / "no_summary.jsonl")
    return {finding.session: finding for finding in detect(file, ["no-summary"])}


def _log(*rows: tuple[str, dict[str, Any]]) -> File:
    events = [Event(session=session, line=at, ts=at * 1000, **row) for at, (session, row) in enumerate(rows, 1)]
    return File("f", "plain", "demo", log=True).build(events)


def test_summaries_made_cuts_by_design_and_cancelled_attempts_stay_quiet(found: dict[str | None, Finding]) -> None:
    assert found.keys() == {"mostly-none", "one-of-five", "kept-but-cut"}


def test_every_kind_of_missing_summary_has_its_figure(found: dict[str | None, Finding]) -> None:
    finding = found["mostly-none"]
    assert (finding.severity, finding.confidence) == ("error", "high")
    assert finding.measures == {
        "attempts": 8,
        "no_summary": 6,
        "truncated": 3,
        "empty": 1,
        "skeleton": 1,
        "failed": 1,
        "cancelled": 1,
        "unfinished": 1,
        "undetermined": 0,
        "rate": 0.75,
        "rate_if_unfinished_failed": 0.875,
        "model_calls": 6,
        "peak_per_minute": 3,
    }
    assert finding.intervals == {"rate": (0.4093, 0.9285), "rate_if_unfinished_failed": (0.5291, 0.9776)}
    assert finding.lines == [19, 21, 23, 25, 27, 29]


def test_a_single_failure_among_many_is_a_note(found: dict[str | None, Finding]) -> None:
    assert (found["one-of-five"].severity, found["one-of-five"].measures["rate"]) == ("note", 0.2)


def test_a_kept_summary_that_seems_cut_is_a_suspicion_apart(found: dict[str | None, Finding]) -> None:
    finding = found["kept-but-cut"]
    assert (finding.severity, finding.confidence) == ("warning", "medium")
    assert finding.measures == {"attempts": 3, "no_summary": 0, "suspect_truncated": 1, "suspect_rate": 0.3333}
    assert finding.bases["suspect_truncated"] == "inferred"
    assert finding.lines == [41]


def test_a_logs_sessions_are_taken_together() -> None:
    made = {"kind": "compacted", "outcome": "summary"}
    none = {"kind": "compacted", "outcome": "no-summary", "fault": "truncated-summary"}
    (finding,) = detect(_log(("a", made), ("b", none), ("a", none), ("b", none)), ["no-summary"])
    assert (finding.session, finding.measures["attempts"], finding.measures["no_summary"]) == (None, 4, 3)
    assert finding.lines == [2, 3, 4]
    (finding,) = detect(_log(("a", none)), ["no-summary"])
    assert finding.session == "a"


def test_attempts_of_unknown_end_are_in_no_rate() -> None:
    unknown = {"kind": "compacted", "outcome": "unknown"}
    assert detect(_log(("a", unknown), ("a", unknown)), ["no-summary"]) == []
    failed = {"kind": "compacted", "outcome": "failed"}
    (finding,) = detect(_log(("a", unknown), ("a", failed)), ["no-summary"])
    assert (finding.measures["attempts"], finding.measures["undetermined"], finding.measures["rate"]) == (1, 1, 1.0)


def test_rate_and_attempts_are_options() -> None:
    rows = [("a", {"kind": "compacted", "outcome": outcome}) for outcome in ("failed", "failed", "summary", "summary")]
    assert detect(_log(*rows), ["no-summary"])[0].severity == "error"
    assert detect(_log(*rows), ["no-summary"], {"no-summary": {"rate": 0.6}})[0].severity == "warning"
    assert detect(_log(*rows), ["no-summary"], {"no-summary": {"attempts": 5}})[0].severity == "warning"
