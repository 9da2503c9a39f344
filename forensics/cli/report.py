"""The command that writes an incident report."""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote

import typer

from forensics.cli import _common
from forensics.cli._common import Paths, Quiet, Strict
from forensics.config import Settings, UsageError, assignments, chosen, read_key, settings
from forensics.detect import detectors

if TYPE_CHECKING:
    from forensics.incident.model import Incident
    from forensics.inputs import Inputs

T = TypeVar("T")
_KINDS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown", ".json": "json"}


def report(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="A .html, .md or .json file; repeatable; - is Markdown on the screen.",
        ),
    ] = None,
    charts: Annotated[
        str | None, typer.Option("--charts", metavar="DIR", help="Write every figure as a PNG file into this folder.")
    ] = None,
    with_excerpts: Annotated[
        bool, typer.Option("--with-excerpts", help="Show the first words of the evidence; secrets are still removed.")
    ] = False,
    redact: Annotated[
        bool | None,
        typer.Option(
            "--redact/--no-redact", help="Replace personal details and secrets (default).", show_default=False
        ),
    ] = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="DETECTOR", help="Run only these; repeatable, or with commas.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="DETECTOR", help="Do not run these.")] = None,
    min_severity: Annotated[
        str | None, typer.Option(metavar="SEVERITY", help="Tell error, warning (and above), or note (all; default).")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only findings from this time on (ISO 8601; UTC if no zone).")
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
    now: Annotated[
        str | None, typer.Option(metavar="TIME", help="The time to take for now, to tell a stall from an open session.")
    ] = None,
    strict: Strict = None,
    quiet: Quiet = False,
) -> None:
    """Write an incident report that can be attached to an issue: what happened, how bad, when, why, what to do.

    Several files make one report on one timeline. Nothing of the transcripts is in it but error messages and the
    first words of a person's continue. Exit codes: as `scan`, findings alone never fail it.
    """
    asked = _common.given(
        select=select, ignore=ignore, min_severity=min_severity, since=since, until=until, cap=cap, now=now,
        redact=redact, strict=strict, quiet=quiet,
    )  # fmt: skip
    given: Settings = {name: read_key(name, _joined(value), f"--{name}") for name, value in asked.items()}
    given["set"] = assignments(set_ or (), detectors(), "--set")
    targets = _targets(output or ["-"])
    folder = _folder(charts)
    _report(paths, settings(given, Path.cwd(), detectors), targets, folder, excerpts=with_excerpts)


def _joined(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value


def _targets(given: list[str]) -> list[tuple[str, Path | None]]:
    found: list[tuple[str, Path | None]] = []
    for one in given:
        if one == "-":
            found.append(("markdown", None))
            continue
        path = Path(one)
        kind = _KINDS.get(path.suffix.lower())
        if kind is None:
            raise UsageError(f"--output: {one}: the name must end in .html, .md or .json")
        if path.is_dir():
            raise UsageError(f"--output: {one}: is a folder; give a file's name")
        if not path.absolute().parent.is_dir():
            raise UsageError(f"--output: {one}: there is no such folder; make it first")
        found.append((kind, path))
    return found


def _folder(given: str | None) -> Path | None:
    if given is None:
        return None
    folder = Path(given)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--charts: {given}: is a file; give a folder")
    return folder


def _report(
    paths: list[str], asked: Settings, targets: list[tuple[str, Path | None]], folder: Path | None, *, excerpts: bool
) -> None:
    from forensics.incident.build import incident  # noqa: PLC0415  (not needed for --help)
    from forensics.inputs import NoSuchInput, expand  # noqa: PLC0415
    from forensics.scan import Options  # noqa: PLC0415
    from forensics.summary import Terms  # noqa: PLC0415

    names = chosen(asked.get("select"), asked.get("ignore"), detectors())
    terms = Terms(**{key: asked[name] for key in Terms.__struct_fields__ if (name := key.replace("_", "-")) in asked})
    options = Options(
        detectors=tuple(names),
        options=asked["set"],
        cap=asked.get("cap"),
        now=asked.get("now", round(time.time() * 1000)),
    )
    with _common.spool(paths) as spooled:
        try:
            inputs: Inputs = expand(paths, spooled, _common.stdin(), without=[one for _, one in targets if one])
        except NoSuchInput as error:
            raise UsageError(str(error)) from error
        made = incident(inputs.files, options, terms, inputs.skipped, excerpts=excerpts)
    if asked.get("redact", True):
        from forensics.redact import redacted_incident  # noqa: PLC0415

        made = redacted_incident(made, Path.cwd().as_posix())
    _write(made, targets, folder)
    result = made.summary.result
    if not asked.get("quiet"):
        _common.complain(f"{result.reason} (exit {result.exit_code})", "result")
    _common.finish(result.exit_code)


def _write(made: "Incident", targets: list[tuple[str, Path | None]], folder: Path | None) -> None:
    drawn: dict[str, str] = {}
    if folder is not None:
        from forensics.reports._charts import draw  # noqa: PLC0415  (needs matplotlib)

        drawn = _tried(partial(draw, made, folder), folder, "--charts")
    for kind, path in targets:
        text = _text(made, kind, path, {name: _beside(path, folder, file) for name, file in drawn.items()})
        if path is None:
            _common.write(text)
        else:
            _tried(partial(_common.save, path, text), path, "--output")


def _tried(what: Callable[[], T], path: Path, option: str) -> T:
    try:
        return what()
    except OSError as error:
        raise UsageError(f"{option}: {path}: cannot be written: {error.strerror}; choose another place") from error


def _beside(path: Path | None, folder: Path | None, file: str) -> str:
    """Give the address of a figure as the document names it: relative to the document's own folder."""
    base = path.absolute().parent if path else Path.cwd()
    there = Path(os.path.relpath((folder or Path()).absolute() / file, base)).as_posix()
    return quote(there)


def _text(made: "Incident", kind: str, path: Path | None, drawn: dict[str, str]) -> str:
    if kind == "html":
        from forensics.reports.html import page as html  # noqa: PLC0415  (needs jinja2)

        return html(made)
    if kind == "json":
        from forensics.reports._incident_json import page as json  # noqa: PLC0415

        return json(made)
    from forensics.reports._figures import write  # noqa: PLC0415
    from forensics.reports._incident_markdown import page as markdown  # noqa: PLC0415

    if path is not None and not drawn and (made.tracks or made.bars):
        folder = path.with_name(f"{path.stem}-figures")
        written = _tried(partial(write, made, folder), folder, "--output")
        drawn = {name: _beside(path, folder, file) for name, file in written.items()}
    return markdown(made, drawn)
