"""The incident report as one HTML file that needs nothing else: no network, no script, no other file.

Text of a transcript is hostile: it is escaped by the template engine, control characters are shown as their
numbers, and the page's own policy lets no script run but the one it brings (by its hash).
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict as to_dict

from forensics.incident.build import assemble
from forensics.incident.model import Incident, Track
from forensics.reports import Style, _page, _svg
from forensics.reports._words import count
from forensics.safe import plain
from forensics.summary import Report

if TYPE_CHECKING:
    from jinja2 import Environment

FEW = 20
"""Up to this many findings all are open."""


def render(report: Report, _style: Style) -> str:
    """Write what a scan found as the same page, without the figures that only `forensics report` draws."""
    return page(assemble(report))


def page(incident: Incident) -> str:
    """Write the page."""
    css = _text("report.css") + _text("figure.css")
    script = _text("report.js")
    strings = _strings(incident) | {"css": _raw(css), "script": _raw(script), "policy": _policy(css, script)}
    return _environment().get_template("report.html").render(page=strings) + "\n"


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  (not needed for other reports)

    return Environment(
        loader=PackageLoader("forensics.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=False,
    )


def _shown(value: Any) -> Any:
    """Make text harmless that is about to be escaped; what is markup of our own passes."""
    if value is None:
        return ""
    return plain(value) if type(value) is str else value


def _raw(text: str) -> Any:
    from markupsafe import Markup  # noqa: PLC0415  (comes with jinja2)

    return Markup(text)  # noqa: S704  (our own files and figures, in which all text is escaped)


@cache
def _text(name: str) -> str:
    return files("forensics.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(css: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _strings(incident: Incident) -> dict[str, Any]:
    coverage = incident.coverage
    bad = [(one.path, line) for one in coverage.inputs for line in one.malformed]
    sessions = incident.sessions[: _page.MOST_SESSIONS]
    return {
        "title": incident.title,
        "version": incident.tool.version,
        "when": _page.when(incident),
        "contents": _page.contents(incident),
        "paragraph": incident.paragraph,
        "impact": [
            {
                "metric": _page.shorten(one.metric, _page.MOST_METRIC),
                "value": one.value,
                "basis": one.basis,
                "note": one.note,
                "refs": one.refs,
                "where": one.where,
            }
            for one in incident.impact
        ],
        "figures": [_figure(one) for one in incident.tracks],
        "bars": [
            {
                "anchor": one.anchor,
                "title": one.title,
                "wide": _raw(_svg.bars(one)),
                "narrow": _raw(_svg.bars(one, narrow=True)),
            }
            for one in incident.bars
        ],
        "tracks_left_out": _page.left_out_words(incident),
        "index": list(_page.index(incident)),
        "groups": [_page.group_strings(one) for one in incident.groups],
        "opened": FEW if incident.summary.findings <= FEW else 1,
        "replays": [to_dict(one) | {"title": _page.replay_title(one)} for one in incident.replays],
        "replays_left_out": _page.not_replayed(incident),
        "no_findings": _page.no_findings(incident),
        "coverage": _page.coverage_words(incident),
        "limits": incident.limits,
        "remarks": incident.remarks,
        "inputs": [_page.input_strings(one) for one in coverage.inputs],
        "malformed": [
            {
                "path": path,
                "line": f"{one.line:,}",
                "offset": f"{one.offset:,}",
                "reason": one.reason,
                "salvaged": "yes" if one.salvaged else "no",
            }
            for path, one in bad[: _page.MOST_MALFORMED]
        ],
        "malformed_words": count(len(bad), "malformed line")
        + (f", the first {_page.MOST_MALFORMED:,}" if len(bad) > _page.MOST_MALFORMED else ""),
        "skipped": coverage.skipped[: _page.MOST_SESSIONS],
        "skipped_words": f"{count(len(coverage.skipped), 'input')} not read"
        + (f", the first {_page.MOST_SESSIONS:,}" if len(coverage.skipped) > _page.MOST_SESSIONS else ""),
        "sessions": [_page.session_strings(one) for one in sessions],
        "sessions_words": "Sessions with their totals"
        + (f", {len(sessions):,} of {len(incident.sessions):,}" if len(sessions) < len(incident.sessions) else ""),
        "options": "; ".join(f"{name} = {value}" for name, value in incident.options.items()),
        "privacy": _page.privacy_words(incident),
        "digests": [
            {"path": one.path, "bytes": f"{one.bytes:,}", "sha256": one.sha256 or "could not be read again"}
            for one in incident.digests
        ],
        "definitions": [
            {
                "name": one.name,
                "parts": [" ".join(part.split()) for part in one.page.split("\n\n")],
                "options": ", ".join(f"{name} = {value}" for name, value in one.options.items()),
            }
            for one in incident.definitions
        ],
        "footer": f"forensics {incident.tool.version}. All times are UTC.",
    }


def _figure(track: Track) -> dict[str, Any]:
    rows, left = _page.mark_rows(track)
    return {
        "anchor": track.anchor,
        "title": track.title,
        "told": _page.track_caption(track),
        "wide": _raw(_svg.timeline(track)),
        "narrow": _raw(_svg.timeline(track, narrow=True)),
        "lines": _page.track_lines(track),
        "refs": track.refs,
        "rows": rows,
        "left": left,
    }
