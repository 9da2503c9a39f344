"""The limits of the starved-summary detector, each on both sides."""

from typing import Any

import pytest

from forensics.detect import detectors
from tests.rows import end, found, start


def _starved(fault: str = "truncated-summary", **more: Any) -> dict[str, Any]:
    return end("no-summary", fault=fault, **more)


@pytest.mark.parametrize(("many", "severity"), [(1, "warning"), (2, "warning"), (3, "error")])
def test_three_are_an_error(many: int, severity: str) -> None:
    (finding,) = found("starved-summary", *[_starved()] * many)
    assert (finding.severity, finding.measures["starved"]) == (severity, many)


def test_the_detector_itself_is_one_of_errors() -> None:
    assert detectors()["starved-summary"].severity == "error"


def test_how_many_are_an_error_is_an_option() -> None:
    (finding,) = found("starved-summary", _starved(), many=1)
    assert finding.severity == "error"


def test_attempts_by_design_cancelled_skipped_or_untold_are_in_no_figure() -> None:
    rows = [
        end("dropped"),
        end("aborted"),
        end("skipped"),
        end("unknown", fault="truncated-summary"),
        {"kind": "compacted"},
    ]
    assert not found("starved-summary", *rows)
    (finding,) = found("starved-summary", *rows, _starved(), end("summary"), start())
    assert (finding.measures["starved"], finding.measures["attempts"]) == (1, 3)


def test_a_length_stop_counts_only_where_no_fault_is_on_record() -> None:
    (cut,) = found("starved-summary", end("no-summary", stop="length"))
    assert (cut.measures["truncated"], cut.measures["empty"]) == (1, 0)
    assert not found("starved-summary", end("failed", stop="length", fault="overloaded"))
    (empty,) = found("starved-summary", _starved("empty-summary", stop="length"))
    assert (empty.measures["truncated"], empty.measures["empty"], empty.confidence) == (0, 1, "medium")


@pytest.mark.parametrize(("reasoning", "confidence"), [(900, "high"), (899, "low")])
def test_reasoning_that_ate_nine_tenths_makes_it_sure(reasoning: int, confidence: str) -> None:
    (finding,) = found("starved-summary", _starved("empty-summary", output=1000, reasoning=reasoning))
    assert (finding.confidence, finding.measures["reasoning_share"]) == (confidence, reasoning / 1000)


def test_reasoning_may_be_counted_beside_the_output() -> None:
    (finding,) = found("starved-summary", _starved("empty-summary", output=100, reasoning=400))
    assert (finding.measures["output_tokens"], finding.measures["reasoning_share"]) == (400, 1.0)


def test_output_and_its_share_are_unknown_where_a_part_is() -> None:
    (one,) = found("starved-summary", _starved("empty-summary", output=100))
    (other,) = found("starved-summary", _starved("empty-summary", reasoning=100))
    (none,) = found("starved-summary", _starved("empty-summary", output=0, reasoning=0))
    assert [f.measures["reasoning_share"] for f in (one, other, none)] == [None, None, None]
    assert [f.measures["output_tokens"] for f in (one, other, none)] == [100, None, 0]


def test_echoes_are_known_only_where_every_one_says_what_it_asked() -> None:
    (known,) = found("starved-summary", _starved(requests=0), _starved(requests=1), _starved(requests=0))
    (unknown,) = found("starved-summary", _starved(requests=0), _starved())
    assert (known.measures["echoes"], unknown.measures["echoes"]) == (2, None)


def test_a_log_is_told_as_a_whole() -> None:
    rows = (_starved(), {**_starved(), "session": "t"})
    assert [one.measures["starved"] for one in found("starved-summary", *rows)] == [1, 1]
    (whole,) = found("starved-summary", *rows, log=True)
    assert (whole.measures["starved"], whole.session) == (2, None)


def test_the_greatest_output_on_record_is_told() -> None:
    (finding,) = found("starved-summary", _starved(output=300), _starved(output=500), _starved(output=400))
    assert finding.measures["output_tokens"] == 500


def test_one_that_ended_for_length_is_more_than_that_all_came_empty() -> None:
    (finding,) = found("starved-summary", _starved("empty-summary"), _starved("empty-summary", stop="length"))
    assert (finding.measures["empty"], finding.confidence) == (2, "medium")
