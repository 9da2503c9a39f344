import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import Finding, detect
from forensics.events import Event
from forensics.timeline import File
from tests.rows import end, failed, prompt, scanned, start, written

Row = dict[str, Any]
OVERFLOW: Row = {"kind": "reply", "stop": "error", "fault": "overflow"}
GOOD: Row = {"kind": "reply", "stop": "tool"}
SUMMARY: Row = {"kind": "compacted", "outcome": "summary"}
FAILED: Row = {"kind": "compacted", "outcome": "failed"}
ABORTED: Row = {"kind": "compacted", "outcome": "aborted"}
PROMPT: Row = {"kind": "prompt", "origin": "human"}


def _file(*rows: Row) -> File:
    events = [Event(session="s", line=at, ts=at * 1000, **row) for at, row in enumerate(rows, 1)]
    return File("f", "plain", "demo").build(events)


def _found(*rows: Row, **options: int) -> list[Finding]:
    return detect(_file(*rows), ["compaction-loop"], {"compaction-loop": options})


@pytest.fixture
def found(samples: Path, file_of: Callable[[Path], File]) -> dict[str | None, Finding]:
    file = file_of(samples / "detectors" / "compaction_loop.jsonl")
    return {finding.session: finding for finding in detect(file, ["compaction-loop"])}


def test_healthy_sessions_one_retry_and_compactions_by_hand_stay_quiet(found: dict[str | None, Finding]) -> None:
    assert found.keys() == {"overflows-again", "full-after-each-step", "every-quarter-hour", "refilled-within-three"}


def test_overflow_loop_goes_on_across_a_prompt_that_changes_nothing(found: dict[str | None, Finding]) -> None:
    loop = found["overflows-again"]
    assert (loop.severity, loop.confidence) == ("error", "high")
    assert loop.measures == {
        "cycles": 3,
        "hours": 0.2017,
        "cost": 0.375,
        "kind": "overflow",
        "summaries": 3,
        "unfinished": 0,
        "prompts": 1,
        "overflows": 4,
        "paid": 3,
        "tokens": 272_700,
        "period_seconds": 342.0,
        "ended_by": "nothing",
    }
    assert loop.lines == [46, 47, 48, 49, 50, 54, 55, 56]
    assert "3 compactions in a row without progress" in loop.message


def test_threshold_loop_with_a_finished_step_between(found: dict[str | None, Finding]) -> None:
    loop = found["full-after-each-step"]
    assert (loop.measures["cycles"], loop.measures["kind"], loop.measures["unfinished"]) == (2, "threshold", 0)
    assert (loop.lines[0], loop.lines[-1]) == (60, 65)


def test_slow_loop_of_failed_attempts_has_its_period(found: dict[str | None, Finding]) -> None:
    loop = found["every-quarter-hour"]
    assert (loop.measures["cycles"], loop.measures["kind"], loop.measures["period_seconds"]) == (4, "failed", 900.0)
    assert loop.measures["cost"] is None
    assert loop.measures["summaries"] == 0


def test_refill_thrash(found: dict[str | None, Finding]) -> None:
    loop = found["refilled-within-three"]
    assert (loop.measures["cycles"], loop.measures["kind"], loop.measures["ended_by"]) == (4, "refill", "progress")


def test_a_loop_of_thousands_of_cycles_is_one_finding_in_linear_time() -> None:
    def rows(cycles: int) -> list[Row]:
        return [OVERFLOW, *([{**SUMMARY, "cost": 0.5}, OVERFLOW] * cycles)]

    began = time.process_time()
    (loop,) = _found(*rows(2145))
    short = time.process_time() - began
    assert (loop.measures["cycles"], loop.measures["cost"], loop.measures["paid"]) == (2145, 1072.5, 2145)
    assert (loop.lines[0], loop.lines[-1]) == (1, 4291)
    began = time.process_time()
    _found(*rows(21450))
    assert time.process_time() - began < 40 * max(short, 0.01)


def test_many_legitimate_compactions_with_four_good_replies_between_stay_quiet() -> None:
    assert _found(*([GOOD] * 4 + [SUMMARY]) * 200) == []


def test_two_refills_are_not_yet_thrash() -> None:
    assert _found(*([GOOD, SUMMARY] * 3), GOOD) == []
    assert [loop.measures["cycles"] for loop in _found(*([GOOD, SUMMARY] * 4), GOOD)] == [4]
    assert [loop.measures["cycles"] for loop in _found(*([GOOD, SUMMARY] * 3), GOOD, refills=2)] == [3]


