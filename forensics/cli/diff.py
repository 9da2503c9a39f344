"""The command that compares before and after."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli import _common, _options
from forensics.cli._common import Color, Quiet, Strict, Verbose
from forensics.config import Settings, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forensics.checking.lock import Difference
    from forensics.checking.sides import Side
    from forensics.cli._scanning import Gathered
    from forensics.inputs import Found

FORMATS = ("table", "json", "markdown")
_WHAT = "A file, a folder, a glob, or what `scan --format json` wrote."


def diff(  # noqa: PLR0917  (the options of the command)
    before: Annotated[str, typer.Argument(metavar="BEFORE", help=_WHAT)],
    after: Annotated[str, typer.Argument(metavar="AFTER", help=_WHAT)],
    format_: Annotated[
        str, typer.Option("--format", "-f", metavar="FORMAT", help="table, json or markdown.")
    ] = "table",
    select: _options.Select = None,
    ignore: _options.Ignored = None,
    cap: _options.Cap = None,
    set_: _options.Set = None,
    strict: Strict = None,
    now: _options.Now = None,
    redact: _options.Redact = None,
    jobs: _options.Jobs = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Compare sessions before and after a release: what is better, what is worse, and how sure that is.

    Rates stand with their denominators and 95 % intervals, by version of the agent where the files say it. Findings
    of sessions that both sides have are compared one by one, and so are recordings that share a session or have the
    same path within both folders.

    Exit codes: 0 compared, 2 wrong usage or internal error, 3 nothing was recognised on a side, 4 incomplete and
    --strict, 130 interrupted.
    """
    if format_ not in FORMATS:
        raise UsageError(f"--format: {format_!r} does not fit; give one of {', '.join(FORMATS)}")
    asked = _options.asked_of(
        {
            "select": select, "ignore": ignore, "cap": cap, "strict": strict, "now": now, "redact": redact,
            "jobs": jobs, "quiet": quiet, "verbose": verbose, "color": color,
        },
        set_,
    )  # fmt: skip
    from forensics.checking.diff import compare  # noqa: PLC0415  (not needed for --help)
    from forensics.reports import Style, _diff  # noqa: PLC0415
    from forensics.reports.json import encode  # noqa: PLC0415

    hide = asked.get("redact", format_ == "markdown")
    sides = [_side(one, asked, hide=hide) for one in (before, after)]
    structures, told = _structures((before, after), sides[0][1], sides[1][1])
    made = compare(sides[0][0], sides[1][0], structures, told)
    if format_ == "json":
        _common.write((encode(made, indent=2) + "\n").encode())
    elif format_ == "markdown":
        _common.write(_diff.markdown(made).encode())
    else:
        style = Style(
            width=_common.width_of(sys.stdout),
            color=_common.color_wanted(asked.get("color"), sys.stdout),
            verbose=bool(asked.get("verbose")),
            ascii=not _common.encodes("▁█│─", sys.stdout),
        )
        _common.write(_diff.table(made, style))
    if format_ != "table" and not asked.get("quiet"):
        _common.complain(f"{made.result.reason} (exit {made.result.exit_code})", "result")
    _common.finish(made.result.exit_code)


def _side(given: str, asked: Settings, *, hide: bool) -> "tuple[Side, Gathered | None]":
    from forensics.checking.sides import is_document, of_document, of_report  # noqa: PLC0415
    from forensics.cli import _scanning  # noqa: PLC0415  (not needed for --help)
    from forensics.redact import redacted  # noqa: PLC0415
    from forensics.summary import Terms, summarise  # noqa: PLC0415

    if is_document(Path(given)):
        return of_document(Path(given)), None
    found = _scanning.gather([given], asked, repeatable=True)
    report = summarise(
        found.results, found.skipped, Terms(strict=asked.get("strict", False)), found.options.detectors or ()
    )
    if not report.coverage.files:
        _common.tell_unread(report.coverage.skipped)
    return of_report(given, redacted(report, Path.cwd().as_posix()) if hide else report), found


