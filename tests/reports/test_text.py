from collections.abc import Callable

import pytest

from forensics.detect import Finding
from forensics.reports import Style, render
from forensics.summary import Report

MakeFinding = Callable[..., Finding]


def test_nothing_found_says_what_was_read(report_of: Callable[..., Report]) -> None:
    lines = render("table", report_of([])).splitlines()
    assert lines[0].startswith("read 1 file, 400 lines, 399 records, 4.9 KiB, 1 malformed line (1 salvaged), 1 not")
    assert lines[-1] == "read 1 file, 399 records, nothing found (exit 0)"


def test_one_screen_says_what_where_and_how_bad(report: Report) -> None:
    text = render("table", report, Style(width=80))
    flat = " ".join(text.split())
    assert "1 session, 2 prompts, 10 replies, 1 error (1 overflow), 1 length stop, 2 compactions" in flat
    assert "demo 1.0, session s1\n  2026-07-09 10:00:00 - 11:00:00 UTC\n" in text
    assert "  ▁▄█ context peak 120,000 of 128,000 tokens (0.94 x, recorded)\n" in text
    assert "  ERROR manual-continue\n    logs/a.jsonl:387-390  2026-07-09 10:00:00 - 10:13:30\n" in text
    assert "waiting 13 min 30 s* (13 min 20 s to 13 min 40 s), rate unknown" in flat
    assert "\n* derived\n" in text
    assert "failed compactions: 1 file shows them in part (plain): their rate is unknown there" in flat
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[-1] == "1 error (exit 0)"


@pytest.mark.parametrize("width", [1, 30, 40, 80, 200])
def test_any_width_holds(report: Report, width: int) -> None:
    assert max(map(len, render("table", report, Style(width=width)).splitlines())) <= max(width, 30)


def test_long_lists_are_cut_and_verbose_shows_all(report_of: Callable[..., Report], finding_of: MakeFinding) -> None:
    alike = [finding_of(id=f"{at:016x}/v1", lines=[at + 1]) for at in range(20)]
    sessions = [finding_of(id=f"{at:016x}/v1", session=f"x{at:02}", lines=[at + 1]) for at in range(100, 130)]
    report = report_of([*alike, *sessions])
    text = render("table", report)
    assert "and 14 more (use --format json)" in text
    assert "and 19 more findings in 19 sessions (use --format json)" in text
    full = render("table", report, Style(verbose=True))
    assert "more (use" not in full
    assert full.count("id 00000000") == 50


def test_a_long_path_stands_once_so_that_lines_are_never_broken(
    report_of: Callable[..., Report], finding_of: MakeFinding
) -> None:
    folder = "a-rather-long-folder/" * 4
    text = render("table", report_of([finding_of(file=f"{folder}s.jsonl", lines=[387, 388])]), Style(width=80))
    assert "    .../s.jsonl:387-388  2026-07-09 10:00:00 - 10:13:30\n" in text
    assert f"{folder}s.jsonl" in "".join(text.split())


def test_a_time_that_no_calendar_holds_is_left_out(report_of: Callable[..., Report], finding_of: MakeFinding) -> None:
    text = render("table", report_of([finding_of(start=10**20, end=10**20)]))
    assert "    logs/a.jsonl:387-390\n" in text
    assert "unknown time" not in text


def test_no_colour_unless_asked(report: Report) -> None:
    assert "\x1b" not in render("table", report)
    assert "\x1b[1;31m" in render("table", report, Style(color=True))


def test_ascii_where_the_screen_has_no_more(report: Report) -> None:
    assert render("table", report, Style(ascii=True)).isascii()


def test_hostile_text_is_inert(hostile: Report) -> None:
    text = render("table", hostile, Style(verbose=True))
    for bad in ("\x1b", "\x07", "\x9b", "\u202e", "\ud800"):
        assert bad not in text
    assert "\\x1b[31mred" in text
    assert "[bold]markup[/bold]" in text.replace("\n", " ").replace("  ", " ")


def test_a_refused_request_larger_than_the_context_peak_is_told_beside_it(report: Report) -> None:
    report.sessions[0].refused_context = 131_000
    flat = " ".join(render("table", report, Style(width=120)).split())
    assert "context peak 120,000 of 128,000 tokens (0.94 x, recorded) (refused: 131,000)" in flat
    report.sessions[0].refused_context = 119_000
    assert "refused:" not in render("table", report, Style(width=120))


def test_findings_of_one_detector_share_a_sentence_only_where_it_differs_in_figures_alone(
    report_of: Callable[..., Report], finding_of: MakeFinding
) -> None:
    said = [
        "a reply failed (overflow) after 62 s",
        "a reply failed (overflow) after 1,009 s",
        "a reply was cut after 7 s",
    ]
    alike = [finding_of(id=f"{at:016x}/v1", lines=[at + 1], message=text) for at, text in enumerate(said)]
    text = render("table", report_of(alike), Style(width=120))
    assert [text.count(one) for one in said] == [1, 0, 1]
    full = render("table", report_of(alike), Style(width=120, verbose=True))
    assert [full.count(one) for one in said] == [1, 1, 1]


def test_a_peak_is_not_held_against_a_window_that_was_not_in_force_at_it(report: Report) -> None:
    """A smaller window of the session was filled more than the one in force at the greatest context."""
    report.sessions[0].cap, report.sessions[0].peak_ratio = 100_000, 1.25
    flat = " ".join(render("table", report, Style(width=120)).split())
    assert "context peak 120,000 tokens, at most 1.25 x the window in force (100,000, recorded)" in flat
    report.sessions[0].peak_ratio = None
    assert "context peak 120,000 tokens\n" in render("table", report, Style(width=120))
