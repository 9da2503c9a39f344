"""The command that shows where agents keep their sessions on this machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from forensics.cli import _common
from forensics.cli._places import Holding, Place, look, places
from forensics.config import UsageError
from forensics.reports._words import count, minute, size
from forensics.reports.json import encode
from forensics.safe import plain
from forensics.times import iso


def discover(
    format_: Annotated[str, typer.Option("--format", "-f", metavar="FORMAT", help="table or json.")] = "table",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the places too where there is nothing.")
    ] = False,
) -> None:
    """Show where each agent keeps its sessions and logs on this machine, and what is there."""
    found = [(place, look(place)) for place in places(os.environ, Path.home())]
    if format_ == "json":
        _common.write(encode({"places": [_json(*one) for one in found]}, indent=2) + "\n")
    elif format_ == "table":
        _common.write(_table(found, verbose=verbose))
    else:
        raise UsageError(f"--format: {format_!r} does not fit; give table or json")


def _json(place: Place, holding: Holding | None) -> dict[str, object]:
    return {
        "agent": place.agent,
        "what": place.what,
        "path": place.root.as_posix(),
        "patterns": list(place.patterns),
        "exists": holding is not None,
        "files": holding.files if holding else 0,
        "bytes": holding.bytes if holding else 0,
        "newest": iso(holding.newest) if holding else None,
    }


def _table(found: list[tuple[Place, Holding | None]], *, verbose: bool) -> str:
    filled = [(place, held) for place, held in found if held and held.files]
    lines = [
        f"{place.agent} {place.what}: {count(held.files, 'file')}, {size(held.bytes)}, last {minute(held.newest)} UTC\n"
        f"  {place.root}"
        for place, held in filled
    ]
    empty = [place for place, held in found if not (held and held.files)]
    if verbose:
        lines += [f"{place.agent} {place.what}: nothing in {place.root}" for place in empty]
    if not filled:
        agents = len({place.agent for place, _ in found})
        lines.append(f"no sessions found in {count(len(found), 'place')} of {count(agents, 'agent')} (-v shows them)")
    elif not verbose:
        lines.append(f"{count(len(empty), 'other place')} with nothing (-v shows them)")
    return "".join(f"{plain(part)}\n" for line in lines for part in line.split("\n"))
