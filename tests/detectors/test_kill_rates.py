"""How long things took, where a clock went back and where it did not."""

import pytest

from forensics.detectors._rates import densest, hours, period, span, told

Times = list[int | None]


@pytest.mark.parametrize(
    ("times", "taken"),
    [
        ([], None),
        ([None], None),
        ([5000], 0),
        ([1000, None, 61_000], 60_000),
        ([1000, 5000, 4000, 9000], 8000),
        ([1000, 5000, 3999, 9000], None),
        ([5000, 4000], 1000),
        ([5000, 3999], None),
        ([5000, 4500, 4000, 3500], None),
        ([1, 2, 3, 2000, 1000, 1500], 1999),
    ],
)
def test_a_clock_that_went_back_by_more_than_a_second_leaves_the_span_unknown(times: Times, taken: int | None) -> None:
    assert span(times) == taken


@pytest.mark.parametrize(
    ("taken", "figure"),
    [
        (3_600_000, 1.0),
        (36_000_000_000, 10_000.0),
        (60_000, 0.0167),
        (59_999, 0.0166664),
        (1, 3e-07),
        (0, 0.0),
        (46_077_840, 12.7994),
    ],
)
def test_hours_keep_what_a_short_span_holds(taken: int, figure: float) -> None:
    assert hours([7, 7 + taken]) == figure
    assert hours([None]) is None


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        (1000.04, "1,000.0 h"),
        (1.0, "1.0 h"),
        (0.9999, "60.0 min"),
        (1 / 60, "1.0 min"),
        (0.0166, "59.8 s"),
        (0.0001, "0.4 s"),
        (0.0, "0.1 s"),
    ],
)
def test_a_span_is_told_in_the_unit_that_shows_it(taken: float, words: str) -> None:
    assert told(taken) == words


@pytest.mark.parametrize(
    ("times", "seconds"),
    [([], None), ([5], None), ([9000, 4000], None), ([0, 0], 0.0), ([0, 5000, 1000, 4000, None, 9000], 4.0)],
)
def test_a_step_over_which_the_clock_went_back_is_no_step(times: Times, seconds: float | None) -> None:
    assert period(times) == seconds


def test_what_lies_on_both_sides_of_a_clock_that_went_back_is_not_counted_together() -> None:
    assert densest([0, 10_000, 20_000, 5000, 6000], 60_000) == 3
    assert densest([0, 10_000, 20_000, 19_000, 26_000], 60_000) == 5
    assert densest([5000, 6000, 0, 10_000, 20_000], 60_000) == 3
    assert densest([10_000, 5000, 6000, 7000, 8000], 3500) == 4
    assert densest([10_000, 5000, 8000, 6500, 6600, 6700], 60_000) == 3
    assert densest([], 60_000) is None
