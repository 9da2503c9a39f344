"""SARIF 2.1.0 for code scanning: written as plain dictionaries, without text of the transcript."""

import hashlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import forensics
from forensics.detect import Detector, Finding, Severity, detectors
from forensics.remark import Remark
from forensics.reports import Style
from forensics.reports._words import headline, ranges, remark, telling
from forensics.reports.json import encode
from forensics.safe import markdown, plain
from forensics.scan import Input, Skipped
from forensics.summary import Report
from forensics.times import iso

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HOME = "https://pypi.org/project/transcript-forensics/"
MOST_RESULTS = 5000
"""GitHub's limit for one run; the worst are kept."""
MOST_STEPS = 60
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}
_CHECKS = {
    "check-lock": "A recording departs from the lock beside it: what it holds, or how bad it is, has changed.",
    "check-expectation": "An expectation of the configuration does not hold, or cannot be judged.",
    "check-mutation": "A change to a recording that the lock beside it does not notice.",
}
_BASELINE = {"new": "new", "baselined": "unchanged", "suppressed": "unchanged", "worse": "updated"}


def render(report: Report, _style: Style) -> str:
    """Write one run: a rule per detector, a result per finding, a notification per thing that was not read."""
    shown = report.findings[:MOST_RESULTS]
    checks = [one for one in report.remarks if one.fails and one.file][: MOST_RESULTS - len(shown)]
    rules = sorted({*report.detectors, *(one.detector for one in shown), *(f"check-{one.topic}" for one in checks)})
    index = {name: at for at, name in enumerate(rules)}
    driver = {
        "name": "forensics",
        "semanticVersion": forensics.__version__,
        "informationUri": HOME,
        "rules": [_rule(name, detectors().get(name)) for name in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [
            *(_result(one, index[one.detector]) for one in shown),
            *(_check(one, index[f"check-{one.topic}"]) for one in checks),
        ],
    }
    return encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(name: str, one: Detector | None) -> dict[str, Any]:
    page = one.page if one else _CHECKS.get(name, name)
    first = page.split("\n\n", maxsplit=1)[0].replace("\n", " ")
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.split("-")),
        "shortDescription": {"text": first},
        "fullDescription": {"text": page},
        "help": {"text": page, "markdown": "\n\n".join(markdown(part) for part in page.split("\n\n"))},
        "defaultConfiguration": {"level": _LEVELS[one.severity if one else "error"]},
    }


def _result(one: Finding, rule: int) -> dict[str, Any]:
    spans = ranges(one.lines)
    result: dict[str, Any] = {
        "ruleId": one.detector,
        "ruleIndex": rule,
        "level": _LEVELS[one.severity],
        "kind": "fail",
        "message": {"text": plain(headline(one))},
        "locations": [_location(one, *spans[0]) if spans else _location(one)],
        "partialFingerprints": {"forensics/v1": one.id.removesuffix("/v1")},
        "baselineState": _BASELINE[one.state],
        "properties": _properties(one),
    }
    if spans:
        steps = [{"location": _location(one, first, last)} for first, last in _steps(spans)]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if one.state == "suppressed":
        result["suppressions"] = [{"kind": "external"}]
    return result


def _check(one: Remark, rule: int) -> dict[str, Any]:
    """Write a remark about a file; those about no file are notified alone, because code scanning wants a place."""
    key = "\0".join((one.topic, one.name, one.file or "", one.session or ""))
    return {
        "ruleId": f"check-{one.topic}",
        "ruleIndex": rule,
        "level": "error",
        "kind": "fail",
        "message": {"text": plain(remark(one))},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(one.file or "")}}}],
        "partialFingerprints": {"forensics/v1": hashlib.sha256(key.encode(errors="replace")).hexdigest()[:16]},
        "baselineState": "new",
    }


def _steps(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Give the lines one by one, or as ranges where they are many; ends only where even those are too many."""
    lines = [
        (line, line) for first, last in spans[:MOST_STEPS] for line in range(first, min(last, first + MOST_STEPS) + 1)
    ]
    total = sum(last - first + 1 for first, last in spans)
    if total <= MOST_STEPS:
        yield from lines
    elif len(spans) <= MOST_STEPS:
        yield from spans
    else:
        yield from (*spans[: MOST_STEPS - 1], spans[-1])


def _location(one: Finding, first: int | None = None, last: int | None = None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": uri(one.file)}}
    if first is not None:
        place["region"] = {"startLine": first, "endLine": last}
    location: dict[str, Any] = {"physicalLocation": place}
    if one.session:
        location["logicalLocations"] = [{"name": plain(one.session), "kind": "session"}]
    return location


def uri(path: str) -> str:
    """Give a path as a URI reference, relative where the path is."""
    if re.match(r"[A-Za-z]:/", path):
        return "file:///" + quote(path, safe="/:", errors="replace")
    reference = quote(path, safe="/~", errors="replace")
    return f"file://{reference}" if path.startswith("/") else reference


def _properties(one: Finding) -> dict[str, Any]:
    return {
        "agent": plain(one.agent),
        "session": None if one.session is None else plain(one.session),
        "confidence": one.confidence,
        "start": iso(one.start),
        "end": iso(one.end),
        "records": [plain(record) for record in one.records[:MOST_STEPS]],
        "measures": {name: plain(v) if isinstance(v, str) else v for name, v in one.measures.items()},
        "bases": one.bases,
        "intervals": one.intervals,
        "also": [plain(path) for path in one.also],
    }


def _invocation(report: Report) -> dict[str, Any]:
    result = report.summary.result
    notices = [*map(_skipped, report.coverage.skipped), *_malformed(report.coverage.inputs)]
    notices += [_told(one) for one in telling(report.remarks)]
    if len(report.findings) > MOST_RESULTS:
        left = len(report.findings) - MOST_RESULTS
        notices.append(_notice("note", f"{left} further findings of the least severity are left out of this file"))
    return {
        "executionSuccessful": result.status != "internal-error",
        "exitCode": result.exit_code,
        "exitCodeDescription": plain(result.reason),
        "toolExecutionNotifications": notices,
    }


def _told(one: Remark) -> dict[str, Any]:
    return _notice("error" if one.fails else "note", remark(one), one.file)


def _skipped(one: Skipped) -> dict[str, Any]:
    level = {"broken": "error", "unreadable": "warning"}.get(one.kind, "note")
    return _notice(level, f"not read: {one.reason}", one.path)


def _malformed(inputs: list[Input]) -> Iterator[dict[str, Any]]:
    for one in inputs:
        if one.malformed:
            first = one.malformed[0]
            words = f"{len(one.malformed)} malformed lines, the first: line {first.line}, {first.reason}"
            yield _notice("warning", words, one.path)


def _notice(level: str, text: str, path: str | None = None) -> dict[str, Any]:
    notice: dict[str, Any] = {"level": level, "message": {"text": plain(text)}}
    if path is not None:
        notice["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": uri(path)}}}]
    return notice
