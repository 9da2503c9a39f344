import json
from collections.abc import Callable

import pytest

from forensics.detect import Finding
from forensics.reports import render
from forensics.reports.json import document, encode
from forensics.safe import plain
from forensics.summary import Report

MakeFinding = Callable[..., Finding]


def test_nothing_read_is_not_nothing_found(report_of: Callable[..., Report]) -> None:
    found = document(report_of([]))
    assert found["findings"] == []
    assert found["summary"]["result"] == {
        "exit_code": 0,
        "status": "clean",
        "reason": "read 1 file, 399 records, nothing found",
    }


def test_the_names_are_those_that_were_promised(report: Report) -> None:
    found = json.loads(render("json", report))
    assert list(found)[:7] == ["schema_version", "tool", "coverage", "summary", "sessions", "findings", "suppressed"]
    assert found["coverage"]["inputs"][0]["malformed"] == [
        {"line": 7, "offset": 512, "reason": "invalid UTF-8 at byte 3 of the line", "salvaged": True}
    ]
    assert [(one["path"], one["reason"]) for one in found["coverage"]["skipped"]] == [
        ("logs/b.txt", "not a format that is read"),
        ("logs/c.jsonl", "Permission denied"),
    ]
    compactions = found["sessions"][0]["compactions"]
    assert {name: n for name, n in compactions.items() if n} == {"attempts": 2, "summaries": 1, "no_summary": 1}
    assert found["findings"][0] == {
        "id": "0123456789abcdef/v1",
        "detector": "manual-continue",
        "severity": "error",
        "confidence": "high",
        "state": "new",
        "reason": None,
        "agent": "demo",
        "file": "logs/a.jsonl",
        "also": [],
        "session": "s1",
        "message": "a reply failed, and a person had to write",
        "lines": [387, 388, 389, 390],
        "records": ["r1", "r2"],
        "start": "2026-07-09T10:00:00.000Z",
        "end": "2026-07-09T10:13:30.500Z",
        "measures": {"waiting_seconds": 810.5, "rate": None},
        "bases": {"waiting_seconds": "derived", "rate": "inferred"},
        "intervals": {"waiting_seconds": [800.0, 820.0]},
    }


def test_a_time_that_no_calendar_holds_is_unknown(report_of: Callable[..., Report], finding_of: MakeFinding) -> None:
    found = document(report_of([finding_of(start=10**18, end=None)]))["findings"][0]
    assert (found["start"], found["end"]) == (None, None)


def test_what_json_cannot_say_is_mended() -> None:
    assert json.loads(encode({"a\ud800": ["\udcff", float("nan"), 10**30]})) == {"a\ufffd": ["\ufffd", None, 10**30]}


def test_hostile_text_stays_text(hostile: Report) -> None:
    text = render("json", hostile)
    assert "\x1b" not in text
    assert json.loads(text)["findings"][0]["message"].startswith("\x1b[31mred")


@pytest.mark.parametrize("format_", ["json", "jsonl", "sarif", "timesketch"])
def test_no_control_or_bidi_mark_stands_in_json_as_it_is(format_: str, hostile: Report) -> None:
    text = render(format_, hostile)
    assert text
    assert not {one for one in text if one != "\n" and plain(one) != one}
