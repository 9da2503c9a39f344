"""The limits of the context-blowup detector, each on both sides."""

from typing import Any

import pytest

from forensics.detect import Finding, detect
from tests.rows import end, failed, file_of_rows, found, prompt, reply, start

CAP = {"kind": "session", "cap": 1000, "cap_source": "recorded"}


def _budget(size: int, **more: Any) -> dict[str, Any]:
    return {"kind": "budget", "context": size, **more}


def _findings(*rows: dict[str, Any], **options: Any) -> list[Finding]:
    return found("context-blowup", *rows, **options)


def _figures(*rows: dict[str, Any], **options: Any) -> dict[str, Any]:
    (finding,) = _findings(*rows, **options)
    return finding.measures


@pytest.mark.parametrize(
    ("size", "told"), [(1001, "just over it"), (1049, "just over it"), (1050, "1.1 times"), (9000, "9.0 times")]
)
def test_a_small_overshoot_is_not_told_as_one_time(size: int, told: str) -> None:
    (finding,) = _findings(CAP, _budget(size))
    assert finding.message.endswith(f"{size:,} of 1,000 tokens, {told} (whole prompt)")


@pytest.mark.parametrize(("size", "fires"), [(1000, False), (1001, True)])
def test_the_window_itself_still_fits(size: int, fires: bool) -> None:
    assert bool(_findings(CAP, _budget(size))) is fires
    assert not _findings(_budget(size))


@pytest.mark.parametrize(
    ("size", "severity"), [(1050, "note"), (1051, "warning"), (1499, "warning"), (1500, "error"), (9000, "error")]
)
def test_how_bad_it_is_by_the_peak(size: int, severity: str) -> None:
    (finding,) = _findings(CAP, _budget(size))
    assert (finding.severity, finding.measures["ratio"]) == (severity, size / 1000)


def test_the_ratio_of_a_warning_is_an_option() -> None:
    assert _findings(CAP, _budget(1050), ratio=1.04)[0].severity == "warning"


@pytest.mark.parametrize(("size", "severity"), [(1050, "note"), (1051, "error")])
def test_a_compaction_that_left_it_over_makes_it_an_error(size: int, severity: str) -> None:
    (finding,) = _findings(CAP, _budget(size), end("failed"), _budget(1001))
    assert (finding.severity, finding.measures["compactions_over"]) == (severity, 1)
    (fine,) = _findings(CAP, _budget(size), end("summary"), _budget(900), end("summary"), _budget(900))
    assert (fine.severity == "error", fine.measures["compactions_over"]) == (False, 0)


def test_figures_of_the_rows() -> None:
    rows = [CAP, _budget(600), _budget(1100), _budget(1900), _budget(1200), _budget(500)]
    (finding,) = _findings(*rows)
    assert finding.measures == {
        "peak": 1900,
        "cap": 1000,
        "ratio": 1.9,
        "measure": "whole prompt",
        "growth": 1300,
        "rows_over": 3,
        "compactions_over": 0,
        "cap_source": "recorded",
    }
    assert finding.lines == [3, 4]
    assert finding.bases["cap"] == "observed"
    (lone,) = _findings(CAP, _budget(1100))
    assert lone.lines == [2]


def test_growth_counts_from_a_first_known_size_of_nothing() -> None:
    assert _figures(CAP, _budget(0), _budget(1100))["growth"] == 1100


def test_a_rows_own_window_counts_and_the_users_counts_above_all() -> None:
    rows = [_budget(1500, cap=2000, cap_source="recorded"), _budget(900, cap=800, cap_source="recorded")]
    assert _figures(*rows)["peak"] == 900
    file = file_of_rows(*rows, cap=1000)
    (finding,) = detect(file, ["context-blowup"])
    assert (finding.measures["peak"], finding.measures["cap"], finding.bases["cap"]) == (1500, 1000, "derived")
    assert finding.measures["cap_source"] == "option"


def test_messages_alone_have_a_finding_of_their_own() -> None:
    row = {"kind": "budget", "context": 1200, "messages": 1100}
    whole, messages = _findings(CAP, row)
    assert [one.measures["measure"] for one in (whole, messages)] == ["whole prompt", "messages only"]
    assert [one.measures["peak"] for one in (whole, messages)] == [1200, 1100]
    assert whole.id != messages.id
    compaction = end("failed", before=1300, messages=1300, context=None)
    (only,) = _findings(CAP, compaction)
    assert (only.measures["measure"], only.measures["peak"]) == ("messages only", 1300)


@pytest.mark.parametrize(
    "row", [start(before=1200), start(context=1200), end("summary", before=1200), end(context=1200)]
)
def test_a_compaction_may_state_the_size(row: dict[str, Any]) -> None:
    assert _figures(CAP, row)["peak"] == 1200


@pytest.mark.parametrize(("outcome", "over"), [("summary", 0), ("dropped", 0), ("failed", 1), ("no-summary", 1)])
def test_a_compaction_that_states_a_size_over_it_and_cut_nothing_left_it_so(outcome: str, over: int) -> None:
    assert _figures(CAP, end(outcome, before=1200))["compactions_over"] == over
    assert _figures(CAP, start(before=1200))["compactions_over"] == 0


