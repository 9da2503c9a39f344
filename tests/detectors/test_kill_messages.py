"""How messages are told apart: the limits of the words alone, and of what stood before them."""

from typing import Any

import pytest

from forensics.detectors._messages import wording
from tests.rows import end, failed, found, prompt, reply


def _why(text: str) -> str | None:
    judged = wording(text)
    return None if judged is None else judged.confidence


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("continue", "high"),
        ("please continue with the task", "high"),
        ("[10:02] continue", "high"),
        ("Continúa", "high"),
        ("don\u2019t stop", "high"),
        ("con\u00adtinue", "high"),
        ("/continue", "high"),
        ("ok", "medium"),
        ("status?", "medium"),
        ("please", None),
        ("???", "medium"),
        ("\U0001f44d", "medium"),
        ("/compact", None),
        ("!ls", None),
        ("/", None),
        ("!", None),
        ("", None),
        ("   ", None),
        ("banana", "low"),
        ("stop", None),
        ("no", None),
        ("x" * 15, "low"),
        ("x" * 16, None),
        ("paint fence", None),
        ("continue with the fence", "low"),
        ("continue but without the fence", None),
        ("continue one two three four five six seven", "low"),
        ("continue one two three four five six seven eight", None),
        ("paint and continue", None),
        ("and also", None),
        ("please, continue with the fence", None),
        ("again, continue with the fence", "low"),
        ("go on with the fence", "low"),
        ("go with the fence", None),
        ("继续", "high"),
        ("继续修复", "low"),
        ("修复登录", "low"),
        ("修复登录问", None),
        ("继续修复登录页面的老问题", "low"),
        ("继续修复登录页面的那个问题", None),
        ("继续修复登录问题并且测试全部代码", None),
        ("/paint continue", None),
    ],
)
def test_the_words_alone(text: str, confidence: str | None) -> None:
    assert _why(text) == confidence


@pytest.mark.parametrize(("spaces", "confidence"), [(81 - 16, "high"), (400, "high")])
def test_spaces_and_marks_do_not_make_a_message_long(spaces: int, confidence: str) -> None:
    assert _why("continue" + " ." * spaces) == confidence


@pytest.mark.parametrize(("words", "confidence"), [(9, "high"), (10, None)])
def test_more_than_eighty_characters_of_words_are_new_work(words: int, confidence: str | None) -> None:
    assert _why(" ".join(["continue"] * words)) == confidence


@pytest.mark.parametrize(
    ("text", "spaces", "confidence"),
    [
        ("continue{}x", 311, "low"),
        ("continue{}x", 312, "high"),
        ("continue with x{}. Paint", 226, None),
        ("continue with x{}. Paint", 299, None),
        ("continue with x{}. Paint", 305, "low"),
    ],
)
def test_only_the_first_characters_are_looked_at(text: str, spaces: int, confidence: str | None) -> None:
    assert _why(text.format(" " * spaces)) == confidence


def _fires(*rows: dict[str, Any]) -> str | None:
    findings = found("manual-continue", *rows)
    return findings[0].confidence if findings else None


@pytest.mark.parametrize(("sent", "fires"), [(999, None), (1_000, "high"), (None, "high")])
def test_a_message_sent_before_the_failure_is_not_about_it(sent: int | None, fires: str | None) -> None:
    asked = prompt("continue", ts=9_000, sent=sent)
    assert _fires(prompt(ts=0), failed("auth", ts=1_000), asked, reply(ts=9_500)) == fires
    assert _fires(prompt(ts=0), failed("auth"), asked, reply(ts=9_500)) == "high"


def test_the_same_message_again_counts_by_digest_or_by_text_and_size() -> None:
    long = "Paint the fence in the colours that we agreed on."
    first, again = prompt(long, digest="d"), prompt(long, digest="d")
    assert _fires(first, failed("auth"), again, reply()) == "high"
    assert _fires(first, failed("auth"), prompt(long, digest="e"), reply()) is None
    assert _fires(prompt(long), failed("auth"), prompt(long), reply()) == "high"
    assert _fires(prompt(long), failed("auth"), {**prompt(long), "size": 9}, reply()) is None
    assert _fires(prompt("  "), failed("auth"), prompt("  "), reply()) is None


@pytest.mark.parametrize(("size", "fires"), [(320, "high"), (321, None)])
def test_a_long_message_is_not_judged_by_its_first_words(size: int, fires: str | None) -> None:
    assert _fires(prompt(), failed("auth"), {**prompt("continue"), "size": size}, reply()) == fires


NEW = "Are the names in the other file like that too?"


