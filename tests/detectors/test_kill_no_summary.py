"""The limits of the no-summary detector and its helpers, each on both sides."""

from typing import Any

import pytest

from forensics.detectors._rates import densest
from forensics.detectors._units import EVIDENCE, shortened, units
from forensics.events import Event
from forensics.rates import wilson
from tests.rows import end, file_of_rows, found, start


def _figures(*rows: dict[str, Any], **options: Any) -> dict[str, Any]:
    (finding,) = found("no-summary", *rows, **options)
    return finding.measures


@pytest.mark.parametrize(
    ("without", "made", "severity"),
    [
        (3, 0, "error"),
        (2, 0, "warning"),
        (1, 0, "warning"),
        (2, 2, "error"),
        (2, 3, "warning"),
        (9, 11, "warning"),
        (1, 2, "note"),
        (1, 1, "warning"),
    ],
)
def test_how_bad_it_is(without: int, made: int, severity: str) -> None:
    (finding,) = found("no-summary", *[end("no-summary")] * without, *[end("summary")] * made)
    assert finding.severity == severity
    assert (finding.measures["no_summary"], finding.measures["attempts"]) == (without, without + made)


def test_rate_and_number_are_options() -> None:
    rows = [*[end("failed")] * 2, *[end("summary")] * 3]
    assert found("no-summary", *rows, rate=0.4)[0].severity == "error"
    assert found("no-summary", *rows, rate=0.4, attempts=6)[0].severity == "warning"


def test_unfinished_attempts_are_counted_apart_and_the_rate_is_given_both_ways() -> None:
    figures = _figures(start(), end("no-summary"), start(), end("summary"), start(), start())
    assert (figures["attempts"], figures["unfinished"], figures["no_summary"]) == (4, 2, 1)
    assert (figures["rate"], figures["rate_if_unfinished_failed"]) == (0.25, 0.75)


def test_what_wanted_no_summary_was_cancelled_or_is_untold_is_no_attempt() -> None:
    rows = [end("dropped"), end("skipped"), end("aborted"), end("unknown")]
    assert not found("no-summary", *rows)
    figures = _figures(*rows, end("no-summary"))
    assert (figures["attempts"], figures["cancelled"], figures["undetermined"]) == (1, 1, 1)


def test_reasons_are_told_apart() -> None:
    figures = _figures(
        end("no-summary", fault="truncated-summary"),
        end("failed", fault="empty-summary"),
        end("failed", fault="overloaded"),
        end("summary", text=" \n"),
        end("summary", text="## Goal\n\n## Done"),
        end("no-summary", text="## Goal"),
    )
    assert (figures["truncated"], figures["empty"], figures["skeleton"], figures["no_summary"]) == (1, 2, 1, 6)


def test_an_empty_summary_with_its_fault_on_record_is_counted_once() -> None:
    figures = _figures(end("summary", text=" ", fault="empty-summary"))
    assert (figures["empty"], figures["skeleton"], figures["no_summary"]) == (1, 0, 1)


def test_model_calls_are_bounded_where_some_attempts_do_not_say() -> None:
    (finding,) = found("no-summary", end("failed", requests=2), end("failed"), end("failed", requests=0))
    assert (finding.measures["model_calls"], finding.intervals["model_calls"]) == (None, (2.0, 3.0))
    (known,) = found("no-summary", end("failed", requests=2), end("failed", requests=0))
    assert (known.measures["model_calls"], "model_calls" in known.intervals) == (2, False)
    (none,) = found("no-summary", end("failed"), end("failed"))
    assert (none.measures["model_calls"], "model_calls" in none.intervals) == (None, False)


def test_the_peak_counts_attempts_within_any_sixty_seconds() -> None:
    rows = [end("failed", ts=ts) for ts in (0, 30_000, 59_999, 60_000, 200_000)]
    assert _figures(*rows)["peak_per_minute"] == 3
    assert _figures(end("failed", ts=0), end("failed", ts=59_999))["peak_per_minute"] == 2
    assert _figures(end("failed"))["peak_per_minute"] is None


@pytest.mark.parametrize(("times", "most"), [([], None), ([5], 1), ([0, 9], 2), ([0, 10], 1), ([3, 1, 2, 50], 3)])
def test_the_densest_span_is_half_open(times: list[int], most: int | None) -> None:
    assert densest(times, 10) == most


