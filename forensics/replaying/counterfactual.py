"""What another policy would have saved, from the first decision on which it departs from the record.

What follows a decision that was not taken is not on record, so each figure is an interval. Pessimistic: the failure
that led there repeats for as long as the policy goes on, and the person is needed after all. Optimistic: the policy's
request meets the next outcome on record. Where a policy stops and the record went on by itself, nothing is left to
chance. Unknown stays unknown.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from forensics.failures import written
from forensics.replay import Signal, stepper
from forensics.replaying.conform import Conformance, Departure
from forensics.replaying.decisions import Point, Sight
from forensics.replaying.episodes import Cost, hours, request, spent, usual_compaction
from forensics.replaying.lockstep import Config, Loop
from forensics.timeline import Session

_STEPS = 400
"""Steps of a failure that repeats, after which the policy counts as going on for ever."""


class Interval(NamedTuple):
    """From pessimistic to optimistic; `None`: not known."""

    pessimistic: float | None
    optimistic: float | None


class Counterfactual(NamedTuple):
    """What is avoided; negative: what the policy would have spent more than the record."""

    pessimistic: Cost | None
    """`None`: the policy would have gone on without end."""
    optimistic: Cost
    resumed: int
    """Breaks that a person mended, and where the policy goes on by itself."""

    def interval(self, name: str) -> Interval:
        """Give one figure as an interval."""
        low = None if self.pessimistic is None else self.pessimistic.figure(name)
        high = self.optimistic.figure(name)
        if name in {"paid_summaries", "model_calls"} and high is not None:
            high += self.optimistic.doubtful
        if low is not None and high is not None and low > high:  # what costs more can also repeat less often
            low, high = high, low
        return Interval(_round(low), _round(high))


def _round(figure: float | None) -> float | None:
    return figure if figure is None or isinstance(figure, int) else round(figure, 6)


def counterfactual(session: Session, points: list[Point], found: Conformance, seen: Sight) -> Counterfactual:
    """Sum up what the policy would have avoided over all of its departures."""
    other = _Other(session, points, found, seen)
    pessimistic: Cost | None = Cost()
    optimistic = Cost()
    after = -1
    for departure in found.departures:
        if departure.at <= after:
            continue
        low, high, after = other.departure(departure)
        pessimistic = None if pessimistic is None or low is None else pessimistic.plus(low)
        optimistic = optimistic.plus(high)
    return Counterfactual(pessimistic, optimistic, other.resumed)


class _Other:
    def __init__(self, session: Session, points: list[Point], found: Conformance, seen: Sight) -> None:
        self.points = points
        self.seen = seen
        self.loop = Loop(stepper(found.policy, found.options), seen)
        self.continues = {id(prompt) for prompt in written(session)}
        self.compaction = usual_compaction(points)
        self.resumed = 0
        self._kinds: defaultdict[str, list[int]] = defaultdict(list)
        for at, point in enumerate(points):
            self._kinds[point.kind].append(at)
        self._failed = [at for at in self._kinds["reply"] if points[at].signals and points[at].signals[0].bad]
        self._made = [at for at in self._kinds["compacted"] if len(points[at].signals) == 1]

    def departure(self, one: Departure) -> tuple[Cost | None, Cost, int]:
        """Give what is avoided by one decision, and the position up to which later ones are void."""
        lows: list[Cost | None] = []
        highs: list[Cost] = []
        ends: list[int] = []
        for config in one.configs:
            low, high, end = self._stopped(one.at, config) if config.due == "idle" else self._acted(one.at, config)
            lows.append(low)
            highs.append(high)
            ends.append(end)
        if any(high.manual_continues > 0 for high in highs):
            self.resumed += 1
        return _least(lows), _most(highs), min(ends)

    def _stopped(self, at: int, config: Config) -> tuple[Cost, Cost, int]:
        """Count what the record did by itself where the policy ends the turn.

        Where the format hides prompts, a person may have written at once.
        """
        end = self._next(at, {"prompt", "asked"})
        progress = next((place for place in range(at + 1, end) if _progress(self.points[place])), None)
        stop = end if progress is None else progress
        avoided = spent(self.points[at + 1 : stop])
        last = self.points[stop - 1].row if stop - 1 > at else self.points[at].row
        avoided = avoided.plus(Cost(looping=hours(self.points[at].row, last)))
        if progress is not None and self._unfinished(at):
            avoided = avoided.plus(Cost(manual_continues=-1))
        if end < len(self.points) and self._compacts_later(config):
            avoided = avoided.less(self.compaction)
        return avoided if self.seen.prompts else Cost(), avoided, stop - 1

    def _unfinished(self, at: int) -> bool:
        """Say whether the turn's task was left undone at a decision."""
        found = (self.points[place] for place in range(at, -1, -1))
        reply = next((one for one in found if one.kind in {"reply", "prompt"}), None)
        return reply is None or reply.kind == "prompt" or reply.row.stop != "done"

    def _compacts_later(self, config: Config) -> bool:
        """Say whether the policy does at the next prompt what it did not do here."""
        return any(one.due == "compaction" for one in self.loop.prompt(config, boundary=False))

    def _acted(self, at: int, config: Config) -> tuple[Cost | None, Cost, int]:
        """Count what the policy's own action saves, if it meets the next outcome on record, and if it fails again."""
        paid = Cost()
        if config.due == "compaction":
            after = self.loop.tell(config, Signal("compacted", outcome="summary", fits="yes"))
            paid = self.compaction
            if after.due != "request":
                return self._repeated(at, config), Cost().less(paid), at
        return self._repeated(at, config), self._met(at).less(paid), at

    def _met(self, at: int) -> Cost:
        """Give what lies between the decision and the next reply on record: people, and compactions of another kind."""
        end = self._next(at, {"reply", "other"})
        if end == len(self.points):
            return Cost()
        between = self.points[at + 1 : end]
        asked = [one for one in between if id(one.row) in self.continues]
        saved = spent(one for one in between if one.kind in {"compacted", "echo"})
        if asked:
            saved = saved.plus(Cost(manual_continues=len(asked), waiting=hours(self.points[at].row, asked[-1].row)))
        return saved

    def _repeated(self, at: int, config: Config) -> Cost | None:
        """Let the failure repeat until the policy ends the turn; `None`: it never does."""
        failed = self._failure(at)
        if failed is None:
            return Cost()
        outcome = self._outcome(at)
        total = Cost()
        for _ in range(_STEPS):
            if config.due == "idle":
                return Cost().less(total)
            if config.due == "wait":
                config = self.loop.tell(config, Signal("elapsed"))
            elif config.due == "compaction":
                total = total.plus(self.compaction)
                config = self.loop.tell(config, outcome)
            else:
                total = total.plus(request(failed.row))
                config = self.loop.tell(config, failed.signals[0])
        return None

    def _failure(self, at: int) -> Point | None:
        place = bisect_right(self._failed, at)
        return self.points[self._failed[place - 1]] if place else None

    def _outcome(self, at: int) -> Signal:
        place = bisect_right(self._made, at)
        return self.points[self._made[place - 1]].signals[0] if place else Signal("compacted", outcome="no-summary")

    def _next(self, at: int, kinds: set[str]) -> int:
        lists = [self._kinds[kind] for kind in kinds]
        found = (places[first] for places in lists if (first := bisect_right(places, at)) < len(places))
        return min(found, default=len(self.points))


def _progress(point: Point) -> bool:
    return point.kind == "reply" and bool(point.signals) and all(one.progress for one in point.signals)


def _least(costs: Iterable[Cost | None]) -> Cost | None:
    found = list(costs)
    known = [one for one in found if one is not None]
    return _fold(known, min) if len(known) == len(found) else None


def _most(costs: Iterable[Cost]) -> Cost:
    return _fold(list(costs), max)


def _fold(costs: list[Cost], choose: Callable[[list[float]], float]) -> Cost:
    chosen: dict[str, Any] = {}
    for name in Cost.__struct_fields__:
        values = [getattr(one, name) for one in costs]
        chosen[name] = None if None in values else choose(values)
    return Cost(**chosen)
