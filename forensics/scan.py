"""One file from bytes to findings: recognise, parse, sort into sessions, detect. What `scan` does per input.

`scan_file` takes and gives plain picklable values, so that any `concurrent.futures.Executor` can run it.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from forensics.copied import began_at
from forensics.detect import Finding, detect, detectors
from forensics.events import TYPED, CapSource, Event
from forensics.parse import Malformed, NotRecognised, Observable, Parser, Source, Unreadable, read, recognise
from forensics.seen import Seen, seen
from forensics.timeline import File, Session

_CONTINUES = "manual-continue"


class Options(msgspec.Struct, kw_only=True, frozen=True):
    """What a scan is asked for. `now` is UTC milliseconds; `options` maps detector to option to value."""

    detectors: tuple[str, ...] | None = None
    options: Mapping[str, Mapping[str, Any]] = {}
    cap: int | None = None
    now: int | None = None
    ends: bool = True
    """Whether the end of a file is judged against `now`: what must say the same on every day does not."""


class Input(msgspec.Struct, kw_only=True):
    """Coverage of one recognised file. `lines` is null in databases; `bytes` counts its companions too."""

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


SkipKind = Literal["unrecognised", "unreadable", "broken", "same", "excluded"]
"""Why a file was not read: nothing recognises it; it cannot be read; this program broke on it; it was read already
under another name; its folder is not looked into. The last two leave nothing unread that was asked for."""


class Skipped(msgspec.Struct, kw_only=True):
    """A file that was not read, and why."""

    path: str
    bytes: int
    kind: SkipKind
    reason: str


class Compactions(msgspec.Struct, kw_only=True):
    """Compaction attempts of a session by outcome; `unknown` ones were started and never ended.

    Outcomes that the file's format cannot show are null, unless it showed one after all. All are null where the build
    that wrote the file records none.
    """

    attempts: int | None = 0
    summaries: int | None = 0
    dropped: int | None = 0
    no_summary: int | None = 0
    failed: int | None = 0
    aborted: int | None = 0
    skipped: int | None = 0
    unknown: int | None = 0


class SessionTotals(msgspec.Struct, kw_only=True):
    """A session's figures. Tokens are sums over its requests; null is unknown; times are UTC milliseconds."""

    session: str
    agent: str
    version: str | None
    file: str
    parent: str | None
    rows: int
    """Rows of the event table: tells the fullest of several copies."""
    start: int | None
    active_from: int | None
    """The first time after the header: a file of one run may begin with the header of the whole session."""
    end: int | None
    prompts: int | None
    replies: int | None
    errors: dict[str, int] | None
    length_stops: int | None
    aborted: int | None
    compactions: Compactions
    manual_continues: int | None
    peak_context: int | None
    cap: int | None
    cap_source: CapSource | None
    peak_ratio: float | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost: float | None
    waiting_seconds: float | None
    compactions_per_prompt: int | None = None
    """The most compaction attempts between two prompts of a person, those that the person ordered left out."""
    refused_context: int | None = None
    """The greatest request that was refused as too large, of those whose size the error names."""
    contexts: list[int]
    """At most 60 context sizes over the session, each the greatest of its stretch."""
    seen: Seen | None = None
    """Marks of its records: tell copies from stretches side by side. Not part of the JSON."""
    began: int | None = None
    """When it began, where it holds rows from before: a fork, which copied them from its parent. Not in the JSON."""
    copied: "SessionTotals | None" = None
    """The figures of what it copied from sessions that were read too and hold it. Not in the JSON."""
    kin: list[str] = []
    """Those sessions, the one that counts it first. Not in the JSON."""
    older: int = 0
    """Rows of a fork from before it began, where a session that may hold them was read. Not in the JSON."""
    joined: "SessionTotals | None" = None
    """The figures of all files of its format that share records, each record once. Not in the JSON."""
    added: int = 0
    """Rows that this file adds to those of a fuller one with which it shares some. Not in the JSON."""
    bound: bool = False
    """It shares records with files that are too large to be read again: it adds too little. Not in the JSON."""


