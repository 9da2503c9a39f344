"""The command that writes an incident report."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import quote

import typer

from forensics.cli import _common, _options
from forensics.cli._common import Paths, Quiet, Strict
from forensics.config import Settings, UsageError

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
    select: _options.Select = None,
    ignore: _options.Ignored = None,
    min_severity: _options.MinSeverity = None,
    since: _options.Since = None,
    until: _options.Until = None,
    cap: _options.Cap = None,
    set_: _options.Set = None,
    baseline: _options.BaselineFile = None,
    now: _options.Now = None,
    strict: Strict = None,
    quiet: Quiet = False,
) -> None:
    """Write an incident report that can be attached to an issue: what happened, how bad, when, why, what to do.

    Several files make one report on one timeline. Nothing of the transcripts is in it but error messages and the
    first words of a person's continue. Exit codes are those of scan; findings alone never fail it.
    """
    asked = _options.asked_of(
        {
            "select": select, "ignore": ignore, "min_severity": min_severity, "since": since, "until": until,
            "cap": cap, "baseline": baseline, "now": now, "redact": redact, "strict": strict, "quiet": quiet,
        },
        set_,
    )  # fmt: skip
    asked.pop("fail-on", None)  # of a configuration file: it is about scan and check
    targets = _targets(output or ["-"])
    folder = _folder(charts)
    inputs, made = _made(paths, asked, [path for _, path in targets if path], excerpts=with_excerpts)
    _apart(inputs, made, targets, folder)
    _write(made, targets, folder)
    result = made.summary.result
    if not asked.get("quiet"):
        _common.complain(f"{result.reason} (exit {result.exit_code})", "result")
    _common.finish(result.exit_code)


def _made(paths: list[str], asked: Settings, written: list[Path], *, excerpts: bool) -> tuple["Inputs", "Incident"]:
    from forensics.cli._accepted import apart_from_baseline, baseline_file, marks  # noqa: PLC0415  (not for --help)
    from forensics.cli._scanning import options_of, terms_of  # noqa: PLC0415
    from forensics.incident.build import incident  # noqa: PLC0415
    from forensics.inputs import NoSuchInput, expand  # noqa: PLC0415
    from forensics.redact import redacted_incident  # noqa: PLC0415

    outputs = apart_from_baseline(asked, written)
    with _common.spool(paths) as spooled:
        try:
            inputs = expand(paths, spooled, _common.stdin(), [baseline_file(asked)], outputs)
        except NoSuchInput as error:
            raise UsageError(str(error)) from error
        options = options_of(asked)
        mark = marks(asked, options, paths)
        made = incident(
            inputs.files, options, terms_of(asked), inputs.skipped, mark, excerpts=excerpts, dated="now" in asked
        )
    return inputs, redacted_incident(made, Path.cwd().as_posix()) if asked.get("redact", True) else made


def _apart(inputs: "Inputs", made: "Incident", targets: list[tuple[str, Path | None]], folder: Path | None) -> None:
    """Refuse to write over what was read: with a document over a file beside an input, with a figure over any."""
    from forensics.inputs import WouldOverwrite, same_file  # noqa: PLC0415  (not needed for --help)

    documents = [path for _, path in targets if path]
    read_too = [Path(path) for one in made.coverage.inputs for path in one.companions]
    anchors = [one.anchor for one in made.tracks] + [one.anchor for one in made.bars]
    figures = [folder / f"{anchor}.png" for anchor in anchors] if folder else []
    figures += [_beside_it(path) / f"{anchor}.svg" for path in documents for anchor in anchors]
    clash = next((path for path in figures if inputs.holds(path)), None)
    clash = clash or next((path for path in (*documents, *figures) for one in read_too if same_file(path, one)), None)
    if clash is not None:
        raise UsageError(f"{'--charts' if clash.suffix == '.png' else '--output'}: {WouldOverwrite(clash)}")


def _beside_it(document: Path) -> Path:
    """Give the folder of the figures that a Markdown document shows."""
    return document.with_name(f"{document.stem}-figures")


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
        if any(path.absolute() == other.absolute() for _, other in found if other):
            raise UsageError(f"--output: {one}: two reports to one file; give each its own")
        found.append((kind, path))
    return found


def _folder(given: str | None) -> Path | None:
    if given is None:
        return None
    folder = Path(given)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--charts: {given}: is a file; give a folder")
    return folder


def _write(made: "Incident", targets: list[tuple[str, Path | None]], folder: Path | None) -> None:
    from forensics.saving import save  # noqa: PLC0415  (not needed for --help)

    drawn: dict[str, str] = {}
    if folder is not None:
        from forensics.reports._charts import draw  # noqa: PLC0415  (needs matplotlib)

        drawn = _tried(partial(draw, made, folder), folder, "--charts")
    for kind, path in targets:
        text = _text(made, kind, path, {name: _beside(path, folder, file) for name, file in drawn.items()})
        if path is None:
            _common.write(text)
        else:
            _tried(partial(save, path, text), path, "--output")


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
        folder = _beside_it(path)
        written = _tried(partial(write, made, folder), folder, "--output")
        drawn = {name: _beside(path, folder, file) for name, file in written.items()}
    return markdown(made, drawn)
