"""The command that writes the event table."""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli import _common
from forensics.cli._common import Paths, Quiet, Strict
from forensics.config import UsageError, nearest, settings
from forensics.detect import detectors
from forensics.inputs import Found, NoSuchInput, WouldOverwrite, expand, same_file
from forensics.parse import NotRecognised, Source, Unreadable, recognise
from forensics.reports._words import coverage_line
from forensics.saving import saving
from forensics.scan import Result, Skipped, input_of
from forensics.summary import Terms, summarise, without_companions

if TYPE_CHECKING:
    from forensics.redact import RowCleaner
    from forensics.table import LineFile, ParquetFile

_SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_KINDS = ("parquet", "csv", "jsonl", "timesketch")


def read(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="PATH", help="A .parquet, .csv or .jsonl file; - for standard output."),
    ] = "-",
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", "-f", metavar="FORMAT", help="parquet, csv, jsonl or timesketch; default: by the file's name."
        ),
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Leave texts out, and replace personal details and secrets.")
    ] = False,
    strict: Strict = None,
    quiet: Quiet = False,
) -> None:
    """Write the event table of sessions and logs: a row per thing that happened (`forensics schema events`)."""
    kind = _kind(output, format_)
    target = None if output == "-" else Path(output)
    asked = settings(_common.given(strict=strict), Path.cwd(), detectors)
    with _common.spool(paths) as folder:
        try:
            inputs = expand(paths, folder, _common.stdin(), outputs=[target] if target else [])
        except NoSuchInput as error:
            raise UsageError(str(error)) from error
        cleaner = _cleaner(inputs.files) if redact else None
        results = _write(inputs.files, kind, target, cleaner)
    report = summarise(results, inputs.skipped, Terms(strict=asked.get("strict", False)))
    result = report.summary.result
    if not quiet:
        _common.tell_unread(report.coverage.skipped)
        words = result.reason if result.exit_code else coverage_line(report.coverage)
        _common.complain(f"{words} (exit {result.exit_code})", "result")
    _common.finish(result.exit_code)


def _cleaner(files: Sequence[Found]) -> "RowCleaner":
    from forensics.redact import RowCleaner  # noqa: PLC0415  (only where it is asked for)

    return RowCleaner(files, Path.cwd().as_posix())


def _kind(output: str, format_: str | None) -> str:
    kind = format_ or ("jsonl" if output == "-" else _SUFFIXES.get(Path(output).suffix.lower()))
    if kind not in _KINDS:
        if format_:
            raise UsageError(f"--format: {format_!r}: not a format of the event table; {nearest(format_, _KINDS)}")
        raise UsageError(
            f"--output: {output}: not a format of the event table; name it .parquet, .csv or .jsonl, or give --format"
        )
    if output == "-" and kind == "parquet" and _common.is_terminal(sys.stdout):
        raise UsageError("--format: Parquet is not for a terminal; give --output PATH")
    if output != "-" and not Path(output).absolute().parent.is_dir():
        raise UsageError(f"--output: {output}: there is no such folder; make it first")
    return kind


def _write(files: Sequence[Found], kind: str, target: Path | None, cleaner: "RowCleaner | None") -> list[Result]:
    """Read the files into a table of that kind and write it; files that are part of others appear once."""
    from forensics.table import LineFile, ParquetFile  # noqa: PLC0415  (not needed for --help)

    with TemporaryFile() as spool:
        table = ParquetFile() if kind == "parquet" else LineFile(kind, spool)
        results = [_add(table, one, cleaner) for one in files]
        read_too = [Path(path) for one in results if one.input for path in one.input.companions]
        if target is not None and any(same_file(target, path) for path in read_too):
            raise UsageError(f"--output: {WouldOverwrite(target)}")
        kept = {one.input.path for one in without_companions(results) if one.input}
        without = frozenset(one.input.path for one in results if one.input) - kept
        try:
            if target is not None:
                _kept(table, target, without)
            elif isinstance(table, LineFile):
                for block in table.blocks(without):
                    _common.write(block)
            else:
                _piped(table, without)
        except OSError as error:
            raise UsageError(
                f"--output: {target}: cannot be written: {error.strerror}; choose another place"
            ) from error
    return results


def _add(table: "LineFile | ParquetFile", found: Found, cleaner: "RowCleaner | None") -> Result:
    source = Source(found.path, found.name)
    try:
        chosen = recognise(found.path)
        sessions = table.add(source, chosen, cleaner)
        return Result(input=input_of(source, chosen, agent=chosen.agent, sessions=sessions))
    except NotRecognised as error:
        return Result(skipped=Skipped(path=found.name, bytes=found.bytes, kind="unrecognised", reason=str(error)))
    except Unreadable as error:
        return Result(skipped=Skipped(path=found.name, bytes=0, kind="unreadable", reason=str(error)))
    except OSError as error:
        return Result(skipped=Skipped(path=found.name, bytes=0, kind="unreadable", reason=error.strerror or str(error)))
    except Exception as error:  # noqa: BLE001  (whatever a plug-in raises, the other files are still read)
        reason = f"internal error: {type(error).__name__}: {str(error)[:200]}"
        _common.complain(f"{found.name}: {reason}; {_common.REPORT_BUG}")
        return Result(skipped=Skipped(path=found.name, bytes=0, kind="broken", reason=reason))


def _kept(table: "LineFile | ParquetFile", target: Path, without: frozenset[str]) -> None:
    from forensics.table import LineFile  # noqa: PLC0415  (not needed for --help)

    with saving(target) as part:
        if isinstance(table, LineFile):
            with part.open("wb") as stream:
                stream.writelines(table.blocks(without))
        else:
            table.write(part, without)


def _piped(table: "ParquetFile", without: frozenset[str]) -> None:
    with TemporaryDirectory(prefix="forensics-") as folder:
        path = Path(folder) / "events.parquet"
        table.write(path, without)
        _common.write(path.read_bytes())