def test_a_refused_request_counts_with_the_size_that_its_error_names() -> None:
    named = {"estimate": 1300, "cap": 1000, "cap_source": "error text"}
    figures = _figures(prompt(), failed("overflow", **named))
    assert (figures["peak"], figures["cap"], figures["cap_source"]) == (1300, 1000, "error text")
    assert not _findings(prompt(), failed("overload", **named))
    assert not _findings(prompt(), failed("overflow", cap=1000, cap_source="error text"))


def test_a_window_that_only_an_error_names_is_not_held_against_larger_requests_that_went_through() -> None:
    named = {"estimate": 1300, "cap": 1000, "cap_source": "error text"}
    assert not _findings(reply("tool", context=1200), failed("overflow", **named))
    assert _findings(reply("tool", context=1000), failed("overflow", **named))
    assert not _findings(reply("tool", context=900), reply("tool", context=1200), failed("overflow", **named))


@pytest.mark.parametrize(
    ("between", "over"),
    [
        ([end("summary")], 1),
        ([end("summary"), end("failed")], 2),
        ([end("skipped")], 0),
        ([end("aborted")], 0),
        ([end("summary"), reply("tool")], 0),
        ([end("summary"), failed("transport")], 1),
        ([], 0),
    ],
)
def test_compactions_between_two_refused_requests_left_it_over(between: list[dict[str, Any]], over: int) -> None:
    named = {"estimate": 1300, "cap": 1000, "cap_source": "error text"}
    rows = [prompt(), failed("overflow", **named), *between, failed("overflow", **named)]
    assert _figures(*rows)["compactions_over"] == over


def test_compactions_are_counted_anew_after_each_refusal() -> None:
    named = {"estimate": 1300, "cap": 1000, "cap_source": "error text"}
    refused = failed("overflow", **named)
    rows = [prompt(), refused, end("summary"), refused, end("summary"), end("summary"), refused]
    assert _figures(*rows)["compactions_over"] == 3
    assert _figures(prompt(), end("summary"), refused)["compactions_over"] == 0
    assert _figures(prompt(), refused, end("summary"), reply("tool"), end("summary"), refused)["compactions_over"] == 0
    cancelled = end("aborted", fault="overflow")
    assert _figures(prompt(), refused, end("summary"), cancelled, reply("tool"))["compactions_over"] == 0
    assert _figures(prompt(), failed("rate-limit"), end("summary"), refused)["compactions_over"] == 0


def test_the_window_of_a_refused_request_is_its_own_unless_the_user_says_one() -> None:
    refused = failed("overflow", estimate=900, cap=800, cap_source="error text")
    figures = _figures(CAP, refused)
    assert (figures["peak"], figures["cap"]) == (900, 800)
    assert not detect(file_of_rows(CAP, refused, cap=1000), ["context-blowup"])
    assert not _findings(CAP, failed("overflow", estimate=900))


def test_only_a_reply_that_was_refused_counts_with_its_size() -> None:
    assert not _findings(CAP, {"kind": "retry", "fault": "overflow", "estimate": 1300})


def test_a_stated_size_of_the_window_itself_still_fits() -> None:
    assert not _findings(CAP, end("failed", before=1000))
    assert _findings(CAP, end("failed", before=1001))


def test_requests_refused_again_say_nothing_of_the_messages_alone() -> None:
    refused = failed("overflow")
    rows = [CAP, prompt(), refused, end("summary", messages=1300), refused]
    (finding,) = _findings(*rows)
    assert (finding.measures["measure"], finding.measures["compactions_over"]) == ("messages only", 0)


def test_what_is_measured_and_what_is_stated_are_put_together() -> None:
    rows = [CAP, _budget(700), _budget(1100), end("failed", before=1800)]
    (finding,) = _findings(*rows)
    figures = finding.measures
    assert (figures["peak"], figures["rows_over"], figures["growth"], figures["compactions_over"]) == (1800, 2, 1100, 1)
    assert finding.lines == [3, 4]
    (other,) = _findings(CAP, end("failed", before=1100), _budget(1800))
    assert (other.lines, other.measures["peak"]) == ([2, 3], 1800)


def test_rows_of_a_source_without_lines_are_put_together_too() -> None:
    rows = [CAP, _budget(1100), end("failed", before=1800)]
    (finding,) = _findings(*({**row, "line": None, "record": f"r{at}"} for at, row in enumerate(rows)))
    assert (finding.measures["peak"], finding.records) == (1800, ["r1", "r2"])


def test_a_total_that_cannot_be_one_requests_says_nothing_of_the_context_beside_it() -> None:
    assert _figures(CAP, reply("tool", context=1200, total=50_000, estimate=1200))["peak"] == 1200


def test_figures_that_cannot_be_one_requests_are_left_out() -> None:
    rows = [CAP, _budget(90), _budget(90_000), _budget(95)]
    assert not _findings(*rows)


def test_a_logs_sessions_are_taken_together_and_the_worst_is_told() -> None:
    other = {**CAP, "session": "t"}, {**_budget(1700), "session": "t"}
    assert len(_findings(CAP, _budget(1100), *other)) == 2
    (whole,) = found("context-blowup", CAP, _budget(1100), *other, log=True)
    assert (whole.measures["peak"], whole.measures["rows_over"], whole.session) == (1700, 2, None)