class Result(msgspec.Struct, kw_only=True):
    """All that a scan says of one file: either `input` or `skipped` is set."""

    input: Input | None = None
    path: Path | None = None
    """Where the file was read, which its name need not say."""
    skipped: Skipped | None = None
    sessions: list[SessionTotals] = []
    findings: list[Finding] = []


def scan_file(path: Path, name: str, options: Options) -> Result:
    """Scan one file; `name` is the path as the user gave it. Never raises for what a file contains."""
    return look(path, name, options, brief=True)[0]


def look(
    path: Path,
    name: str,
    options: Options,
    watch: Callable[[Iterator[Event]], Iterator[Event]] | None = None,
    *,
    brief: bool = False,
) -> tuple[Result, File | None]:
    """Scan one file and give its sessions too; `None` for a file that was not read.

    `watch` is put between parser and sessions: it sees every row, the ones that a session does not keep included.
    `brief`: the caller asks for findings and totals alone, so that sessions need not hold the turns that went well.
    """
    source = Source(path, name, brief=brief)
    try:
        size = source.size
        chosen = recognise(path)
        file = File(name, chosen.name, chosen.agent, log=chosen.log)
        file.touched = int(path.stat().st_mtime * 1000)
        file.now = options.now if options.ends else None
        events = read(source, chosen)
        file.build(watch(events) if watch else events, options.cap)
        for session in file.sessions:
            session.rows += source.left_out[session.id]
        file.lost = max((one.line for one in source.malformed if not one.salvaged), default=None)
    except NotRecognised as error:
        return Result(skipped=Skipped(path=name, bytes=size, kind="unrecognised", reason=str(error))), None
    except Unreadable as error:
        return Result(skipped=Skipped(path=name, bytes=0, kind="unreadable", reason=str(error))), None
    except OSError as error:
        reason = error.strerror or str(error)
        return Result(skipped=Skipped(path=name, bytes=0, kind="unreadable", reason=reason)), None
    wanted = set(detectors() if options.detectors is None else options.detectors)
    findings = detect(file, wanted | ({_CONTINUES} & detectors().keys()), options.options)
    observable = source.failures or chosen.failures
    continues = _by_session(one for one in findings if one.detector == _CONTINUES)
    hides = (chosen.hides, source.hides)
    sessions = [totals(one, continues[one.id], observable, *hides) for one in file.sessions]
    for one, session in zip(sessions, file.sessions, strict=True):
        one.began = began_at(session)
    result = Result(
        input=input_of(source, chosen, agent=file.agent, sessions=len(file.sessions)),
        path=path,
        sessions=sessions,
        findings=[finding for finding in findings if finding.detector in wanted],
    )
    return result, file


class Loaded(NamedTuple):
    """All rows of one session of a file, and of what file they are."""

    name: str
    parser: Parser
    observable: Observable
    part: frozenset[str]
    """Figures that the file shows in part."""
    events: list[Event]


def load(path: Path, name: str, sessions: Container[str]) -> dict[str, Loaded]:
    """Read all rows of some sessions of a file.

    Raises `NotRecognised`, `Unreadable` and `OSError` where the file is not what it was.
    """
    chosen = recognise(path)
    source = Source(path, name)
    rows: defaultdict[str, list[Event]] = defaultdict(list)
    for event in read(source, chosen):
        if event.session is not None and event.session in sessions:
            rows[event.session].append(event)
    of_file = name, chosen, source.failures or chosen.failures, frozenset(source.hides)
    return {session: Loaded(*of_file, events) for session, events in rows.items()}


def figured(loaded: Loaded, events: Iterable[Event]) -> SessionTotals:
    """Give the figures of rows of one session."""
    file = File(loaded.name, loaded.parser.name, loaded.parser.agent, log=loaded.parser.log).build(events)
    (session,) = file.sessions
    continues = _by_session(detect(file, {_CONTINUES} & detectors().keys()))
    return totals(session, continues[session.id], loaded.observable, loaded.parser.hides, loaded.part)


