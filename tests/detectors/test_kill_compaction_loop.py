"""The limits of the compaction-loop detector and of what links two compactions, each on both sides."""

from typing import Any

import pytest

from forensics.detect import Finding
from tests.rows import end, failed, found, prompt, reply, start


def _loops(*rows: dict[str, Any], **options: Any) -> list[Finding]:
    return found("compaction-loop", *rows, **options)


def _sized(before: int = 100_000, after: int | None = 30_000) -> dict[str, Any]:
    return end("summary", before=before, after=after)


def _kinds(*rows: dict[str, Any], **options: Any) -> list[Any]:
    return [one.measures["kind"] for one in _loops(*rows, **options)]


OVERFLOWS = [prompt(), failed(), end("summary", trigger="overflow"), failed(), end("summary", trigger="overflow")]


def test_one_compaction_is_none_and_two_with_an_overflow_between_are_a_loop() -> None:
    assert not _loops(*OVERFLOWS[:3], failed())
    (loop,) = _loops(*OVERFLOWS, failed())
    assert (loop.measures["kind"], loop.measures["cycles"], loop.measures["overflows"]) == ("overflow", 2, 3)
    assert (loop.confidence, loop.severity, loop.measures["ended_by"]) == ("medium", "error", "nothing")


def test_two_after_which_the_session_recovers_are_a_warning_and_three_an_error() -> None:
    (two,) = _loops(*OVERFLOWS, reply())
    assert (two.severity, two.measures["ended_by"], two.measures["overflows"]) == ("warning", "progress", 2)
    (three,) = _loops(*OVERFLOWS, failed(), end("summary", trigger="overflow"), reply())
    assert (three.severity, three.confidence, three.measures["ended_by"]) == ("error", "high", "progress")
    (person,) = _loops(*OVERFLOWS, prompt("Sow the lawn."), reply())
    assert (person.severity, person.measures["ended_by"]) == ("warning", "a person")


@pytest.mark.parametrize(("then", "kinds"), [(95_000, ["threshold"]), (94_999, [])])
def test_a_first_good_reply_at_the_size_before_shows_that_nothing_was_won(then: int, kinds: list[str]) -> None:
    rows = [prompt(), reply("tool", context=100_000), end("summary"), reply("tool", context=then), end("summary")]
    assert _kinds(*rows, reply("tool", context=1_000)) == kinds


@pytest.mark.parametrize(("gap", "kinds"), [(3, ["threshold"]), (4, [])])
def test_more_than_three_good_replies_between_are_progress(gap: int, kinds: list[str]) -> None:
    rows = [prompt(), reply("tool", context=100_000), end("summary"), *[reply("tool", context=99_000)] * gap]
    assert _kinds(*rows, end("summary"), reply()) == kinds
    assert _kinds(*rows, end("summary"), reply(), within=4) == ["threshold"]


@pytest.mark.parametrize(("count", "kinds"), [(4, ["refill"]), (3, [])])
def test_three_refills_in_a_row_are_thrash(count: int, kinds: list[str]) -> None:
    rows = [prompt(), reply("tool", context=100_000)]
    for _ in range(count):
        rows += [_sized(), reply("tool", context=50_000), reply("tool", context=100_000)]
    assert _kinds(*rows) == kinds
    assert _kinds(*rows, refills=2) == ["refill"]


def test_a_refill_with_a_persons_prompt_inside_is_none() -> None:
    rows = [prompt(), reply("tool", context=100_000)]
    for _ in range(6):
        rows += [_sized(), reply("tool", context=50_000), prompt("More."), reply("tool", context=100_000)]
    assert not _loops(*rows)


@pytest.mark.parametrize(("count", "kinds"), [(3, ["failed"]), (2, [])])
def test_three_failed_attempts_in_a_row_are_a_loop_and_one_retry_is_fair(count: int, kinds: list[str]) -> None:
    assert _kinds(prompt(), *[start(), end("failed")] * count) == kinds
    assert _kinds(prompt(), *[start(), end("no-summary"), reply("tool")] * count) == kinds


def test_failed_attempts_more_than_three_replies_apart_are_none() -> None:
    assert not _loops(prompt(), *[start(), end("failed"), *[reply("tool")] * 4] * 5)
    assert _loops(prompt(), *[start(), end("failed"), *[reply("tool")] * 3] * 5)


def test_a_retry_that_worked_neither_begins_nor_ends_a_loop() -> None:
    assert not _loops(prompt(), start(), end("failed"), start(), end("summary"), reply())
    rows = [prompt(), *[start(), end("failed")] * 3, start(), end("summary"), reply()]
    (loop,) = _loops(*rows)
    assert (loop.measures["cycles"], loop.measures["summaries"]) == (3, 0)


