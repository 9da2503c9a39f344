"""How long a record's recovery went on without progress, and whether a policy bounds that."""

from collections.abc import Iterable
from typing import NamedTuple

from forensics.events import Event
from forensics.proof.environment import FaultClass, World, fault_class
from forensics.proof.properties import bounded
from forensics.proof.verdict import Verdict
from forensics.proof.walk import Graph, Machine, TooManyStatesError
from forensics.replay import stepper
from forensics.replaying.conform import Conformance
from forensics.replaying.decisions import Point

_MOST_STATES = 500_000


class Streak(NamedTuple):
    """The longest run of automatic recoveries between two signs of progress, without a prompt."""

    length: int = 0
    first: Event | None = None
    last: Event | None = None
    begin: int = 0
    """Position of its first point."""
    end: int = 0


class Standing(NamedTuple):
    """What a policy makes of a session's failures, each class judged by itself, as the proof does.

    `bounded` of `None`: it could not be walked.
    """

    bounded: bool | None
    figure: int | None
    """Bounded: the most recoveries in a row. Not bounded: as many as the record shows under this policy."""
    cycle: Streak | None
    """Where the record shows the loop."""
    words: str
    by_fault: dict[FaultClass, bool | None]
    assumptions: tuple[str, ...]
    """What the record allows to suppose of its own failures."""


def longest(points: Iterable[Point], *, replies: bool = True) -> Streak:
    """Find the longest streak of the record. Without `replies` on record, a summary that was made is the progress."""
    best = run = Streak()
    failed: Event | None = None
    for at, point in enumerate(points):
        if point.kind in {"prompt", "manual"} or _progress(point):
            run, failed = Streak(), None
        elif point.kind in {"compacted", "echo"} and not point.perhaps:
            run, failed = _longer(run, failed or point.first, point.row, at), None
        elif point.kind == "reply" and failed is not None:
            run = _longer(run, failed, point.row, at)
        if point.kind == "reply" and point.signals and point.signals[0].bad:
            failed = point.row
        best = max(best, run, key=lambda one: one.length)
        if not replies and point.kind == "compacted" and all(one.outcome == "summary" for one in point.signals):
            run = Streak()
    return best


def _longer(run: Streak, first: Event, last: Event, at: int) -> Streak:
    if not run.length:
        return Streak(1, first, last, at, at)
    return run._replace(length=run.length + 1, last=last, end=at)


def _progress(point: Point) -> bool:
    return point.kind == "reply" and bool(point.signals) and any(one.progress for one in point.signals)


def standing(points: list[Point], found: Conformance, streak: Streak) -> Standing:
    """Say whether the policy bounds the recovery from the failures that the session holds."""
    assume = _assumed(points)
    proved = {kind: _proved(found, kind, assume) for kind in _classes(points)}
    by_fault = {kind: None if one is None else one.holds for kind, one in proved.items()}
    lost = [one for one in proved.values() if one is not None and not one.holds]
    if lost:
        shown = streak.length > 0 and not any(streak.begin <= one.at <= streak.end for one in found.departures)
        figure = streak.length if shown else None
        return Standing(False, figure, streak if shown else None, lost[0].reason, by_fault, assume)
    if None in proved.values():
        return Standing(None, None, None, "too many states to walk", by_fault, assume)
    held = [one for one in proved.values() if one is not None]
    most = max(held, key=lambda one: int(one.figures["recoveries"]), default=None)
    if most is None:
        return Standing(True, 0, None, "nothing failed", by_fault, assume)
    return Standing(True, int(most.figures["recoveries"]), None, most.reason, by_fault, assume)


def _classes(points: Iterable[Point]) -> tuple[FaultClass, ...]:
    found = {
        kind
        for point in points
        if point.decides and point.kind == "reply"
        for signal in point.signals
        if (kind := fault_class(signal)) is not None
    }
    if any(point.kind in {"compacted", "echo"} for point in points) and "overflow" not in found:
        found.add("context")
    return tuple(sorted(found))


def _assumed(points: Iterable[Point]) -> tuple[str, ...]:
    """Suppose that failures lie on one side of the threshold where all of the record's own are known to."""
    overs = {signal.over for point in points if point.kind == "reply" for signal in point.signals if signal.bad}
    if overs == {True}:
        return ("errors-over-threshold",)
    return ("errors-under-threshold",) if overs == {False} else ()


_KNOWN: dict[tuple[str, str, World], Verdict | None] = {}


def _proved(found: Conformance, kind: FaultClass, assume: tuple[str, ...]) -> Verdict | None:
    """Walk the policy against one class of failure, as `prove` does; `None` where it is too large."""
    world = World(frozenset({kind}), frozenset({*assume, *found.policy.assume}))
    key = found.policy.module, repr(sorted(found.options.items())), world
    if key not in _KNOWN:
        try:
            machine = Machine(found.policy, stepper(found.policy, found.options))
            _KNOWN[key] = bounded(Graph(machine, world, _MOST_STATES))
        except TooManyStatesError:
            _KNOWN[key] = None
    return _KNOWN[key]
