"""A finding a line, as JSON objects with the names of the JSON report."""

from forensics.reports import Style
from forensics.reports.json import encode, finding
from forensics.summary import Report


def render(report: Report, _style: Style) -> str:
    """Write one line per finding; nothing when there is none."""
    return "".join(encode(finding(one)) + "\n" for one in report.findings)
