"""What ends a loop of compactions, and what one whose links are of several kinds is called."""

from datetime import UTC, datetime
from typing import Any

import pytest

from forensics.detect import Finding
from forensics.events import Run
from forensics.sane import millis
from tests.rows import end, failed, found, prompt, reply

OVERFLOWS = [prompt(), failed(), end("summary", trigger="overflow"), failed(), end("summary", trigger="overflow")]
WORKED = end("summary", before=100_000, after=30_000)
FULL = reply("tool", context=100_000)
REFILLED = [reply("tool", context=50_000), FULL]


def _loops(*rows: dict[str, Any], **options: Any) -> list[Finding]:
    return found("compaction-loop", *rows, **options)


def test_what_a_person_ended_is_not_inside_the_loop() -> None:
    (loop,) = _loops(*OVERFLOWS, prompt("Sow the lawn."), failed(), reply())
    figures = loop.measures
    assert (figures["ended_by"], figures["prompts"], figures["overflows"]) == ("a person", 0, 2)


def test_a_prompt_after_the_reply_that_ended_the_loop_did_not_end_it() -> None:
    (loop,) = _loops(*OVERFLOWS, reply(), prompt("More."), reply())
    assert loop.measures["ended_by"] == "progress"


def test_summaries_are_counted_where_some_attempts_do_not_say_what_they_made() -> None:
    (loop,) = _loops(prompt(), failed(), end("unknown"), *OVERFLOWS[1:], failed())
    assert (loop.measures["cycles"], loop.measures["summaries"]) == (3, 2)


def test_a_compaction_before_the_progress_is_no_part_of_the_loop() -> None:
    (loop,) = _loops(prompt(), FULL, WORKED, *[reply("tool")] * 8, *OVERFLOWS, reply())
    assert (loop.measures["cycles"], loop.lines) == (2, [13, 14, 15, 16])


def test_a_refill_between_two_overflows_does_not_part_them() -> None:
    rows = [*OVERFLOWS, *REFILLED, WORKED, failed(), end("summary", trigger="overflow"), failed()]
    (loop,) = _loops(*rows, refills=4)
    assert (loop.measures["cycles"], loop.measures["kind"]) == (4, "overflow")


def test_a_refill_and_a_failure_are_neither_thrash_nor_three_failures() -> None:
    assert not _loops(prompt(), FULL, WORKED, *REFILLED, end("failed"), end("failed"))


def test_a_loop_is_named_after_what_alone_makes_one() -> None:
    """Two failed attempts in a row are fair, so that it is not they that make it."""
    fair = [prompt(), FULL, end("failed"), end("failed")]
    (overflow,) = _loops(*fair, WORKED, failed(), end("summary", trigger="overflow"), failed())
    assert overflow.measures["kind"] == "overflow"
    (refill,) = _loops(*fair, WORKED, *REFILLED, WORKED, reply("tool", context=50_000), refills=1)
    assert refill.measures["kind"] == "refill"


def test_a_failed_attempt_whose_next_one_worked_after_a_good_reply_is_no_part_of_the_loop() -> None:
    (loop,) = _loops(prompt(), end("failed"), reply("tool"), *OVERFLOWS[1:], failed())
    assert (loop.measures["cycles"], loop.lines) == (2, [4, 5, 6, 7, 8])


def test_a_persons_prompt_between_failed_attempts_changes_nothing() -> None:
    (loop,) = _loops(prompt(), reply(), *[prompt("More."), end("failed")] * 3)
    assert (loop.measures["kind"], loop.measures["prompts"]) == ("failed", 2)


def test_a_compaction_that_says_that_it_answers_an_overflow_is_believed() -> None:
    by_overflow = end("summary", trigger="overflow")
    (loop,) = _loops(prompt(), reply("tool"), by_overflow, by_overflow)
    assert loop.measures["kind"] == "overflow"
    assert not _loops(prompt(), reply("tool"), end("failed"), by_overflow, reply())
    assert not _loops(by_overflow, by_overflow)


def test_a_size_that_is_not_on_record_is_no_size_again() -> None:
    assert not _loops(end("summary"), end("summary", before=95_000))
    assert not _loops(end("summary", before=95_000), end("summary"))


@pytest.mark.parametrize(("count", "kinds"), [(4, ["threshold"]), (3, [])])
def test_compactions_without_a_good_reply_between_are_a_loop_from_three_in_a_row_on(
    count: int, kinds: list[str]
) -> None:
    for cycle in ([end("summary"), failed("rate-limit")], [WORKED, failed("rate-limit")], [end("summary")]):
        assert [one.measures["kind"] for one in _loops(prompt(), reply("tool"), *cycle * count)] == kinds


def test_compactions_that_made_room_and_were_followed_by_nothing_are_none() -> None:
    assert not _loops(prompt(), reply("tool"), *[WORKED] * 6)


def test_every_prompt_needs_that_no_size_was_known_before_either() -> None:
    cycle = [end("summary"), prompt("More."), reply()]
    assert _loops(prompt(), reply(), *cycle * 8)
    assert not _loops(prompt(), reply(context=9_000), *cycle * 8)


@pytest.mark.parametrize(("size", "fires"), [({}, True), ({"context": 9_000}, False)])
def test_every_prompt_needs_that_no_size_was_known_after_either(size: dict[str, Any], fires: bool) -> None:
    cycle = [failed(), end("summary", trigger="overflow"), prompt("More."), reply(**size)]
    assert bool(_loops(prompt(), *cycle * 8)) is fires


@pytest.mark.parametrize(
    ("lead", "kinds"),
    [
        ([], ["threshold"]),
        ([failed("rate-limit")], ["threshold"]),
        ([failed()], []),
        ([failed(estimate=104_000)], ["threshold"]),
        ([failed(estimate=105_000)], []),
    ],
)
def test_what_was_refused_is_the_size_before_else_what_the_compaction_says(
    lead: list[dict[str, Any]], kinds: list[str]
) -> None:
    """A refused request of unknown size was larger than what the compaction counted: nothing can be said."""
    rows = [prompt(), *lead, end("summary", before=100_000), reply("tool", context=99_000), WORKED, reply()]
    assert [one.measures["kind"] for one in _loops(*rows)] == kinds


def test_a_prompt_may_have_filled_what_no_size_after_speaks_for() -> None:
    rows = [prompt(), FULL, end("summary"), prompt("More."), reply("tool", context=99_000), WORKED, reply()]
    assert not _loops(*rows)
    assert _loops(*rows[:3], *rows[4:])


def test_good_replies_that_are_not_told_one_by_one_have_no_size() -> None:
    date = datetime(2026, 7, 1, tzinfo=UTC)
    run = Run(lines=[4], dates=[date], contexts=[100_000], totals=[100_000], start=millis(date), end=millis(date))
    assert not _loops(prompt(), FULL, end("summary"), prompt("More.", run=run), WORKED, reply())
