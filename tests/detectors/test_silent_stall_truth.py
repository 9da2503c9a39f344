"""Stalls at the end of recorded sessions, held against what the runner saw: `truth.json`, never our own output."""

import json
from pathlib import Path

import pytest

from forensics.inputs import expand
from forensics.scan import Options, scan_file
from forensics.summary import Report, summarise
from tests.conftest import CORPUS, NOW

RUNS = sorted(path.parent for path in (CORPUS / "recorded").glob("*/*/truth.json"))


def _report(folder: Path) -> Report:
    found = expand([str(folder)], Path(), None)
    return summarise([scan_file(one.path, one.name, Options(now=NOW)) for one in found.files], found.skipped)


@pytest.mark.parametrize("run", RUNS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_session_stalls_once_and_only_where_its_last_step_failed(run: Path) -> None:
    """Copies that were superseded (Atomic's `.bak` files, an event stream per step) show no stall of their own."""
    truth = json.loads((run / "truth.json").read_text(encoding="utf-8"))
    steps = [json.loads(line) for line in (run / "steps.jsonl").read_text(encoding="utf-8").splitlines()]
    last = max(step["step"] for step in steps)
    stalls = [one for one in _report(run).findings if one.detector == "silent-stall"]
    assert len(stalls) <= 1
    assert not stalls or last in {*truth["failed_turns"], *truth["killed_steps"]}
    assert not any(one.file.endswith(".bak") for one in stalls)


@pytest.mark.parametrize(
    "run",
    [path for path in RUNS if path.parent.name.startswith(("pi-", "atomic-"))],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_a_stream_that_ends_in_the_midst_of_the_recovery_is_never_an_error(run: Path) -> None:
    for path in sorted(run.glob("*stdout*")):
        events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line[:1] == "{"]
        ends = [one for one in events if str(one.get("type")).startswith("compaction")]
        turns = [at for at, one in enumerate(events) if one.get("type") == "message_end"]
        if not ends or not turns or events.index(ends[-1]) < turns[-1]:
            continue
        if ends[-1]["type"] == "compaction_start" or ends[-1].get("willRetry"):
            found = scan_file(path, path.name, Options(now=NOW)).findings
            stalls = [(one.severity, one.confidence) for one in found if one.detector == "silent-stall"]
            assert set(stalls) <= {("warning", "low")}
