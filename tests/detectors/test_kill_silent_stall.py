"""The limits of the silent-stall detector, each on both sides."""

from typing import Any

import pytest

from forensics.detect import Finding, detect
from tests.rows import end, failed, file_of_rows, prompt, reply, start

IDLE = 1_800_000


def _stalls(*rows: dict[str, Any], now: int | None = None, touched: int | None = None, **options: Any) -> list[Finding]:
    file = file_of_rows(*rows)
    file.now, file.touched = now, touched
    return detect(file, ["silent-stall"], {"silent-stall": options})


@pytest.mark.parametrize(("gap", "fires"), [(IDLE, True), (IDLE - 1, False)])
def test_half_an_hour_until_new_work_is_a_stall(gap: int, fires: bool) -> None:
    rows = (prompt(ts=0), failed("auth", ts=1_000), prompt("Sow the lawn.", ts=1_000 + gap), reply(ts=9_000_000))
    assert bool(_stalls(*rows)) is fires
    assert _stalls(*rows, idle=1)


@pytest.mark.parametrize(("gap", "fires"), [(IDLE, True), (IDLE - 1, False)])
def test_half_an_hour_at_the_end_is_a_stall_for_who_says_what_time_it_is(gap: int, fires: bool) -> None:
    rows = (prompt(ts=0), failed("auth", ts=1_000))
    assert bool(_stalls(*rows, now=1_000 + gap)) is fires
    assert not _stalls(*rows)


def test_without_times_the_files_own_counts() -> None:
    rows = (prompt(), failed("auth"))
    assert _stalls(*rows, now=IDLE, touched=0)
    assert not _stalls(*rows, now=IDLE - 1, touched=0)
    assert not _stalls(*rows, now=IDLE)


def test_a_prompt_without_a_time_or_a_break_without_one_is_not_judged() -> None:
    assert not _stalls(prompt(ts=0), failed("auth", ts=1_000), prompt("Sow the lawn."), reply())
    assert not _stalls(prompt(), failed("auth"), prompt("Sow the lawn.", ts=9_000_000), reply())


def test_what_a_person_asked_to_go_on_with_is_no_stall() -> None:
    assert not _stalls(prompt(ts=0), failed("auth", ts=1_000), prompt("continue", ts=9_000_000), reply())


def test_a_session_whose_parent_went_on_is_not_judged() -> None:
    child = [{**row, "session": "c"} for row in (prompt(ts=0), failed("auth", ts=1_000))]
    header = {"kind": "session", "session": "c", "parent": "s", "ts": 0}
    assert not _stalls(prompt(ts=0), reply(ts=1_001), header, *child, now=9_000_000)
    (stall,) = _stalls(prompt(ts=0), reply(ts=1_000), header, *child, now=9_000_000)
    assert stall.session == "c"


@pytest.mark.parametrize(("child", "fires"), [("s/b", False), ("sb", True), ("c", True)])
def test_a_branch_was_left_where_its_session_goes_on_below_though_the_clock_was_set_back(
    child: str, fires: bool
) -> None:
    branch = [{**row, "session": child} for row in (prompt(ts=90_000), failed("auth", ts=91_000))]
    header = {"kind": "session", "session": child, "parent": "s"}
    rows = (prompt(ts=80_000), header, *branch, reply(ts=1_000))
    assert bool(_stalls(*rows, now=9_000_000)) is fires
    assert _stalls(prompt(ts=80_000), reply(ts=81_000), header, *branch, now=9_000_000)
    unlined = [{**row, "line": None, "record": str(at)} for at, row in enumerate((prompt(ts=80_000), *branch))]
    assert _stalls(header, *unlined, {**reply(ts=1_000), "record": "z"}, now=9_000_000)
    assert _stalls(prompt(), header, *branch, {**reply(), "line": None, "record": "z"}, now=9_000_000)


def test_a_child_without_times_is_judged_by_the_files_own() -> None:
    child = [{**row, "session": "c"} for row in (prompt(), failed("auth"))]
    header = {"kind": "session", "session": "c", "parent": "s"}
    (stall,) = _stalls(prompt(ts=0), reply(ts=1_000), header, *child, now=9_000_000, touched=0)
    assert stall.session == "c"


@pytest.mark.parametrize(("lost", "fires"), [(0, True), (1, False)])
def test_where_rows_have_no_lines_any_lost_line_leaves_it_open(lost: int, fires: bool) -> None:
    rows = (prompt(ts=0, line=None, record="a"), failed("auth", ts=1_000, line=None, record="b"))
    file = file_of_rows(*rows)
    file.now, file.lost = 9_000_000, lost
    assert bool(detect(file, ["silent-stall"])) is fires


def test_lines_that_cannot_be_read_after_the_last_row_leave_it_open() -> None:
    for lost, fires in ((2, True), (3, False)):
        file = file_of_rows(prompt(ts=0), failed("auth", ts=1_000))
        file.now, file.lost = 9_000_000, lost
        assert bool(detect(file, ["silent-stall"])) is fires


@pytest.mark.parametrize(
    ("rows", "severity", "compacted", "what"),
    [
        ([failed("auth")], "warning", "no", "auth"),
        ([failed("overflow")], "error", "no", "overflow"),
        ([failed("output-budget")], "error", "no", "output-budget"),
        ([failed("truncated-summary")], "error", "no", "truncated-summary"),
        ([failed("empty-summary")], "error", "no", "empty-summary"),
        ([failed("rate-limit"), end("summary")], "error", "yes", "rate-limit"),
        ([failed("rate-limit"), end("failed")], "warning", "no", "rate-limit"),
        ([reply("tool"), end("summary")], "error", "yes", "idle"),
        ([reply("tool"), end("failed")], "error", "no", "idle"),
        ([reply("length")], "warning", "no", "length"),
        ([reply("empty")], "warning", "no", "empty"),
        ([reply("filtered")], "warning", "no", "filtered"),
    ],
)
def test_how_bad_it_is_and_what_broke(rows: list[dict[str, Any]], severity: str, compacted: str, what: str) -> None:
    (stall,) = _stalls(prompt(ts=0), *({**row, "ts": 1_000} for row in rows), now=9_000_000)
    assert (stall.severity, stall.measures["compacted"], stall.measures["class"]) == (severity, compacted, what)
    assert stall.measures["ended"] == "nothing"
    assert stall.measures["idle_seconds"] == 8_999.0
    assert stall.confidence == ("low" if what == "length" else "medium")


@pytest.mark.parametrize(
    "rows",
    [
        [reply("done")],
        [reply("tool")],
        [reply("aborted")],
        [failed("cancelled")],
        [failed("overflow"), end("aborted")],
        [failed("overflow"), end("failed", error="x", will_retry=False)],
        [failed("overflow"), {"kind": "note", "text": "recovery ended: no more tries"}],
        [failed("overflow", error="Conversation history too large to compact")],
    ],
)
def test_what_ended_well_was_cancelled_or_announced_is_no_stall(rows: list[dict[str, Any]]) -> None:
    assert not _stalls(prompt(ts=0), *({**row, "ts": 1_000} for row in rows), now=9_000_000)


def test_the_evidence_is_the_compactions_the_failure_and_the_prompt() -> None:
    rows = (prompt(ts=0), start(ts=500), end("failed", ts=600), failed(ts=1_000), end("no-summary", ts=1_100))
    (stall,) = _stalls(*rows, prompt("Sow the lawn.", ts=9_000_000), reply(ts=9_100_000))
    assert (stall.lines, stall.measures["ended"]) == ([3, 4, 5, 6], "new work")
