"""OpenClaw's database and log against what really happened: the scripted model's own request log.

The log shows everything. `NOT_IN_DATABASE` lists the compactions that the database does not hold, and why.
"""

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from forensics.attempts import attempts
from forensics.detect import detect
from forensics.events import Event
from forensics.parse import Source, read, recognise
from forensics.timeline import File

RECORDED = Path(__file__).parents[3] / "shared" / "corpus" / "recorded"
RUNS = sorted(path.parent.relative_to(RECORDED).as_posix() for path in RECORDED.glob("openclaw-*/*/truth.json"))
DATABASE = "state/agents/main/agent/openclaw-agent.sqlite"
LOG = "log/openclaw.log"
FAULTS = {"overflow": "overflow", "underflow": "output-budget", "rate429": "rate-limit", "overloaded529": "overloaded"}

COMPACTIONS: dict[str, list[tuple[str, str, int]]] = {
    "openclaw-2026.9.6/a_healthy": [("threshold", "summary", 2)],
    "openclaw-2026.9.6/b_overflow_loop": [
        ("overflow", "summary", 2),
        ("overflow", "skipped", 0),
        ("overflow", "skipped", 0),
    ],
    "openclaw-2026.9.6/h_oversized_message": [
        ("threshold", "summary", 1),
        ("overflow", "failed", 0),
        ("threshold", "summary", 1),
        ("overflow", "summary", 1),
    ],
}
"""Run: the log's attempts with the requests that each took."""

NOTHING_LEFT = "the attempt found nothing to compact, asked no model and wrote no entry"
NO_FIT = "no message fits beside the prompt: the attempt asked no model and wrote no entry"
NOT_IN_DATABASE: dict[str, list[str]] = {
    "openclaw-2026.9.6/b_overflow_loop": [NOTHING_LEFT, NOTHING_LEFT],
    "openclaw-2026.9.6/h_oversized_message": [NO_FIT],
}


def _rows(run: str, name: str) -> tuple[dict[str, Any], list[Event], Source]:
    source = Source(RECORDED / run / name)
    truth: dict[str, Any] = json.loads((RECORDED / run / "truth.json").read_text(encoding="utf-8"))
    return truth, list(read(source)), source


def _ends(rows: list[Event]) -> list[tuple[str | None, str | None]]:
    return [(row.stop, row.fault) for row in rows if row.kind == "reply"]


def _wanted(truth: dict[str, Any]) -> list[tuple[str | None, str | None]]:
    plain = {"text": ("done", None), "tool": ("tool", None), "length": ("length", None)}
    outcomes = [one["outcome"] for one in truth["events"] if one["class"] == "normal"]
    return [plain.get(one, ("error", FAULTS.get(one))) for one in outcomes]


@pytest.mark.parametrize("name", [DATABASE, LOG])
@pytest.mark.parametrize("run", RUNS)
def test_the_replies_are_the_requests_in_order(run: str, name: str) -> None:
    truth, rows, source = _rows(run, name)
    assert _ends(rows) == _wanted(truth)
    assert (source.malformed, source.unknown) == ([], {})


@pytest.mark.parametrize("name", [DATABASE, LOG])
@pytest.mark.parametrize("run", RUNS)
def test_the_figures_are_the_truths(run: str, name: str) -> None:
    truth, rows, _ = _rows(run, name)
    faults = Counter(row.fault for row in rows if row.kind == "reply" and row.stop == "error")
    assert faults["overflow"] == truth["overflow_errors"]
    assert faults["output-budget"] == truth["underflow_errors"]
    assert faults["rate-limit"] + faults["overloaded"] == truth["transient_errors"]
    assert sum(row.stop == "length" for row in rows) == truth["length_stops"] + truth["length_empty"]
    assert sum(row.kind == "prompt" for row in rows) == len(truth["steps"])
    assert {row.session for row in rows} == {"rec-session"}


