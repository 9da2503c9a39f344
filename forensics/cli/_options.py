"""The options of the commands that judge what they read, and how they become settings."""

from pathlib import Path
from typing import Annotated, Any

import typer

from forensics.cli import _common
from forensics.config import Settings, assignments, read_key, settings
from forensics.detect import detectors

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="table, json, jsonl, csv, parquet, timesketch, markdown, html, sarif, junit or github.",
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option("--output", "-o", metavar="FORMAT=PATH", help="Write a report to a file too; repeatable."),
]
Select = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="DETECTOR", help="Run only these; repeatable, or with commas."),
]
Ignored = Annotated[list[str] | None, typer.Option("--ignore", metavar="DETECTOR", help="Do not run these.")]
MinSeverity = Annotated[
    str | None,
    typer.Option("--min-severity", metavar="SEVERITY", help="Show error, warning (and above), or note (all; default)."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Only findings from this time on (ISO 8601; UTC if no zone)."),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Only findings up to this time; a day alone is meant whole."),
]
Cap = Annotated[
    str | None,
    typer.Option("--cap", metavar="TOKENS", help="The context window, where you know better than the files."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="DETECTOR.OPTION=VALUE", help="Change a detector's option; repeatable."),
]
FailsOn = Annotated[
    str | None,
    typer.Option("--fail-on", metavar="SEVERITY", help="Exit 1 on findings of error, warning or note; or never."),
]
ExitZero = Annotated[
    bool | None,
    typer.Option("--exit-zero/--no-exit-zero", help="Exit 0 in spite of findings.", show_default=False),
]
Now = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help="The time to take for now, to tell a stall from an open session."),
]
Redact = Annotated[
    bool | None,
    typer.Option(
        "--redact/--no-redact",
        help="Replace personal details and secrets; on by default in markdown, html, sarif, junit and github.",
        show_default=False,
    ),
]
Jobs = Annotated[
    str | None,
    typer.Option("--jobs", "-j", metavar="N", help="Processes; default 1, from 2 GiB of input all cores."),
]
BaselineFile = Annotated[
    str | None,
    typer.Option("--baseline", metavar="FILE", help="Findings that are accepted: marked, and not failed on."),
]


def asked_of(options: dict[str, Any], set_: list[str] | None = None) -> Settings:
    """Read the options given, by the names of the command's parameters, over environment and configuration.

    Raises `UsageError`.
    """
    asked = _common.given(**options)
    given: Settings = {name: read_key(name, _joined(value), f"--{name}") for name, value in asked.items()}
    given["set"] = assignments(set_ or (), detectors(), "--set")
    return settings(given, Path.cwd(), detectors)


def _joined(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value
