"""Annotations for GitHub Actions: workflow commands, one a finding, the worst first."""

from forensics.detect import Finding, Severity
from forensics.remark import Remark
from forensics.reports import Style
from forensics.reports._words import coverage_line, headline, ranges, remark, telling
from forensics.safe import plain, workflow, workflow_property
from forensics.summary import Report

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, _style: Style) -> str:
    """Write a command per new finding and per remark, one per file that was not read, and the result in words."""
    lines = [_annotation(one) for one in report.findings if one.state in {"new", "worse"}]
    lines += [_remark(one) for one in telling(report.remarks)]
    lines += [
        f"::warning file={workflow_property(one.path)},title=not read::{workflow(one.reason)}"
        for one in report.coverage.skipped
        if one.kind in {"unreadable", "broken"}
    ]
    words = f"forensics: {coverage_line(report.coverage)}; {report.summary.result.reason}"
    return "\n".join([*lines, plain(words)]) + "\n"


def _annotation(one: Finding) -> str:
    place = [f"file={workflow_property(one.file)}"]
    if one.lines:
        first, last = ranges(one.lines)[0]
        place += [f"line={first}", f"endLine={last}"]
    place.append(f"title={workflow_property(one.detector)}")
    where = f" [session {one.session}]" if one.session else ""
    return f"::{_COMMANDS[one.severity]} {','.join(place)}::{workflow(headline(one) + where)}"


def _remark(one: Remark) -> str:
    file = f"file={workflow_property(one.file)}," if one.file else ""
    title = workflow_property(f"{one.topic} {one.change}")
    return f"::{'error' if one.fails else 'notice'} {file}title={title}::{workflow(remark(one))}"
