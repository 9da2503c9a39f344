"""Each finding once, with an id of its own, though several files of a session tell it."""

from collections import Counter
from pathlib import Path

import pytest

from forensics.detect import detectors
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