@pytest.mark.parametrize(
    ("hits", "tries", "interval"),
    [(0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (1, 2, (0.0945, 0.9055)), (59, 67, (0.7817, 0.9382))],
)
def test_the_interval_is_wilsons(hits: int, tries: int, interval: tuple[float, float]) -> None:
    assert wilson(hits, tries) == interval


def test_few_rows_are_evidence_as_they_are() -> None:
    for count in (1, 3, EVIDENCE):
        rows = [Event(kind="note", line=line) for line in range(count)]
        assert shortened(rows) == tuple(rows)


def test_of_many_attempts_the_first_and_the_last_are_evidence() -> None:
    (few,) = found("no-summary", *[end("failed")] * EVIDENCE)
    assert len(few.lines) == EVIDENCE
    (many,) = found("no-summary", *[end("failed")] * (EVIDENCE + 2))
    assert many.lines == [*range(1, 101), *range(103, 203)]


def test_a_log_of_one_session_names_it_and_one_of_several_does_not() -> None:
    (one,) = found("no-summary", end("failed"), log=True)
    (several,) = found("no-summary", end("failed"), {**end("failed"), "session": "t"}, log=True)
    assert (one.session, several.session) == ("s", None)
    assert several.measures["no_summary"] == 2
    assert not found("no-summary", {"kind": "spawn", "session": None}, log=True)


WHOLE = "## Goal\nSort it.\n\n## Next Steps\nNone left."


@pytest.mark.parametrize(
    ("texts", "suspects"),
    [
        ([WHOLE, "## Goal\nSort the ta"], 1),
        ([WHOLE, "## Goal\nSort the table."], 0),
        ([WHOLE, "## Goal\nSort it\n\n## Next Steps\nNone left"], 0),
        (["## Goal\nSort the ta"], 1),
        (["## Plan\nSort the ta"], 0),
        (["## Objective\nSort the ta"], 1),
        (["## Objective\nSort it\n## Next Move\nSort the ta"], 0),
        (["## Plan\nA.\n## Ways\nB.", "## Plan\nSort the ta"], 1),
        (["## Plan\nSort the ta", "## Plan\nA.\n## Ways\nB."], 0),
        (["Sort the ta"], 0),
        ([WHOLE, "Sort the ta"], 0),
        ([WHOLE, "## Goal\nSort the ta\n## Deeper"], 0),
        ([WHOLE, "## Goal\nSort the ta\n<read-files>\n/a.txt\n</read-files>\n"], 1),
        ([WHOLE, "## Goal\nSort the ta", "## Goal\nSort the ta"], 2),
    ],
)
def test_a_kept_summary_is_suspect_only_where_it_breaks_off_and_lacks_sections(texts: list[str], suspects: int) -> None:
    findings = found("no-summary", *(end("summary", text=text) for text in texts))
    assert [one.measures["suspect_truncated"] for one in findings] == ([suspects] if suspects else [])
    sure = "medium" if suspects < len(texts) else "low"
    assert all((one.severity, one.confidence) == ("warning", sure) for one in findings)


def test_the_words_of_an_attempt_that_failed_are_no_suspect() -> None:
    (lost,) = found("no-summary", end("failed", text="## Goal\nSort the ta"))
    assert "suspect_truncated" not in lost.measures


def test_a_suspect_is_in_no_other_figure() -> None:
    lost, suspect = found("no-summary", end("summary", text="## Goal\nSort the ta"), end("failed"))
    assert (lost.measures["no_summary"], lost.measures["attempts"]) == (1, 2)
    assert (suspect.measures["suspect_rate"], suspect.intervals["suspect_rate"]) == (0.5, (0.0945, 0.9055))
    assert suspect.lines == [1]


def test_sessions_are_told_one_by_one_where_the_file_is_no_log() -> None:
    file = file_of_rows(end("failed"), {**end("failed"), "session": "t"})
    assert len(file.sessions) == 2
    assert [one.session for one in found("no-summary", end("failed"), {**end("failed"), "session": "t"})] == ["s", "t"]


def test_a_log_without_sessions_is_nothing_that_figures_are_told_for() -> None:
    assert list(units(file_of_rows(log=True))) == []
    (whole,) = units(file_of_rows(end("failed"), {**end("failed"), "session": "t"}, log=True))
    assert (whole.session, len(whole.sessions)) == (None, 2)


def test_where_figures_are_told_for() -> None:
    """A session alone in its file may go on in another; a log that holds one alone is told like that too."""
    rows = [end("failed"), end("failed", session="t")]
    assert [one.message[-12:] for one in found("no-summary", rows[0])] == ["in this file"]
    assert [one.message[-12:] for one in found("no-summary", rows[0], log=True)] == ["in this file"]
    assert [one.message[-15:] for one in found("no-summary", *rows)] == ["in this session"] * 2
    (whole,) = found("no-summary", *rows, log=True)
    assert (whole.session, whole.message[-27:]) == (None, "over 2 sessions of this log")


def test_the_attempts_of_a_log_are_counted_in_the_order_of_its_lines() -> None:
    """However its sessions are told apart: else their times would seem to go back."""
    rows = [{**end("failed"), "ts": at * 10_000, "session": name} for at, name in enumerate("sstss")]
    assert found("no-summary", *rows, log=True)[0].measures["peak_per_minute"] == 5
    stored = [{**row, "session": "s", "line": None, "record": f"r{at}"} for at, row in enumerate(rows)]
    assert found("no-summary", *stored)[0].measures["peak_per_minute"] == 5
