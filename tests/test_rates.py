from fractions import Fraction
from math import comb, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.rates import chance, change, mean, mean_change, rate, student, wilson

COUNTS = st.lists(st.integers(0, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=12)


@given(st.integers(1, 100).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_of_a_wilson_interval_are_the_rates_that_the_count_just_does_not_refute(
    count: tuple[int, int],
) -> None:
    hits, tries = count
    for end in wilson(hits, tries):
        if 0 < end < 1:
            distance = abs(hits / tries - end) / sqrt(end * (1 - end) / tries)
            assert distance == pytest.approx(1.96, abs=0.2 if min(end, 1 - end) < 0.02 else 0.02)


def test_nothing_out_of_ten_is_up_to_28_percent() -> None:
    assert wilson(0, 10) == (0.0, 0.2775)
    assert wilson(10, 10) == (0.7225, 1.0)


def test_nothing_counted_is_no_rate() -> None:
    found = rate([(0, 0)])
    assert (found.value, found.interval, found.sessions) == (None, None, 0)
    assert change(found, rate([(1, 2)])) is None
    assert chance(found, rate([(1, 2)])) is None


def test_tries_of_one_session_count_for_no_more_than_one() -> None:
    alone = rate([(59, 67)])
    assert (alone.hits, alone.tries, alone.sessions, alone.worth) == (59, 67, 1, 1.0)
    assert alone.interval == pytest.approx((0.1602, 0.9933), abs=0.02)


def test_sessions_that_are_all_alike_count_as_sessions() -> None:
    assert rate([(0, 100)] * 3).worth == 3
    assert rate([(0, 100)] * 3).interval == wilson(0, 3)
    assert rate([(7, 7)] * 5).interval == wilson(5, 5)


def test_single_tries_are_worth_what_they_count() -> None:
    found = rate([(1, 1), (0, 1)] * 20)
    assert found.worth == pytest.approx(39, rel=0.03)


def test_the_more_sessions_differ_the_less_their_tries_are_worth() -> None:
    alike = rate([(5, 10), (4, 10), (6, 10), (5, 10)])
    apart = rate([(10, 10), (0, 10), (10, 10), (0, 10)])
    assert alike.value == apart.value == 0.5
    assert [alike.worth, apart.worth] == pytest.approx([40 * (1.959964 / 3.1824) ** 2, 4], abs=0.01)


@given(COUNTS)
def test_a_rate_lies_in_its_interval_and_is_worth_at_least_its_sessions(counts: list[tuple[int, int]]) -> None:
    found = rate(counts)
    if found.value is not None and found.interval is not None:
        low, high = found.interval
        assert 0 <= low <= found.value + 1e-4
        assert found.value - 1e-4 <= high <= 1
        assert found.sessions <= found.worth <= max(found.tries, found.sessions)


@given(COUNTS, COUNTS)
def test_a_change_lies_in_its_interval_both_ways(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    before, after = rate(one), rate(other)
    there, back = change(before, after), change(after, before)
    if there is None or back is None or before.value is None or after.value is None:
        return
    assert there[0] - 1e-3 <= after.value - before.value <= there[1] + 1e-3
    assert there == pytest.approx((-back[1], -back[0]), abs=1e-3)


def test_a_change_is_newcombes() -> None:
    """Newcombe 1998, table II, row (a), method 10: 56/70 - 48/80 = 0.20, 95 % 0.0524 to 0.3339."""
    before, after = rate([(1, 1)] * 48 + [(0, 1)] * 32), rate([(1, 1)] * 56 + [(0, 1)] * 14)
    found = change(before._replace(worth=80), after._replace(worth=70))
    assert found == pytest.approx((0.0524, 0.3339), abs=2e-3)


def test_the_chance_is_fishers() -> None:
    before, after = (
        rate([(1, 1)] * 8 + [(0, 1)] * 2)._replace(worth=10),
        rate([(1, 1)] + [(0, 1)] * 9)._replace(worth=10),
    )
    exact = sum(Fraction(comb(10, k) * comb(10, 9 - k), comb(20, 9)) for k in (0, 1))
    assert chance(before, after) == pytest.approx(float(exact))


def test_a_mean_has_an_interval_of_whole_sessions_the_same_every_time() -> None:
    values = [0.0, 0.0, 810.0, 40.0, 0.0]
    found = mean(values)
    assert (found.total, found.sessions, found.value) == (850.0, 5, 170.0)
    assert found.interval is not None
    deviation = sqrt((3 * 170**2 + 640**2 + 130**2) / 4)
    assert list(found.interval) == pytest.approx([0.0, 170 + 2.7764 * deviation / sqrt(5)], abs=0.01)
    assert mean(values) == found
    assert mean([5.0]) == (5.0, 1, None)
    assert mean([]).value is None


def test_a_change_of_means_is_told_with_its_interval() -> None:
    found = mean_change([100.0, 120.0, 110.0, 130.0], [0.0, 5.0, 0.0, 0.0])
    # Half of 115 counts as one more deviation on each side: 500 and 18.75 are the squares of those that there are.
    early, late = (500 + 57.5**2) / 4 / 4, (18.75 + 57.5**2) / 4 / 4
    assert found is not None
    assert sum(found) / 2 == pytest.approx(-113.75)
    assert found[1] - found[0] == pytest.approx(2 * 2.5706 * sqrt(early + late))
    assert mean_change([100.0], [1.0, 2.0]) is None


def test_two_sessions_on_a_side_that_are_alike_tell_no_change_of_means() -> None:
    """Waits of 300, 300 and 299, 299 seconds were "-1 s to -1 s, better"."""
    assert mean_change([300.0, 300.0], [299.0, 299.0]) is None
    assert mean([300.0, 300.0]).interval is None


@pytest.mark.parametrize("many", [3, 10, 200])
def test_sessions_that_are_alike_leave_doubt_of_their_mean(many: int) -> None:
    found = mean_change([300.0] * many, [299.0] * many)
    assert found is not None
    assert found[0] < -1 < 0 < found[1]
    (low, high) = mean([300.0] * many).interval or (300.0, 300.0)
    assert low < 299
    assert high > 301


def test_what_was_0_in_every_session_has_no_interval_of_its_own_and_shows_a_fall_all_the_same() -> None:
    assert mean([0.0] * 9).interval is None
    assert mean_change([0.0] * 9, [0.0] * 9) is None
    found = mean_change([300.0] * 9, [0.0] * 9)
    assert found is not None
    assert found[1] < 0


def test_sessions_with_equal_rates_count_for_no_more_than_sessions_whatever_the_rate() -> None:
    """Two sessions of 550 in 1000 were worth 2000 tries: 55 % (53 % to 57 %)."""
    before, after = rate([(550, 1000)] * 2), rate([(500, 1000)] * 2)
    assert (before.worth, after.worth) == (2, 2)
    assert before.interval == wilson(1.1, 2)
    moved = change(before, after)
    assert moved is not None
    assert moved[0] < 0 < moved[1]


def test_sessions_with_nearly_equal_rates_count_for_little_more() -> None:
    assert rate([(550, 1000), (549, 1000)]).worth == pytest.approx(2000 * (1.959964 / 12.7062) ** 2, abs=0.01)


@pytest.mark.parametrize(("freedom", "value"), [(1, 12.7062), (9.9, 2.2622), (10, 2.2281), (29, 2.0452), (1e9, 1.96)])
def test_students_distribution(freedom: float, value: float) -> None:
    assert student(freedom) == pytest.approx(value, abs=2e-4)
