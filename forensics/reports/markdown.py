"""GitHub-flavoured Markdown for an issue or a job summary: every figure with its place, cut at GitHub's limit."""

from collections.abc import Iterator
from itertools import groupby

from forensics.detect import SEVERITIES, Finding
from forensics.remark import Remark
from forensics.reports import Style
from forensics.reports._words import (
    accepting,
    blind_spots,
    coverage_line,
    measures,
    places,
    remark,
    span,
    telling,
    totals_line,
)
from forensics.safe import markdown
from forensics.summary import Report

MOST = 65_000
"""Characters that GitHub takes in one comment are 65,536."""
_ROOM = 300
MOST_REMARKS = 50


def render(report: Report, _style: Style) -> str:
    """Write coverage, a table of detectors, the findings by session, and what could not be read."""
    parts = list(_head(report))
    room = MOST - _ROOM - sum(map(len, parts))
    findings = list(_findings(report.findings))
    left = 0
    for lines, text in findings:
        if len(text) > room or left:
            left += lines
            continue
        room -= len(text)
        parts.append(text)
    if left:
        parts.append(f"\n*{left:,} further findings are left out for GitHub's limit; `--format json` has them all.*\n")
    tail = "".join(_tail(report))
    if len(tail) <= room:
        parts.append(tail)
    elif report.coverage.skipped:
        parts.append(f"\n*{len(report.coverage.skipped):,} inputs were not read; `--format json` lists them.*\n")
    return "".join(parts)


def _head(report: Report) -> Iterator[str]:
    yield "# Forensics of agent sessions\n\n"
    yield f"{_sentence(coverage_line(report.coverage))}\n\n"
    if report.coverage.files:
        yield f"{_sentence(totals_line(report))}\n\n"
    yield "".join(f"> {markdown(one)}.\n\n" for one in blind_spots(report.coverage))
    yield f"**{markdown(report.summary.result.reason)}**\n\n"
    if report.summary.by_detector:
        yield "| detector | errors | warnings | notes |\n| --- | --: | --: | --: |\n"
        for name, counts in report.summary.by_detector.items():
            yield f"| {markdown(name)} | {' | '.join(f'{counts[severity]:,}' for severity in SEVERITIES)} |\n"
    yield from _remarks(telling(report.remarks))


def _remarks(remarks: list[Remark]) -> Iterator[str]:
    if remarks:
        yield "\n## Check\n\n"
        yield "".join(
            f"- {'**fails**: ' if one.fails else ''}{markdown(remark(one))}\n" for one in remarks[:MOST_REMARKS]
        )
        if len(remarks) > MOST_REMARKS:
            yield f"- and {len(remarks) - MOST_REMARKS:,} more\n"
    for command in accepting(remarks)[:MOST_REMARKS]:
        yield f"\nTo accept this: <code>{markdown(command)}</code>\n"


def _sentence(text: str) -> str:
    return markdown(text[:1].upper() + text[1:]) + "."


def _findings(findings: list[Finding]) -> Iterator[tuple[int, str]]:
    """Give (findings in it, text) pieces: a heading for each session, a list item for each finding."""
    order: dict[tuple[str, str | None], list[Finding]] = {}
    for one in findings:
        order.setdefault((one.file, one.session), []).append(one)
    for (file, session), group in order.items():
        name = f"session {session}" if session else "host process"
        yield 0, f"\n## {markdown(group[0].agent)}, {markdown(name)}\n\n{markdown(file)}\n\n"
        for _, same in groupby(group, key=lambda one: (one.severity, one.detector)):
            yield from ((1, _item(one)) for one in same)


def _item(one: Finding) -> str:
    where = f"{one.file}:{places(one)}"
    told = "; ".join(measures(one))
    time = span(one.start, one.end)
    state = "" if one.state == "new" else f" ({one.state})"
    more = "".join(f"  \n  {markdown(part)}" for part in (where, time, told) if part)
    return f"- **{one.severity}** {markdown(one.detector)}{state}: {markdown(one.message)}{more}\n"


def _tail(report: Report) -> Iterator[str]:
    skipped = report.coverage.skipped
    if skipped:
        yield "\n## Not read\n\n| input | why |\n| --- | --- |\n"
        yield from (f"| {markdown(one.path)} | {markdown(one.reason)} |\n" for one in skipped)
    bad = [(one.path, line) for one in report.coverage.inputs for line in one.malformed]
    if bad:
        yield "\n## Malformed lines\n\n| file | line | byte | why |\n| --- | --: | --: | --- |\n"
        yield from (f"| {markdown(p)} | {b.line:,} | {b.offset:,} | {markdown(b.reason)} |\n" for p, b in bad)
