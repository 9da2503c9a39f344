from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import end, prompt, reply, start, written

FileOf = Callable[[Path], File]


@pytest.fixture
def file(samples: Path, file_of: FileOf) -> File:
    return file_of(samples / "detectors" / "runaway_cost.jsonl")


@pytest.fixture
def findings(file: File) -> list[Finding]:
    return detect(file, ["runaway-cost"])


def _of(findings: list[Finding], session: str) -> list[Finding]:
    return [finding for finding in findings if finding.session == session]


def test_nothing_fires_on_the_quiet_sessions(findings: list[Finding]) -> None:
    assert not [finding for finding in findings if (finding.session or "").startswith("quiet")]


def test_recovery_that_costs_more_than_the_work(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-share")
    assert (finding.severity, finding.lines) == ("warning", [28, 33])
    assert finding.measures == {
        "cost": 2.25,
        "total_cost": 3.25,
        "share": 0.6923,
        "recovery_tokens": None,
        "total_tokens": None,
        "compactions": 3,
        "failed_replies": 3,
        "unpriced": 3,
    }


def test_a_large_sum_counts_whatever_its_share(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-absolute")
    assert (finding.measures["cost"], finding.measures["total_cost"]) == (55.0, 465.0)


def test_without_a_recorded_cost_tokens_are_held_against_tokens(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-tokens")
    assert (finding.measures["cost"], finding.measures["total_cost"]) == (None, None)
    assert (finding.measures["recovery_tokens"], finding.measures["total_tokens"]) == (2412000, 2913000)


def test_the_limits_are_options(file: File) -> None:
    options = {"runaway-cost": {"dollars": 100.0, "share": 0.9, "tokens": 10_000_000}}
    assert detect(file, ["runaway-cost"], options) == []


def test_the_loop_that_cost_296_dollars(samples: Path, file_of: FileOf) -> None:
    (finding,) = detect(file_of(samples / "incidents" / "opencode-replo" / "opencode.db"), ["runaway-cost"])
    assert (finding.measures["cost"], finding.measures["compactions"]) == (296.0, 2145)


def test_recovery_without_a_price_beside_work_with_one_is_told_as_that(tmp_path: Path) -> None:
    paid = [reply("tool", cost=5.0, input=100_000, output=100), start(), end(input=1_500_000, output=1000)]
    rows = [prompt(), *paid * 2, *[reply("tool", cost=1.0, input=10_000)] * 32, reply()]
    (finding,) = written("runaway-cost", tmp_path / "unpriced.jsonl", *rows)
    assert finding.message.endswith("took 3,002,000 tokens, 85% of the session's; no cost is recorded for them")
    assert [finding.measures[name] for name in ("cost", "total_cost", "unpriced")] == [None, 42.0, 2]
    free = [{name: value for name, value in row.items() if name != "cost"} for row in rows]
    (finding,) = written("runaway-cost", tmp_path / "free.jsonl", *free)
    assert finding.message.endswith("took 3,002,000 tokens, 85% of the session's; no cost is recorded")


def test_a_reply_that_came_empty_is_a_failed_one_here_as_in_failure_loop(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    for stop in ("empty", "filtered", "error"):
        (finding,) = written("runaway-cost", path, prompt(), reply(stop, cost=60.0), reply(cost=1.0))
        assert (finding.measures["cost"], finding.measures["failed_replies"]) == (60.0, 1)
        assert written("failure-loop", path, prompt(), *[reply(stop)] * 10)
    for stop, fault in (("error", "cancelled"), ("aborted", None), ("length", None)):
        assert written("runaway-cost", path, prompt(), reply(stop, fault=fault, cost=60.0), reply(cost=1.0)) == []
        assert written("failure-loop", path, prompt(), *[reply(stop, fault=fault)] * 10) == []


def test_one_compaction_and_one_failed_reply_are_told_as_one(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    (one,) = written("runaway-cost", path, prompt(), end(cost=30.0), reply("error", cost=30.0), reply(cost=1.0))
    assert one.message == "1 compaction and 1 failed reply cost $60.00, 98% of the session's $61.00"
    (two,) = written("runaway-cost", path, prompt(), *[end(cost=30.0), reply("error", cost=30.0)] * 2, reply(cost=1.0))
    assert two.message == "2 compactions and 2 failed replies cost $120.00, 99% of the session's $121.00"


def test_a_compaction_that_had_nothing_to_do_is_no_recovery(tmp_path: Path) -> None:
    path = tmp_path / "skipped.jsonl"
    rows = [prompt(), end("skipped"), end(cost=30.0), end("failed", cost=30.0), reply(cost=1.0)]
    assert written("runaway-cost", path, *rows)[0].measures["compactions"] == 2
