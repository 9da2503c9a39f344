"""What `forensics replay` says: its parts under their published names, their sums, and the whole as JSON."""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from forensics.counterfactual import Interval

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


class SessionReplay(msgspec.Struct, kw_only=True):
    """One session replayed."""

    session: str
    agent: str
    version: str | None
    file: str
    decisions: int
    ran: str
    sizes: dict[str, dict[str, Any]]
    """What had to be known: each figure in tokens with where it comes from."""
    streak: Longest
    policies: list[PolicyReplay]
    sweep: list[dict[str, Any]]
    notes: list[str]


class Skip(msgspec.Struct, kw_only=True):
    """A file that was not replayed, and why."""

    path: str
    reason: str


def to_json(found: Iterable[SessionReplay], skipped: Iterable[Skip] = ()) -> dict[str, Any]:
    """Give the report as one plain JSON value."""
    sessions = list(found)
    return {
        "schema_version": SCHEMA_VERSION,
        "sessions": [msgspec.to_builtins(one) for one in sessions],
        "total": totals(sessions),
        "sweep": swept(sessions),
        "skipped": [msgspec.to_builtins(one) for one in skipped],
    }


def totals(sessions: Iterable[SessionReplay]) -> list[dict[str, Any]]:
    """Sum up over sessions, policy by policy; a figure that one session does not know is unknown."""
    found: dict[str, list[PolicyReplay]] = {}
    for session in sessions:
        for one in session.policies:
            found.setdefault(one.policy, []).append(one)
    return [
        {
            "policy": policy,
            "sessions": len(made),
            "decisions": sum(one.decisions for one in made),
            "equal": sum(one.equal for one in made),
            "departures": sum(one.departures for one in made),
            "undetermined": sum(one.undetermined for one in made),
            "verdict": _worst(made),
            "counterfactual": {
                f"{name}_avoided": list(_sum(one.counterfactual[f"{name}_avoided"] for one in made)) for name in FIGURES
            },
        }
        for policy, made in found.items()
    ]


def swept(sessions: Iterable[SessionReplay]) -> list[dict[str, Any]]:
    """Add up the sessions' tables of summaries by output budget; the budget in force is the least of them."""
    found: dict[tuple[int, bool], dict[str, Any]] = {}
    for row in (row for one in sessions for row in one.sweep):
        key = row["max_output"], row["reasoning"]
        held = found.setdefault(key, {**row, "cut_or_empty": [0, 0], "calls": 0})
        held["in_force"] = min(held["in_force"], row["in_force"])
        held["cut_or_empty"] = [a + b for a, b in zip(held["cut_or_empty"], row["cut_or_empty"], strict=True)]
        held["calls"] += row["calls"]
    return list(found.values())


def _worst(made: list[PolicyReplay]) -> dict[str, Any]:
    verdicts = [one.verdict for one in made]
    states = [one.bounded for one in verdicts]
    figures = [one.figure for one in verdicts if one.figure is not None]
    bounded = False if False in states else None if None in states else True
    return {"bounded": bounded, "figure": max(figures, default=None)}


def _sum(intervals: Iterable[list[float | None]]) -> Interval:
    ends = list(zip(*intervals, strict=True))
    summed = [None if None in end else sum(value for value in end if value is not None) for end in ends]
    return Interval(*(value if value is None or isinstance(value, int) else round(value, 6) for value in summed))