def input_of(source: Source, chosen: Parser, *, agent: str, sessions: int) -> Input:
    """Give the coverage of a file that has been read to its end."""
    companions = source.companions
    return Input(
        path=source.name,
        parser=chosen.name,
        agent=agent,
        bytes=source.size + sum(one.stat().st_size for one in companions if one.is_file()),
        sessions=sessions,
        lines=source.lines,
        records=source.records,
        malformed=source.malformed,
        duplicates=source.duplicates,
        salvaged=sum(one.salvaged for one in source.malformed),
        unknown=dict(sorted(source.unknown.items())),
        notes=source.notes,
        companions=[one.as_posix() for one in companions],
        failures_observable=source.failures or chosen.failures,
    )


def _by_session(findings: Iterable[Finding]) -> defaultdict[str | None, list[Finding]]:
    found: defaultdict[str | None, list[Finding]] = defaultdict(list)
    for one in findings:
        found[one.session].append(one)
    return found


def totals(
    session: Session,
    continues: list[Finding],
    observable: Observable = "yes",
    hides: Container[str] = (),
    part: Container[str] = (),
) -> SessionTotals:
    """Give a session's figures; `continues` are the manual-continue findings about it, of which the waiting comes.

    A figure of 0 that the format hides is unknown, and any figure that the file shows in part.
    """
    waits = [w for f in continues if isinstance(w := f.measures.get("waiting_seconds"), (int, float))]
    peak, fullest = session.peak, session.fullest
    dark = "compactions" in part and not session.attempts

    def shown(name: str, figure: int) -> int | None:
        return None if name in part or (not figure and name in hides) else figure

    return SessionTotals(
        session=session.id,
        agent=session.agent,
        version=session.version,
        file=session.file,
        parent=session.parent,
        rows=session.rows,
        start=session.start,
        active_from=session.active_from,
        end=session.end,
        prompts=shown("prompts", session.prompts),
        replies=shown("replies", session.replies),
        errors=dict(sorted(session.errors.items())) if session.errors or "errors" not in hides else None,
        length_stops=shown("length_stops", session.length_stops),
        aborted=shown("aborted", session.aborted),
        compactions=_compactions(session, observable, dark=dark),
        manual_continues=shown("manual_continues", len(continues)) if _CONTINUES in detectors() else None,
        peak_context=peak,
        cap=session.cap if fullest is None else fullest[1],
        cap_source=session.cap_source,
        peak_ratio=None if fullest is None else round(fullest[0] / fullest[1], 4),
        input_tokens=session.input_tokens,
        cached_tokens=session.cached_tokens,
        output_tokens=session.output_tokens,
        cost=None if session.cost is None else round(session.cost, 9),
        waiting_seconds=round(sum(waits), 3) if waits else None,
        compactions_per_prompt=None if dark or shown("prompts", session.prompts) is None else _per_prompt(session),
        refused_context=_refused(session),
        contexts=session.contexts(60),
        seen=seen(session),
    )


def _refused(session: Session) -> int | None:
    sizes = (one.estimate for one in session.events if one.kind == "reply" and one.fault == "overflow")
    return max((size for size in sizes if size is not None), default=None)


def _per_prompt(session: Session) -> int:
    prompts = [event.seq for event in session.events if event.kind == "prompt" and event.origin in TYPED]
    own = (one for one in session.attempts if one.trigger != "manual" and one.outcome != "skipped")
    return max(Counter(bisect_left(prompts, one.first.seq) for one in own).values(), default=0)


def _compactions(session: Session, observable: Observable, *, dark: bool) -> Compactions:
    if dark:
        return Compactions(**dict.fromkeys(Compactions.__struct_fields__))
    counts = Compactions()
    for attempt in session.attempts:
        counts.attempts = (counts.attempts or 0) + 1
        name = "summaries" if attempt.outcome == "summary" else attempt.outcome.replace("-", "_")
        setattr(counts, name, getattr(counts, name) + 1)
    if observable == "no":
        counts.no_summary, counts.failed, counts.aborted = (
            count or None for count in (counts.no_summary, counts.failed, counts.aborted)
        )
    return counts
