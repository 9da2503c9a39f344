"""The command that does the main job."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from forensics.cli import _common
from forensics.cli._common import Color, Paths, Quiet, Strict, Verbose
from forensics.config import Settings, UsageError, assignments, chosen, nearest, read_key, settings
from forensics.detect import detectors


def scan(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="table, json, jsonl, csv, markdown, sarif, junit or github.",
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", "-o", metavar="FORMAT=PATH", help="Write a report to a file too; repeatable."),
    ] = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="DETECTOR", help="Run only these; repeatable, or with commas.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="DETECTOR", help="Do not run these.")] = None,
    min_severity: Annotated[
        str | None, typer.Option(metavar="SEVERITY", help="Show error, warning (and above), or note (all; default).")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only findings from this time on (ISO 8601; UTC if no zone)."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only findings up to this time; a day alone is meant whole.")
    ] = None,
    cap: Annotated[
        str | None, typer.Option(metavar="TOKENS", help="The context window, where you know better than the files.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="DETECTOR.OPTION=VALUE", help="Change a detector's option; repeatable."),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="SEVERITY", help="Exit 1 on findings of error, warning or note; or never."),
    ] = None,
    exit_zero: Annotated[
        bool | None, typer.Option("--exit-zero/--no-exit-zero", help="Exit 0 in spite of findings.", show_default=False)
    ] = None,
    strict: Strict = None,
    now: Annotated[
        str | None, typer.Option(metavar="TIME", help="The time to take for now, to tell a stall from an open session.")
    ] = None,
    redact: Annotated[
        bool | None,
        typer.Option(
            "--redact/--no-redact",
            help="Replace personal details and secrets; on by default in markdown, sarif, junit and github.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        str | None,
        typer.Option("--jobs", "-j", metavar="N", help="Processes; default 1, from 2 GiB of input all cores."),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> None:
    """Find what went wrong in sessions and logs: where, when, how bad.

    Exit codes: 0 ran, 1 findings at or above --fail-on, 2 wrong usage or internal error, 3 nothing was recognised,
    4 incomplete and --strict, 130 interrupted.
    """
    asked = _common.given(
        format_=format_, select=select, ignore=ignore, min_severity=min_severity, since=since, until=until, cap=cap,
        fail_on=fail_on, exit_zero=exit_zero, strict=strict, now=now, redact=redact, jobs=jobs, quiet=quiet,
        verbose=verbose, color=color,
    )  # fmt: skip
    given: Settings = {name: read_key(name, _joined(value), f"--{name}") for name, value in asked.items()}
    given["set"] = assignments(set_ or (), detectors(), "--set")
    _scan(paths, settings(given, Path.cwd(), detectors), _outputs(output or (), format_))


def _joined(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value


class Output(NamedTuple):
    """A report to write: its format, and the file (`None`: standard output)."""

    format: str
    path: Path | None


def _outputs(given: Sequence[str], format_: str | None) -> list[Output]:
    from forensics.reports import formats  # noqa: PLC0415  (not needed for --help)

    found: list[Output] = []
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or not path:
            raise UsageError(f"--output: {one!r} is not FORMAT=PATH; for example json=report.json")
        if name not in formats():
            raise UsageError(f"--output: unknown format {name!r}; {nearest(name, formats())}")
        if path != "-" and not Path(path).absolute().parent.is_dir():
            raise UsageError(f"--output: {path}: there is no such folder; make it first")
        if path != "-" and Path(path).is_dir():
            raise UsageError(f"--output: {path}: is a folder; give a file's name")
        found.append(Output(name, None if path == "-" else Path(path)))
    to_screen = [one for one in found if one.path is None]
    if len(to_screen) > 1 or (to_screen and format_):
        raise UsageError("--output: only one report can go to standard output; give the others a file")
    return found


def _scan(paths: list[str], asked: Settings, outputs: list[Output]) -> None:
    from forensics.cli._run import scan_all  # noqa: PLC0415  (not needed for --help)
    from forensics.inputs import NoSuchInput, expand  # noqa: PLC0415
    from forensics.scan import Options  # noqa: PLC0415
    from forensics.summary import Terms, summarise  # noqa: PLC0415

    names = chosen(asked.get("select"), asked.get("ignore"), detectors())
    files = [one.path for one in outputs if one.path]
    with _common.spool(paths) as folder:
        try:
            inputs = expand(paths, folder, _common.stdin(), without=files)
        except NoSuchInput as error:
            raise UsageError(str(error)) from error
        options = Options(
            detectors=tuple(names), options=asked["set"], cap=asked.get("cap"), now=asked.get("now", _now())
        )
        quiet, verbose = bool(asked.get("quiet")), bool(asked.get("verbose"))
        results = scan_all(inputs.files, options, asked.get("jobs"), quiet=quiet, verbose=verbose)
    terms = Terms(**{key: asked[name] for key in Terms.__struct_fields__ if (name := key.replace("_", "-")) in asked})
    report = summarise(results, inputs.skipped, terms, names)
    _publish(report, asked, outputs)
    _common.finish(report.summary.result.exit_code)


def _now() -> int:
    return round(time.time() * 1000)


def _publish(report: Any, asked: Settings, outputs: list[Output]) -> None:
    from forensics.redact import redacted  # noqa: PLC0415  (not needed for --help)
    from forensics.reports import SHARED, Style, render  # noqa: PLC0415

    clean: Any = None
    on_screen = next((one.format for one in outputs if one.path is None), asked.get("format", "table"))
    for name, path in [*((one.format, one.path) for one in outputs if one.path), (on_screen, None)]:
        hide = asked.get("redact", name in SHARED)
        if hide and clean is None:
            clean = redacted(report, Path.cwd().as_posix())
        verbose = bool(asked.get("verbose"))
        if path is not None:
            text = render(name, clean if hide else report, Style(verbose=verbose))
            _save(path, text)
            continue
        style = Style(
            width=_common.width_of(sys.stdout),
            color=_common.color_wanted(asked.get("color"), sys.stdout),
            verbose=verbose,
            ascii=not _common.encodes("▁█│─", sys.stdout),
        )
        text = render(name, clean if hide else report, style)
        _common.write(text if name == "table" else text.encode())
    result = report.summary.result
    if on_screen != "table" and not asked.get("quiet"):
        _common.complain(f"{result.reason} (exit {result.exit_code})", "result")


def _save(path: Path, text: str) -> None:
    try:
        _common.save(path, text)
    except OSError as error:
        raise UsageError(f"--output: {path}: cannot be written: {error.strerror}; choose another place") from error
