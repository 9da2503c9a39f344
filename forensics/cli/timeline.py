"""The command that shows one session, row by row, on the screen."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli import _common, _options
from forensics.cli._common import Color
from forensics.config import UsageError, nearest

if TYPE_CHECKING:
    from forensics.timeline import File

KINDS = ("compactions", "failures", "prompts", "exits", "budgets", "tools", "replies", "notes")
AROUND = 10
"""Rows shown before and after the one of --around."""
_DIGITS = 12
"""Of a line's number; a record's id may be all digits too, and longer."""


def timeline(  # noqa: PLR0917  (the options of the command)
    path: Annotated[str, typer.Argument(metavar="PATH", help="One file, or - for standard input.")],
    around: Annotated[
        str | None,
        typer.Option(
            metavar="ROW",
            help=f"Only the {AROUND} rows on either side of this line, or of the record whose id ends so.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KINDS", help=f"Only these, with commas: {', '.join(KINDS)}."),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Which session, by the beginning of its id; default: all of them.")
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave texts out, and replace personal details and secrets.")
    ] = False,
    cap: _options.Cap = None,
    color: Color = None,
) -> None:
    """Show a session as a table of what happened, with a line for its context; uneventful runs are folded.

    What a person wrote is shown with its first words, unless --redact is given.
    """
    asked = _options.asked_of({"cap": cap, "color": color})
    wanted = _wanted(only)
    row = (
        int(around)
        if around is not None and around.isascii() and around.isdigit() and len(around) <= _DIGITS
        else around
    )
    if row == "":
        raise UsageError("--around: '' does not fit; give a line or a record's id")
    from forensics.cli._timeline import show  # noqa: PLC0415  (not needed for --help)

    file = _read(path, asked.get("cap"))
    if session is not None:
        file.sessions = [one for one in file.sessions if one.id.startswith(session)]
        file.host = []
        if not file.sessions:
            raise UsageError(f"--session: {path} has no session whose id begins with {session!r}")
    text = show(
        file,
        around=row,
        only=wanted,
        clean=_cleaner(file) if redact else None,
        width=_common.width_of(sys.stdout),
        color=_common.color_wanted(asked.get("color"), sys.stdout),
        ascii_only=not _common.encodes("▁█│─", sys.stdout),
    )
    if text is None:
        where = f"at line {row}" if isinstance(row, int) else f"whose record's id ends in {around!r}"
        raise UsageError(f"--around: {path} has no row {where}")
    _common.write(text)


def _row(around: str | None) -> int | str | None:
    if around == "":
        raise UsageError("--around: '' does not fit; give a line or a record's id")
    is_line = around is not None and around.isascii() and around.isdigit() and len(around) <= _DIGITS
    return int(around) if is_line and around else around


def _wanted(only: list[str] | None) -> frozenset[str] | None:
    if only is None:
        return None
    names = {name.strip() for one in only for name in one.split(",") if name.strip()}
    for name in sorted(names):
        if name not in KINDS:
            raise UsageError(f"--only: there is no {name!r}; {nearest(name, KINDS)}")
    return frozenset(names)


def _read(path: str, cap: int | None) -> "File":
    from forensics.inputs import NoSuchInput, expand  # noqa: PLC0415
    from forensics.parse import NotRecognised, Source, Unreadable, read, recognise  # noqa: PLC0415
    from forensics.timeline import File  # noqa: PLC0415

    with _common.spool([path]) as spooled:
        try:
            found = expand([path], spooled, _common.stdin()).files
            if len(found) != 1:
                raise UsageError(f"{path}: holds {len(found)} files; name one")
            chosen = recognise(found[0].path)
            file = File(found[0].name, chosen.name, chosen.agent, log=chosen.log)
            return file.build(read(Source(found[0].path, found[0].name), chosen), cap)
        except NoSuchInput as error:
            raise UsageError(str(error)) from error
        except NotRecognised as error:
            _common.complain(f"{path}: {error}")
            _common.finish(3)
        except Unreadable as error:
            raise UsageError(f"{path}: {error}") from error


def _cleaner(file: "File") -> Callable[[str], str]:
    from forensics.redact import TextCleaner  # noqa: PLC0415

    return TextCleaner(file, Path.cwd().as_posix())