def test_an_answered_prompt_between_compactions_is_progress() -> None:
    """A person who works on after each compaction is no loop (bastani-inc/atomic PR 1690's own pattern)."""
    rows: list[Row] = [{**GOOD, "context": 267_000}, {**SUMMARY, "before": 267_000, "after": 131_000}, PROMPT]
    assert _found(*rows * 6, GOOD) == []


def test_two_overflow_compactions_after_which_the_session_goes_on_are_a_warning() -> None:
    (loop,) = _found(OVERFLOW, SUMMARY, OVERFLOW, SUMMARY, GOOD)
    assert (loop.severity, loop.confidence, loop.measures["ended_by"]) == ("warning", "medium", "progress")
    (loop,) = _found(OVERFLOW, SUMMARY, OVERFLOW, SUMMARY, PROMPT, GOOD)
    assert loop.measures["ended_by"] == "a person"
    (loop,) = _found(OVERFLOW, SUMMARY, OVERFLOW, SUMMARY, OVERFLOW)
    assert (loop.severity, loop.confidence) == ("error", "medium")


def test_a_failed_summary_may_be_tried_once_more() -> None:
    assert _found({**FAILED, "before": 90_000}, {**SUMMARY, "before": 90_000}, GOOD) == []
    assert _found(FAILED, FAILED, SUMMARY, GOOD) == []
    (loop,) = _found(FAILED, FAILED, FAILED, SUMMARY, GOOD)
    assert (loop.measures["cycles"], loop.measures["kind"]) == (3, "failed")


def test_failed_attempts_with_a_good_step_between_are_a_loop_too() -> None:
    """PilotDeck's growth: no summary, the step works, no summary again."""
    (loop,) = _found(*([FAILED, GOOD] * 31))
    assert (loop.measures["cycles"], loop.measures["kind"]) == (31, "failed")


def test_a_healthy_compaction_shortly_before_an_overflow_loop_is_not_part_of_it() -> None:
    (loop,) = _found(GOOD, SUMMARY, GOOD, GOOD, OVERFLOW, *[SUMMARY, OVERFLOW] * 5)
    assert (loop.measures["cycles"], loop.lines[0]) == (5, 5)


def test_a_step_that_fitted_says_nothing_of_the_request_that_overflowed() -> None:
    """A good reply as large as the last good one is no sign that the compaction made no room."""
    rows: list[Row] = [{**GOOD, "context": 8830}, OVERFLOW, SUMMARY]
    assert _found(*rows * 2, {**GOOD, "context": 8830}) == []
    (loop,) = _found(*rows * 12, {**GOOD, "context": 8830})
    assert (loop.measures["cycles"], loop.measures["kind"]) == (12, "refill")


def test_new_work_after_a_healthy_compaction_that_then_overflows_is_its_own_fault() -> None:
    """The compaction answered no failure, so the person's oversized prompt says nothing of it."""
    turn: list[Row] = [{**GOOD, "stop": "done"}, SUMMARY, PROMPT, OVERFLOW, SUMMARY]
    assert _found(*turn, GOOD) == []
    (loop,) = _found(*turn, PROMPT, OVERFLOW, SUMMARY, GOOD)
    assert (loop.measures["cycles"], loop.lines[0]) == (2, 4)
    answering: list[Row] = [{**SUMMARY, "trigger": "overflow"}, PROMPT, OVERFLOW, SUMMARY, OVERFLOW]
    assert [loop.measures["cycles"] for loop in _found(*answering)] == [2]


def test_a_retry_that_worked_holds_a_loop_together_but_ends_none() -> None:
    (loop,) = _found(OVERFLOW, FAILED, SUMMARY, OVERFLOW, SUMMARY, GOOD)
    assert loop.measures["cycles"] == 3
    (loop,) = _found(OVERFLOW, SUMMARY, OVERFLOW, FAILED, SUMMARY, GOOD)
    assert loop.measures["cycles"] == 3
    assert _found(FAILED, SUMMARY, GOOD, FAILED, SUMMARY, GOOD, FAILED, SUMMARY, GOOD) == []


def test_attempts_cancelled_by_a_person_are_passed_over() -> None:
    rows: list[Row] = [OVERFLOW, SUMMARY, OVERFLOW, ABORTED, PROMPT, OVERFLOW, SUMMARY, OVERFLOW, ABORTED]
    (loop,) = _found(*rows)
    assert (loop.measures["cycles"], loop.measures["overflows"], loop.measures["prompts"]) == (2, 4, 1)


