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
_REPORT = "report"
_REPLAY = "replay"


def schema(
    name: Annotated[str, typer.Argument(metavar="[events|replay|report|scan]", help="Which one.")] = _SCAN,
) -> None:
    """Print the JSON Schema of what `scan`, `report` or `replay` writes, or the columns of `read`'s event table."""
    if name == _SCAN:
        _common.write(files("forensics").joinpath("schemas", "scan.json").read_bytes())
    elif name == _EVENTS:
        _common.write(encode({"columns": columns()}, indent=2) + "\n")
    elif name == _REPORT:
        from forensics.reports._incident_json import schema as of_report  # noqa: PLC0415  (only where it is asked for)

        _common.write(encode(of_report(), indent=2) + "\n")
    elif name == _REPLAY:
        from forensics.replaying.replay_report import schema as of_replay  # noqa: PLC0415  (only where it is asked for)

        _common.write(encode(of_replay(), indent=2) + "\n")
    else:
        raise UsageError(f"schema: there is no {name!r}; {nearest(name, (_SCAN, _EVENTS, _REPORT, _REPLAY))}")


def columns() -> list[dict[str, Any]]:
    """Give the event table's columns: name, type, unit or values, meaning."""
    return [{"name": name, **column._asdict()} for name, column in SCHEMA.items()]
