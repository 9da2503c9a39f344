"""One file replayed: every session against its policies, with what each would have changed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from forensics.failures import written
from forensics.parse import NotRecognised, Source, Unreadable, read, recognise
from forensics.replaying.conform import Departure
from forensics.replaying.counterfactual import Counterfactual, counterfactual
from forensics.replaying.decisions import points
from forensics.replaying.fingerprint import Candidate, Print, candidates, fingerprint, named, ran
from forensics.replaying.growth import AFTER, other_day
from forensics.replaying.measures import Figure, Given, Measures
from forensics.replaying.points import Point, Sight, sight
from forensics.replaying.replay_report import (
    FIGURES,
    Answer,
    Departs,
    Longest,
    PolicyReplay,
    SessionReplay,
    Size,
    Skip,
    Step,
    Swept,
    Verdict,
)
from forensics.replaying.streaks import Standing, Streak, longest, standing
from forensics.replaying.summary_budget import Row, attempts, sweep
from forensics.timeline import File, Session


class Asked(msgspec.Struct, kw_only=True, frozen=True):
    """What a replay is asked for. `policies` of `None`: those of each file's agent, and `reference`."""

    policies: tuple[str, ...] | None = None
    given: Given = Given()
    models: Mapping[str, Given] = {}
    """What the configuration says of models, by name."""
    budgets: tuple[int, ...] = ()
    """Output budgets of summaries to sweep."""
    natural: tuple[int, int] | None = None
    steps: bool = False
    """Tell every decision."""


class Replayed(msgspec.Struct, kw_only=True):
    """All that was replayed of one file."""

    sessions: list[SessionReplay] = []
    skipped: Skip | None = None


def replay_file(path: Path, name: str, asked: Asked) -> Replayed:
    """Replay one file; `name` is the path as the user gave it. Raises `PolicyError`."""
    source = Source(path, name)
    try:
        chosen = recognise(path)
        file = File(name, chosen.name, chosen.agent, log=chosen.log).build(read(source, chosen), asked.given.cap)
    except (NotRecognised, Unreadable) as error:
        return Replayed(skipped=Skip(path=name, reason=str(error)))
    except OSError as error:
        return Replayed(skipped=Skip(path=name, reason=error.strerror or str(error)))
    seen = sight(chosen, source.failures or chosen.failures)
    return Replayed(sessions=[_session(session, seen, file, asked) for session in file.sessions])


class _Case(NamedTuple):
    """A session made ready."""

    session: Session
    points: list[Point]
    seen: Sight
    measures: Measures
    streak: Streak


def _session(session: Session, seen: Sight, file: File, asked: Asked) -> SessionReplay:
    given = _given(session, asked)
    made = points(session, seen, given, file.host)
    measures = Measures(session, given, failures=seen.failures)
    case = _Case(session, made, seen, measures, longest(made, replies=seen.replies))
    prints = fingerprint(made, seen, _chosen(case, asked))
    budget = [_row(row) for row in sweep(attempts(made, asked.natural), asked.budgets, measures.cap.value)]
    return SessionReplay(
        session=session.id,
        agent=session.agent,
        version=session.version,
        file=session.file,
        format=file.parser,
        decisions=sum(one.decides for one in made),
        ran=ran(one for one in prints if one.candidate.policy.agent is not None),
        sizes=_sizes(measures),
        streak=_longest(case.streak),
        policies=[_policy(case, one) for one in prints],
        steps=_steps(made, prints) if asked.steps else [],
        sweep=budget,
        notes=_notes(measures, made, seen),
    )


def _steps(made: list[Point], prints: list[Print]) -> list[Step]:
    answers: dict[int, list[Answer]] = {}
    for one in prints:
        for judged in one.found.judged:
            action = " or ".join(judged.policy)
            answers.setdefault(judged.at, []).append(
                Answer(policy=one.candidate.label, agrees=judged.agrees, action=action)
            )
    return [_step(made[at], found) for at, found in sorted(answers.items())]


def _step(point: Point, found: list[Answer]) -> Step:
    unsaid = "prompt over the threshold" if point.kind != "echo" else "a failed summary, repeated without a model call"
    told = [str(signal) for signal in point.signals] or [unsaid]
    return Step(
        line=point.row.line,
        record=point.row.record,
        told=told,
        basis=point.basis,
        recorded=point.recorded,
        answers=found,
    )


def _given(session: Session, asked: Asked) -> Given:
    """Put together what the user says: of this run, else of the session's model."""
    names = {event.model for event in session.events if event.model}
    table = next((asked.models[name] for name in sorted(names) if name in asked.models), Given()) if names else Given()
    own = asked.given
    return Given(
        own.cap if own.cap is not None else table.cap,
        own.max_output if own.max_output is not None else table.max_output,
        own.reserve if own.reserve is not None else table.reserve,
    )


