"""Prove what a recovery policy can and cannot do, by walking every state it can reach.

`prove` walks the policy once per class of failure and once with all of them, so that one endless retry does not hide
what a fix achieves for another failure, and judges seven properties on each walk.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_args

from forensics.proof.environment import ASSUMPTIONS, CLASSES, Asked, FaultClass, World, answers
from forensics.proof.properties import PROPERTIES
from forensics.proof.terms import Property
from forensics.proof.verdict import Verdict
from forensics.proof.walk import Graph, Machine
from forensics.replay import Action, Policy, find, options_of, source_file, source_hash, stepper

MAX_STATES = 2_000_000

INHERITING_STATES = 200_000
"""Above this many states, a property that holds with all failures mixed is not proved again for each class alone: it
holds there too, and its figures are upper bounds (marked `inherited`)."""

SCHEMA_VERSION = 1


class Judged(NamedTuple):
    """One property of one policy: over all failures, and for each class of them alone."""

    overall: Verdict
    by_fault: dict[FaultClass, Verdict]


class Proof(NamedTuple):
    """What was proved of one policy. `states`: pairs walked over all failures; by class where that is asked."""

    policy: Policy
    options: dict[str, Any]
    assumptions: tuple[str, ...]
    states: int
    states_by_fault: dict[FaultClass, int | None]
    """`None`: not walked, because everything was inherited."""
    verdicts: dict[Property, Judged]


class AssumptionError(ValueError):
    """An assumption that the environment does not know."""


def assumptions_of(policy: Policy, given: Iterable[str]) -> tuple[str, ...]:
    """Give all assumptions in force: those asked for, and those that the agent's construction makes true."""
    names = tuple(sorted({*given, *policy.assume}))
    unknown = [name for name in names if name not in ASSUMPTIONS]
    if unknown:
        raise AssumptionError(f"unknown assumption {unknown[0]!r}; known: {', '.join(ASSUMPTIONS)}")
    if contradictory(names):
        raise AssumptionError("errors cannot be both over and under the threshold: assume one of the two")
    return names


def contradictory(names: Iterable[str]) -> bool:
    """Whether the assumptions leave no failure at all, so that everything would hold."""
    return {"errors-over-threshold", "errors-under-threshold"} <= set(names)


def prove(
    policy: Policy | str,
    options: Mapping[str, Any] | None = None,
    assumptions: Iterable[str] = (),
    *,
    max_states: int = MAX_STATES,
) -> Proof:
    """Walk the policy and judge it.

    Raises `PolicyError` (the policy broke), `AssumptionError`, or `TooManyStatesError` (no end, or above
    `max_states`).
    """
    one = find(policy) if isinstance(policy, str) else policy
    names = assumptions_of(one, assumptions)
    machine = Machine(one, stepper(one, options))
    assume = frozenset(names)
    states, overall = _judge(machine, World(assume=assume), PROPERTIES, max_states)
    found: dict[FaultClass, dict[Property, Verdict]] = {}
    sizes: dict[FaultClass, int | None] = {}
    for kind in CLASSES:
        world = World(frozenset({kind}), assume)
        held = _inherited(overall) if states > INHERITING_STATES else {}
        wanted = [name for name in PROPERTIES if name not in held]
        sizes[kind], judged = _judge(machine, world, wanted, max_states) if wanted else (None, {})
        found[kind] = {**judged, **held}
    verdicts = {name: Judged(overall[name], {kind: found[kind][name] for kind in CLASSES}) for name in PROPERTIES}
    return Proof(one, options_of(one, options), names, states, sizes, verdicts)


def _judge(
    machine: Machine, world: World, wanted: Iterable[Property], max_states: int
) -> tuple[int, dict[Property, Verdict]]:
    hostile = Graph(machine, world, max_states)
    friendly = Graph(machine, world._replace(friendly=True), max_states)
    return hostile.size, {name: PROPERTIES[name](friendly if name == "hands-free" else hostile) for name in wanted}


def _inherited(overall: Mapping[Property, Verdict]) -> dict[Property, Verdict]:
    """Give the verdicts that each class of failure inherits: what no mix of failures breaks, none alone does."""
    return {
        name: Verdict(True, {**verdict.figures, "inherited": True}, verdict.reason)
        for name, verdict in overall.items()
        if verdict.holds
    }


def to_json(proofs: Iterable[Proof]) -> dict[str, Any]:
    """Give the proofs as one plain JSON value, which is also a certificate that `certificate.verify` checks."""
    return {
        "schema_version": SCHEMA_VERSION,
        "alphabet": {"signals": alphabet(), "actions": list(get_args(Action))},
        "policies": [_proof_json(one) for one in proofs],
    }


def alphabet() -> list[str]:
    """Give every signal that the environment knows, in words; a certificate is of this alphabet."""
    world = World(assume=frozenset({"restarts"}))
    kinds = (Asked("idle"), Asked("wait"), Asked("compaction"), Asked("request", resumes=True))
    return sorted({repr(signal) for asked in kinds for signal in answers(asked, world)})


def _proof_json(proof: Proof) -> dict[str, Any]:
    return {
        "policy": proof.policy.name,
        "source": {"file": source_file(proof.policy), "sha256": source_hash(proof.policy)},
        "options": proof.options,
        "assumptions": list(proof.assumptions),
        "states": proof.states,
        "states_by_fault": dict(proof.states_by_fault),
        "verdicts": {
            name: {
                **_verdict_json(judged.overall),
                "by_fault": {kind: _verdict_json(verdict) for kind, verdict in judged.by_fault.items()},
            }
            for name, judged in proof.verdicts.items()
        },
    }


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "holds": verdict.holds,
        "reason": verdict.reason,
        "figures": verdict.figures,
        "witness": [
            {
                "signal": {name: value for name, value in scene.signal._asdict().items() if value is not None},
                "action": scene.action,
                "announced": scene.announced,
                "part": scene.part,
            }
            for scene in verdict.witness
        ],
    }
