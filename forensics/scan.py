"""One file from bytes to findings: recognise, parse, sort into sessions, detect. What `scan` does per input.

`scan_file` takes and gives plain picklable values, so that any `concurrent.futures.Executor` can run it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from forensics.attempts import attempts
from forensics.detect import Finding, detect
from forensics.events import CapSource
from forensics.parse import Malformed, NotRecognised, Observable, Source, Unreadable, read, recognise
from forensics.timeline import File, Session


class Options(msgspec.Struct, kw_only=True, frozen=True):
    """What a scan is asked for. `now` is UTC milliseconds; `options` maps detector to option to value."""

    detectors: tuple[str, ...] | None = None
    options: Mapping[str, Mapping[str, Any]] = {}
    cap: int | None = None
    now: int | None = None


class Input(msgspec.Struct, kw_only=True):
    """Coverage of one recognised file. `lines` is null in databases."""

    path: str
    parser: str
    agent: str
    bytes: int
    sessions: int
    lines: int | None
    records: int
    malformed: list[Malformed]
    duplicates: int
    salvaged: int
    unknown: dict[str, int]
    notes: list[str]
    companions: list[str]
    failures_observable: Observable


class Skipped(msgspec.Struct, kw_only=True):
    """A file that was not read, and why. `kind`: nothing recognises it, or it could not be read."""

    path: str
    bytes: int
    kind: str
    reason: str


class Compactions(msgspec.Struct, kw_only=True):
    """Compaction attempts of a session by outcome; `unknown` ones were started and never ended."""

    attempts: int = 0
    summaries: int = 0
    dropped: int = 0
    no_summary: int = 0
    failed: int = 0
    aborted: int = 0
    skipped: int = 0
    unknown: int = 0


class SessionTotals(msgspec.Struct, kw_only=True):
    """A session's figures. Tokens are sums over its requests; null is unknown; times are UTC milliseconds."""

    session: str
    agent: str
    version: str | None
    file: str
    parent: str | None
    start: int | None
    end: int | None
    prompts: int
    replies: int
    errors: dict[str, int]
    length_stops: int
    aborted: int
    compactions: Compactions
    manual_continues: int
    peak_context: int | None
    cap: int | None
    cap_source: CapSource | None
    peak_ratio: float | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost: float | None
    waiting_seconds: float | None
    contexts: list[int]
    """At most 60 context sizes over the session, each the greatest of its stretch."""


class Result(msgspec.Struct, kw_only=True):
    """All that a scan says of one file: either `input` or `skipped` is set."""

    input: Input | None = None
    skipped: Skipped | None = None
    sessions: list[SessionTotals] = []
    findings: list[Finding] = []


def scan_file(path: Path, name: str, options: Options) -> Result:
    """Scan one file; `name` is the path as the user gave it. Never raises for what a file contains."""
    source = Source(path, name)
    try:
        chosen = recognise(path)
        file = File(name, chosen.name, chosen.agent, log=chosen.log)
        file.touched = int(path.stat().st_mtime * 1000)
        file.now = options.now
        file.build(read(source, chosen), options.cap)
    except NotRecognised as error:
        return Result(skipped=Skipped(path=name, bytes=source.size, kind="unrecognised", reason=str(error)))
    except Unreadable as error:
        return Result(skipped=Skipped(path=name, bytes=0, kind="unreadable", reason=str(error)))
    findings = detect(file, options.detectors, options.options)
    return Result(
        input=Input(
            path=name,
            parser=chosen.name,
            agent=file.agent,
            bytes=source.size,
            sessions=len(file.sessions),
            lines=source.lines,
            records=source.records,
            malformed=source.malformed,
            duplicates=source.duplicates,
            salvaged=sum(one.salvaged for one in source.malformed),
            unknown=dict(sorted(source.unknown.items())),
            notes=source.notes,
            companions=[one.as_posix() for one in source.companions],
            failures_observable=source.failures or chosen.failures,
        ),
        sessions=[totals(session, findings) for session in file.sessions],
        findings=findings,
    )


def totals(session: Session, findings: list[Finding]) -> SessionTotals:
    """Give a session's figures; continues and waiting come from the findings about it."""
    continues = [f for f in findings if f.detector == "manual-continue" and f.session == session.id]
    waits = [w for f in continues if isinstance(w := f.measures.get("waiting_seconds"), (int, float))]
    peak = session.peak
    return SessionTotals(
        session=session.id,
        agent=session.agent,
        version=session.version,
        file=session.file,
        parent=session.parent,
        start=session.start,
        end=session.end,
        prompts=session.prompts,
        replies=session.replies,
        errors=dict(sorted(session.errors.items())),
        length_stops=session.length_stops,
        aborted=session.aborted,
        compactions=_compactions(session),
        manual_continues=len(continues),
        peak_context=peak,
        cap=session.cap,
        cap_source=session.cap_source,
        peak_ratio=round(peak / session.cap, 4) if peak is not None and session.cap else None,
        input_tokens=session.input_tokens,
        cached_tokens=session.cached_tokens,
        output_tokens=session.output_tokens,
        cost=session.cost,
        waiting_seconds=round(sum(waits), 3) if waits else None,
        contexts=session.contexts(60),
    )


def _compactions(session: Session) -> Compactions:
    counts = Compactions()
    for attempt in attempts(session.events):
        counts.attempts += 1
        name = "summaries" if attempt.outcome == "summary" else attempt.outcome.replace("-", "_")
        setattr(counts, name, getattr(counts, name) + 1)
    return counts
