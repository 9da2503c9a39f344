"""One screen for a person: what went wrong, where, how bad. Drawn with rich; no text is read as its markup."""

import io
import re
from collections import Counter
from collections.abc import Iterable

from rich.box import ASCII2, SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from forensics.detect import SEVERITIES, Basis, Finding, Severity
from forensics.reports import Style
from forensics.reports._words import (
    accepting,
    blind_spots,
    count,
    coverage_line,
    measures,
    places,
    remark,
    span,
    sparkline,
    telling,
    totals_line,
)
from forensics.safe import plain
from forensics.scan import SessionTotals
from forensics.summary import HELD_BY_LOCK, FailOn, Report

MOST_SESSIONS = 12
MOST_ALIKE = 6
MOST_SKIPPED = 5
MOST_REMARKS = 20
MOST_MEASURES = 8
_ROOM_FOR_LINES = 24
_FIGURES = re.compile(r"[\d.,]+")
MARKS: dict[Basis, str] = {"derived": "*", "inferred": " ~", "simulated": " ^"}
_COLORS: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def render(report: Report, style: Style) -> str:
    """Write coverage, totals, a table of detectors, the findings by session, and last the result."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=max(style.width, 30),
        force_terminal=style.color,
        color_system="standard" if style.color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    result = report.summary.result
    if style.failing is not None:
        shown = [one for one in report.findings if _fails(one, style.failing)]
        if not (shown or result.exit_code or any(one.fails for one in report.remarks)):
            return ""
        _sessions(console, shown, report, style)
        _remarks(console, report, style)
    else:
        known = [] if style.verbose else [one for one in report.findings if one.state == "baselined"]
        shown = [one for one in report.findings if style.verbose or one.state != "baselined"]
        _coverage(console, report, style)
        if shown:
            console.print(_detectors(shown if known else None, report, style))
        _sessions(console, shown, report, style)
        _known(console, known)
        _remarks(console, report, style)
        _hidden(console, report)
    color = "red" if result.exit_code else "green" if result.status == "clean" else "bold"
    console.print(_text(f"{result.reason} (exit {result.exit_code})", color), soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _fails(one: Finding, least: FailOn) -> bool:
    """Whether a finding makes a run fail: it got worse, or nothing accepts it and it is grave enough."""
    grave = least != "never" and SEVERITIES.index(one.severity) <= SEVERITIES.index(least)
    return one.state == "worse" or (one.state == "new" and grave)


def _known(console: Console, findings: list[Finding]) -> None:
    """Count by detector what a baseline and what locks hold."""
    counts: dict[str, Counter[str]] = {}
    for one in findings:
        counts.setdefault(_holder(one), Counter())[one.detector] += 1
    for holder, by_detector in sorted(counts.items()):
        told = ", ".join(f"{number:,} {name}" for name, number in sorted(by_detector.items()))
        console.print(_text(f"known to the {holder}: {told} (-v shows them)", "dim"))


def _holder(one: Finding) -> str:
    return "lock" if one.reason == HELD_BY_LOCK else "baseline"


def _text(words: str, style: str = "") -> Text:
    return Text(plain(words), style=style)


def _coverage(console: Console, report: Report, style: Style) -> None:
    coverage = report.coverage
    console.print(_text(coverage_line(coverage), "bold"))
    if coverage.files:
        console.print(_text(totals_line(report)))
    for copies in report.summary.copies if style.verbose else ():
        console.print(_text(f"session {copies.session} counted once: {copies.file}, also {', '.join(copies.others)}"))
    if report.summary.copies and not style.verbose:
        console.print(
            _text(f"{count(len(report.summary.copies), 'session')} in several files counted once (-v: which)")
        )
    bound = {(one.agent, one.session, one.began is not None) for one in report.sessions if one.bound}
    for name, kind, forked in (("a lower", "session", False), ("an upper", "fork", True)):
        if many := sum(one[2] is forked for one in bound):
            words = f"the totals are {name} bound: {count(many, kind)} in files too large to be read twice"
            console.print(_text(words, "yellow"))
    for sentence in blind_spots(coverage):
        console.print(_text(sentence, "dim"))
    missed = [one for one in coverage.skipped if style.verbose or one.kind not in {"same", "excluded"}]
    lines = [f"not read: {one.path}: {one.reason}" for one in missed]
    lines += [f"malformed: {one.path}:{bad.line}: {bad.reason}" for one in coverage.inputs for bad in one.malformed]
    _cut(console, lines, MOST_SKIPPED, style, "yellow")


def _cut(console: Console, lines: list[str], most: int, style: Style, color: str = "") -> None:
    shown = lines if style.verbose else lines[:most]
    for line in shown:
        console.print(_text(line, color))
    if len(shown) < len(lines):
        console.print(_text(f"and {len(lines) - len(shown):,} more (use --format json)", "dim"))


def _detectors(findings: list[Finding] | None, report: Report, style: Style) -> Table:
    """Count these findings, or all that the report counts, by detector and severity."""
    counted_ = report.summary.by_detector if findings is None else _counts(findings)
    table = Table(box=ASCII2 if style.ascii else SIMPLE, pad_edge=False, header_style="bold")
    table.add_column("detector", overflow="fold")
    for severity in SEVERITIES:
        table.add_column(f"{severity}s", justify="right")
    by_weight = sorted(counted_.items(), key=lambda item: [-item[1][s] for s in SEVERITIES])
    for name, counts in by_weight:
        table.add_row(_text(name), *(_number(counts[severity], severity) for severity in SEVERITIES))
    return table


def _counts(findings: list[Finding]) -> dict[str, dict[Severity, int]]:
    found: dict[str, dict[Severity, int]] = {}
    for one in findings:
        found.setdefault(one.detector, dict.fromkeys(SEVERITIES, 0))[one.severity] += 1
    return found


def _number(number: int, severity: Severity) -> Text:
    return Text(f"{number:,}", style=_COLORS[severity] if number else "dim")


def _sessions(console: Console, listed: list[Finding], report: Report, style: Style) -> None:
    totals = {(one.agent, one.session, one.file): one for one in report.sessions}
    groups: dict[tuple[str, str | None, str], list[Finding]] = {}
    for one in listed:
        groups.setdefault((one.agent, one.session, one.file), []).append(one)
    shown = list(groups.items()) if style.verbose else list(groups.items())[:MOST_SESSIONS]
    for (agent, session, file), findings in shown:
        _title(console, findings[0], totals.get((agent, session or "", file)), style)
        alike: dict[tuple[Severity, str], list[Finding]] = {}
        for one in findings:
            alike.setdefault((one.severity, one.detector), []).append(one)
        for group in alike.values():
            _alike(console, group, style)
        console.print()
    if len(shown) < len(groups):
        left = [one for findings in list(groups.values())[len(shown) :] for one in findings]
        sessions = {(one.agent, one.session) for one in left if one.session is not None}
        where = f" in {count(len(sessions), 'session')}" if sessions else ""
        words = f"and {count(len(left), 'more finding')}{where}"
        console.print(_text(f"{words} (use --format json)\n", "dim"))
    known = {one.bases.get(name) for one in listed for name, value in one.measures.items() if value is not None}
    used = [basis for basis in MARKS if basis in known]
    if used:
        console.print(_text(", ".join(f"{MARKS[basis].strip()} {basis}" for basis in used), "dim"))


def _title(console: Console, first: Finding, totals: SessionTotals | None, style: Style) -> None:
    version = f" {totals.version}" if totals and totals.version else ""
    name = f"session {first.session}" if first.session else "host process"
    console.print(_text(f"{first.agent}{version}, {name}", "bold underline"))
    if not _fits(first, style):
        _indented(console, [first.file], "dim", 2)
    if totals is None:
        return
    when = span(totals.start, totals.end)
    if when:
        console.print(_text(f"  {when} UTC", "dim"))
    if totals.peak_context is not None:
        drawn = sparkline(totals.contexts, totals.cap, width=style.width // 3, ascii_only=style.ascii)
        known = f"{totals.peak_context:,}{_held(totals.peak_context, totals)}"
        refused = totals.refused_context
        more = f" (refused: {refused:,})" if refused is not None and refused > totals.peak_context else ""
        _indented(console, [f"{drawn} context peak {known}{more}"], "blue", 2)


def _held(peak: int, totals: SessionTotals) -> str:
    """Hold the peak against the window; where another window was fuller, say how full that was."""
    cap, ratio = totals.cap, totals.peak_ratio
    if not cap or ratio is None:
        return " tokens"
    if ratio == round(peak / cap, 4):
        return f" of {cap:,} tokens ({ratio:.2f} x, {totals.cap_source})"
    return f" tokens, at most {ratio:.2f} x the window in force ({cap:,}, {totals.cap_source})"


def _alike(console: Console, findings: list[Finding], style: Style) -> None:
    first = findings[0]
    many = f" x {len(findings)}" if len(findings) > 1 else ""
    console.print(_text(f"  {first.severity.upper()} {first.detector}{many}", _COLORS[first.severity]))
    shown = findings if style.verbose else findings[:MOST_ALIKE]
    told: set[str] = set()
    for one in shown:
        kind = _FIGURES.sub("", one.message)
        _finding(console, one, style, told=kind in told and not style.verbose)
        told.add(kind)
    if len(shown) < len(findings):
        console.print(_text(f"    and {len(findings) - len(shown):,} more (use --format json)", "dim"))


def _finding(console: Console, one: Finding, style: Style, *, told: bool) -> None:
    """Print a finding; `told`: its sentence stands above, with other figures."""
    name = one.file if _fits(one, style) else f".../{one.file.rsplit('/', 1)[-1]}"
    place = f"{name}:{places(one, 12 if style.verbose else 6)}"
    _indented(console, [f"{place}  {span(one.start, one.end)}"], "bold", 4)
    if not told:
        _indented(console, [one.message], "", 6)
    figures = list(measures(one, MARKS))
    shown = figures if style.verbose else figures[:MOST_MEASURES]
    state = [] if one.state == "new" else [f"known to the {_holder(one)}" if one.state == "baselined" else one.state]
    doubt = [] if one.confidence == "high" else [f"{one.confidence} confidence"]
    _indented(console, [*state, *doubt, *shown], "dim", 6)
    if one.also:
        others = one.also if style.verbose else one.also[:2]
        more = f" and {len(one.also) - len(others)} more" if len(others) < len(one.also) else ""
        _indented(console, [f"also in {', '.join(others)}{more}"], "dim", 6)
    if style.verbose:
        _indented(console, [f"id {one.id}"], "dim", 6)


def _fits(one: Finding, style: Style) -> bool:
    """Whether the file's whole path leaves room for lines beside it."""
    return len(plain(one.file)) + _ROOM_FOR_LINES <= style.width


