"""The incident report as one JSON document, as `forensics schema report` describes it."""

from typing import Any

import msgspec

from forensics.incident.model import Incident
from forensics.reports.json import UNSHOWN, encode
from forensics.times import iso

_TIMES = frozenset({"ts", "x", "last", "start", "end", "active_from"})


def page(incident: Incident) -> str:
    """Write the document, indented, in a fixed order of keys."""
    return encode(document(incident), indent=2) + "\n"


def document(incident: Incident) -> dict[str, Any]:
    """Give the report as plain JSON values; times are ISO 8601, except on the axes of figures."""
    content: dict[str, Any] = msgspec.to_builtins(incident)
    for one in content["coverage"]["inputs"]:
        one["malformed"] = [dict(zip(_MALFORMED, bad, strict=True)) for bad in one["malformed"]]
    for part in (content["summary"], *content["sessions"]):
        _timed(part)
    for group in content["groups"]:
        for case in group["cases"]:
            _timed(case["finding"])
            for row in case["evidence"]:
                _timed(row)
    return content


def schema() -> dict[str, Any]:
    """Give the JSON Schema of the document."""
    (reference,), found = msgspec.json.schema_components([Incident], ref_template="#/$defs/{name}")
    for name in ("Finding", "SessionTotals", "Row", "Summary"):
        for column in _TIMES & found[name]["properties"].keys():
            found[name]["properties"][column] = {"type": ["string", "null"], "format": "date-time"}
        for column in UNSHOWN & found[name]["properties"].keys():
            del found[name]["properties"][column]
    found = {name: one for name, one in found.items() if name != "Seen"}
    lines = {"line": {"type": "integer"}, "offset": {"type": "integer"}}
    lines |= {"reason": {"type": "string"}, "salvaged": {"type": "boolean"}}
    found["Input"]["properties"]["malformed"] = {
        "type": "array",
        "items": {"type": "object", "properties": lines, "required": sorted(lines)},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "forensics report",
        "description": "What `forensics report -o report.json` writes. Tokens are counts, cost is US dollars, times are"
        " ISO 8601 in UTC; on the axes of figures (`x`, `points`, `caps`, `spent`, `pins`, `gaps`, `bars`) they are"
        " milliseconds since 1970. Unknown is null, never 0.",
        **reference,
        "$defs": dict(sorted(found.items())),
    }


_MALFORMED = ("line", "offset", "reason", "salvaged")


def _timed(part: dict[str, Any]) -> None:
    for name in _TIMES & part.keys():
        part[name] = iso(part[name])
    for name in UNSHOWN & part.keys():
        del part[name]
