"""Each finding once, with an id of its own, though several files of a session tell it."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import Finding, detectors
from forensics.merge import Merger
from forensics.scan import Options, scan_file
from forensics.summary import Report, summarise

RUNS = (
    "atomic-cf3c2059-pre1690/d_length_continue",
    "atomic-cf3c2059-pre1690/c_empty_summary",
    "atomic-7c87ed1d-pr1690/c_empty_summary",
    "openclaw-2026.9.6/b_overflow_loop",
    "openclaw-2026.9.6/h_oversized_message",
    "opencode-1.18.33/d_length_continue",
    "opencode-1.18.33/b4_overflow_then_summary_overflow",
    "pi-0.73.1/c3_summary_error",
    "pi-1.6.0/d_length_continue",
    "pilotdeck-v260806/c4_growth_no_summary",
    "pilotdeck-v260806/c_empty_summary",
)


def scanned(*folders: Path) -> Report:
    """Scan every file of the folders as one."""
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return summarise([scan_file(path, path.as_posix(), Options()) for path in files], detectors=list(detectors()))


def test_no_two_findings_of_a_scan_share_an_id(corpus: Path) -> None:
    report = scanned(*(corpus / "recorded" / run for run in RUNS))
    assert report.findings
    assert [name for name, count in Counter(one.id for one in report.findings).items() if count > 1] == []


@pytest.mark.parametrize("run", RUNS)
def test_a_finding_keeps_its_id_when_later_files_of_its_session_come(corpus: Path, run: str) -> None:
    files = [path for path in sorted((corpus / "recorded" / run).rglob("step*.txt")) if path.is_file()]
    if not files:
        pytest.skip("this run has no file per step")
    results = [scan_file(path, path.as_posix(), Options()) for path in files]
    before = summarise(results[:-1]).findings
    after = {(one.detector, one.file, tuple(one.lines)): one.id for one in summarise(results).findings}
    kept = [(one.id, after[place]) for one in before if (place := (one.detector, one.file, tuple(one.lines))) in after]
    assert [old for old, new in kept if old != new] == []


def told(file: str, *seconds: float, **changed: Any) -> Finding:
    """Make a length-stop of a session at these times."""
    times = [round(one * 1000) for one in seconds]
    values: dict[str, Any] = {
        "id": f"{file}{times}/v1",
        "detector": "length-stop",
        "severity": "warning",
        "confidence": "high",
        "agent": "pi",
        "file": file,
        "session": "s",
        "message": "m",
        "lines": [1],
        "records": [],
        "start": min(times, default=None),
        "end": max(times, default=None),
        "measures": {},
        "bases": {},
        "intervals": {},
        "times": times,
    }
    return Finding(**(values | changed))


def merged(*findings: Finding) -> list[tuple[str, tuple[int, ...], list[str]]]:
    """Merge findings; files of one ending are of one format."""
    parsers = {one.file: one.file.rsplit(".", 1)[-1] for one in findings}
    shown, _ = Merger([], parsers).merge(list(findings))
    return sorted((one.file, tuple(one.times), one.also) for one in shown)


@pytest.mark.parametrize(
    "other",
    [
        told("step1.txt", 100, 103.5),
        told("step1.txt", 105),
        told("step1.txt", 100, detector="manual-continue"),
        told("step1.txt", 100, session="t"),
        told("step1.txt", 100, severity="error"),
        told("part.jsonl", 100),
        told("step1.txt"),
    ],
)
def test_what_another_finding_does_not_hold_stays_apart(other: Finding) -> None:
    assert len(merged(told("s.jsonl", 100, 110, 120), other)) == 2


def test_replies_that_a_session_tells_together_and_its_streams_one_by_one_are_one_finding() -> None:
    streams = [told("step1.txt", 99.95), told("step2.txt", 109.9), told("step3.txt", 120)]
    whole = told("s.jsonl", 100, 110, 120)
    assert merged(*streams, whole) == [
        ("s.jsonl", (100_000, 110_000, 120_000), ["step1.txt", "step2.txt", "step3.txt"])
    ]


def test_two_findings_of_one_file_are_never_one_row_of_another() -> None:
    assert [one[:2] for one in merged(told("s.jsonl", 100, 110), told("a.log", 99.5), told("a.log", 100.5))] == [
        ("a.log", (100_500,)),
        ("s.jsonl", (100_000, 110_000)),
    ]


def test_a_context_that_two_formats_give_the_same_size_is_told_once() -> None:
    sizes = {"measure": "whole prompt", "peak": 48_924, "cap": 13_000}
    chat = told("chat.jsonl", 5, 90, detector="context-blowup", measures=sizes)
    log = told("runtime.log", detector="context-blowup", measures=sizes)
    less = told("other.log", detector="context-blowup", measures=sizes | {"peak": 48_900})
    assert merged(chat, log, less) == [("chat.jsonl", (5000, 90_000), ["runtime.log"]), ("other.log", (), [])]


@pytest.mark.parametrize(
    ("run", "detector", "count"),
    [
        ("atomic-cf3c2059-pre1690/d_length_continue", "length-stop", 1),
        ("opencode-1.18.33/d_length_continue", "length-stop", 2),
        ("opencode-1.18.33/h_oversized_message", "compaction-loop", 1),
        ("pilotdeck-v260806/c4_growth_no_summary", "context-blowup", 2),
    ],
)
def test_a_recorded_event_is_told_once(corpus: Path, run: str, detector: str, count: int) -> None:
    found = [one for one in scanned(corpus / "recorded" / run).findings if one.detector == detector]
    assert [bool(one.also) for one in found].count(True) >= 1
    assert len(found) == count