def _indented(console: Console, parts: Iterable[str], color: str, by: int) -> None:
    words = ", ".join(part for part in parts if part).strip()
    if not words:
        return
    lines = _text(words, color).wrap(console, max(console.width - by, 20))
    for line in lines:
        console.print(Text(" " * by) + line)


def _remarks(console: Console, report: Report, style: Style) -> None:
    shown = report.remarks if style.verbose else telling(report.remarks)
    if style.failing is not None:
        shown = [one for one in shown if one.fails]
    for fails, color in ((True, "bold red"), (False, "dim")):
        _cut(console, [remark(one) for one in shown if one.fails is fails], MOST_REMARKS, style, color)
    for command in accepting(shown):
        console.print(_text(f"to accept this: {command}"), soft_wrap=True)


def _hidden(console: Console, report: Report) -> None:
    hidden = report.summary.hidden
    if hidden.by_severity:
        console.print(_text(f"{count(hidden.by_severity, 'finding')} below --min-severity not shown", "dim"))
    if hidden.by_other_file:
        words = (
            f"{count(hidden.by_other_file, 'stall')} at a file's end not shown: another file has the session going on"
        )
        console.print(_text(words, "dim"))
    if hidden.by_time:
        console.print(_text(f"{count(hidden.by_time, 'finding')} outside --since and --until not shown", "dim"))
