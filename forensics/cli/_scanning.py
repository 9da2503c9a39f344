"""From paths and settings to a report on the screen and in files: what `scan` and `check` have in common."""

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from forensics.checking.named import selected
from forensics.cli import _common
from forensics.cli._run import scan_all
from forensics.config import Settings, UsageError, nearest
from forensics.inputs import Found, Inputs, NoSuchInput, WouldOverwrite, expand, same_file
from forensics.reports import BINARY, SHARED, Style, content, formats, render
from forensics.saving import save
from forensics.scan import Options, Result, Skipped
from forensics.summary import FailOn, Report, Terms


class Output(NamedTuple):
    """A report to write: its format, and the file (`None`: standard output)."""

    format: str
    path: Path | None


class Gathered(NamedTuple):
    """What was read: the files, their results, what was passed over, and how it was asked for."""

    inputs: Inputs
    files: list[Found]
    results: list[Result]
    skipped: list[Skipped]
    options: Options


def outputs_of(given: Sequence[str], format_: str | None) -> list[Output]:
    """Read the `FORMAT=PATH` words. Raises `UsageError`."""
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
        if path != "-" and any(_one_place(Path(path), other.path) for other in found if other.path):
            raise UsageError(f"--output: {path}: two reports to one file; give each its own")
        found.append(Output(name, None if path == "-" else Path(path)))
    to_screen = [one for one in found if one.path is None]
    if len(to_screen) > 1 or (to_screen and format_):
        raise UsageError("--output: only one report can go to standard output; give the others a file")
    return found


def _one_place(one: Path, other: Path) -> bool:
    return one.absolute() == other.absolute() or same_file(one, other)


def gather(
    paths: Sequence[str],
    asked: Settings,
    without: Iterable[Path] = (),
    outputs: Sequence[Path] = (),
    *,
    repeatable: bool = False,
) -> Gathered:
    """Read what the paths name; `without` and `outputs` (what this run writes) are passed over.

    `repeatable`: what is found does not depend on the day.
    Raises `UsageError`.
    """
    with _common.spool(paths) as folder:
        try:
            inputs = expand(paths, folder, _common.stdin(), without, outputs)
        except NoSuchInput as error:
            raise UsageError(str(error)) from error
        options = options_of(asked, repeatable=repeatable)
        quiet, verbose = bool(asked.get("quiet")), bool(asked.get("verbose"))
        results = scan_all(inputs.files, options, asked.get("jobs"), quiet=quiet, verbose=verbose)
    return Gathered(inputs, inputs.files, results, inputs.skipped, options)


def options_of(asked: Settings, *, repeatable: bool = False) -> Options:
    """Give what the settings ask of a scan; a `repeatable` one judges the end of a file by a given `now` alone.

    Raises `UsageError`.
    """
    names = selected(asked)
    now = asked.get("now", round(time.time() * 1000))
    ends = "now" in asked or not repeatable
    return Options(detectors=tuple(names), options=asked["set"], cap=asked.get("cap"), now=now, ends=ends)


def terms_of(asked: Settings) -> Terms:
    """Give what the user asks of the findings."""
    return Terms(**{key: asked[name] for key in Terms.__struct_fields__ if (name := key.replace("_", "-")) in asked})


def publish(report: Report, asked: Settings, outputs: list[Output], failing: FailOn | None = None) -> None:
    """Write the report to the files and to standard output. Raises `UsageError`.

    `failing`: show only what fails on the screen.
    """
    read_too = [Path(path) for one in report.coverage.inputs for path in one.companions]
    for one in outputs:
        if one.path and any(same_file(one.path, other) for other in read_too):
            raise UsageError(f"--output: {WouldOverwrite(one.path)}")
    clean: Report | None = None
    on_screen = next((one.format for one in outputs if one.path is None), asked.get("format", "table"))
    if on_screen in BINARY and _common.is_terminal(sys.stdout):
        raise UsageError(f"--format: {on_screen} is not for a terminal; give --output {on_screen}=PATH")
    for name, path in [*((one.format, one.path) for one in outputs if one.path), (on_screen, None)]:
        hide = asked.get("redact", name in SHARED)
        if hide and clean is None:
            from forensics.redact import redacted  # noqa: PLC0415  (20 ms of patterns)

            clean = redacted(report, Path.cwd().as_posix())
        shown = clean if hide and clean is not None else report
        verbose = bool(asked.get("verbose"))
        if path is not None:
            _save(path, content(name, shown, Style(verbose=verbose)))
            continue
        style = Style(
            width=_common.width_of(sys.stdout),
            color=_common.color_wanted(asked.get("color"), sys.stdout),
            verbose=verbose,
            ascii=not _common.encodes("▁█│─", sys.stdout),
            failing=failing,
        )
        _common.write(render(name, shown, style) if name == "table" else content(name, shown, style))
    result = report.summary.result
    if on_screen != "table" and not asked.get("quiet"):
        _common.complain(f"{result.reason} (exit {result.exit_code})", "result")


def _save(path: Path, text: bytes) -> None:
    try:
        save(path, text)
    except OSError as error:
        raise UsageError(f"--output: {path}: cannot be written: {error.strerror}; choose another place") from error