def _structures(
    names: tuple[str, str], before: "Gathered | None", after: "Gathered | None"
) -> "tuple[list[tuple[str, Difference]], list[str]]":
    """Compare recordings of the same session or place, as locks do, and say of which pairs that means little.

    Two single files are compared whatever they are, but for recordings of different agents: they share no structure.
    """
    if before is None or after is None:
        return [], []
    from forensics.check import structure  # noqa: PLC0415  (not needed for --help)
    from forensics.checking.lock import compare  # noqa: PLC0415

    found: list[tuple[str, Difference]] = []
    told: list[str] = []
    for name, one, other in _pairs((names[0], before), (names[1], after)):
        held = _held(before).get(one.name, set()), _held(after).get(other.name, set())
        pair = f"{one.path.name} ({_agents(held[0])}) and {other.path.name} ({_agents(held[1])})"
        if held[0] and held[1] and not {agent for agent, _ in held[0]} & {agent for agent, _ in held[1]}:
            told.append(f"{pair} are recordings of different agents: not compared as recordings of one thing")
            continue
        if held[0] and held[1] and not held[0] & held[1] and one.path.name != other.path.name:
            told.append(f"{pair} share no session: compared as two recordings of one thing, called {name}")
        was, now = structure(one, before.options), structure(other, after.options)
        if was and now:
            found += [(name, difference) for difference in compare(was[0], now[0])]
    return found, told


def _agents(held: set[tuple[str, str]]) -> str:
    return ", ".join(sorted({agent for agent, _ in held}))


def _pairs(before: "tuple[str, Gathered]", after: "tuple[str, Gathered]") -> "Iterator[tuple[str, Found, Found]]":
    """Pair files that alone share a session with each other; else those of the same path within both folders."""
    if len(before[1].files) == len(after[1].files) == 1:
        yield before[1].files[0].path.name, before[1].files[0], after[1].files[0]
        return
    old, new = _placed(*before), _placed(*after)
    holders = _holders(after[1], new)
    shared = {
        place: {other for one in held for other in holders.get(one, ())}
        for place, held in _sessions(before[1], old).items()
    }
    wanted = Counter(other for others in shared.values() for other in others)
    found = {
        place: other for place, others in shared.items() if len(others) == 1 for other in others if wanted[other] == 1
    }
    taken = set(found.values())
    found |= {place: place for place in old.keys() & new.keys() if place not in found and place not in taken}
    yield from ((place, old[place], new[found[place]]) for place in sorted(found))


def _placed(given: str, side: "Gathered") -> "dict[str, Found]":
    """Give the files by their path within the folder that was given; of a glob, within the folder that holds all."""
    if not side.files:
        return {}
    where = [one.path.absolute() for one in side.files]
    root = Path(given).absolute() if Path(given).is_dir() else Path(os.path.commonpath([one.parent for one in where]))
    return {
        (path.relative_to(root) if path.is_relative_to(root) else path).as_posix(): one
        for path, one in zip(where, side.files, strict=True)
    }


def _sessions(side: "Gathered", placed: "dict[str, Found]") -> dict[str, set[tuple[str, str]]]:
    """Give the agents' sessions that each file holds, by its path."""
    held = _held(side)
    return {place: held.get(one.name, set()) for place, one in placed.items()}


def _held(side: "Gathered") -> dict[str, set[tuple[str, str]]]:
    """Give the agents' sessions by the name of the file that holds them."""
    held: dict[str, set[tuple[str, str]]] = {}
    for result in side.results:
        for one in result.sessions:
            held.setdefault(one.file, set()).add((one.agent, one.session))
    return held


def _holders(side: "Gathered", placed: "dict[str, Found]") -> dict[tuple[str, str], set[str]]:
    """Give the paths of the files that hold each session."""
    found: dict[tuple[str, str], set[str]] = {}
    for place, held in _sessions(side, placed).items():
        for one in held:
            found.setdefault(one, set()).add(place)
    return found
