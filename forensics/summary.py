"""Put the results of many files together: each finding and each session once, one verdict for line and exit code."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

import forensics
from forensics import again, forks
from forensics.agents import settled
from forensics.detect import SEVERITIES, Finding, Severity
from forensics.merge import Merger
from forensics.outcome import Coverage, FailOn, Status, Terms, Verdict, counted, verdict
from forensics.remark import Remark
from forensics.scan import Compactions, Input, Result, SessionTotals, Skipped
from forensics.totals import Copies, Figures, overlaps, totals

__all__ = [
    "SCHEMA_VERSION",
    "Coverage",
    "FailOn",
    "Hidden",
    "Mark",
    "Marked",
    "Report",
    "Status",
    "Summary",
    "Terms",
    "Tool",
    "Verdict",
    "counted",
    "order",
    "summarise",
    "verdict",
    "without_companions",
]

SCHEMA_VERSION = 1
HELD_BY_LOCK = "the lock of the recording holds it"
HELD_BY_BASELINE = "the baseline holds it"
"""Why a finding is `baselined`, where no person gave a reason."""


class Tool(msgspec.Struct, kw_only=True):
    """What made the report."""

    name: str = "forensics"
    version: str = forensics.__version__


class Hidden(msgspec.Struct, kw_only=True):
    """Findings that were left out, and what left them out."""

    by_severity: int = 0
    by_time: int = 0
    by_other_file: int = 0
    """Stalls at a file's end that another file of the session shows going on; they stand in `suppressed`."""


class Summary(msgspec.Struct, kw_only=True):
    """Totals over everything read, copies counted once. A null is unknown."""

    result: Verdict
    findings: int
    by_severity: dict[Severity, int]
    by_detector: dict[str, dict[Severity, int]]
    hidden: Hidden
    sessions: int
    copies: list[Copies]
    start: int | None
    end: int | None
    prompts: int | None
    replies: int | None
    errors: dict[str, int] | None
    length_stops: int | None
    aborted: int | None
    compactions: Compactions
    manual_continues: int | None
    peak_context: int | None
    peak_ratio: float | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost: float | None
    waiting_seconds: float | None


class Report(msgspec.Struct, kw_only=True):
    """Everything that a scan says. `sessions` and `findings` are in their total order."""

    schema_version: int = SCHEMA_VERSION
    tool: Tool
    coverage: Coverage
    summary: Summary
    sessions: list[SessionTotals]
    findings: list[Finding]
    suppressed: list[Finding] = []
    detectors: list[str] = []
    """The detectors that ran."""
    remarks: list[Remark] = []
    """What a check says beyond the findings, sorted: those that fail first."""


class Marked(NamedTuple):
    """Findings with their states set, those that are suppressed, and what else there is to say."""

    findings: list[Finding]
    suppressed: list[Finding]
    remarks: list[Remark]


Mark = Callable[[list[Finding], list[SessionTotals]], Marked]
"""Holds all findings and sessions, each once and before any filter, against a baseline, suppressions, expectations."""


def summarise(
    results: Iterable[Result],
    skipped: Sequence[Skipped] = (),
    terms: Terms | None = None,
    detectors: Sequence[str] = (),
    mark: Mark | None = None,
) -> Report:
    """Put the results together. Neither their order nor that of `skipped` matters."""
    terms = terms or Terms()
    kept = settled(without_companions(results))
    again.trace(kept)
    inputs = sorted((one.input for one in kept if one.input), key=lambda one: one.path)
    passed = sorted((*skipped, *(one.skipped for one in kept if one.skipped)), key=lambda one: (one.path, one.reason))
    sessions = sorted((s for one in kept for s in one.sessions), key=lambda s: (s.file, s.start or 0, s.session))
    merger = Merger(sessions, {one.path: one.parser for one in inputs})
    found, refuted = merger.merge([finding for one in kept for finding in one.findings])
    found = forks.once(found, sessions)
    hidden = Hidden(by_other_file=len(refuted))
    marked = mark(sorted(found, key=order), forks.own(sessions)) if mark else Marked(found, [], [])
    remarks = sorted(marked.remarks, key=_remark_order)
    findings = sorted((one for one in marked.findings if _shown(one, terms, hidden)), key=order)
    sessions = [one for one in sessions if _within(one.start, one.end, terms)]
    coverage = _coverage(_noted(inputs, sessions), passed)
    return Report(
        tool=Tool(),
        coverage=coverage,
        summary=_summary(coverage, sessions, findings, hidden, verdict(coverage, findings, terms, remarks)),
        sessions=sessions,
        findings=findings,
        suppressed=sorted([*refuted, *marked.suppressed], key=order),
        detectors=sorted(detectors),
        remarks=remarks,
    )


def order(finding: Finding) -> tuple[int, str, int, str, str, int]:
    """Sort findings: the worst first, then by place. Total: equal keys mean equal findings."""
    first = finding.lines[0] if finding.lines else 0
    rank = SEVERITIES.index(finding.severity)
    return rank, finding.file, first, finding.detector, finding.id, finding.start or 0


