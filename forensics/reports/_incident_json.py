"""The incident report as one JSON document, as `forensics schema report` describes it."""

from typing import Any

import msgspec

from forensics.incident.model import Incident
from forensics.reports.json import encode
from forensics.times import iso

_TIMES = frozenset({"ts", "x", "last", "start", "end", "active_from"})


def page(incident: Incident) -> str:
    """Write the document, indented, in a fixed order of keys."""
    return encode(document(incident), indent=2) + "\n"


def document(incident: Incident) -> dict[str, Any]:
    """Give the report as plain JSON values; times are ISO 8601, except on the axes of figures."""
    content: dict[str, Any] = msgspec.to_builtins(incident)
    for one in content["coverage"]["inputs"]:
        del one["seconds"]
        one["malformed"] = [dict(zip(_MALFORMED, bad, strict=True)) for bad in one["malformed"]]
    for part in (content["summary"], *content["sessions"]):
        _timed(part)
    for group in content["groups"]:
        for case in group["cases"]:
            _timed(case["finding"])
            for row in case["evidence"]:
                _timed(row)
    return content


_MALFORMED = ("line", "offset", "reason", "salvaged")


def _timed(part: dict[str, Any]) -> None:
    for name in _TIMES & part.keys():
        part[name] = iso(part[name])
