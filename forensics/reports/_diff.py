"""A comparison as text for the screen and as Markdown for a pull request."""

import io
from collections.abc import Iterator

from rich.box import ASCII2, SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from forensics.checking.diff import TOLD
from forensics.checking.difference import Diff, Figure, Group, Part
from forensics.rates import Interval
from forensics.reports import Style
from forensics.reports._words import count, duration
from forensics.safe import markdown as escaped
from forensics.safe import plain

MOST = 20
_COLORS = {"better": "green", "worse": "bold red", "unclear": "", "unknown": "dim"}
Row = list[str]


def table(diff: Diff, style: Style) -> str:
    """Write one screen: the rates, the detectors, the versions, what changed, and last the answer."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=max(style.width, 40),
        force_terminal=style.color,
        color_system="standard" if style.color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(Text(plain(_head(diff)), style="bold"))
    for title, header, rows in _tables(diff):
        console.print(Text(f"\n{title}"))
        console.print(_grid(header, rows, style))
    console.print()
    for answer in _answers(diff):
        console.print(Text(plain(answer)))
    lines = list(_lines(diff))
    shown = lines if style.verbose else lines[:MOST]
    for line in shown:
        console.print(Text(plain(line)))
    if len(shown) < len(lines):
        console.print(Text(f"and {len(lines) - len(shown):,} more (use --format json)", style="dim"))
    for note in diff.notes:
        console.print(Text(plain(f"note: {note}"), style="dim"))
    console.print(Text(plain(f"{diff.result.reason} (exit {diff.result.exit_code})"), style="bold"), soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _grid(header: Row, rows: list[Row], style: Style) -> Table:
    grid = Table(box=ASCII2 if style.ascii else SIMPLE, pad_edge=False, header_style="bold")
    for name in header:
        grid.add_column(name, overflow="fold")
    for row in rows:
        color = _COLORS.get(row[-1], "")
        grid.add_row(*(Text(plain(cell)) for cell in row[:-1]), Text(plain(row[-1]), style=color))
    return grid


def markdown(diff: Diff) -> str:
    """Write a comment for a pull request."""
    parts = [f"# Forensics: before and after\n\n{escaped(_head(diff))}\n\n**{escaped(diff.result.reason)}**\n"]
    for title, header, rows in _tables(diff):
        parts.append(f"\n## {escaped(title)}\n\n| {' | '.join(header)} |\n|{' --- |' * len(header)}\n")
        parts += [f"| {' | '.join(escaped(cell) for cell in row)} |\n" for row in rows]
    answers = list(_answers(diff))
    if answers:
        parts.append("\n## Did the release fix it?\n\n")
        parts += [f"- {escaped(answer)}\n" for answer in answers]
    lines = list(_lines(diff))
    if lines:
        parts.append("\n## Changes\n\n")
        parts += [f"- {escaped(line)}\n" for line in lines[: 3 * MOST]]
        if len(lines) > 3 * MOST:
            parts.append(f"- and {len(lines) - 3 * MOST:,} more\n")
    parts += [f"\n> {escaped(note)}\n" for note in diff.notes]
    return "".join(parts)


def _head(diff: Diff) -> str:
    sides = zip(("before", "after"), (diff.before, diff.after), diff.files, diff.sessions, strict=True)
    return "; ".join(
        f"{when}: {name} ({count(files, 'file')}, {count(many, 'session')})" for when, name, files, many in sides
    )


def _tables(diff: Diff) -> Iterator[tuple[str, Row, list[Row]]]:
    header = ["", "before", "after", "change (95 %)", ""]
    yield "Rates", header, [_row(one) for one in diff.figures]
    if diff.detectors:
        yield "Sessions with a finding", header, [_row(one) for one in diff.detectors]
    if diff.groups:
        names = [one.name for one in diff.groups[0].figures]
        yield "By version", ["version", "sessions", *names], [_version(one) for one in diff.groups]


def _row(one: Figure) -> Row:
    return [one.name, _part(one, one.before), _part(one, one.after), _change(one), one.judgement]


def _answers(diff: Diff) -> Iterator[str]:
    """Say of each thing that was seen whether it is fixed; the detectors that no figure tells of come last."""
    seen = [one for one in (*diff.figures, *diff.detectors) if one.before.hits or one.after.hits]
    yield from (f"{one.name}: {one.answer}" for one in seen if one.name not in TOLD)


def _part(one: Figure, part: Part) -> str:
    """Give a figure with its denominator and its interval, and what is not known of it."""
    dark = f"; {part.unknown:,} unknown" if part.unknown else ""
    if part.value is None:
        return f"nothing to count{dark}"
    if one.unit == "seconds":
        low = "" if part.interval is None else f" ({duration(part.interval[0])} to {duration(part.interval[1])})"
        return f"{duration(part.value)} a session{low}, {count(part.sessions, 'session')}{dark}"
    return f"{part.hits:,.0f} of {part.tries:,} {one.of} = {part.value:.0%}{_interval(part.interval)}{dark}"


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f" ({interval[0]:.0%} to {interval[1]:.0%})"


def _change(one: Figure) -> str:
    if one.change is None:
        return "-"
    if one.unit == "seconds":
        return " to ".join(f"{'-' if end < 0 else '+'}{duration(abs(end))}" for end in one.change)
    return " to ".join(f"{end:+.0%}" for end in one.change)


def _version(group: Group) -> Row:
    name = f"{group.agent} {group.version or 'of unknown version'}"
    sides = [f"{many:,} {when}" for many, when in zip(group.sessions, ("before", "after"), strict=True) if many]
    return [name, ", ".join(sides), *(_short(one) for one in group.figures)]


def _short(one: Figure) -> str:
    parts = [part for part in (one.before, one.after) if part.value is not None]
    if one.unit == "seconds":
        return " -> ".join(duration(part.value or 0) for part in parts) or "-"
    return " -> ".join(f"{part.hits:,.0f} of {part.tries:,}{_interval(part.interval)}" for part in parts) or "-"


def _lines(diff: Diff) -> Iterator[str]:
    """Give the changes one by one: of sessions on both sides, then of recordings on both sides."""
    if diff.common:
        yield f"{count(diff.common, 'session')} on both sides, {count(len(diff.changes), 'change')} of findings"
    for one in diff.changes:
        where = f" (session {one.session})" if one.session else ""
        yield f"{one.change}: {one.severity} {one.detector}: {one.message}{where}"
    for other in diff.structures:
        yield f"{other.change}: {other.file}: {other.name}: {other.message}"
