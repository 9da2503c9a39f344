"""The limits of the output-budget-underflow detector, each on both sides."""

from typing import Any

import pytest

from tests.rows import end, failed, found, prompt, reply


def _refused(error: str | None = None) -> dict[str, Any]:
    return failed("output-budget", error=error)


def test_only_failed_replies_and_compactions_about_the_output_budget_count() -> None:
    rows = [failed("overflow"), failed("invalid-request"), {"kind": "retry", "fault": "output-budget"}]
    assert not found("output-budget-underflow", prompt(), *rows)
    (finding,) = found("output-budget-underflow", prompt(), _refused(), end("failed", fault="output-budget"))
    assert (finding.measures["occurrences"], finding.lines, finding.severity) == (2, [2, 3], "error")


def test_a_good_reply_parts_two_runs() -> None:
    one, two = found("output-budget-underflow", prompt(), _refused(), reply("tool"), _refused(), _refused())
    assert [finding.measures["occurrences"] for finding in (one, two)] == [1, 2]
    assert [finding.measures["followed"] for finding in (one, two)] == ["agent", "nothing"]


def test_who_went_on_is_told_of_the_last_of_the_run() -> None:
    (finding,) = found("output-budget-underflow", prompt(), _refused(), _refused(), prompt("continue"), reply())
    assert finding.measures["followed"] == "person"
    (finding,) = found("output-budget-underflow", prompt(), _refused(), {**prompt(), "origin": "unknown"})
    assert finding.measures["followed"] == "unknown"


@pytest.mark.parametrize(
    ("error", "asked", "least", "most"),
    [
        ("Expected a value >= 16, but got 1 instead.", 1, 16, None),
        ("Expected a value >= 16, but got -5 instead.", -5, 16, None),
        ("max_tokens value of 40000 is not in range", 40000, None, None),
        ("maxOutputTokens value of 70000 but the supported range is from 1 (inclusive) to 65536", 70000, 1, 65536),
        ("max_output_tokens must be at least 16", None, 16, None),
        ("minimum value: 8", None, 8, None),
        ("minimum value is 8", None, 8, None),
        ("integer below minimum value", None, None, None),
        (None, None, None, None),
    ],
)
def test_the_figures_are_the_providers_own(
    error: str | None, asked: int | None, least: int | None, most: int | None
) -> None:
    (finding,) = found("output-budget-underflow", prompt(), _refused(error))
    figures = finding.measures
    assert (figures["asked"], figures["minimum"], figures["maximum"]) == (asked, least, most)


def test_the_figures_are_those_of_the_first_refusal() -> None:
    first, second = _refused("Expected a value >= 16, but got 1"), _refused("Expected a value >= 16, but got 2")
    (finding,) = found("output-budget-underflow", prompt(), first, second)
    assert finding.measures["asked"] == 1
