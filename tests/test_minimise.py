"""The search for few records: what it must keep, that it is least, that it ends."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from forensics.capturing.minimise import minimise


def test_nothing_is_left_when_nothing_is_needed() -> None:
    assert minimise(range(50), lambda _: True, 100_000).kept == []


def test_everything_is_left_when_everything_is_needed() -> None:
    least = minimise(range(20), lambda some: len(some) == 20, 100_000)
    assert least.kept == list(range(20))
    assert least.complete


def test_records_far_apart_are_kept_in_their_order() -> None:
    least = minimise(range(1000), lambda some: {3, 500, 998} <= set(some), 100_000)
    assert least.kept == [3, 500, 998]
    assert least.tries < 150


def test_what_is_kept_of_a_condition_that_is_not_monotone_is_least() -> None:
    def holds(some: Sequence[int]) -> bool:
        return 7 in some and (8 in some) == (9 in some)

    assert minimise(range(30), holds, 100_000).kept == [7]


def test_a_search_that_runs_out_of_tries_says_so_and_gives_the_best_so_far() -> None:
    least = minimise(range(64), lambda some: {1, 20, 40, 60} <= set(some), 500)
    assert not least.complete
    assert {1, 20, 40, 60} <= set(least.kept)
    assert least.tries == 20


def test_no_set_is_asked_for_twice() -> None:
    asked: list[tuple[int, ...]] = []

    def holds(some: Sequence[int]) -> bool:
        asked.append(tuple(some))
        return {2, 11} <= set(some)

    minimise(range(16), holds, 100_000)
    assert len(asked) == len(set(asked))


@given(st.sets(st.integers(0, 39)), st.integers(1, 40))
def test_of_needed_records_none_is_lost_and_none_is_added(needed: set[int], size: int) -> None:
    needed = {one for one in needed if one < size}
    least = minimise(range(size), lambda some: needed <= set(some), 100_000)
    assert least.kept == sorted(needed)