@pytest.mark.parametrize(("count", "fires"), [(6, True), (5, False)])
def test_every_single_prompt_that_costs_a_compaction_where_no_size_is_known(count: int, fires: bool) -> None:
    rows = [prompt(), reply()]
    for _ in range(count):
        rows += [end("summary"), prompt("More."), reply()]
    findings = _loops(*rows)
    assert [(one.measures["kind"], one.severity, one.confidence) for one in findings] == (
        [("every prompt", "warning", "medium")] if fires else []
    )


@pytest.mark.parametrize("known", [{"after": 9_000}, {"before": 9_000, "after": 4_000}])
def test_every_prompt_needs_that_nothing_is_known_of_sizes(known: dict[str, int]) -> None:
    rows = [prompt(), reply()]
    for _ in range(8):
        rows += [end("summary", **known), prompt("More."), reply()]
    assert not _loops(*rows)


def test_two_prompts_between_are_not_every_prompt() -> None:
    rows = [prompt(), reply()]
    for _ in range(8):
        rows += [end("summary"), prompt("More."), reply(), prompt("And more."), reply()]
    assert not _loops(*rows)


@pytest.mark.parametrize(("left", "kinds"), [(80_001, ["threshold"]), (80_000, [])])
def test_with_a_prompt_between_the_recorded_size_after_speaks_for_the_compaction(left: int, kinds: list[str]) -> None:
    rows = [
        prompt(),
        reply("tool", context=100_000),
        _sized(100_000, left),
        prompt("More."),
        reply("tool", context=99_000),
    ]
    assert _kinds(*rows, _sized(99_000, 1_000), reply("tool", context=1_000)) == kinds


def test_up_to_six_good_replies_after_a_prompt_count_as_every_prompt() -> None:
    for replies, fires in ((6, True), (7, False)):
        rows = [prompt(), reply()]
        for _ in range(8):
            rows += [end("summary"), prompt("More."), *[reply("tool")] * replies]
        assert bool(_loops(*rows)) is fires


def test_new_work_that_overflows_after_a_healthy_compaction_is_no_loop() -> None:
    rows = [prompt(), reply("tool", context=90_000), _sized(90_000), prompt("Read it all."), failed()]
    assert not _loops(*rows, end("summary", trigger="overflow"), reply())


def test_a_prompt_changes_nothing_where_the_compaction_answered_a_failure() -> None:
    rows = [prompt(), failed(), end("summary", trigger="overflow"), prompt("Go on."), failed()]
    (loop,) = _loops(*rows, end("summary", trigger="overflow"), failed())
    assert (loop.measures["prompts"], loop.measures["kind"]) == (1, "overflow")


def test_sizes_alone_can_tell_where_the_file_shows_no_replies() -> None:
    assert _kinds(_sized(100_000, None), _sized(95_000, None)) == ["threshold"]
    assert not _loops(_sized(100_000, None), _sized(94_999, None))
    assert not _loops(_sized(100_000, 30_000), _sized(100_000, 30_000))
    assert _kinds(_sized(100_000, 90_000), _sized(100_000, 90_000)) == ["threshold"]


def test_attempts_that_a_person_asked_for_or_that_had_nothing_to_do_are_passed_over() -> None:
    by_hand = [
        prompt(),
        failed(),
        end("summary", trigger="manual"),
        failed(),
        end("summary", trigger="manual"),
        failed(),
    ]
    assert not _loops(*by_hand)
    assert not _loops(prompt(), failed(), end("skipped"), failed(), end("skipped"), failed())


def test_an_attempt_that_the_record_breaks_off_in_is_left_out() -> None:
    assert not _loops(*OVERFLOWS[:4], start("overflow"))
    (loop,) = _loops(*OVERFLOWS, failed(), start("overflow"))
    assert (loop.measures["cycles"], loop.measures["unfinished"]) == (2, 0)


def test_an_attempt_whose_end_says_nothing_is_left_out_at_the_end_where_others_say_something() -> None:
    (loop,) = _loops(*OVERFLOWS, failed(), end("unknown"))
    assert (loop.measures["cycles"], loop.measures["summaries"]) == (2, 2)
    untold = [prompt(), failed(), end("unknown"), failed(), end("unknown"), failed(), start("overflow")]
    (loop,) = _loops(*untold)
    assert (loop.measures["cycles"], loop.measures["unfinished"], loop.measures["summaries"]) == (2, 0, None)


