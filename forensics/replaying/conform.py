"""Run a policy over what was recorded: say whether the record conforms, and where it departs first.

The policy and the agent's ordinary loop are followed together through the record. Where the file does not say what
the policy was told, every possibility is followed; those that the next row contradicts are dropped. A decision is
*equal* when what came next is what the policy does in every possibility, a *departure* when it is in none, and
*undetermined* otherwise, or where only something that this format does not hold could explain what came next.

After a departure the policy is put where the record is: its state stays, and it is taken to have done what was
recorded.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from forensics.replay import Action, Policy, Signal, stepper
from forensics.replaying.decisions import Point, Recorded, Sight
from forensics.replaying.lockstep import Config, Loop, Reached

_COOLDOWN_MS = 60_000
"""The longest cooldown of a known agent (`COMPACT_SUMMARY_FAILURE_COOLDOWN_MS`)."""
_AWAIT = frozenset({"atomic-1690", "atomic-head"})
"""Their print mode waits for one pending continuation. In the recordings of these two versions the first one after a
prompt is always written, and a second one never; before pull request 1690, and in pi 0.73, the first is lost too."""


class Departure(NamedTuple):
    """A decision where what was recorded is not what the policy does."""

    at: int
    """Position of the point that was decided on."""
    next: int | None
    """Position of the point that contradicts the policy."""
    recorded: Recorded
    policy: tuple[Action, ...]
    """What the policy would have done, in every possibility."""
    configs: tuple[Config, ...]
    """Where the policy may stand there, its answer given."""


Agrees = Literal["equal", "departs", "undetermined"]


class Judged(NamedTuple):
    """One decision: where, how it agrees, and what the policy does there, in every possibility."""

    at: int
    agrees: Agrees
    policy: tuple[Action, ...]


class Conformance(NamedTuple):
    """How a record agrees with a policy. `decisions` = `equal` + `departures` + `undetermined`."""

    policy: Policy
    options: dict[str, Any]
    decisions: int
    equal: int
    undetermined: int
    departures: list[Departure]
    judged: list[Judged]
    """Every decision, in order."""

    @property
    def departs(self) -> Departure | None:
        """The first departure."""
        return self.departures[0] if self.departures else None


def conform(points: list[Point], policy: Policy, seen: Sight, options: Mapping[str, Any] | None = None) -> Conformance:
    """Follow the policy through the points. Raises `PolicyError`.

    What the format hides may have been done by the agent that wrote the file, not by a policy of no agent.
    """
    if policy.agent is None:
        seen = seen._replace(failures=True, whole=True)
    loop = Loop(stepper(policy, options), seen, awaits=policy.name in _AWAIT)
    run = _Run(points, loop, seen)
    run.follow(policy)
    counts = Counter(one.agrees for one in run.judged)
    return Conformance(
        policy,
        dict(options or {}),
        len(run.judged),
        counts["equal"],
        counts["undetermined"],
        run.departures,
        run.judged,
    )


class _Run:
    def __init__(self, points: list[Point], loop: Loop, seen: Sight) -> None:
        self.points, self.loop, self.seen = points, loop, seen
        self.configs: set[Config] = set()
        self.pending: int | None = None
        self.sure = False
        """The agent itself said that it does what the pending decision is."""
        self.failed_at: int | None = None
        self.judged: list[Judged] = []
        self.actions: tuple[Action, ...] = ()
        """What the policy does at the pending decision."""
        self.departures: list[Departure] = []

    def follow(self, policy: Policy) -> None:
        self.configs = {Config(policy.start)}
        self._begin()
        for at, point in enumerate(self.points):
            self._pass_time(point)
            self._take(at, point)
        self._settle(None, at=None)

    def _begin(self) -> None:
        """Allow for a file that begins in the middle of a session: nothing is known of the last reply."""
        first = next((one for one in self.points if one.kind != "exit"), None)
        if first is not None and first.kind in {"compacted", "echo", "reply"}:
            lasts = [Signal("reply", "done", over=True), Signal("reply", "length", over=True, output="some")]
            lasts += [Signal("reply", "error", fault, over=True) for fault in ("overflow", "output-budget")]
            begun = next(iter(self.configs))
            self.configs |= {begun._replace(last=last) for last in lasts}
            self.configs.add(begun._replace(due="request"))

    def _pass_time(self, point: Point) -> None:
        if self.failed_at is None or point.row.ts is None:
            return
        if point.row.ts - self.failed_at >= _COOLDOWN_MS:
            self.configs = {self.loop.tick(one) for one in self.configs}
            self.failed_at = None

    def _take(self, at: int, point: Point) -> None:
        if point.kind == "exit":
            self._settle(None, at=None)
            self.configs = {self.loop.restart(one) for one in self.configs}
        elif point.kind == "manual":
            self._settle(None, at=None)
            state = {self.loop.tell(one, point.signals[0]).state for one in self.configs}
            self.configs = {Config(one) for one in state}
        else:
            reached = self._settle([(one, list(self._before(one, point))) for one in self.configs], at=at)
            self._told(at, point, reached)
        if point.kind == "compacted" and any(one.outcome in {"no-summary", "failed"} for one in point.signals):
            self.failed_at = point.row.ts

    def _before(self, config: Config, point: Point) -> Iterator[Reached]:
        """Give the possibilities in which this point comes next."""
        if point.kind == "said":
            if config.due == "idle" and (config.told or config.did == "show-error"):
                yield Reached(config._replace(said=False))
            return
        if (config.said and self.seen.announced) or (config.cut and self.seen.cuts and point.kind != "cut"):
            return
        if point.kind in {"reply", "other"}:
            yield from self.loop.request(config)
        elif point.kind == "compacted":
            boundary = False if self.seen.whole else point.boundary
            yield from self.loop.compaction(config, boundary=boundary, early=point.early)
            if point.unasked:
                yield from self._echoed(config)
            if point.perhaps and config.due == "idle":
                yield Reached(config, unseen=True)
            if _dropped(point) and config.due == "request" and config.did == "truncate":
                yield Reached(config)
        elif point.kind == "echo":
            yield from self._echoed(config)
        elif point.kind == "cut":
            if config.did == "truncate":
                yield Reached(config._replace(cut=False))
        elif point.kind == "resume":
            yield from self._resumed(config)
        else:
            yield from self.loop.idle(config, boundary=False if self.seen.whole else point.boundary)
            if point.kind == "asked" and config.due in {"request", "wait"}:
                yield Reached(config._replace(due="request"), unseen=True)

    def _resumed(self, config: Config) -> Iterator[Reached]:
        yield from self.loop.request(config)

    def _echoed(self, config: Config) -> Iterator[Reached]:
        """Give the possibilities in which the policy is told of a full context and makes no compaction."""
        for one in self.loop.request(config):
            after = self.loop.tell(one.config, Signal("reply", "tool", over=True))
            if after.due == "request":
                yield Reached(after, one.unseen)

    def _settle(self, reached: list[tuple[Config, list[Reached]]] | None, *, at: int | None) -> list[Config]:
        """Judge the pending decision by what came next, and give the possibilities that are left."""
        pending, self.pending = self.pending, None
        sure, self.sure = self.sure, False
        if reached is None:
            if pending is not None:
                self._note(pending, "equal" if sure else "undetermined")
            return list(self.configs)
        left = {one.config for _, found in reached for one in found}
        if pending is not None:
            self._judge(pending, at, reached)
        if left:
            return list(left)
        return [self._put(config, self.points[at]) for config, _ in reached] if at is not None else []

    def _judge(self, pending: int, at: int | None, reached: list[tuple[Config, list[Reached]]]) -> None:
        plain = sum(any(not one.unseen for one in found) for _, found in reached)
        if plain == len(reached):
            self._note(pending, "equal")
        elif any(found for _, found in reached):
            self._note(pending, "undetermined")
        else:
            self._depart(pending, at, [config for config, _ in reached])

    def _depart(self, pending: int, at: int | None, configs: Iterable[Config]) -> None:
        found = list(configs)
        actions = _actions(found)
        self._note(pending, "departs")
        self.departures.append(Departure(pending, at, self.points[pending].recorded, actions, tuple(found)))

    def _note(self, at: int, agrees: Agrees) -> None:
        self.judged.append(Judged(at, agrees, self.actions))

    def _put(self, config: Config, point: Point) -> Config:
        """Put the loop where the record is."""
        due = {"reply": "request", "other": "request", "compacted": "compaction", "resume": "request"}
        return config._replace(due=due.get(point.kind, "idle"), owed=False, said=False, cut=False)  # type: ignore[arg-type]

    def _told(self, at: int, point: Point, configs: list[Config]) -> None:
        """Tell the policy of the point."""
        if point.kind == "other":
            self.configs = {one._replace(due=due, last=None) for one in configs for due in ("idle", "request")}
            return
        if point.kind in {"prompt", "asked"}:
            self.configs = {after for one in configs for after in self._asked(one, point)}
            if point.decides:
                self.pending, self.actions = at, _actions(self.configs)
            return
        told = {self.loop.tell(one, signal) for one in configs for signal in point.signals}
        if point.unasked or point.perhaps or _dropped(point):
            begun = {one for one in configs if one.due == "compaction"}
            told = {self.loop.tell(one, signal) for one in begun for signal in point.signals}
            told |= {self._aside(one, point) for one in set(configs) - begun}
        elif not point.signals:
            told = set(configs)
        for _ in range(point.repeat):
            told = {self.loop.tell(one._replace(due="request"), Signal("reply", "tool")) for one in told}
        self.configs = told
        if point.decides:
            self.pending, self.actions = at, _actions(self.configs)
            self._promised(at, point)

    def _aside(self, config: Config, point: Point) -> Config:
        """Give where the policy stands after a compaction that it did not ask for."""
        if point.unasked or config.did == "truncate":
            return config
        return Config(self.loop.tell(config, point.signals[0]).state)

    def _asked(self, config: Config, point: Point) -> Iterator[Config]:
        if point.kind == "asked" and config.due == "request" and not config.early:
            yield config
        else:
            yield from self.loop.prompt(config, boundary=point.boundary, full=point.full)

    def _promised(self, at: int, point: Point) -> None:
        """Judge a compaction's end by what the agent itself said that it does next.

        Before a prompt the promise means nothing: the prompt takes the turn.
        """
        if point.will_retry is None:
            return
        bound = {one for one in self.configs if not one.early}
        kept = {one for one in bound if (one.due == "request" and one.owed) == point.will_retry}
        if kept == bound:
            self.sure = bool(bound) and bound == self.configs
            return
        self.pending = None
        if kept or bound != self.configs:
            self._note(at, "undetermined")
            self.configs -= bound - kept
        else:
            self._depart(at, None, self.configs)
            due = "request" if point.will_retry else "idle"
            self.configs = {one._replace(due=due, owed=point.will_retry) for one in self.configs}  # type: ignore[arg-type]


def _actions(configs: Iterable[Config]) -> tuple[Action, ...]:
    return tuple(sorted({one.did for one in configs}))


def _dropped(point: Point) -> bool:
    """Say whether the context was cut without a summary: by a compaction of that kind, or by a truncation."""
    return point.kind == "compacted" and point.row.outcome == "dropped"
