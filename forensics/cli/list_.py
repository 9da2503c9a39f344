"""The command that lists the parsers, detectors and policies."""

import sys
from typing import Annotated

import typer

from forensics.cli import _common
from forensics.cli._fit import fit
from forensics.cli._plugins import FOLDERS, Page, pages
from forensics.config import UsageError, nearest
from forensics.reports.json import encode


def list_(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="parsers, detectors or policies; all when not given.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", "-f", metavar="FORMAT", help="table or json.")] = "table",
) -> None:
    """List what this program can read, detect and replay, a line each."""
    if kind is not None and kind not in FOLDERS:
        raise UsageError(f"list: unknown kind {kind!r}; {nearest(kind, FOLDERS)}")
    shown = {name: found for name, found in pages().items() if kind in {None, name}}
    if format_ == "json":
        content = {name: [{"name": one.name, "summary": one.summary} for one in found] for name, found in shown.items()}
        _common.write(encode(content, indent=2) + "\n")
    elif format_ == "table":
        table = "\n".join(_table(name, found) for name, found in shown.items())
        _common.write(fit(table, _common.narrow(sys.stdout), headed=False))
    else:
        raise UsageError(f"--format: {format_!r} does not fit; give table or json")


def _table(name: str, found: list[Page]) -> str:
    width = max((len(one.name) for one in found), default=0)
    rows = "".join(f"  {one.name.ljust(width)}  {one.summary}\n" for one in found)
    return f"{name}\n{rows or '  none yet' + chr(10)}"