@pytest.mark.parametrize("fault", ["overflow", "output-budget"])
def test_whatever_is_said_after_a_compaction_that_worked_and_an_idle_agent(fault: str) -> None:
    rows = (prompt(ts=0), failed(fault, ts=1_000), end("summary", ts=2_000))
    assert _fires(*rows, prompt(NEW, ts=60_000), reply()) == "medium"
    assert _fires(*rows, prompt("continue", ts=60_000), reply()) == "high"
    assert _fires(*rows[:2], end("failed", ts=2_000), prompt(NEW, ts=60_000), reply()) is None
    assert _fires(*rows[:2], prompt(NEW, ts=60_000), reply()) is None
    assert (
        _fires(prompt(ts=0), failed("auth", ts=1_000), end("summary", ts=2_000), prompt(NEW, ts=60_000), reply())
        is None
    )


@pytest.mark.parametrize(("after", "fires"), [(0, None), (4_999, None), (5_000, "medium")])
def test_a_compaction_within_five_seconds_belongs_to_the_prompt(after: int, fires: str | None) -> None:
    rows = (prompt(ts=0), failed("overflow", ts=1_000), end("summary", ts=2_000))
    assert _fires(*rows, prompt(NEW, ts=2_000 + after), reply()) == fires
    assert _fires(*rows, prompt("continue", ts=2_000 + after), reply()) == "high"


def test_a_compaction_without_a_time_belongs_to_no_prompt() -> None:
    rows = (prompt(ts=0), failed("overflow", ts=1_000), end("summary"))
    assert _fires(*rows, prompt(NEW, ts=2_000), reply()) == "medium"


def test_a_compaction_before_the_failure_does_not_belong_to_the_prompt_after_it() -> None:
    rows = (prompt(NEW, ts=0), reply("tool", ts=500), end("summary", ts=1_000), failed("auth", ts=1_500))
    assert _fires(*rows, prompt(NEW, ts=2_000), reply()) == "high"
    assert _fires(*rows, end("summary", ts=1_600), prompt(NEW, ts=2_000), reply()) is None


def test_a_prompt_whose_clock_went_back_does_not_belong_to_the_compaction() -> None:
    rows = (prompt(ts=0), failed("overflow", ts=1_000), end("summary", ts=2_000))
    assert _fires(*rows, prompt(NEW, ts=1_999), reply()) == "medium"
    assert _fires(*rows, prompt(NEW), reply()) == "medium"


@pytest.mark.parametrize(("length", "confidence"), [(80, "medium"), (81, "low")])
def test_long_words_after_an_idle_compaction_are_unsure(length: int, confidence: str) -> None:
    rows = (prompt(ts=0), reply("tool", ts=1_000), end("summary", ts=2_000))
    assert _fires(*rows, prompt("word " * 15 + "x" * (length - 75), ts=60_000), reply()) == confidence
    assert _fires(*rows, {**prompt("Paint it red.", ts=60_000), "size": length}, reply()) == confidence


@pytest.mark.parametrize(
    ("outcome", "fires"), [("summary", "medium"), ("dropped", "medium"), ("failed", None), ("no-summary", None)]
)
def test_an_idle_agent_after_a_compaction_that_made_nothing_says_nothing_of_new_words(
    outcome: str, fires: str | None
) -> None:
    rows = (prompt(ts=0), reply("tool", ts=1_000), end(outcome, ts=2_000))
    assert _fires(*rows, prompt(NEW, ts=60_000), reply()) == fires
    assert _fires(*rows, prompt("continue", ts=60_000), reply()) == "high"


def test_a_compaction_that_the_person_ordered_lowers_the_confidence() -> None:
    rows = (prompt(ts=0), reply("tool", ts=1_000), end("summary", trigger="manual", ts=2_000))
    assert _fires(*rows, prompt("continue", ts=60_000), reply()) == "medium"
    assert _fires(*rows, prompt(NEW, ts=60_000), reply()) == "low"
    assert _fires(*rows, prompt("word " * 20, ts=60_000), reply()) == "low"
    assert _fires(prompt(), failed("auth", trigger="manual"), prompt("continue"), reply()) == "high"


def test_a_session_that_ends_after_a_compaction_that_the_person_ordered_has_no_message_to_judge() -> None:
    assert _fires(prompt(ts=0), reply("tool", ts=1_000), end("summary", trigger="manual", ts=2_000)) is None


def test_a_single_word_or_a_nudge_that_was_said_before_is_the_same_message_again() -> None:
    assert _fires(prompt("banana"), failed("auth"), prompt("banana"), reply()) == "high"
    assert _fires(prompt("ok"), failed("auth"), prompt("ok"), reply()) == "high"
    assert _fires(prompt("banana"), failed("auth"), prompt("cherry"), reply()) == "low"


@pytest.mark.parametrize(("length", "confidence"), [(80, "medium"), (81, "low")])
def test_a_message_whose_size_is_not_on_record_is_as_long_as_its_text(length: int, confidence: str) -> None:
    rows = (prompt(ts=0), reply("tool", ts=1_000), end("summary", ts=2_000))
    asked = prompt("word " * 15 + "x" * (length - 75), ts=60_000)
    assert _fires(*rows, {**asked, "size": None}, reply()) == confidence
    assert _fires(*rows, {**asked, "text": None}, reply()) == confidence
