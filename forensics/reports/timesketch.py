"""Findings as JSON lines that Timesketch and other timeline tools read: a message, a time, what the time is of."""

from collections.abc import Iterator
from typing import Any

from forensics.detect import Finding
from forensics.reports import Style
from forensics.reports._words import headline, ranges
from forensics.reports.json import encode
from forensics.safe import plain
from forensics.summary import Report
from forensics.times import iso


def render(report: Report, _style: Style) -> str:
    """Write a line where each finding starts, and one where it ends if that is later; without a time, none."""
    return "".join(encode(line) + "\n" for one in report.findings for line in _lines(one))


def _lines(one: Finding) -> Iterator[dict[str, Any]]:
    times = [(one.start, "Finding starts"), (one.end if one.end != one.start else None, "Finding ends")]
    for time, what in times:
        when = iso(time)
        if time is None or when is None:
            continue
        yield {
            "message": plain(f"{one.severity} {one.detector}: {headline(one)}"),
            "datetime": when,
            "timestamp": time * 1000,
            "timestamp_desc": what,
            "data_type": "forensics:finding",
            "id": one.id,
            "detector": one.detector,
            "severity": one.severity,
            "confidence": one.confidence,
            "state": one.state,
            "agent": one.agent,
            "session": one.session,
            "file": one.file,
            "lines": " ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges(one.lines)),
        }
