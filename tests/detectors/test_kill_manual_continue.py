"""Chains of the manual-continue detector: which messages belong together, and what each says."""

from typing import Any

from tests.rows import end, failed, found, prompt, reply


def _chains(*rows: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(one.measures["streak"], one.measures["chain"]) for one in found("manual-continue", *rows)]


def test_a_message_that_got_no_good_reply_is_the_first_of_its_chain() -> None:
    rows = (prompt(), failed("auth"), prompt("continue"), failed("auth"), prompt("continue"), failed("auth"))
    assert _chains(*rows, prompt("continue"), reply()) == [(1, 3), (2, 3), (3, 3)]


def test_a_message_that_got_one_ends_its_chain() -> None:
    rows = (prompt(), failed("auth"), prompt("continue"), reply("tool"), failed("auth"), prompt("continue"), reply())
    assert _chains(*rows) == [(1, 1), (1, 1)]


def test_new_work_between_parts_two_chains() -> None:
    rows = (
        prompt(),
        failed("auth"),
        prompt("continue"),
        failed("auth"),
        prompt("Sow the lawn instead."),
        failed("auth"),
    )
    assert _chains(*rows, prompt("continue"), reply()) == [(1, 1), (1, 1)]


def test_work_that_went_well_between_parts_two_chains_though_the_first_message_got_no_reply() -> None:
    first = (prompt(ts=0), failed("auth", ts=1_000), prompt("continue", ts=2_000))
    between = (prompt("Sow the lawn.", ts=900_000), reply(ts=901_000))
    again = (prompt("Rake it.", ts=902_000), failed("auth", ts=903_000), prompt("continue", ts=904_000), reply())
    assert _chains(*first, *between, *again) == [(1, 1), (1, 1)]


def test_a_session_that_ends_broken_adds_no_message() -> None:
    assert _chains(prompt(), failed("auth"), prompt("continue"), failed("auth")) == [(1, 1)]


def test_compacted_is_yes_only_where_the_context_was_cut_after_the_failure() -> None:
    first = found("manual-continue", prompt(), failed("auth"), prompt("continue"), reply())
    cut = found("manual-continue", prompt(), failed(), end("summary"), prompt("continue", ts=99_000), reply())
    lost = found("manual-continue", prompt(), failed(), end("no-summary"), prompt("continue", ts=99_000), reply())
    assert [one.measures["compacted"] for one in (*first, *cut, *lost)] == ["no", "yes", "no"]


def test_resumed_is_unknown_where_the_session_ends_with_the_message() -> None:
    (last,) = found("manual-continue", prompt(), failed("auth"), prompt("continue"))
    (again,) = found("manual-continue", prompt(), failed("auth"), prompt("continue"), failed("auth"))
    (good,) = found("manual-continue", prompt(), failed("auth"), prompt("continue"), reply())
    assert [one.measures["resumed"] for one in (last, again, good)] == [None, "no", "yes"]
    assert [one.lines for one in (last, again, good)] == [[2, 3], [2, 3, 4], [2, 3, 4]]
