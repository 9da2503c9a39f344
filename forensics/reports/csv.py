"""A finding a row, for spreadsheets: no cell can be taken for a formula."""

import csv
import io
from collections.abc import Iterator

from forensics.detect import Finding, Value
from forensics.reports import Style
from forensics.reports._words import ranges
from forensics.safe import cell
from forensics.summary import Report
from forensics.times import iso

COLUMNS = (
    "id",
    "detector",
    "severity",
    "confidence",
    "state",
    "agent",
    "file",
    "session",
    "start",
    "end",
    "lines",
    "records",
    "message",
)


def render(report: Report, _style: Style) -> str:
    """Write a header and one row per finding; every measure that occurs has a column and one for its basis."""
    names = sorted({name for one in report.findings for name in one.measures})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*COLUMNS, *(column for name in names for column in (name, f"{name}_basis"))])
    for one in report.findings:
        writer.writerow([_guarded(value) for value in _row(one, names)])
    return text.getvalue()


def _row(one: Finding, names: list[str]) -> Iterator[Value]:
    yield from (one.id, one.detector, one.severity, one.confidence, one.state, one.agent, one.file, one.session)
    yield from (iso(one.start), iso(one.end))
    yield " ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges(one.lines))
    yield " ".join(one.records)
    yield one.message
    for name in names:
        yield from (one.measures.get(name), one.bases.get(name))


def _guarded(value: Value) -> Value:
    return cell(value) if isinstance(value, str) else value
