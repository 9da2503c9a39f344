"""The whole report as one JSON document; `forensics schema scan` prints its schema."""

from typing import Any

import msgspec

from forensics import safe
from forensics.detect import Finding
from forensics.reports import Style
from forensics.scan import Input, SessionTotals
from forensics.summary import Report
from forensics.times import iso

UNSHOWN = frozenset({"times", "key", "seen", "began", "copied", "kin", "older", "joined", "added", "bound"})
"""What findings and sessions hold for the program's own use."""


def render(report: Report, _style: Style) -> str:
    """Write the document, indented, in a fixed order of keys."""
    return encode(document(report), indent=2) + "\n"


def encode(value: Any, indent: int = 0) -> str:
    """Write JSON text. What JSON cannot say is mended: NaN becomes null, a lone surrogate U+FFFD.

    Control characters and signs that turn the direction of text are escaped.
    """
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_mended(value))
    return safe.json((msgspec.json.format(data, indent=indent) if indent else data).decode())


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    return [_mended(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def document(report: Report) -> dict[str, Any]:
    """Give the report as plain JSON values under its published names."""
    content: dict[str, Any] = msgspec.to_builtins(
        msgspec.structs.replace(report, sessions=[], findings=[], suppressed=[])
    )
    content["coverage"]["inputs"] = [_input(one) for one in report.coverage.inputs]
    for name in ("start", "end"):
        content["summary"][name] = iso(content["summary"][name])
    content["sessions"] = [_timed(one) for one in report.sessions]
    content["findings"] = [finding(one) for one in report.findings]
    content["suppressed"] = [finding(one) for one in report.suppressed]
    return content


def finding(one: Finding) -> dict[str, Any]:
    """Give a finding as plain JSON values."""
    return _timed(one) | {"intervals": {name: list(bounds) for name, bounds in one.intervals.items()}}


def _timed(one: Finding | SessionTotals) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(one)
    for name in ("start", "end", "active_from"):
        if name in content:
            content[name] = iso(content[name])
    for name in UNSHOWN & content.keys():
        del content[name]
    return content


def _input(one: Input) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(one)
    content["malformed"] = [bad._asdict() for bad in one.malformed]
    return content