def test_aborted_summaries_that_the_agent_itself_follows_with_the_next_were_cancelled_by_nobody() -> None:
    """A storm of summary rows without a token, one every few seconds (Kilo-Org/kilocode#13983)."""
    (loop,) = _found(PROMPT, *[ABORTED] * 9)
    assert (loop.measures["cycles"], loop.measures["kind"], loop.measures["summaries"]) == (8, "failed", 0)
    assert _found(*[PROMPT, ABORTED] * 9) == []


def test_attempts_that_never_ended_count_but_for_the_last() -> None:
    """Four starts, no end: each resume enters the compaction again (github/copilot-cli#4780)."""
    (loop,) = _found(*[{"kind": "compact"}] * 4)
    assert (loop.measures["cycles"], loop.measures["unfinished"]) == (4, 4)
    (loop,) = _found(OVERFLOW, *[SUMMARY, OVERFLOW] * 3, {"kind": "compact", "trigger": "overflow"})
    assert (loop.measures["cycles"], loop.measures["unfinished"]) == (3, 0)


def test_a_log_without_replies_is_judged_by_sizes() -> None:
    room = [{**SUMMARY, "before": 90_000, "after": 50_000}] * 6
    assert _found(*room) == []
    full = [{**SUMMARY, "before": 90_000, "after": 89_000}] * 6
    assert [loop.measures["kind"] for loop in _found(*full)] == ["threshold"]


def test_every_prompt_costs_a_compaction_where_no_size_is_known() -> None:
    turn: list[Row] = [PROMPT, GOOD, GOOD, {**GOOD, "stop": "done"}, SUMMARY]
    assert _found(*turn * 5) == []
    (loop,) = _found(*turn * 6)
    assert (loop.severity, loop.measures["cycles"], loop.measures["kind"]) == ("warning", 6, "every prompt")
    sized: list[Row] = [PROMPT, {**GOOD, "context": 90_000}, {**SUMMARY, "before": 90_000, "after": 20_000}]
    assert _found(*sized * 6) == []


def _told(path: Path, *rows: Row) -> Finding:
    (loop,) = written("compaction-loop", path, *rows)
    return loop


def test_a_last_attempt_in_which_the_record_breaks_off_is_in_no_figure(tmp_path: Path) -> None:
    """Nine starts, six without a summary, three without an end: the ninth is the place where the record ends."""
    ended = [start(), end("no-summary")]
    rows = [prompt(), *ended, start(), *ended * 2, start(), *ended * 3, start(ts=7200)]
    loop = _told(tmp_path / "nine.jsonl", *rows)
    figures = loop.measures
    assert [figures[name] for name in ("cycles", "summaries", "unfinished")] == [8, 0, 2]
    assert (figures["hours"], figures["period_seconds"], loop.lines) == (0.0036111, 2.0, [3, 4, 5, 15, 16])
    assert "8 compactions in a row without progress: no attempt makes a usable summary, over 13.0 s" in loop.message


def test_the_request_that_the_first_compaction_answers_is_one_of_the_overflows(tmp_path: Path) -> None:
    rows = [prompt(), failed(), *[end("summary", trigger="overflow"), failed()] * 11]
    made = scanned(tmp_path / "overflows.jsonl", *rows)
    loop = next(one for one in made.findings if one.detector == "compaction-loop")
    assert (loop.measures["cycles"], loop.measures["overflows"]) == (11, 12)
    assert made.sessions[0].errors == {"overflow": 12}
    assert (loop.lines[0], loop.measures["hours"]) == (3, 0.0061111)


def test_a_failure_before_the_first_compaction_that_is_no_overflow_is_no_part_of_the_loop(tmp_path: Path) -> None:
    rows = [prompt(), failed("overloaded", ts=0), start(ts=60), end("failed"), *[start(), end("failed")] * 2]
    loop = _told(tmp_path / "lead.jsonl", *rows)
    assert (loop.measures["overflows"], loop.lines[0]) == (0, 4)


def test_a_clock_that_went_back_leaves_times_unknown(tmp_path: Path) -> None:
    rows = [prompt()]
    for cycle in range(4):
        back = 5000 - 28 * cycle
        rows += [start("overflow", ts=back), end("failed", ts=back + 1), failed(ts=back + 2)]
    loop = _told(tmp_path / "loop_back.jsonl", *rows)
    assert (loop.measures["hours"], loop.measures["period_seconds"]) == (None, None)
    assert loop.message == "4 compactions in a row without progress: the next request overflows again"


def test_a_loop_of_a_moment_is_not_said_to_take_no_time(tmp_path: Path) -> None:
    rows = [prompt(ts=0), *[failed(ts=1), end("summary", ts=1)] * 2, failed(ts=1)]
    assert "over 0.1 s, without a delay" in _told(tmp_path / "moment.jsonl", *rows).message
