"""The sums of a replay over sessions, each told once."""

from collections.abc import Iterable

import msgspec

from forensics.replaying.counterfactual import Interval
from forensics.replaying.replay_report import (
    FIGURES,
    SCHEMA_VERSION,
    Document,
    Ending,
    PolicyReplay,
    SessionReplay,
    Skip,
    Swept,
    Total,
)


def document(found: Iterable[SessionReplay], skipped: Iterable[Skip] = ()) -> Document:
    """Put the report together. A session that several files of one format hold is told once, from the fullest."""
    sessions = list(found)
    kept = fullest(sessions)
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


def fullest(sessions: list[SessionReplay]) -> list[SessionReplay]:
    """Keep of copies of a session in one format the one that holds most."""
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
