"""The limits of the runaway-cost detector, each on both sides."""

from typing import Any

import pytest

from tests.rows import end, failed, found, reply


def _fires(*rows: dict[str, Any], **options: Any) -> bool:
    return bool(found("runaway-cost", *rows, **options))


@pytest.mark.parametrize(("cost", "fires"), [(50.0, True), (49.99, False)])
def test_fifty_dollars_of_recovery_are_enough_whatever_the_share(cost: float, fires: bool) -> None:
    assert _fires(reply(cost=1000.0), end(cost=cost)) is fires
    assert _fires(reply(cost=1000.0), end(cost=cost), dollars=49.0)


@pytest.mark.parametrize(("work", "fires"), [(2.0, True), (2.01, False)])
def test_half_of_the_sessions_cost_is_enough(work: float, fires: bool) -> None:
    assert _fires(reply(cost=work), end(cost=2.0)) is fires
    assert _fires(reply(cost=work), end(cost=2.0), share=0.4)


@pytest.mark.parametrize(("cost", "fires"), [(1.0, True), (0.99, False)])
def test_half_counts_from_a_dollar_on(cost: float, fires: bool) -> None:
    assert _fires(reply(cost=0.1), end(cost=cost)) is fires
    assert _fires(reply(cost=0.1), end(cost=cost), least=0.5)


@pytest.mark.parametrize(("used", "work", "fires"), [(2_000_000, 2_000_000, True), (1_999_999, 1, False)])
def test_tokens_count_where_no_cost_is_recorded(used: int, work: int, fires: bool) -> None:
    assert _fires(reply(input=work), end(input=used)) is fires
    assert _fires(reply(input=work), end(input=used), tokens=1_000_000)


def test_half_of_the_tokens_is_needed_too() -> None:
    assert not _fires(reply(input=2_000_001), end(input=2_000_000))
    assert _fires(reply(input=2_000_001), end(input=2_000_000), share=0.4)


def test_costs_of_nothing_say_nothing() -> None:
    assert not _fires(reply(cost=0.0), end(cost=0.0))
    assert not _fires(reply(), end())
    assert _fires(reply(cost=0.0, input=1), end(cost=0.0, input=3_000_000))


def test_recovery_without_a_price_is_judged_by_tokens_though_the_work_has_one() -> None:
    assert _fires(reply(cost=1.0, input=1), end(input=3_000_000))
    assert not _fires(reply(cost=1.0, input=1), end(input=0))


def test_no_tokens_at_all_are_no_share() -> None:
    assert not _fires(reply(input=0), end(input=0))


def test_only_replies_and_compactions_are_recovery() -> None:
    (finding,) = found("runaway-cost", end(cost=60.0), {"kind": "retry", "stop": "error", "cost": 9.0})
    assert (finding.measures["cost"], finding.measures["failed_replies"]) == (60.0, 0)


def test_failed_replies_are_recovery_and_good_ones_are_work() -> None:
    (finding,) = found("runaway-cost", failed(cost=3.0, input=10), end(cost=2.0, output=7), reply("length", cost=1.0))
    assert finding.measures == {
        "cost": 5.0,
        "total_cost": 6.0,
        "share": 0.8333,
        "recovery_tokens": 17,
        "total_tokens": 17,
        "compactions": 1,
        "failed_replies": 1,
        "unpriced": 0,
    }
    assert (finding.lines, finding.severity) == ([1, 2], "warning")


def test_rows_without_a_price_are_counted_as_that_and_unknown_tokens_stay_unknown() -> None:
    (finding,) = found("runaway-cost", end(cost=60.0), end(), failed())
    figures = finding.measures
    assert (figures["unpriced"], figures["recovery_tokens"], figures["total_tokens"]) == (2, None, None)
    assert (figures["compactions"], figures["failed_replies"], finding.lines) == (2, 1, [1, 3])


def test_all_three_kinds_of_tokens_are_summed() -> None:
    (finding,) = found("runaway-cost", end(input=1_000_000, cached=1_000_000, output=500_000), reply(input=100))
    assert (finding.measures["recovery_tokens"], finding.measures["total_tokens"]) == (2_500_000, 2_500_100)
    assert (finding.measures["cost"], finding.measures["total_cost"]) == (None, None)
    assert finding.measures["share"] == 1.0