def _chosen(case: _Case, asked: Asked) -> list[Candidate]:
    if asked.policies is not None:
        return named(asked.policies)
    found = candidates(case.session.agent)
    if case.session.agent == "pi" and all(
        one.agrees == "departs" for one in fingerprint(case.points, case.seen, found)
    ):
        found = [*found, *candidates("atomic")]  # an Atomic session without a name of its own
    return [*found, *named(["reference"])]


def _policy(case: _Case, one: Print) -> PolicyReplay:
    found = one.found
    other, notes = _other(case, one)
    return PolicyReplay(
        policy=one.candidate.label,
        options=one.candidate.options,
        agrees=one.agrees,
        decisions=found.decisions,
        equal=found.equal,
        departs=_departs(case.points, one, found.departs) if found.departs else None,
        departures=len(found.departures),
        undetermined=found.undetermined,
        verdict=_verdict(standing(case.points, found, case.streak)),
        counterfactual={f"{name}_avoided": list(other.interval(name)) for name in FIGURES},
        resumed=other.resumed,
        notes=notes,
    )


def _departs(made: list[Point], one: Print, departure: Departure) -> Departs:
    row = made[departure.at].row
    return Departs(
        line=row.line,
        record=row.record,
        lines=sorted({line for point in one.proof for line in point.lines}),
        recorded=departure.recorded,
        policy=" or ".join(departure.policy),
    )


def _verdict(found: Standing) -> Verdict:
    lines, records = _ends(found.cycle)
    return Verdict(
        bounded=found.bounded,
        figure=found.figure,
        cycle=lines,
        records=records,
        words=found.words,
        by_fault={str(kind): holds for kind, holds in found.by_fault.items()},
        assumptions=list(found.assumptions),
    )


def _longest(streak: Streak) -> Longest:
    lines, records = _ends(streak)
    return Longest(recoveries=streak.length, lines=lines, records=records)


def _ends(streak: Streak | None) -> tuple[list[int] | None, list[str] | None]:
    rows = [] if streak is None else [one for one in (streak.first, streak.last) if one is not None]
    lines = [one.line for one in rows if one.line is not None]
    records = [one.record for one in rows if one.record is not None]
    return (lines if len(lines) == 2 else None), (records if len(records) == 2 else None)


def _sizes(measures: Measures) -> dict[str, Size]:
    figures = {
        "cap": measures.cap,
        "max_output": measures.max_output,
        "reserve": measures.reserve,
        "threshold": measures.threshold,
        "over_from": Figure(measures.over_from, "inferred"),
        "under_to": Figure(measures.under_to, "inferred"),
    }
    return {
        name: Size(tokens=figure.value, basis=figure.basis if figure.value is not None else "unknown")
        for name, figure in figures.items()
    }


def _row(row: Row) -> Swept:
    return Swept(
        max_output=row.asked,
        in_force=row.in_force,
        reasoning=row.reasoning,
        cut_or_empty=[row.most, row.least],
        calls=row.of,
    )


def _notes(measures: Measures, made: Iterable[Point], seen: Sight) -> list[str]:
    found = []
    inferred = any(point.decides and point.basis == "inferred" for point in made)
    if inferred and measures.conditional:
        found.append("sizes inferred from neighbours suppose that no compaction failed unseen; --cap settles it")
    if not seen.whole:
        found.append("a session file loses what its agent does after the process closes: such decisions stay open")
    return found


def _other(case: _Case, one: Print) -> tuple[Counterfactual, list[str]]:
    """Give what the policy would have avoided, and what to know about the figures."""
    name = one.candidate.policy.name
    lived = other_day(case.points, case.measures.cap.value, name) if name.startswith("pilotdeck") else None
    if lived is None or not (one.found.departures or name == AFTER):
        other = counterfactual(case.session, case.points, one.found, case.seen)
        mended = len(written(case.session))
        told = f"goes on by itself at {other.resumed} of {mended} places where a person had to write"
        return other, [told] if other.resumed else []
    peaks = sorted({lived.low.peak, lived.high.peak})
    notes = [
        f"largest prompt {lived.real.peak:,} tokens, then {' to '.join(f'{peak:,}' for peak in peaks)}: the growth on "
        "record, lived again; a summary leaves the compactor's target, the emergency cut a tenth of the messages"
    ]
    if name == AFTER:
        notes += [
            "optimistic: every summary succeeds; pessimistic: none does, as where reasoning cannot be turned off",
            "bounds nothing by itself: a context that stays full is compacted for ever",
            "exits of the gateway are correlated with compactions in time, no more: none is counted as avoided",
        ]
    return lived.found, notes
