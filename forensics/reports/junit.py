"""JUnit XML: a suite per transcript, a case per detector and session; passes are listed, so that counts are true."""

from collections import defaultdict
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from forensics.detect import Finding
from forensics.remark import Remark
from forensics.reports import Style
from forensics.reports._words import headline, places, remark
from forensics.safe import xml
from forensics.scan import Input, SessionTotals, Skipped
from forensics.summary import Report
from forensics.times import iso


def render(report: Report, _style: Style) -> str:
    """Write the suites. A finding is a failure, an unreadable input an error, an unrecognised one is skipped.

    A suite's time is that of its sessions, from the first row to the last, so that two runs write the same bytes.

    What a check says beyond the findings has a suite of its own: what fails is a failure, what cannot be judged an
    error, what holds a pass.
    """
    root = Element("testsuites", name="forensics")
    sessions: defaultdict[str, list[SessionTotals]] = defaultdict(list)
    for session in report.sessions:
        sessions[session.file].append(session)
    findings: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        findings[finding.file].append(finding)
    for one in report.coverage.inputs:
        _suite(root, one, report.detectors, sessions[one.path], findings[one.path])
    for skipped in report.coverage.skipped:
        _unread(root, skipped)
    _remarks(root, report.remarks)
    _count(root, list(root))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(
    root: Element, one: Input, detectors: Iterable[str], sessions: list[SessionTotals], findings: list[Finding]
) -> None:
    suite = SubElement(root, "testsuite", name=xml(one.path))
    start = min((s.start for s in sessions if s.start is not None), default=None)
    end = max((s.end for s in sessions if s.end is not None), default=None)
    if start is not None and end is not None:
        suite.set("time", f"{(end - start) / 1000:.3f}")
    started = iso(start)
    if started:
        suite.set("timestamp", started.removesuffix("Z"))
    found: defaultdict[tuple[str, str | None], list[Finding]] = defaultdict(list)
    for finding in findings:
        found[finding.detector, finding.session].append(finding)
    names: list[str | None] = [session.session for session in sessions]
    for detector in sorted({*detectors, *(finding.detector for finding in findings)}):
        others = sorted({session or "" for d, session in found if d == detector} - {name or "" for name in names})
        for session in [*names, *(name or None for name in others)]:
            _cases(suite, detector, session, one.path, found.get((detector, session), []))
    _count(suite, [suite])


def _cases(suite: Element, detector: str, session: str | None, path: str, findings: list[Finding]) -> None:
    for number, finding in enumerate(findings or [None], 1):
        name = f"{detector} {session or 'host'}" + (f" #{number}" if number > 1 else "")
        case = SubElement(suite, "testcase", classname=f"forensics.{detector}", name=xml(name), file=xml(path))
        if finding is None:
            continue
        if finding.lines:
            case.set("line", str(finding.lines[0]))
        if finding.state in {"baselined", "suppressed"}:
            SubElement(case, "skipped", message=xml(f"{finding.state}: {headline(finding)}"))
        else:
            failure = SubElement(case, "failure", type=finding.severity, message=xml(headline(finding)))
            failure.text = xml(f"{finding.file}:{places(finding)} {finding.id}")


def _unread(root: Element, skipped: Skipped) -> None:
    if skipped.kind in {"same", "excluded"}:
        return
    suite = SubElement(root, "testsuite", name=xml(skipped.path))
    case = SubElement(suite, "testcase", classname="forensics.input", name="read", file=xml(skipped.path))
    tag = "skipped" if skipped.kind == "unrecognised" else "error"
    SubElement(case, tag, message=xml(skipped.reason), type=skipped.kind)
    _count(suite, [suite])


def _remarks(root: Element, remarks: list[Remark]) -> None:
    shown = [one for one in remarks if one.fails or one.change == "held"]
    if not shown:
        return
    suite = SubElement(root, "testsuite", name="forensics check")
    for one in shown:
        name = " ".join(part for part in (one.name, one.file, one.session) if part)
        case = SubElement(suite, "testcase", classname=f"forensics.{one.topic}", name=xml(name))
        if one.file:
            case.set("file", xml(one.file))
        if one.fails:
            tag = "error" if one.change == "unjudged" else "failure"
            SubElement(case, tag, type=one.change, message=xml(remark(one))).text = xml(one.accept or "")
    _count(suite, [suite])


def _count(element: Element, suites: list[Element]) -> None:
    kinds = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for attribute, tag in kinds.items():
        element.set(attribute, str(sum(1 for suite in suites for _ in suite.iter(tag))))
    if element.tag == "testsuites":
        times = [float(time) for suite in suites if (time := suite.get("time")) is not None]
        if times:
            element.set("time", f"{sum(times):.3f}")
