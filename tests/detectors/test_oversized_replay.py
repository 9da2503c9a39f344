from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import end, failed, prompt, reply, written


@pytest.fixture
def findings(samples: Path, file_of: Callable[[Path], File]) -> list[Finding]:
    return detect(file_of(samples / "detectors" / "oversized_replay.jsonl"), ["oversized-replay"])


def _of(findings: list[Finding], session: str) -> list[Finding]:
    return [finding for finding in findings if finding.session == session]


def test_nothing_fires_on_the_quiet_sessions(findings: list[Finding]) -> None:
    assert not [finding for finding in findings if (finding.session or "").startswith("quiet")]


def test_a_loop_is_one_finding_with_its_cost(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-loop")
    assert (finding.severity, finding.confidence, finding.lines) == ("error", "high", [20, 22, 31])
    assert finding.measures == {
        "replays": 4,
        "compactions": 4,
        "cost": 0.6,
        "hours": 0.833333,
        "tokens": 400000,
        "cap": 200000,
        "oversized": "yes",
        "refused": 412000,
    }


def test_without_a_size_it_is_undetermined_whether_the_message_is_too_large(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-loop-size-unknown")
    assert (finding.confidence, finding.lines) == ("medium", [35, 37, 40, 41])
    assert (finding.measures["replays"], finding.measures["cost"], finding.measures["oversized"]) == (2, None, None)
    assert finding.message.endswith("undetermined")


def test_one_replay_of_a_message_larger_than_the_window_is_enough(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-once-too-large")
    assert (finding.lines, finding.measures["replays"], finding.measures["oversized"]) == ([44, 46, 47], 1, "yes")


def test_the_incident_is_one_loop(samples: Path, file_of: Callable[[Path], File]) -> None:
    (finding,) = detect(file_of(samples / "incidents" / "opencode-replo" / "opencode.db"), ["oversized-replay"])
    measures = finding.measures
    assert (measures["replays"], measures["compactions"], measures["cost"]) == (2145, 2145, 296.0)
    assert (round(float(measures["hours"] or 0), 1), measures["oversized"]) == (12.8, None)


def test_a_healthy_session_with_compactions_has_none(samples: Path, file_of: Callable[[Path], File]) -> None:
    assert detect(file_of(samples / "incidents" / "opencode-replo" / "healthy.json"), ["oversized-replay"]) == []


def test_a_small_text_does_not_prove_that_the_message_fits(samples: Path, file_of: Callable[[Path], File]) -> None:
    file = file_of(samples / "incidents" / "opencode-replo" / "opencode.db")
    file.sessions[0].cap = 200_000
    (finding,) = detect(file, ["oversized-replay"])
    assert (finding.measures["oversized"], finding.measures["cap"]) == (None, 200_000)


def test_a_continuation_that_the_agent_wrote_is_not_called_the_persons_message(
    corpus: Path, file_of: Callable[[Path], File]
) -> None:
    path = corpus / "recorded" / "opencode-1.18.33" / "b_overflow_loop" / "opencode.db"
    (finding,) = detect(file_of(path), ["oversized-replay"])
    assert finding.message.startswith("the agent's own continuation prompt was sent again 15 times, 16 compactions")


def test_a_clock_that_went_back_leaves_the_hours_unknown(tmp_path: Path) -> None:
    again = {**prompt("All of it.", digest="d"), "origin": "replay"}
    rows = [failed(ts=9000), end("summary", ts=9001), {**again, "ts": 9002}, failed(ts=100), end("summary", ts=101)]
    rows = [prompt("All of it.", digest="d"), *rows, {**again, "ts": 102}, failed(ts=103)]
    (finding,) = written("oversized-replay", tmp_path / "back.jsonl", *rows)
    assert (finding.measures["replays"], finding.measures["hours"]) == (2, None)
    assert finding.message.startswith("the same message was sent again 2 times, 2 compactions, no good reply;")


def test_the_message_is_held_against_the_window_in_force_when_it_was_sent_again(tmp_path: Path) -> None:
    window = {"kind": "model", "cap_source": "recorded"}
    asked = prompt(digest="d", size=2_000_000)
    again = [failed(), end(), {**asked, "origin": "replay"}, failed()]
    path = tmp_path / "window.jsonl"
    rows = [{**window, "cap": 1_000_000}, {**asked, "size": 2_000_000}, *again]
    assert written("oversized-replay", path, *rows, {**window, "cap": 200_000}) == []
    (finding,) = written("oversized-replay", path, {**window, "cap": 200_000}, *rows[1:], {**window, "cap": 10**6})
    assert [finding.measures[name] for name in ("cap", "oversized", "tokens")] == [200_000, "yes", 500_000]


def test_a_replay_that_came_empty_is_paid_for_too(tmp_path: Path) -> None:
    asked = prompt(digest="d")
    again = {**asked, "origin": "replay"}
    rows = [asked, failed(cost=0.5), end(cost=0.25), again, reply("empty", cost=0.5), end(cost=0.25), again]
    (finding,) = written("oversized-replay", tmp_path / "empty.jsonl", *rows, reply("empty", cost=0.5))
    assert (finding.measures["replays"], finding.measures["cost"]) == (2, 2.0)


def test_one_compaction_is_told_as_one(tmp_path: Path) -> None:
    asked = prompt(digest="d")
    rows = [asked, failed(), end(), *[{**asked, "origin": "replay"}, failed()] * 2]
    (finding,) = written("oversized-replay", tmp_path / "one.jsonl", *rows)
    assert finding.message.startswith(
        "the same message was sent again 2 times, 1 compaction over 5.0 s, no good reply;"
    )


def test_a_compaction_that_had_nothing_to_do_is_none_of_the_loop(tmp_path: Path) -> None:
    asked = prompt(digest="d")
    cycle = [failed(), end("skipped"), end("failed"), {**asked, "origin": "replay"}]
    (finding,) = written("oversized-replay", tmp_path / "skipped.jsonl", asked, *cycle * 2, failed())
    assert (finding.measures["replays"], finding.measures["compactions"]) == (2, 2)


def test_the_window_is_the_one_at_the_last_replay(tmp_path: Path) -> None:
    asked = prompt(digest="d", size=400_000)
    again = {**asked, "origin": "replay"}
    window = {"kind": "model", "cap_source": "recorded"}
    rows = [
        {**window, "cap": 50_000},
        asked,
        failed(),
        end(),
        again,
        failed(),
        {**window, "cap": 200_000},
        end(),
        again,
    ]
    (finding,) = written("oversized-replay", tmp_path / "last.jsonl", *rows, failed())
    assert (finding.measures["cap"], finding.measures["oversized"]) == (200_000, None)
