from collections.abc import Callable
from xml.etree.ElementTree import fromstring

from junitparser import Error, Failure, JUnitXml
from junitparser import Skipped as SkippedCase

from forensics.detect import Finding
from forensics.reports import render
from forensics.summary import Report

MakeFinding = Callable[..., Finding]


def read(report: Report) -> JUnitXml:
    return JUnitXml.fromstring(render("junit", report).encode())


def test_passes_are_listed(report_of: Callable[..., Report]) -> None:
    suites = list(read(report_of([])))
    assert [(suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) for suite in suites] == [
        ("logs/a.jsonl", 2, 0, 0, 0),
        ("logs/b.txt", 1, 0, 0, 1),
        ("logs/c.jsonl", 1, 0, 1, 0),
    ]
    assert [(case.classname, case.name) for case in suites[0]] == [
        ("forensics.manual-continue", "manual-continue s1"),
        ("forensics.no-summary", "no-summary s1"),
    ]


def test_a_finding_is_a_failure_and_unread_input_an_error(report: Report) -> None:
    document = read(report)
    assert (document.tests, document.failures, document.errors, document.skipped) == (4, 1, 1, 1)
    suite = next(iter(document))
    assert suite.timestamp == "2026-07-09T10:00:00.000"
    assert [one.get("time") for one in fromstring(render("junit", report))] == ["3600.000", None, None]
    case = next(iter(suite))
    (failure,) = case.result
    assert isinstance(failure, Failure)
    assert (failure.type, failure.message) == (
        "error",
        "a reply failed, and a person had to write "
        "(waiting 13 min 30 s (13 min 20 s to 13 min 40 s) [derived]; rate unknown)",
    )
    assert failure.text.strip() == "logs/a.jsonl:387-390 0123456789abcdef/v1"
    assert case._elem.get("file") == "logs/a.jsonl"
    assert case._elem.get("line") == "387"
    kinds = [type(next(iter(next(iter(suite)).result))) for suite in list(document)[1:]]
    assert kinds == [SkippedCase, Error]


def test_two_findings_of_a_session_are_two_cases(report_of: Callable[..., Report], finding_of: MakeFinding) -> None:
    report = report_of([finding_of(), finding_of(id="1" * 16 + "/v1", lines=[400], state="baselined")])
    suite = next(iter(read(report)))
    assert (suite.tests, suite.failures, suite.skipped) == (3, 1, 1)
    assert [case.name for case in suite] == ["manual-continue s1", "manual-continue s1 #2", "no-summary s1"]


def test_hostile_text_is_well_formed_xml(hostile: Report) -> None:
    text = render("junit", hostile)
    fromstring(text)
    assert "\x1b" not in text
    assert "<script>" not in text
    assert JUnitXml.fromstring(text.encode()).failures == 1
