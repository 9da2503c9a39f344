"""From files to the report: read each once, keep what the report shows of it, put it together."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from forensics.detect import Finding, detectors
from forensics.incident.bars import bars
from forensics.incident.cases import Places, groups
from forensics.incident.errors import Errors
from forensics.incident.evidence import places_of, rows_by_place
from forensics.incident.impact import impact
from forensics.incident.join import View, joined
from forensics.incident.model import Definition, Digest, Group, Incident, Track
from forensics.incident.names import display
from forensics.incident.replayed import replays
from forensics.incident.story import paragraph
from forensics.incident.tracks import Draft, draft, track
from forensics.incident.undated import undated
from forensics.incident.watch import Watch
from forensics.inputs import Found
from forensics.reports._words import blind_spots, span, telling
from forensics.scan import Options, Result, Skipped, look
from forensics.summary import Mark, Report, Terms, summarise
from forensics.timeline import File
from forensics.times import iso

MOST_TRACKS = 12
"""Sessions with a figure: the ones with the worst findings."""


class Read(NamedTuple):
    """What was made of the files: their results, and what the figures need of them."""

    results: list[Result]
    files: list[File]
    watches: dict[str, Watch]


def read_all(files: Iterable[Found], options: Options) -> Read:
    """Scan the files, each read once."""
    read = Read([], [], {})
    for one in files:
        watch = Watch()
        result, file = look(one.path, one.name, options, watch)
        read.results.append(result)
        if file is not None:
            read.files.append(file)
            read.watches[file.name] = watch
    return read


def incident(
    found: Sequence[Found],
    options: Options,
    terms: Terms | None = None,
    skipped: Sequence[Skipped] = (),
    mark: Mark | None = None,
    *,
    excerpts: bool = False,
    dated: bool = True,
) -> Incident:
    """Read the files and build the report, nothing redacted yet (see `redact.redacted_incident`).

    `dated`: the time of the scan is the user's, so that the report may tell of it. Otherwise what is told of a
    record's end does not grow from one day to the next.
    """
    read = read_all(found, options)
    names = sorted(detectors() if options.detectors is None else options.detectors)
    report = summarise(read.results, skipped, terms, names, mark)
    if not dated:
        options = replace(options, now=None)
        report.findings = list(map(undated, report.findings))
    kept = {one.path for one in report.coverage.inputs}
    files = [file for file in read.files if file.name in kept]
    _settle(files, report)
    by_file: dict[str, list[Finding]] = {}
    for one in report.findings:
        by_file.setdefault(one.file, []).append(one)
    places = {file.name: rows_by_place(file, by_file.get(file.name, [])) for file in files}
    made = assemble(report, options, terms, places=places, errors=Errors(files), excerpts=excerpts)
    drafts = _drafts(files, read.watches, by_file)
    made.tracks, made.tracks_left_out = _tracks(drafts, by_file, made.groups)
    made.bars = bars(drafts, files)
    for number, chart in enumerate(made.bars, 1):
        chart.anchor = f"bars-{number}"
    made.replays, made.replays_left_out = replays(found, report.findings, options.cap)
    made.digests = [_digest(one) for one in found if one.name in kept]
    return made


def _settle(files: list[File], report: Report) -> None:
    """Call each session by the agent that the report calls it by: another file may have named it."""
    agents = {(one.file, one.session): one.agent for one in report.sessions}
    for file in files:
        for session in file.sessions:
            session.agent = agents.get((file.name, session.id), session.agent)


def assemble(
    report: Report,
    options: Options | None = None,
    terms: Terms | None = None,
    *,
    places: Places | None = None,
    errors: Errors | None = None,
    excerpts: bool = False,
) -> Incident:
    """Build the report without its figures, from what a scan found alone."""
    options = options or Options()
    grouped = groups(report.findings, places or {}, excerpts=excerpts)
    return Incident(
        tool=report.tool,
        title=_title(report),
        redacted=False,
        excerpts=excerpts,
        paragraph=paragraph(report, grouped),
        impact=impact(report, grouped, errors or Errors()),
        tracks=[],
        tracks_left_out=0,
        bars=[],
        groups=grouped,
        replays=[],
        replays_left_out=0,
        sessions=report.sessions,
        summary=report.summary,
        coverage=report.coverage,
        limits=_limits(report),
        remarks=[one.message for one in telling(report.remarks)],
        definitions=_definitions(grouped, options.options),
        options=_options(options, terms),
        digests=[],
    )


def _title(report: Report) -> str:
    agents = sorted({one.agent for one in report.sessions} or {one.agent for one in report.coverage.inputs})
    first, last = (span(time, time)[:10] for time in (report.summary.start, report.summary.end))
    when = f", {first}" + (f" to {last}" if last != first else "") if first else ""
    return f"Incident report: {', '.join(map(display, agents)) or 'nothing read'}{when}"


def _drafts(files: list[File], watches: Mapping[str, Watch], by_file: Mapping[str, list[Finding]]) -> list[Draft]:
    """Draw up the sessions and processes, each once though several files hold it."""
    views: list[View] = []
    for file in files:
        told = (one for one in by_file.get(file.name, []) if one.detector == "manual-continue")
        continues = {place for one in told for place in places_of(one)}
        for session in [*file.sessions, *([None] if file.host else [])]:
            drawn = draft(file, session, watches[file.name], continues)
            if drawn:
                views.append(View(drawn, file, session))
    return joined(views)


def _tracks(drafts: list[Draft], by_file: Mapping[str, list[Finding]], grouped: list[Group]) -> tuple[list[Track], int]:
    """Thin the drafts out for drawing; those with the worst findings come first, the last ones are left out."""
    rank = {case.finding.id: at for at, case in enumerate(case for group in grouped for case in group.cases)}
    anchors = {case.finding.id: case.anchor for group in grouped for case in group.cases}
    found: list[tuple[float, Track]] = []
    by_session: defaultdict[tuple[str, str | None], list[Finding]] = defaultdict(list)
    for name, findings in by_file.items():
        for finding in findings:
            by_session[name, finding.session].append(finding)
    for one in map(track, drafts):
        about = [f for name in one.files for f in by_session[name, one.session]]
        about.sort(key=lambda finding: rank[finding.id])
        one.refs = list(dict.fromkeys(anchors[finding.id] for finding in about))[:6]
        found.append((min((rank[finding.id] for finding in about), default=float("inf")), one))
    found.sort(key=lambda pair: (pair[0], pair[1].files[0], pair[1].start, pair[1].session or ""))
    tracks = [drawn for _, drawn in found[:MOST_TRACKS]]
    for number, one in enumerate(tracks, 1):
        one.anchor = f"session-{number}"
    return tracks, len(found) - len(tracks)


def _limits(report: Report) -> list[str]:
    limits = [f"{words[:1].upper()}{words[1:]}." for words in blind_spots(report.coverage)]
    if any(one.detector == "crash-loop" for one in report.findings):
        limits.append("Process exits are told beside compactions because they lie close in time. That is a"
                      " correlation: the log does not say why a process died.")  # fmt: skip
    if report.coverage.files and report.summary.cost is None:
        limits.append("These files record no cost, so nothing is said of it.")
    if report.summary.peak_ratio is None and report.summary.peak_context is not None:
        limits.append("The context window is not on record, so the context is not held against it (--cap sets it).")
    return limits


def _definitions(grouped: list[Group], options: Mapping[str, Mapping[str, Any]]) -> list[Definition]:
    known = detectors()
    names = sorted({group.detector for group in grouped} & known.keys())
    return [
        Definition(
            name=name,
            page=known[name].page,
            options={key: str(value) for key, value in {**known[name].options, **options.get(name, {})}.items()},
        )
        for name in names
    ]


def _options(options: Options, terms: Terms | None) -> dict[str, str]:
    given: dict[str, Any] = {"cap": options.cap, "now": iso(options.now)} if options.cap else {}
    if terms is not None:
        default = Terms()
        for name in ("min_severity", "since", "until"):
            if getattr(terms, name) != getattr(default, name):
                given[name.replace("_", "-")] = getattr(terms, name)
    if options.detectors is not None and set(options.detectors) != set(detectors()):
        given["select"] = ", ".join(options.detectors)
    return {name: str(value) for name, value in given.items() if value is not None}


def _digest(found: Found) -> Digest:
    digest = hashlib.sha256()
    try:
        with Path(found.path).open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except OSError:
        return Digest(path=found.name, sha256=None, bytes=found.bytes)
    return Digest(path=found.name, sha256=digest.hexdigest(), bytes=found.bytes)
