import pytest

from forensics.events import Event
from forensics.usage import Outlier, Samples

Rows = list[tuple[int | None, int | None]]


def _samples(rows: Rows, cut_before: int | None = None) -> Samples:
    samples = Samples()
    for at, (context, total) in enumerate(rows):
        if at == cut_before:
            samples.cut()
        samples.add(Event(kind="reply", line=at + 1, context=context, total=total))
    return samples


def _contexts(*sizes: int | None) -> Rows:
    return [(size, None) for size in sizes]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        _contexts(1000, 50_000, 120_000, 160_000),
        _contexts(160_000, 15_000, 16_000),
        _contexts(None, 20_000, None),
        [(51_000, 51_000), (51_100, 51_100)],
        [(51_000, 60_000), (51_100, 70_000)],
        [(51_000, 9), (52_000, 12)],
        _contexts(10_000, 25_000, 31_000, 90_000, 12_000),
    ],
)
def test_growth_cuts_and_small_differences_are_no_outliers(rows: Rows) -> None:
    assert _samples(rows).outliers() == {}


def test_a_running_total_disagrees_from_its_second_row_on() -> None:
    sizes = [51_000 + 100 * at for at in range(8)] + [50_800]
    totals = [sum(sizes[: at + 1]) for at in range(8)] + [50_800]
    found = _samples(list(zip(sizes, totals, strict=True))).outliers()
    assert list(found) == list(range(1, 8))
    assert {one.reason for one in found.values()} == {"running sum"}
    assert (found[7].value, found[7].plausible, found[7].column) == (410_800, 51_700, "total")


def test_a_fall_after_a_compaction_is_no_wonder() -> None:
    rows = _contexts(18_080, 36_197, 54_341, 72_400, 18_100)
    assert list(_samples(rows).outliers()) == [1, 2, 3]
    assert _samples(rows, cut_before=4).outliers() == {}


def test_a_jump_stands_out_from_both_sides() -> None:
    found = _samples(_contexts(47_872, 7_667_872, 45_864)).outliers()
    assert [(at, one.reason, one.plausible) for at, one in found.items()] == [(1, "jump", 47_872)]
    assert _samples(_contexts(7_667_872, 45_864)).outliers() == {}


def test_an_outlier_names_its_row_in_files_without_lines() -> None:
    samples = Samples()
    for at, size in enumerate((40_000, 9_000_000, 41_000)):
        samples.add(Event(kind="reply", record=f"m{at}", context=size))
    (one,) = samples.outliers().values()
    assert isinstance(one, Outlier)
    assert (one.sample.record, one.sample.line) == ("m1", None)
    assert samples.at(2).record == "m2"


def test_absurd_figures_do_not_overflow() -> None:
    samples = Samples()
    samples.add(Event(kind="reply", line=1, context=1 << 80, total=-5))
    assert samples.contexts == []
    assert samples.peak(without=set()) is None


def test_excess_uses_the_window_of_each_row_unless_the_user_gave_one() -> None:
    samples = Samples()
    for size, cap in ((600_000, 1_000_000), (90_000, 200_000), (250_000, 200_000)):
        samples.add(Event(kind="reply", line=1, context=size, cap=cap))
    found = samples.excess("context", 200_000, fixed=False, without=set())
    assert found is not None
    assert (found.first, found.start, found.peak, found.cap, found.over) == (0, 2, 2, 200_000, 1)
    found = samples.excess("context", 200_000, fixed=True, without=set())
    assert found is not None
    assert (found.start, found.peak, found.over) == (0, 0, 2)
    assert samples.excess("context", 1_000_000, fixed=True, without=set()) is None
    assert samples.excess("messages", 10, fixed=True, without=set()) is None