def test_what_follows_the_last_cycle_is_not_inside_the_loop() -> None:
    (loop,) = _loops(*OVERFLOWS, failed(), reply())
    assert (loop.measures["overflows"], loop.measures["ended_by"], loop.lines) == (2, "progress", [2, 3, 4, 5])


def test_hours_are_exact_over_years() -> None:
    rows = [dict(row, ts=at * 900_000 * 10_000_000) for at, row in enumerate(OVERFLOWS)]
    assert _loops(*rows)[0].measures["hours"] == 7_500_000.0


def test_attempts_none_of_which_ended_are_cycles_all_the_same() -> None:
    (loop,) = _loops(prompt(), *[start()] * 3)
    figures = loop.measures
    assert (figures["cycles"], figures["unfinished"], figures["summaries"]) == (3, 3, None)


def test_money_tokens_and_times_are_summed_over_the_cycles() -> None:
    rows = [dict(row, ts=at * 60_000) for at, row in enumerate(OVERFLOWS)]
    rows[2] |= {"cost": 0.5, "input": 100, "cached": 20, "output": 3}
    rows[4] |= {"cost": 0.25, "output": 7}
    (loop,) = _loops(*rows)
    figures = loop.measures
    assert (figures["cost"], figures["paid"], figures["tokens"]) == (0.75, 2, 130)
    assert (figures["hours"], figures["period_seconds"]) == (0.05, 120.0)
    (bare,) = _loops(*OVERFLOWS)
    figures = bare.measures
    assert [figures[name] for name in ("cost", "tokens", "hours", "period_seconds")] == [None] * 4
    assert figures["paid"] == 0


def test_the_period_is_the_median_of_the_steps_that_are_known() -> None:
    starts = (0, 10_000, 30_000, None, 90_000)
    rows = [prompt(), *({**end("failed"), "ts": ts} for ts in starts)]
    (loop,) = _loops(*rows)
    assert loop.measures["period_seconds"] == 15.0


def test_what_a_file_without_replies_cannot_know_is_unknown() -> None:
    (loop,) = _loops(*[end("failed")] * 3)
    figures = loop.measures
    assert [figures[name] for name in ("prompts", "overflows", "ended_by")] == [None, None, None]
    (room,) = _loops(*[end("failed")] * 3, end("failed", before=100, after=50))
    assert room.measures["ended_by"] == "progress"
    (one,) = _loops(prompt(), reply(), *[end("failed")] * 3)
    assert (one.measures["prompts"], one.measures["overflows"]) == (0, 0)


def test_the_evidence_is_the_first_cycle_and_the_last() -> None:
    rows = [*OVERFLOWS, failed(), start("overflow"), end("summary"), failed()]
    (loop,) = _loops(*rows)
    assert loop.lines == [2, 3, 4, 5, 7, 8, 9]
    twice = [failed(), failed()]
    cycle = [start("overflow"), end("summary")]
    (long,) = _loops(prompt(), *twice, *cycle, *twice, *cycle, *twice, *cycle, *twice)
    assert long.lines == [3, 4, 5, 6, 8, 12, 13, 15]
    (ended,) = _loops(*OVERFLOWS, failed(), end("summary", trigger="overflow"), reply())
    assert ended.lines == [2, 3, 4, 5, 7]


def test_two_loops_apart_are_two_findings() -> None:
    rows = [*OVERFLOWS, reply(), *[reply("tool")] * 8, *OVERFLOWS, reply()]
    assert len(_loops(*rows)) == 2


def test_what_follows_an_attempt_that_is_left_out_takes_nothing_from_the_loop() -> None:
    """The last attempt has no end on record, yet the session went on: the two before it are whole."""
    (loop,) = _loops(*OVERFLOWS, failed(), start("overflow"), reply())
    figures = loop.measures
    assert (figures["cycles"], figures["overflows"], figures["ended_by"]) == (2, 3, "progress")


def test_a_clock_that_went_back_in_the_middle_is_seen() -> None:
    times = (0, 1, 60, 61, 20, 21, 80, 81, 100)
    cycle = [start("overflow"), end("summary")]
    rows = [failed(), *cycle, failed(), *cycle, failed(), *cycle]
    ahead = [{**row, "ts": 10_000 * at} for at, row in enumerate(rows)]
    back = [{**row, "ts": 1000 * at} for row, at in zip(rows, times, strict=True)]
    assert [_loops(prompt(), *made)[0].measures["hours"] for made in (ahead, back)] == [0.0222, None]
