"""Find what went wrong: detectors take a session or a file and yield claims, each with its evidence.

A detector is one decorated plain generator in `forensics/detectors/`. Its function's name is its id, its docstring
the user's page, its keyword-only arguments its options. A claim cannot be built without evidence.
"""

import hashlib
import inspect
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any, Literal, NamedTuple

import msgspec

from forensics import plugins
from forensics.events import Event
from forensics.timeline import File, Session

Severity = Literal["error", "warning", "note"]
Confidence = Literal["high", "medium", "low"]
Basis = Literal["observed", "derived", "inferred", "simulated"]
Grain = Literal["session", "file"]
State = Literal["new", "baselined", "suppressed", "worse"]
Value = int | float | str | None

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Measure(NamedTuple):
    """A figure of a claim: its value (`None`: unknown), how it is known, and its interval where it is uncertain."""

    value: Value
    basis: Basis
    interval: tuple[float, float] | None = None


class Claim(msgspec.Struct, kw_only=True, frozen=True):
    """What a detector says happened. `evidence` holds the rows that show it, in order, and is never empty."""

    message: str
    evidence: tuple[Event, ...]
    measures: Mapping[str, Measure] = {}
    confidence: Confidence = "high"
    severity: Severity | None = None
    """Only where it differs from the detector's own."""
    session: Session | None = None
    """Only in per-file detectors: the session that the claim is about."""
    key: str | None = None
    """Structural key where the first evidence row alone does not tell two claims of a session apart."""

    def __post_init__(self) -> None:
        """Refuse a claim that nobody can check."""
        if not any(event.line is not None or event.record is not None for event in self.evidence):
            raise ValueError("a claim needs evidence: at least one row with a line or a record id")


class Finding(msgspec.Struct, kw_only=True):
    """A claim as reported. Times are UTC milliseconds; `lines` are 1-based physical lines of `file`."""

    id: str
    detector: str
    severity: Severity
    confidence: Confidence
    state: State = "new"
    reason: str | None = None
    """Why a baseline or a suppression accepts it, in the user's words; of a worse one, what got worse; of one that
    another file of the session refutes, which."""
    agent: str
    file: str
    also: list[str] = []
    """Other files that hold the same records and show the same finding."""
    session: str | None
    message: str
    lines: list[int]
    records: list[str]
    start: int | None
    end: int | None
    measures: dict[str, Value]
    bases: dict[str, Basis]
    intervals: dict[str, tuple[float, float]]
    times: list[int] = []
    """When its evidence happened, sorted; of evidence without times when the nearest dated row did. Not part of the
    JSON: tells which findings of several files are the same."""
    key: str = ""
    """What its id names beside detector, agent and session. Not part of the JSON."""


class Within(NamedTuple):
    """What a number may be, its ends included: `rate: Annotated[float, Within(0, 1)] = 0.5`."""

    least: float = 0
    most: float = math.inf

    def __str__(self) -> str:
        """Say it as a user reads it."""
        return f"from {self.least:,g}" if math.isinf(self.most) else f"from {self.least:,g} to {self.most:,g}"


class Detector(NamedTuple):
    """A registered detector."""

    name: str
    severity: Severity
    grain: Grain
    run: Callable[..., Iterator[Claim]]
    options: dict[str, Any]
    """Option name (kebab case) to default value."""
    page: str
    ranges: Mapping[str, Within] = {}
    """Option name to what it may be; a number that is not named may not be negative."""


REGISTRY: dict[str, Detector] = {}


