"""The limits of the ineffective-compaction detector, each on both sides."""

from typing import Any

import pytest

from forensics.detect import Finding
from tests.rows import end, failed, found, prompt, reply, start


def _findings(*rows: dict[str, Any], **options: Any) -> list[Finding]:
    return found("ineffective-compaction", *rows, **options)


def _one(*rows: dict[str, Any], **options: Any) -> tuple[Any, ...]:
    (finding,) = _findings(*rows, **options)
    figures = finding.measures
    return figures["kind"], figures["before"], figures["after"], figures["times"]


def _sized(before: int, after: int | None, outcome: str = "summary") -> dict[str, Any]:
    return end(outcome, before=before, after=after)


@pytest.mark.parametrize(("after", "fires"), [(95_000, True), (94_999, False)])
def test_a_recorded_size_of_nineteen_twentieths_is_no_room(after: int, fires: bool) -> None:
    assert bool(_findings(_sized(100_000, after))) is fires
    assert _findings(_sized(100_000, after), share=0.9)
    if fires:
        assert _one(_sized(100_000, after)) == ("not smaller", 100_000, after, 1)


@pytest.mark.parametrize(("size", "fires"), [(1000, True), (999, False)])
def test_sizes_under_a_thousand_tokens_are_left_alone(size: int, fires: bool) -> None:
    assert bool(_findings(_sized(size, size))) is fires
    rows = (reply("tool", context=size), end("summary"), reply("tool", context=size))
    assert bool(_findings(*rows)) is fires


@pytest.mark.parametrize(("then", "fires"), [(95_000, True), (94_999, False)])
def test_the_next_request_tells_where_no_size_is_recorded(then: int, fires: bool) -> None:
    rows = (reply("tool", context=100_000), end("summary"), reply("tool", context=then))
    findings = _findings(*rows)
    assert bool(findings) is fires
    assert [(one.measures["kind"], one.confidence, one.bases["after"]) for one in findings] == (
        [("not smaller", "medium", "derived")] if fires else []
    )


def test_the_next_request_tells_where_only_the_size_before_is_recorded() -> None:
    rows = (reply("tool", context=100_000), _sized(100_000, None), reply("tool", context=99_000))
    assert _one(*rows) == ("not smaller", 100_000, 99_000, 1)
    assert not _findings(*rows[:2])


def test_a_size_that_was_not_real_shows_by_the_next_request() -> None:
    rows = (reply("tool", context=100_000), _sized(100_000, 30_000), reply("tool", context=99_000))
    assert _one(*rows) == ("full again at once", 100_000, 99_000, 1)
    assert _findings(*rows)[0].lines == [2, 3]


def test_a_person_who_wrote_between_may_have_filled_it() -> None:
    rows = [reply("tool", context=100_000), end("summary"), prompt("Look."), reply("tool", context=99_000)]
    assert not _findings(*rows)
    rows = [reply("tool", context=100_000), end("summary"), reply("tool", context=99_000), prompt("Look.")]
    assert _findings(*rows)


def test_a_request_that_overflowed_counts_with_the_size_that_its_error_names() -> None:
    rows = [reply("tool", context=100_000), end("summary"), failed("overflow", estimate=120_000)]
    assert _one(*rows) == ("not smaller", 100_000, 120_000, 1)
    assert not _findings(*rows[:2], failed("overload", estimate=120_000), reply("tool", context=99_000))
    assert not _findings(*rows[:2], failed("overflow"), reply("tool", context=99_000))


@pytest.mark.parametrize(("after", "fires"), [(70_000, True), (69_999, False)])
def test_three_in_a_row_with_the_same_sizes_that_leave_seven_tenths_are_a_fixed_point(after: int, fires: bool) -> None:
    rows = [_sized(100_000, after)] * 3
    assert bool(_findings(*rows)) is fires
    assert not _findings(*rows[:2])
    if fires:
        assert _one(*rows) == ("fixed point", 100_000, after, 3)
        assert _one(*rows, _sized(100_000, after))[3] == 4


@pytest.mark.parametrize(("size", "fires"), [(101_000, True), (101_001, False)])
def test_the_same_means_within_a_hundredth(size: int, fires: bool) -> None:
    rows = [_sized(100_000, 80_000), _sized(size, 80_000), _sized(100_500, 80_000)]
    assert bool(_findings(*rows)) is fires


def test_a_size_that_is_not_on_record_is_like_no_other() -> None:
    rows = [_sized(100_000, 80_000), _sized(100_000, None), _sized(100_000, 80_000)]
    assert not _findings(*rows, _sized(100_000, 80_000))
    assert _one(*rows, *[_sized(100_000, 80_000)] * 2) == ("fixed point", 100_000, 80_000, 3)


def test_another_size_after_breaks_the_fixed_point() -> None:
    rows = [_sized(100_000, 80_000), _sized(100_000, 75_000), _sized(100_000, 80_000), _sized(100_000, 80_000)]
    assert not _findings(*rows)


def test_unknown_sizes_are_never_alike() -> None:
    rows = [reply("tool", context=90_000), *[end("summary", before=None, after=80_000)] * 4]
    assert not _findings(*rows)


def test_failed_attempts_that_cut_nothing_are_passed_over_and_others_are_not() -> None:
    assert not _findings(reply("tool", context=100_000), end("failed"), reply("tool", context=100_000))
    assert _findings(reply("tool", context=100_000), end("dropped"), reply("tool", context=100_000))
    assert _findings(_sized(100_000, 99_000, "failed"))


def test_one_that_made_room_between_parts_two_findings() -> None:
    rows = [_sized(100_000, 99_000), _sized(100_000, 99_500), _sized(100_000, 10_000), _sized(100_000, 98_000)]
    one, two = _findings(*rows)
    assert (one.measures["times"], one.measures["after"], one.measures["share"]) == (2, 99_500, 0.995)
    assert (two.measures["times"], two.measures["after"]) == (1, 98_000)
    assert (one.lines, two.lines, one.severity) == ([1, 2], [4], "warning")


def test_how_many_in_a_row_is_counted_whatever_their_sizes() -> None:
    assert _one(_sized(100_000, 99_000), _sized(200_000, 199_000))[3] == 2


def test_two_kinds_in_a_row_are_two_findings() -> None:
    rows = [
        reply("tool", context=100_000),
        _sized(100_000, 99_000),
        _sized(100_000, 30_000),
        reply("tool", context=99_000),
    ]
    assert [one.measures["kind"] for one in _findings(*rows)] == ["not smaller", "full again at once"]
    assert [one.confidence for one in _findings(*rows)] == ["high", "medium"]


def test_the_whole_prompt_tells_where_both_rows_of_an_attempt_measure_it() -> None:
    rows = [start(context=100_000), end("summary", context=97_000)]
    assert _one(*rows) == ("not smaller", 100_000, 97_000, 1)
    assert not _findings(start(context=100_000), end("summary", context=90_000))
    assert not _findings(start(context=100_000), end("summary", context=97_000, before=100_000, after=20_000))


def test_the_request_before_is_the_last_that_was_measured() -> None:
    rows = [
        reply("tool", context=50_000),
        reply("tool", context=100_000),
        end("summary"),
        reply("tool", context=60_000),
    ]
    assert not _findings(*rows)
    assert _one(*rows[:3], reply("tool", context=96_000))[1] == 100_000
