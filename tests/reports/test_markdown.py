from collections.abc import Callable

from forensics.detect import Finding
from forensics.reports import render
from forensics.reports.markdown import MOST
from forensics.summary import Report

MakeFinding = Callable[..., Finding]


def test_nothing_found_says_what_was_read(report_of: Callable[..., Report]) -> None:
    text = render("markdown", report_of([]))
    assert "Read 1 file, 400 lines, 399 records" in text
    assert "**read 1 file, 399 records, nothing found**" in text


def test_a_finding_has_its_place_and_figures(report: Report) -> None:
    text = render("markdown", report)
    assert "| manual\\-continue | 1 | 0 | 0 |" in text
    assert "- **error** manual\\-continue: a reply failed, and a person had to write" in text
    assert "logs/a\\.jsonl\\:387\\-390" in text
    assert "waiting 13 min 30 s" in text
    assert "| logs/c\\.jsonl | Permission denied |" in text
    assert "| logs/a\\.jsonl | 7 | 512 | invalid UTF\\-8 at byte 3 of the line |" in text


def test_it_is_cut_at_githubs_limit_and_says_so(report_of: Callable[..., Report], finding_of: MakeFinding) -> None:
    text = render("markdown", report_of([finding_of(id=f"{at:016x}/v1", lines=[at + 1]) for at in range(3000)]))
    assert len(text) <= MOST
    shown = text.count("- **error**")
    assert f"*{3000 - shown:,} further findings are left out" in text


def test_hostile_text_is_inert(hostile: Report) -> None:
    text = render("markdown", hostile)
    assert "<script" not in text
    assert "](javascript" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\n# not a heading" not in text
    assert all(line.count("|") - line.count("\\|") in {0, 3, 5} for line in text.splitlines())
