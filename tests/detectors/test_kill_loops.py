"""What ends a loop of compactions, and what one whose links are of several kinds is called."""

from typing import Any

from forensics.detect import Finding
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
    assert (figures["ended_by"], figures["prompts"], figures["overflows"]) == ("a person", 0, 1)


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
