"""What the usage-outlier detector says of each reason."""

from typing import Any

from tests.rows import end, found, reply


def _sizes(*sizes: int) -> list[dict[str, Any]]:
    return [reply("tool", context=size) for size in sizes]


def _totals(*rows: tuple[int, int]) -> list[dict[str, Any]]:
    return [reply("tool", context=context, total=total) for context, total in rows]


def test_figures_that_grow_and_fall_as_they_should_are_none() -> None:
    assert not found("usage-outlier", *_sizes(1000, 2000, 3000, 4000, 5000), end("summary"), *_sizes(900, 1000))


def test_a_total_twice_its_components_disagrees_with_them() -> None:
    (finding,) = found("usage-outlier", *_totals((1000, 1000), (1000, 2500), (1000, 1000)))
    assert finding.measures == {
        "value": 2500,
        "plausible": 1000,
        "ratio": 2.5,
        "rows": 1,
        "of": 3,
        "reason": "disagrees with its components",
    }
    assert finding.confidence == "medium"
    assert not found("usage-outlier", *_totals((1000, 1000), (1000, 1499), (1000, 1000)))


def test_the_worst_row_is_told_and_all_are_counted() -> None:
    rows = [reply("tool", context=1000, total=total, estimate=500) for total in (5000, 9000, 6000)]
    (finding,) = found("usage-outlier", *rows)
    figures = finding.measures
    assert (figures["value"], figures["plausible"], figures["ratio"], figures["rows"]) == (9000, 500, 18.0, 3)
    assert (figures["reason"], finding.confidence, finding.lines) == ("far from its estimate", "high", [1, 2, 3])


def test_the_worst_is_the_row_of_the_greatest_ratio_not_of_the_greatest_figure() -> None:
    for sizes, worst in ((((9000, 500), (10_000, 900)), 9000), (((30, 1), (40, 2)), 30)):
        rows = [reply("tool", context=1, total=total, estimate=estimate) for total, estimate in sizes]
        (finding,) = found("usage-outlier", *rows)
        assert finding.measures["value"] == worst


def test_a_spike_is_unsure_and_a_sum_of_contexts_half_sure() -> None:
    (spike,) = found("usage-outlier", *_sizes(4000, 900_000, 4100))
    assert (spike.measures["reason"], spike.confidence, spike.measures["ratio"]) == ("jump", "low", 219.5122)
    (summed,) = found("usage-outlier", *_sizes(1000, 2000, 3000, 4000, 1000))
    assert (summed.measures["reason"], summed.confidence) == ("running sum", "medium")
    (totals,) = found("usage-outlier", *_totals((1000, 1000), (1000, 2000), (1000, 3000), (1000, 4000)))
    assert (totals.measures["reason"], totals.confidence) == ("running sum", "high")


def test_each_reason_has_its_own_finding() -> None:
    rows = [*_sizes(4000, 900_000, 4100), reply("tool", context=4000, total=90_000, estimate=4000)]
    assert [one.measures["reason"] for one in found("usage-outlier", *rows)] == ["jump", "far from its estimate"]
    assert [one.measures["of"] for one in found("usage-outlier", *rows)] == [4, 4]
