"""The command that prints what the program's outputs mean."""

from importlib.resources import files
from typing import Annotated, Any

import typer

from forensics.cli import _common
from forensics.config import UsageError, nearest
from forensics.events import SCHEMA
from forensics.reports.json import encode

_SCAN = "scan"
_EVENTS = "events"


def schema(
    name: Annotated[str, typer.Argument(metavar="[events|scan]", help="Which one.")] = _SCAN,
) -> None:
    """Print the JSON Schema of `scan --format json`, or the columns of the event table that `read` writes."""
    if name == _SCAN:
        _common.write(files("forensics").joinpath("schemas", "scan.json").read_bytes())
    elif name == _EVENTS:
        _common.write(encode({"columns": columns()}, indent=2) + "\n")
    else:
        raise UsageError(f"schema: there is no {name!r}; {nearest(name, (_SCAN, _EVENTS))}")


def columns() -> list[dict[str, Any]]:
    """Give the event table's columns: name, type, unit or values, meaning."""
    return [{"name": name, **column._asdict()} for name, column in SCHEMA.items()]
