"""The limits of the failure-loop detector, each on both sides."""

from typing import Any

import pytest

from forensics.detect import Finding
from tests.rows import end, failed, found, prompt, reply, start


def _loops(*rows: dict[str, Any], **options: Any) -> list[Finding]:
    return found("failure-loop", *rows, **options)


@pytest.mark.parametrize(("count", "fires"), [(10, True), (9, False)])
def test_ten_failures_in_a_row_are_a_loop(count: int, fires: bool) -> None:
    findings = _loops(prompt(), *[failed("overloaded")] * count)
    assert [one.measures["failures"] for one in findings] == ([count] if fires else [])
    assert _loops(prompt(), *[failed("overloaded")] * count, failures=9)


@pytest.mark.parametrize("row", [reply("error"), reply("empty"), reply("filtered")])
def test_what_counts_as_a_failure(row: dict[str, Any]) -> None:
    assert _loops(prompt(), *[row] * 10)


@pytest.mark.parametrize(
    "row", [reply("length"), reply("aborted"), reply("done"), failed("cancelled"), {"kind": "retry", "stop": "error"}]
)
def test_what_does_not(row: dict[str, Any]) -> None:
    assert not _loops(prompt(), *[row] * 12)


@pytest.mark.parametrize(
    ("between", "ended"),
    [
        (reply(), "reply"),
        (reply("length"), "reply"),
        (prompt("More."), "prompt"),
        ({**prompt("More."), "origin": "unknown"}, "prompt"),
        ({**prompt("More."), "origin": "queued"}, "prompt"),
        (end("summary"), "compaction"),
        (end("dropped"), "compaction"),
    ],
)
def test_what_ends_a_run(between: dict[str, Any], ended: str) -> None:
    assert not _loops(prompt(), *[failed("auth")] * 9, between, *[failed("auth")] * 9)
    one, two = _loops(prompt(), *[failed("auth")] * 10, between, *[failed("auth")] * 11)
    assert [finding.measures["ended_by"] for finding in (one, two)] == [ended, "nothing"]
    assert [finding.measures["failures"] for finding in (one, two)] == [10, 11]


@pytest.mark.parametrize("origin", ["synthetic", "replay"])
def test_what_the_agent_writes_itself_starts_no_new_work(origin: str) -> None:
    rows = [prompt(), *[failed("auth")] * 6, {**prompt("Go on."), "origin": origin}, *[failed("auth")] * 4]
    assert _loops(*rows)[0].measures["failures"] == 10


@pytest.mark.parametrize("outcome", ["failed", "no-summary", "aborted", "unknown"])
def test_after_a_compaction_that_cut_nothing_failures_are_counted_anew(outcome: str) -> None:
    part = [start("overflow"), end(outcome)]
    assert not _loops(prompt(), *[failed()] * 9, *part, *[failed()] * 9)
    (loop,) = _loops(prompt(), *[failed()] * 9, *part, *[failed()] * 10)
    assert (loop.measures["failures"], loop.measures["compactions"]) == (19, 1)
    assert (loop.lines, loop.confidence, loop.severity) == ([1, 2, 22], "high", "error")


def test_a_compaction_that_had_nothing_to_do_changes_nothing() -> None:
    (loop,) = _loops(prompt(), *[failed()] * 5, end("skipped"), *[failed()] * 5)
    assert (loop.measures["failures"], loop.measures["compactions"]) == (10, 0)


def test_the_start_of_a_compaction_alone_counts_anew_and_is_no_compaction_inside() -> None:
    assert not _loops(prompt(), *[failed()] * 5, start(), *[failed()] * 9)
    (loop,) = _loops(prompt(), *[failed()] * 5, start(), *[failed()] * 10)
    assert loop.measures["compactions"] == 0


def test_the_longest_streak_counts_not_the_last() -> None:
    (loop,) = _loops(prompt(), *[failed()] * 10, end("failed"), failed())
    assert loop.measures["failures"] == 11


def test_a_file_without_prompts_is_less_sure() -> None:
    (loop,) = _loops(*[failed()] * 10)
    assert (loop.confidence, loop.lines) == ("medium", [1, 10])
    (after,) = _loops(prompt(), *[failed()] * 3, reply(), *[failed()] * 10)
    assert (after.confidence, after.lines) == ("high", [1, 6, 15])


def test_times_costs_and_tokens() -> None:
    rows = [failed(ts=at * 1_500, cost=0.1, input=100, cached=10, output=1) for at in range(10)]
    (loop,) = _loops(prompt(), *rows)
    figures = loop.measures
    assert (figures["seconds"], figures["period_seconds"]) == (13.5, 1.5)
    assert (figures["cost"], figures["tokens"]) == (1.0, 1110)
    (bare,) = _loops(prompt(), *[failed()] * 10)
    assert [bare.measures[name] for name in ("seconds", "period_seconds", "cost", "tokens")] == [None] * 4


@pytest.mark.parametrize(("known", "seconds", "period"), [((3,), None, None), ((3, 4), 1.0, 1.0), ((3, 5), 2.0, None)])
def test_times_that_are_missing_are_left_out(
    known: tuple[int, ...], seconds: float | None, period: float | None
) -> None:
    rows = [failed(ts=at * 1_000 if at in known else None) for at in range(10)]
    (loop,) = _loops(prompt(), *rows)
    assert (loop.measures["seconds"], loop.measures["period_seconds"]) == (seconds, period)


def test_the_period_is_the_median() -> None:
    times = (0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 3_600_000)
    (loop,) = _loops(prompt(), *(failed(ts=ts) for ts in times))
    assert (loop.measures["period_seconds"], loop.measures["seconds"]) == (1.0, 3_600.0)


def test_faults_and_the_last_error_that_has_words() -> None:
    rows = [failed("auth", error="first"), *[failed("rate-limit", error="later")] * 5, *[reply("empty")] * 4]
    (loop,) = _loops(prompt(), *rows)
    assert (loop.measures["faults"], loop.measures["error"]) == ("rate-limit 5, unknown 4, auth 1", "later")
    (none,) = _loops(prompt(), *[reply("empty")] * 10)
    assert none.measures["error"] is None


def test_what_failed_before_the_run_is_not_inside_it() -> None:
    (loop,) = _loops(prompt(), end("failed"), reply(), *[failed()] * 10)
    assert loop.measures["compactions"] == 0


def test_only_a_compaction_ends_a_run_by_what_it_made() -> None:
    (loop,) = _loops(prompt(), *[failed()] * 5, {"kind": "note", "outcome": "summary"}, *[failed()] * 5)
    assert loop.measures["failures"] == 10


@pytest.mark.parametrize(("last", "words"), [(119_900, "over 119.9 s"), (120_000, "over 2.0 min")])
def test_from_two_minutes_on_they_are_told_in_minutes(last: int, words: str) -> None:
    (loop,) = _loops(prompt(), failed(ts=0), *[failed()] * 8, failed(ts=last))
    assert words in loop.message


def test_where_nothing_failed_there_is_no_run_whatever_the_option() -> None:
    assert not _loops(prompt(), reply(), prompt(), failures=0)
    assert not _loops(prompt(), reply(), failures=1)


def test_a_run_is_known_by_its_first_failure_however_it_goes_on() -> None:
    def known_by(*records: str) -> str:
        (loop,) = _loops(prompt(), *(failed(record=record) for record in records))
        return loop.id

    assert known_by(*"abcdefghij") == known_by(*"aBcdefghijk")
    assert known_by(*"abcdefghij") != known_by(*"Abcdefghij")
