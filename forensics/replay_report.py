"""What `forensics replay` says: its parts under their published names, their sums, and the whole as JSON."""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from forensics.counterfactual import Interval
from forensics.measures import Basis

SCHEMA_VERSION = 1
FIGURES = (
    "manual_continues",
    "compactions",
    "paid_summaries",
    "model_calls",
    "tokens",
    "dollars",
    "hours",
)


class Departs(msgspec.Struct, kw_only=True):
    """The first decision that is not the policy's."""

    line: int | None
    record: str | None
    lines: list[int]
    """All rows that show it: the failure, the decision, what came next."""
    recorded: str
    policy: str


class Verdict(msgspec.Struct, kw_only=True):
    """Whether the policy bounds the recovery from failures of the session's classes.

    `figure`: the most recoveries in a row that are possible, or as many as the record shows of an endless one.
    """

    bounded: bool | None
    figure: int | None
    cycle: list[int] | None
    """First and last line of the loop on record."""
    records: list[str] | None
    words: str
    by_fault: dict[str, bool | None]
    """Each class of failure that the session holds, judged by itself."""
    assumptions: list[str]


class PolicyReplay(msgspec.Struct, kw_only=True):
    """One session under one policy."""

    policy: str
    options: dict[str, Any]
    agrees: Literal["consistent", "departs", "undetermined"]
    decisions: int
    equal: int
    departs: Departs | None
    departures: int
    undetermined: int
    verdict: Verdict
    counterfactual: dict[str, list[float | None]]
    resumed: int
    """Breaks that a person mended, and where the policy goes on by itself."""
    notes: list[str]


class Longest(msgspec.Struct, kw_only=True):
    """The record's longest streak of automatic recoveries without progress."""

    recoveries: int
    lines: list[int] | None
    records: list[str] | None


class Size(msgspec.Struct, kw_only=True):
    """A size that had to be known, and where it comes from."""

    tokens: int | None
    basis: Basis


class Swept(msgspec.Struct, kw_only=True):
    """Summaries that an output budget would leave cut off or empty, pessimistic to optimistic, of so many calls."""

    max_output: int
    in_force: int
    reasoning: bool
    cut_or_empty: list[int]
    calls: int


class SessionReplay(msgspec.Struct, kw_only=True):
    """One session replayed."""

    session: str
    agent: str
    version: str | None
    file: str
    format: str
    """The parser that read it."""
    decisions: int
    ran: str
    sizes: dict[str, Size]
    streak: Longest
    policies: list[PolicyReplay]
    sweep: list[Swept]
    notes: list[str]


class Skip(msgspec.Struct, kw_only=True):
    """A file that was not replayed, and why."""

    path: str
    reason: str


class Ending(msgspec.Struct, kw_only=True):
    """The verdict over all sessions: the worst of them, and the greatest figure."""

    bounded: bool | None
    figure: int | None


class Total(msgspec.Struct, kw_only=True):
    """One policy over all sessions; a figure that one session does not know is unknown."""

    policy: str
    sessions: int
    decisions: int
    equal: int
    departures: int
    undetermined: int
    verdict: Ending
    counterfactual: dict[str, list[float | None]]


class Document(msgspec.Struct, kw_only=True):
    """The whole report."""

    schema_version: int
    sessions: list[SessionReplay]
    total: list[Total]
    sweep: list[Swept]
    skipped: list[Skip]


def document(found: Iterable[SessionReplay], skipped: Iterable[Skip] = ()) -> Document:
    """Put the report together. A session that several files of one format hold is told once, from the fullest."""
    sessions = list(found)
    kept = _fullest(sessions)
    left = [
        Skip(path=one.file, reason=f"another copy of session {one.session} holds more of it")
        for one in sessions
        if one not in kept
    ]
    once = _once(kept)
    return Document(
        schema_version=SCHEMA_VERSION,
        sessions=kept,
        total=totals(once),
        sweep=swept(once),
        skipped=sorted([*skipped, *left], key=lambda one: one.path),
    )


def to_json(report: Document) -> dict[str, Any]:
    """Give the report as one plain JSON value."""
    content: dict[str, Any] = msgspec.to_builtins(report)
    return content


def schema() -> dict[str, Any]:
    """Give the JSON Schema of the report."""
    (reference,), found = msgspec.json.schema_components([Document], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "forensics replay",
        "description": "What `forensics replay --format json` writes. Figures that are avoided are pairs, from"
        " pessimistic to optimistic. Tokens are counts, dollars are US dollars. Unknown is null, never 0.",
        **reference,
        "$defs": dict(sorted(found.items())),
    }


def _fullest(sessions: list[SessionReplay]) -> list[SessionReplay]:
    best: dict[tuple[str, str], SessionReplay] = {}
    for one in sessions:
        key = one.format, one.session
        if key not in best or one.decisions > best[key].decisions:
            best[key] = one
    return [one for one in sessions if best[one.format, one.session] is one]


def _once(sessions: list[SessionReplay]) -> list[SessionReplay]:
    """Keep of a session that files of several formats hold the one that decides most."""
    best: dict[str, tuple[int, SessionReplay]] = {}
    for one in sessions:
        told = max((policy.equal + policy.departures for policy in one.policies), default=0)
        if one.session not in best or told > best[one.session][0]:
            best[one.session] = told, one
    return [one for one in sessions if best[one.session][1] is one]


def totals(sessions: Iterable[SessionReplay]) -> list[Total]:
    """Sum up over sessions, policy by policy."""
    found: dict[str, list[PolicyReplay]] = {}
    for session in sessions:
        for one in session.policies:
            found.setdefault(one.policy, []).append(one)
    return [_total(policy, made) for policy, made in found.items()]


def _total(policy: str, made: list[PolicyReplay]) -> Total:
    names = [f"{name}_avoided" for name in FIGURES]
    return Total(
        policy=policy,
        sessions=len(made),
        decisions=sum(one.decisions for one in made),
        equal=sum(one.equal for one in made),
        departures=sum(one.departures for one in made),
        undetermined=sum(one.undetermined for one in made),
        verdict=_worst(made),
        counterfactual={name: list(_sum(one.counterfactual[name] for one in made)) for name in names},
    )


def swept(sessions: Iterable[SessionReplay]) -> list[Swept]:
    """Add up the sessions' tables of summaries by output budget; the budget in force is the least of them."""
    found: dict[tuple[int, bool], Swept] = {}
    for row in (row for one in sessions for row in one.sweep):
        held = found.get((row.max_output, row.reasoning))
        if held is None:
            found[row.max_output, row.reasoning] = msgspec.structs.replace(row)
            continue
        held.in_force = min(held.in_force, row.in_force)
        held.cut_or_empty = [a + b for a, b in zip(held.cut_or_empty, row.cut_or_empty, strict=True)]
        held.calls += row.calls
    return list(found.values())


def _worst(made: list[PolicyReplay]) -> Ending:
    verdicts = [one.verdict for one in made]
    states = [one.bounded for one in verdicts]
    figures = [one.figure for one in verdicts if one.figure is not None]
    bounded = False if False in states else None if None in states else True
    return Ending(bounded=bounded, figure=max(figures, default=None))


def _sum(intervals: Iterable[list[float | None]]) -> Interval:
    ends = list(zip(*intervals, strict=True))
    summed = [None if None in end else sum(value for value in end if value is not None) for end in ends]
    return Interval(*(value if value is None or isinstance(value, int) else round(value, 6) for value in summed))
