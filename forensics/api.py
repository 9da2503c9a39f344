"""The public Python interface, for notebooks and programs: read, detect, report, replay, prove, plots.

    from forensics import api

    events = api.read("session.jsonl")              # a polars DataFrame, columns as `forensics schema events`
    found = api.detect("session.jsonl", cap=200_000)
    report = api.report("session.jsonl", "runtime.log")
    api.plots.timeline(report.tracks[0])
    api.html(report)                                # the page that `forensics report -o report.html` writes

Paths are files, folders (with all in them) or globs. Nothing is printed, nothing exits; what is wrong is raised.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics import plots
from forensics.detect import Finding, detectors
from forensics.incident.build import incident as _incident
from forensics.incident.model import Incident
from forensics.inputs import Found, NoSuchInput, expand
from forensics.prove import Proof, prove
from forensics.redact import redacted_incident
from forensics.replay import Policy, policies
from forensics.replaying.replay_report import SessionReplay
from forensics.replaying.replays import Asked, replay_file
from forensics.scan import Options, scan_file
from forensics.summary import Report, summarise, without_companions

if TYPE_CHECKING:
    import polars as pl

PathLike = str | Path


def read(*paths: PathLike) -> "pl.DataFrame":
    """Read files into the event table: one row per thing that happened, times UTC, null for what is not known.

    Files in no known format are left out; `detect(...).coverage` names them. Raises `NoSuchInput`, `Unreadable`.
    """
    from forensics.parse import NotRecognised, Source, recognise  # noqa: PLC0415
    from forensics.scan import Result, input_of  # noqa: PLC0415
    from forensics.table import ParquetFile  # noqa: PLC0415

    table = ParquetFile()
    results = []
    for one in _found(paths):
        try:
            chosen = recognise(one.path)
        except NotRecognised:
            continue
        source = Source(one.path, one.name)
        sessions = table.add(source, chosen)
        results.append(Result(input=input_of(source, chosen, agent=chosen.agent, sessions=sessions)))
    kept = {one.input.path for one in without_companions(results) if one.input}
    frame: pl.DataFrame = table.frame(frozenset(one.input.path for one in results if one.input) - kept)
    return frame


def detect(
    *paths: PathLike,
    select: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    cap: int | None = None,
    now: int | None = None,
) -> Report:
    """Find what went wrong: `findings` (worst first), `sessions`, `summary`, `coverage`.

    `select` names detectors (default: all), `options` maps detector to option to value, `cap` is the context window
    in tokens, `now` the time of the scan in UTC milliseconds (to tell a stall from an open session). Raises
    `NoSuchInput`.
    """
    asked = _options(select, options, cap, now)
    inputs = expand([str(path) for path in paths], Path(), None)
    results = [scan_file(one.path, one.name, asked) for one in inputs.files]
    return summarise(results, inputs.skipped, None, asked.detectors or sorted(detectors()))


def findings(report: Report) -> "pl.DataFrame":
    """Give the findings as a table: a row each, a column for each measure that occurs, and one for its basis."""
    import io  # noqa: PLC0415

    import polars as pl  # noqa: PLC0415

    from forensics.reports import content  # noqa: PLC0415

    return pl.read_parquet(io.BytesIO(content("parquet", report)))


def report(
    *paths: PathLike,
    select: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    cap: int | None = None,
    now: int | None = None,
    excerpts: bool = False,
    redact: bool = True,
) -> Incident:
    """Build an incident report: paragraph, impact, tracks (for `plots`), findings, replays, coverage.

    Personal details and secrets are replaced unless `redact` is false. Raises `NoSuchInput`.
    """
    inputs = expand([str(path) for path in paths], Path(), None)
    made = _incident(inputs.files, _options(select, options, cap, now), skipped=inputs.skipped, excerpts=excerpts)
    return redacted_incident(made, Path.cwd().as_posix()) if redact else made


def html(made: Incident) -> str:
    """Give the report as one HTML page that needs nothing else."""
    from forensics.reports.html import page  # noqa: PLC0415

    return page(made)


def markdown(made: Incident) -> str:
    """Give the report as GitHub-flavoured Markdown, at most 65,000 characters."""
    from forensics.reports._incident_markdown import page  # noqa: PLC0415

    return page(made)


def replay(*paths: PathLike, policies: Sequence[str] | None = None) -> list[SessionReplay]:
    """Replay sessions against recovery policies (default: those of the file's agent, and `reference`).

    Files that cannot be replayed are left out. Raises `NoSuchInput`, `PolicyError`.
    """
    asked = Asked(policies=None if policies is None else tuple(policies))
    return [session for one in _found(paths) for session in replay_file(one.path, one.name, asked).sessions]


def _found(paths: Sequence[PathLike]) -> list[Found]:
    return expand([str(path) for path in paths], Path(), None).files


def _options(
    select: Sequence[str] | None, options: Mapping[str, Mapping[str, Any]] | None, cap: int | None, now: int | None
) -> Options:
    names = None if select is None else tuple(select)
    return Options(detectors=names, options=options or {}, cap=cap, now=now)


__all__ = [
    "Finding",
    "Incident",
    "NoSuchInput",
    "Policy",
    "Proof",
    "Report",
    "SessionReplay",
    "detect",
    "findings",
    "html",
    "markdown",
    "plots",
    "policies",
    "prove",
    "read",
    "replay",
    "report",
]
