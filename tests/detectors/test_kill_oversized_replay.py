"""The limits of the oversized-replay detector, each on both sides."""

from typing import Any

import pytest

from tests.rows import end, failed, found, prompt, reply


def _again(text: str = "Here is the log", **more: Any) -> dict[str, Any]:
    return prompt(text, **{"origin": "replay", "digest": text, **more})


def _rounds(count: int, **more: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [prompt("Here is the log"), failed()]
    for _ in range(count):
        rows += [end("summary"), _again(**more), failed()]
    return rows


def test_one_replay_that_fails_is_not_enough_and_two_are() -> None:
    assert not found("oversized-replay", *_rounds(1))
    (finding,) = found("oversized-replay", *_rounds(2))
    assert (finding.measures["replays"], finding.measures["compactions"], finding.confidence) == (2, 2, "medium")
    (surer,) = found("oversized-replay", *_rounds(3))
    assert (surer.measures["replays"], surer.confidence, surer.severity) == (3, "high", "error")
    assert found("oversized-replay", *_rounds(1), replays=1)


@pytest.mark.parametrize(("size", "oversized"), [(4004, "yes"), (4003, None)])
def test_one_is_enough_where_the_message_alone_is_over_the_window(size: int, oversized: str | None) -> None:
    rows = [{**row, "cap": 1000} if row["kind"] == "reply" else row for row in _rounds(1, size=size)]
    findings = found("oversized-replay", *rows)
    assert [one.measures["oversized"] for one in findings] == ([oversized] if oversized else [])
    assert all(one.confidence == "high" and one.measures["tokens"] == 1001 for one in findings)


def test_the_size_is_undetermined_without_a_window_or_without_a_size() -> None:
    (no_window,) = found("oversized-replay", *_rounds(2, size=400_000))
    assert (no_window.measures["oversized"], no_window.measures["cap"], no_window.measures["tokens"]) == (
        None,
        None,
        100_000,
    )
    (no_size,) = found("oversized-replay", *_rounds(2, size=None))
    assert (no_size.measures["oversized"], no_size.measures["tokens"]) == (None, None)
    (windowed,) = found("oversized-replay", {"kind": "session", "cap": 1000}, *_rounds(2, size=None))
    assert (windowed.measures["oversized"], windowed.measures["cap"]) == (None, 1000)


def test_of_a_message_that_a_row_holds_shortened_the_greatest_size_counts() -> None:
    rows = [row for size in (800, 400_000, 1_200) for row in (end("summary"), _again(size=size), failed())]
    (finding,) = found("oversized-replay", prompt("Here is the log"), failed(), *rows)
    assert finding.measures["tokens"] == 100_000


def test_a_good_reply_ends_the_loop_and_one_replay_that_worked_is_none() -> None:
    assert not found("oversized-replay", *_rounds(0), end("summary"), _again(), reply())
    assert not found(
        "oversized-replay", *_rounds(0), end("summary"), _again(), reply(), end("summary"), _again(), reply()
    )
    (finding,) = found("oversized-replay", *_rounds(2), reply(), *_rounds(1), reply())
    assert finding.measures["replays"] == 2


def test_replays_that_met_no_failure_before_a_good_reply_are_none() -> None:
    rows = [prompt("Here is the log"), failed(), end("summary"), _again(), _again(), reply()]
    assert not found("oversized-replay", *rows)
    assert found("oversized-replay", *rows[:-1], failed(), reply())
    assert not found("oversized-replay", *rows[:-2], end("summary"), _again(), reply())


@pytest.mark.parametrize("row", [reply("aborted"), reply("length"), {"kind": "retry", "stop": "done"}])
def test_what_is_no_good_reply_does_not_end_the_loop(row: dict[str, Any]) -> None:
    (finding,) = found("oversized-replay", *_rounds(1), row, *_rounds(1)[2:])
    assert finding.measures["replays"] == 2


def test_a_persons_prompt_ends_the_loop_and_another_message_begins_a_new_one() -> None:
    (one, two) = found("oversized-replay", *_rounds(2), *_rounds(3))
    assert (one.measures["replays"], two.measures["replays"]) == (2, 3)
    other = [end("summary"), _again("Another log"), failed()]
    (first,) = found("oversized-replay", *_rounds(2), *other)
    assert first.measures["replays"] == 2


def test_messages_without_a_digest_are_the_same_by_text_and_size() -> None:
    assert found("oversized-replay", *_rounds(2, digest=None))
    rows = [*_rounds(1, digest=None, size=15), end("summary"), _again(digest=None, size=16), failed()]
    assert not found("oversized-replay", *rows)
    untold = [{**row, "text": None} if row.get("origin") == "replay" else row for row in _rounds(2, digest=None)]
    assert not found("oversized-replay", *untold)


@pytest.mark.parametrize("digests", [(None, "d"), ("d", None)])
def test_where_one_has_no_digest_text_and_size_tell(digests: tuple[str | None, str | None]) -> None:
    rows = [row for digest in digests for row in (end("summary"), _again(digest=digest), failed())]
    (finding,) = found("oversized-replay", prompt("Here is the log"), failed(), *rows)
    assert finding.measures["replays"] == 2


def test_a_continuation_that_the_agent_writes_breaks_the_run_of_replays() -> None:
    rows = [*_rounds(1), {**prompt("Go on."), "origin": "synthetic"}, *_rounds(1)[2:]]
    assert not found("oversized-replay", *rows)


def test_what_it_cost_is_that_of_its_compactions_and_failed_replies() -> None:
    rows = [{**row, "cost": 0.25, "ts": at * 3_600_000} for at, row in enumerate(_rounds(2))]
    (finding,) = found("oversized-replay", *rows)
    assert (finding.measures["cost"], finding.measures["hours"]) == (1.25, 6.0)
    free = [{**row, "cost": 0.0} for row in _rounds(2)]
    (finding,) = found("oversized-replay", *free)
    assert (finding.measures["cost"], finding.measures["hours"]) == (None, None)


def test_what_was_paid_before_the_persons_prompt_is_not_the_loops() -> None:
    before = [prompt("Another log"), failed(cost=1.0), end("summary", cost=1.0)]
    (finding,) = found("oversized-replay", *before, *({**row, "cost": 0.25} for row in _rounds(2)))
    assert (finding.measures["cost"], finding.measures["compactions"]) == (1.25, 2)


def test_what_lies_before_a_good_reply_is_not_the_loops() -> None:
    rows = [{**row, "cost": 0.25} for row in _rounds(2)]
    (finding,) = found("oversized-replay", prompt(), failed(cost=1.0), reply("tool"), *rows[1:])
    assert finding.measures["cost"] == 1.25
    assert not found("oversized-replay", prompt("Here is the log"), _again(), reply(), _again(), failed())


def test_what_the_agent_wrote_between_does_not_hide_what_was_paid_before() -> None:
    rows = [{**row, "cost": 0.25} for row in _rounds(2)]
    rows.insert(3, {**prompt("Go on."), "origin": "synthetic"})
    (finding,) = found("oversized-replay", *rows)
    assert (finding.measures["cost"], finding.measures["compactions"]) == (1.25, 2)


def test_only_replies_and_compactions_are_rows_of_the_loop() -> None:
    retry = {"kind": "retry", "stop": "error", "cost": 9.0}
    rows = [row for one in _rounds(2) for row in ({**one, "cost": 0.25}, retry)]
    assert found("oversized-replay", *rows)[0].measures["cost"] == 1.25


def test_a_continuation_of_the_agents_own_is_told_as_that() -> None:
    asked = {**prompt("Here is the log", digest="Here is the log"), "origin": "synthetic"}
    (own,) = found("oversized-replay", asked, failed(), *_rounds(2)[2:])
    (other,) = found("oversized-replay", {**asked, "digest": "other"}, failed(), *_rounds(2)[2:])
    (person,) = found("oversized-replay", *_rounds(2))
    assert ["continuation" in one.message for one in (own, other, person)] == [True, False, False]
    (late,) = found("oversized-replay", *_rounds(1), {**asked, "digest": "x"}, *_rounds(2)[1:])
    assert "continuation" not in late.message


def test_what_the_first_replay_is_the_others_are_too() -> None:
    asked = {**prompt("Go on with the fence.", digest="d"), "origin": "synthetic"}
    replays = (_again("Go on", digest="d"), _again("Go on", digest=None))
    rows = [row for one in replays for row in (failed(), end("summary"), one)]
    (finding,) = found("oversized-replay", asked, *rows, failed())
    assert (finding.measures["replays"], "continuation" in finding.message) == (2, True)


def test_the_greatest_size_that_a_refusal_names_is_told() -> None:
    rows = _rounds(2)
    rows[1] = failed(error="prompt is too long: 5000 tokens > 1000 maximum")
    rows[4] = failed(estimate=7000, error="prompt is too long: 9999 tokens > 1000 maximum")
    (finding,) = found("oversized-replay", *rows)
    assert finding.measures["refused"] == 7000
    (finding,) = found("oversized-replay", *_rounds(2), end("summary", estimate=9_000))
    assert finding.measures["refused"] is None


def test_the_evidence_is_the_first_row_the_first_and_last_replay_and_the_last_row() -> None:
    (finding,) = found("oversized-replay", *_rounds(3))
    assert finding.lines == [2, 4, 10, 11]
    (finding,) = found("oversized-replay", *_rounds(2), {**reply("aborted")})
    assert finding.lines == [2, 4, 7, 8]