@pytest.mark.parametrize("run", RUNS)
def test_the_log_shows_each_attempt_and_the_requests_it_took(run: str) -> None:
    truth, rows, _ = _rows(run, LOG)
    found = [(one.trigger, one.outcome, one.end.requests if one.end else None) for one in attempts(rows)]
    assert found == COMPACTIONS.get(run, [])
    assert sum(requests or 0 for _, _, requests in found) == truth["summary_requests"]
    assert sum(outcome == "no-summary" for _, outcome, _ in found) == truth["summary_empty_or_cut"]


@pytest.mark.parametrize("run", RUNS)
def test_the_database_holds_the_compactions_that_made_a_summary(run: str) -> None:
    _, rows, source = _rows(run, DATABASE)
    outcomes = [row.outcome for row in rows if row.kind == "compacted"]
    missing = NOT_IN_DATABASE.get(run, [])
    assert outcomes == ["summary"] * (len(COMPACTIONS.get(run, [])) - len(missing))
    assert recognise(source.path).failures == "partly"
    assert source.notes == []


@pytest.mark.parametrize("run", RUNS)
def test_the_window_and_the_version_are_recorded(run: str) -> None:
    truth, rows, _ = _rows(run, DATABASE)
    assert (rows[0].agent, rows[0].version, rows[0].cap) == ("openclaw", truth["version"], truth["window"])
    _, logged, _ = _rows(run, LOG)
    assert {row.cap for row in logged if row.kind == "budget"} == {truth["window"]}


@pytest.mark.parametrize("run", RUNS)
def test_manual_continues_in_the_database_are_those_that_were_typed(run: str, file_of: Callable[[Path], File]) -> None:
    truth, rows, _ = _rows(run, DATABASE)
    prompts = [row.record for row in rows if row.kind == "prompt"]
    found = detect(file_of(RECORDED / run / DATABASE), ["manual-continue"])
    steps = sorted(prompts.index(record) + 1 for one in found for record in one.records if record in prompts)
    assert steps == truth["continues_after_failure"]


def test_compactions_that_fall_back_to_nothing_and_are_rolled_back(corpus: Path) -> None:
    source = Source(corpus / "reproductions" / "openclaw_safeguard_timeouts" / "openclaw-2026-05-06.log")
    rows = list(read(source))
    ends = [(row.line, row.session, row.outcome, row.fault) for row in rows if row.kind == "compacted"]
    assert ends == [
        (1, "r1", "no-summary", "empty-summary"),
        (4, "r2", "no-summary", "empty-summary"),
        (7, "unattributed", "no-summary", "empty-summary"),
        (8, "r2", "no-summary", "empty-summary"),
    ]
    rolled_back = [
        (row.line, row.session)
        for row in rows
        if row.kind == "note" and (row.text or "").startswith("compaction rolled back")
    ]
    assert rolled_back == [(2, "r1"), (5, "r2"), (9, "r2")]
    assert rows[0].ts == 1778028136010  # 2026-05-06T00:42:16.010Z, written as 08:42:16.010+08:00
    waits = [b.ts - a.ts for a, b in pairwise(rows) if a.kind == "compacted" and a.ts and b.ts]
    assert [one for one in waits if one < 61_000] == [60_010, 60_100, 60_000]


def test_no_summary_of_a_log_is_told_over_all_its_sessions(corpus: Path, file_of: Callable[[Path], File]) -> None:
    path = corpus / "reproductions" / "openclaw_safeguard_timeouts" / "openclaw-2026-05-06.log"
    (finding,) = detect(file_of(path), ["no-summary"])
    assert (finding.measures["attempts"], finding.measures["no_summary"], finding.lines) == (4, 4, [1, 4, 7, 8])


def test_the_log_knows_the_size_of_a_refused_prompt_and_takes_no_estimate_for_a_context(
    corpus: Path, file_of: Callable[[Path], File]
) -> None:
    file = file_of(corpus / "recorded" / "openclaw-2026.9.6/h_oversized_message" / LOG)
    refused = [row.estimate or 0 for one in file.sessions for row in one.events if row.fault == "overflow"]
    assert max(refused) == 78_588
    assert [one.peak for one in file.sessions if one.peak] == []
