"""The command that says how files are recognised and read, without judging what is in them."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from forensics.cli import _common
from forensics.cli._common import Paths, Quiet, Strict, Verbose
from forensics.config import UsageError, settings
from forensics.detect import detectors
from forensics.reports._words import count, coverage_line, size
from forensics.reports.json import document, encode
from forensics.safe import plain
from forensics.scan import Input
from forensics.summary import Report, Terms, summarise

_MOST = 10


def doctor(
    paths: Paths,
    format_: Annotated[str, typer.Option("--format", "-f", metavar="FORMAT", help="table or json.")] = "table",
    strict: Strict = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Say how each file was recognised and read: lines, records, malformed lines, what its format cannot show."""
    from forensics.cli._run import scan_all  # noqa: PLC0415  (not needed for --help)
    from forensics.inputs import NoSuchInput, expand  # noqa: PLC0415
    from forensics.scan import Options  # noqa: PLC0415

    if format_ not in {"table", "json"}:
        raise UsageError(f"--format: {format_!r} does not fit; give table or json")
    asked = settings(_common.given(strict=strict), Path.cwd(), detectors)
    with _common.spool(paths) as folder:
        try:
            inputs = expand(paths, folder, _common.stdin())
        except NoSuchInput as error:
            raise UsageError(str(error)) from error
        results = scan_all(inputs.files, Options(detectors=()), None, quiet=quiet, verbose=verbose)
    report = summarise(results, inputs.skipped, Terms(strict=asked.get("strict", False)))
    result = report.summary.result
    if format_ == "json":
        coverage = document(report)["coverage"]
        _common.write(encode({"schema_version": report.schema_version, "coverage": coverage}, indent=2) + "\n")
    else:
        _common.write("".join(f"{plain(line)}\n" for line in _lines(report, verbose=verbose)))
    if result.exit_code and not quiet:
        _common.complain(f"{result.reason} (exit {result.exit_code})", "result")
    _common.finish(result.exit_code)


def _lines(report: Report, *, verbose: bool) -> Iterator[str]:
    agents: defaultdict[str, set[str]] = defaultdict(set)
    for session in report.sessions:
        agents[session.file].add(session.agent)
    for one in report.coverage.inputs:
        yield from _input(one, sorted(agents[one.path]) or [one.agent], verbose=verbose)
    for skipped in report.coverage.skipped:
        yield f"{skipped.path}: {skipped.kind}: {skipped.reason}"
    yield coverage_line(report.coverage)


def _input(one: Input, agents: list[str], *, verbose: bool) -> Iterator[str]:
    lines = "" if one.lines is None else f"{count(one.lines, 'line')}, "
    figures = f"{lines}{count(one.records, 'record')}, {count(one.sessions, 'session')}, {size(one.bytes)}"
    yield f"{one.path}: read as {one.parser} (agent {', '.join(agents)}): {figures}"
    shows = {"yes": "yes", "partly": "in part", "no": "no: their rate is unknown"}[one.failures_observable]
    yield f"  shows failed compactions: {shows}"
    if one.companions:
        yield f"  read together with {count(len(one.companions), 'other file')}: {', '.join(one.companions[:3])}"
    if one.duplicates:
        yield f"  {count(one.duplicates, 'duplicate record')} counted once"
    if one.unknown:
        kinds = ", ".join(f"{name} ({number:,})" for name, number in one.unknown.items())
        yield f"  record types that are not known: {kinds}"
    notes = [f"  {note}" for note in one.notes]
    bad = [
        f"  {f'line {line.line} (byte {line.offset}): ' if line.line else ''}{line.reason}"
        f"{'; its records were saved' if line.salvaged else ''}"
        for line in one.malformed
    ]
    for group in (notes, bad):
        yield from group if verbose else group[:_MOST]
        if not verbose and len(group) > _MOST:
            yield f"  and {len(group) - _MOST:,} more (-v shows all)"