def _remark_order(one: Remark) -> tuple[bool, str, str, str, str, str]:
    return not one.fails, one.topic, one.file or "", one.name, one.session or "", one.message


def without_companions(results: Iterable[Result]) -> list[Result]:
    """Leave out the files that another one was read together with."""
    ordered = sorted(results, key=_path)
    read: set[Path] = set()
    for one in ordered:
        if one.input and Path(one.input.path).absolute() not in read:
            read.update(Path(path).absolute() for path in one.input.companions)
    return [one for one in ordered if Path(_path(one)).absolute() not in read] if read else ordered


def _path(result: Result) -> str:
    return result.input.path if result.input else result.skipped.path if result.skipped else ""


def _shown(finding: Finding, terms: Terms, hidden: Hidden) -> bool:
    if not _within(finding.start, finding.end, terms):
        hidden.by_time += 1
        return False
    if SEVERITIES.index(finding.severity) > SEVERITIES.index(terms.min_severity):
        hidden.by_severity += 1
        return False
    return True


def _within(start: int | None, end: int | None, terms: Terms) -> bool:
    """Whether something overlaps the time asked for; what has no time is never left out."""
    after = terms.since is None or end is None or end >= terms.since
    return after and (terms.until is None or start is None or start <= terms.until)


def _noted(inputs: list[Input], sessions: list[SessionTotals]) -> list[Input]:
    """Say in which files rows are that other files hold too, in part."""
    told: defaultdict[str, list[str]] = defaultdict(list)
    for file, note in (*forks.notes(sessions), *overlaps(sessions, {one.path: one.parser for one in inputs})):
        told[file].append(note)
    return [msgspec.structs.replace(one, notes=[*one.notes, *told[one.path]]) for one in inputs]


def _coverage(inputs: list[Input], skipped: list[Skipped]) -> Coverage:
    lines = [one.lines for one in inputs if one.lines is not None]
    return Coverage(
        files=len(inputs),
        bytes=sum(one.bytes for one in inputs),
        lines=sum(lines) if lines or not inputs else None,
        records=sum(one.records for one in inputs),
        malformed=sum(len(one.malformed) for one in inputs),
        duplicates=sum(one.duplicates for one in inputs),
        salvaged=sum(one.salvaged for one in inputs),
        unrecognised=sum(one.kind == "unrecognised" for one in skipped),
        unreadable=sum(one.kind == "unreadable" for one in skipped),
        skipped=skipped,
        inputs=inputs,
    )


def _summary(
    coverage: Coverage, sessions: list[SessionTotals], findings: list[Finding], hidden: Hidden, result: Verdict
) -> Summary:
    figures, copies = totals(forks.own(sessions), {one.path: one.parser for one in coverage.inputs})
    errors = {name.removeprefix("errors."): int(n) for name, n in figures.items() if name.startswith("errors.")}
    by_detector: dict[str, dict[Severity, int]] = {}
    for one in findings:
        counts = by_detector.setdefault(one.detector, dict.fromkeys(SEVERITIES, 0))
        counts[one.severity] += 1
    by_severity = {severity: sum(one.severity == severity for one in findings) for severity in SEVERITIES}
    return Summary(
        result=result,
        findings=len(findings),
        by_severity=by_severity,
        by_detector=dict(sorted(by_detector.items())),
        hidden=hidden,
        sessions=len({(one.agent, one.session) for one in sessions}),
        copies=copies,
        start=min((one.start for one in sessions if one.start is not None), default=None),
        end=max((one.end for one in sessions if one.end is not None), default=None),
        prompts=_whole(figures, "prompts", empty=not sessions),
        replies=_whole(figures, "replies", empty=not sessions),
        errors=dict(sorted(errors.items()))
        if errors or not sessions or any(one.errors is not None for one in sessions)
        else None,
        length_stops=_whole(figures, "length_stops", empty=not sessions),
        aborted=_whole(figures, "aborted", empty=not sessions),
        compactions=_compactions(figures, empty=not sessions),
        manual_continues=_whole(figures, "manual_continues"),
        peak_context=max((one.peak_context for one in sessions if one.peak_context is not None), default=None),
        peak_ratio=max((one.peak_ratio for one in sessions if one.peak_ratio is not None), default=None),
        input_tokens=_whole(figures, "input_tokens"),
        cached_tokens=_whole(figures, "cached_tokens"),
        output_tokens=_whole(figures, "output_tokens"),
        cost=round(figures["cost"], 9) if "cost" in figures else None,
        waiting_seconds=figures.get("waiting_seconds"),
    )


def _compactions(figures: Figures, *, empty: bool) -> Compactions:
    names = [field.name for field in msgspec.structs.fields(Compactions)]
    found = {name: None if (n := figures.get(f"compactions.{name}")) is None else int(n) for name in names}
    return Compactions() if empty else Compactions(**found)


def _whole(figures: Figures, name: str, *, empty: bool = False) -> int | None:
    return int(figures[name]) if name in figures else 0 if empty else None