def detector(
    severity: Severity, *, per: Grain
) -> Callable[[Callable[..., Iterator[Claim]]], Callable[..., Iterator[Claim]]]:
    """Register a detector that takes a `Session` or a `File` (`per`) and its options by keyword."""

    def register(function: Callable[..., Iterator[Claim]]) -> Callable[..., Iterator[Claim]]:
        name = function.__name__.replace("_", "-")
        given = {
            parameter.name.replace("_", "-"): parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        options = {option: parameter.default for option, parameter in given.items()}
        page = inspect.getdoc(function) or ""
        REGISTRY[name] = Detector(name, severity, per, function, options, page, ranges_of(given))
        return function

    return register


def ranges_of(options: Mapping[str, inspect.Parameter]) -> dict[str, Within]:
    """Give what each number may be, by its annotation."""
    noted = {name: getattr(parameter.annotation, "__metadata__", ()) for name, parameter in options.items()}
    return {name: found for name, notes in noted.items() for found in notes if isinstance(found, Within)}


@cache
def detectors() -> dict[str, Detector]:
    """Every detector by name, found by importing the folder."""
    import forensics.detectors as folder  # noqa: PLC0415  (the folder imports this module)

    plugins.load(folder)
    return dict(sorted(REGISTRY.items()))


def detect(
    file: File, names: Iterable[str] | None = None, options: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Finding]:
    """Run the named detectors (default: all) over a file; `options` maps detector to option to value.

    Findings come in the order of detector name, then session, then evidence.
    """
    chosen = detectors()
    findings: list[Finding] = []
    for name in sorted(chosen if names is None else names):
        one = chosen[name]
        given = {key.replace("-", "_"): value for key, value in ((options or {}).get(name) or {}).items()}
        ordinals: defaultdict[tuple[str, str], int] = defaultdict(int)
        for session in file.sessions if one.grain == "session" else (None,):
            findings.extend(
                _finding(one, file, claim.session or session, claim, ordinals)
                for claim in one.run(file if session is None else session, **given)
            )
    return findings


def _finding(
    one: Detector, file: File, session: Session | None, claim: Claim, ordinals: defaultdict[tuple[str, str], int]
) -> Finding:
    agent = session.agent if session else file.agent
    name = session.id if session else None
    records = list(dict.fromkeys(event.record for event in claim.evidence if event.record is not None))
    times = [event.ts for event in claim.evidence if event.ts is not None]
    near = _near(session, claim.evidence[0])
    key = claim.key or (records[0] if records else _placed(name or "", claim.evidence[0].kind, near, ordinals))
    return Finding(
        id=fingerprint(one.name, agent, name, key),
        detector=one.name,
        severity=claim.severity or one.severity,
        confidence=claim.confidence,
        agent=agent,
        file=file.name,
        session=name,
        message=claim.message,
        lines=sorted({event.line for event in claim.evidence if event.line is not None}),
        records=records,
        start=min(times, default=None),
        end=max(times, default=None),
        measures={name: measure.value for name, measure in claim.measures.items()},
        bases={name: measure.basis for name, measure in claim.measures.items()},
        intervals={name: measure.interval for name, measure in claim.measures.items() if measure.interval},
        times=sorted(set(times)) or ([] if near is None else [near]),
        key=key,
    )


def _placed(session: str, kind: str, near: int | None, ordinals: defaultdict[tuple[str, str], int]) -> str:
    """Name a row without a record id by its time; rows of one time, and those without any, are counted."""
    place = kind if near is None else f"{kind}@{near}"
    ordinals[session, place] += 1
    return place if near is not None and ordinals[session, place] == 1 else f"{place}:{ordinals[session, place]}"


def _near(session: Session | None, row: Event) -> int | None:
    """Give a row's time, or that of the dated row nearest before it, else after it.

    The header does not count: the files of several runs of one session may all begin with it.
    """
    if row.ts is not None or session is None:
        return row.ts
    events = session.events
    at = bisect_right(events, row.seq, key=lambda one: one.seq)
    nearest = chain(range(at - 1, -1, -1), range(at, len(events)))
    return next((one.ts for n in nearest if (one := events[n]).ts is not None and one.kind != "session"), None)


def of_agent(finding: Finding, agent: str) -> Finding:
    """Give the finding as one of another agent, by the name that it has there."""
    name = fingerprint(finding.detector, agent, finding.session, finding.key) if finding.key else finding.id
    return msgspec.structs.replace(finding, agent=agent, id=name)


def told_again(finding: Finding) -> str:
    """Name a finding that has the id of an earlier one of its session in another file, by its own time too."""
    first = finding.times[0] if finding.times else ",".join(map(str, finding.lines))
    return fingerprint(finding.detector, finding.agent, finding.session, f"{finding.id}@{first}")


def fingerprint(detector: str, agent: str, session: str | None, key: str) -> str:
    """Name a finding by its structure, so that it keeps its name when lines, paths, counts or texts change."""
    digest = hashlib.sha256("\0".join((detector, agent, session or "", key)).encode(errors="replace"))
    return digest.hexdigest()[:16] + "/v1"
