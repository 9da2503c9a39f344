"""Whether two files hold the same records, told by a few marks of each."""

import random

import pytest

from forensics.events import Event
from forensics.seen import MOST, Seen, seen, shared
from forensics.timeline import File


def marks(rows: range) -> Seen:
    events = (
        Event(kind="reply", session="s", line=at, ts=1_780_000_000_000 + at * 977, context=at % 700, stop="tool")
        for at in rows
    )
    return seen(File("f", "plain", "demo").build(events).sessions[0])


def test_marks_are_few_whatever_the_length() -> None:
    for many in (10, 1000, 20_000):
        found = marks(range(many))
        assert found.rows == many
        assert len(found.least) == min(many, MOST)


@pytest.mark.parametrize("many", [40, 1000, 20_000])
def test_what_is_shared_is_told_about_right(many: int) -> None:
    whole = marks(range(many))
    assert shared(whole, whole) == (1.0, 1.0)
    assert shared(whole, marks(range(many, 2 * many))) == (0.0, 0.0)
    half = shared(whole, marks(range(many // 2, many + many // 2)))
    assert half is not None
    assert list(half) == pytest.approx([0.5, 0.5], abs=0.2)


def test_a_short_copy_is_known_by_the_ends_of_the_long_one() -> None:
    whole = marks(range(20_000))
    for part in (range(3), range(19_990, 20_000)):
        share = shared(marks(part), whole)
        assert share is not None
        assert share[0] == 1.0


def test_where_no_mark_can_tell_nothing_is_said() -> None:
    empty = seen(File("f", "p", "a").build([Event(kind="prompt", session="s", origin="human")]).sessions[0])
    assert shared(empty, marks(range(9))) is None


def test_failures_without_figures_are_marked_too() -> None:
    def of(*faults: str) -> Seen:
        rows = [
            Event(kind="reply", session="s", ts=random.Random(at).randrange(10**12), stop="error", fault=fault)  # type: ignore[arg-type]
            for at, fault in enumerate(faults)
        ]
        return seen(File("f", "p", "a").build(rows).sessions[0])

    one = of("overflow", "overloaded")
    assert one.rows == 2
    assert shared(one, of("overflow", "overloaded", "rate-limit")) == (1.0, 2 / 3)
    assert shared(one, of("auth", "auth")) == (0.0, 0.0)
