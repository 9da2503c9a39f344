import json
from collections.abc import Callable

from forensics.detect import Finding
from forensics.reports import render
from forensics.reports.json import document
from forensics.summary import Report

MakeFinding = Callable[..., Finding]


def test_no_finding_is_no_line(report_of: Callable[..., Report]) -> None:
    assert render("jsonl", report_of([])) == ""


def test_a_line_is_a_finding_of_the_document(report_of: Callable[..., Report], finding_of: MakeFinding) -> None:
    report = report_of([finding_of(), finding_of(id="fedcba9876543210/v1", severity="note")])
    assert [json.loads(line) for line in render("jsonl", report).splitlines()] == document(report)["findings"]


def test_a_message_with_line_ends_stays_on_its_line(hostile: Report) -> None:
    assert len(render("jsonl", hostile).splitlines()) == 1
