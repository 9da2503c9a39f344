"""What `forensics replay` says: its parts under their published names, their sums, and the whole as JSON."""

from typing import Any, Literal

import msgspec

from forensics.replaying.measures import Basis

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


class Answer(msgspec.Struct, kw_only=True):
    """What a policy does at a decision, and how the record agrees."""

    policy: str
    agrees: Literal["equal", "departs", "undetermined"]
    action: str


class Step(msgspec.Struct, kw_only=True):
    """One decision on record."""

    line: int | None
    record: str | None
    told: list[str]
    """What the logic was told: more than one where the file does not say."""
    basis: Basis
    recorded: str
    answers: list[Answer]


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
    steps: list[Step]
    """Every decision, where they are asked for."""
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
