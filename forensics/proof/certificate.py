"""Check a certificate without trusting the prover: walk again, replay the witnesses, derive the figures otherwise.

What the independent check does not derive (sentences, and figures that nothing is decided by) is held against a new
proof, so that nothing in a certificate can be read that does not follow from the policy.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from forensics.proof.checks import CHECKS, Case, ClaimError, Trace, edges_of, walk
from forensics.proof.document import of_shape
from forensics.proof.environment import CLASSES, START, World
from forensics.proof.walk import Stepper, TooManyStatesError
from forensics.prove import MAX_STATES, SCHEMA_VERSION, alphabet, assumptions_of, prove, to_json
from forensics.replay import Action, Policy, PolicyError, Signal, find, source_hash, stepper

_WORDS = {
    "holds": "the verdict is",
    "reason": "the reason is",
    "figures": "the figures are",
    "witness": "the witness is",
}
"""The parts of a verdict, as they are named."""


def verify(document: Mapping[str, Any]) -> list[str]:
    """Give everything that is wrong with a certificate: nothing, where all its claims hold of the policies here.

    Raises `NotACertificateError` for a document of another shape, and for one that claims nothing.
    """
    of_shape(document)
    if document["schema_version"] != SCHEMA_VERSION:
        return [f"schema version {document['schema_version']!r}, not {SCHEMA_VERSION}"]
    if document["alphabet"] != {"signals": alphabet(), "actions": list(get_args(Action))}:
        return ["the certificate is of another alphabet of signals and actions"]
    return [f"{claim['policy']}: {problem}" for claim in document["policies"] for problem in _policy(claim)]


def _policy(claim: Mapping[str, Any]) -> Iterator[str]:
    file = claim["source"]["file"]
    try:
        policy = find(claim["policy"] if file.startswith("forensics/policies/") else file)
        if source_hash(policy) != claim["source"]["sha256"]:
            yield "the source of the policy is not the one that was proved"
        else:
            yield from refuted(claim, policy)
    except (PolicyError, TooManyStatesError, ValueError) as error:
        yield str(error)


def refuted(claim: Mapping[str, Any], policy: Policy) -> Iterator[str]:
    """Give what is wrong with the claims about a policy, whatever its text."""
    step = stepper(policy, claim["options"])
    assume = frozenset(assumptions_of(policy, claim["assumptions"]))
    wrong: set[tuple[str | None, str]] = set()
    for kind in (None, *CLASSES):
        claims = {
            name: verdict if kind is None else verdict["by_fault"][kind] for name, verdict in claim["verdicts"].items()
        }
        states = claim["states"] if kind is None else claim["states_by_fault"][kind]
        world = World(frozenset(CLASSES if kind is None else (kind,)), assume)
        for name, problem in _world(policy, step, world, claims, states):
            wrong.add((kind, name))
            yield f"{_place(kind, name)}: {problem}"
    yield from _otherwise(claim, policy, wrong)


def _place(kind: str | None, name: str) -> str:
    where = kind or "all failures"
    return f"{where}: {name}" if name in CHECKS else where


def _otherwise(claim: Mapping[str, Any], policy: Policy, known: set[tuple[str | None, str]]) -> Iterator[str]:
    """Give what a new proof says otherwise, but for what is `known` to be wrong."""
    proof = prove(policy, claim["options"], claim["assumptions"], max_states=max(MAX_STATES, 2 * claim["states"]))
    (made,) = to_json([proof])["policies"]
    for name in ("policy", "source", "options", "assumptions", "states", "states_by_fault"):
        if not _same(claim[name], made[name]) and (name not in {"states", "states_by_fault"} or not known):
            yield f"the {name.replace('_', ' ')} of the certificate: {_said(claim[name])}, not {_said(made[name])}"
    for name, verdict in made["verdicts"].items():
        for kind in (None, *CLASSES):
            if name not in claim["verdicts"] or (kind, name) in known:
                continue
            one, other = (of if kind is None else of["by_fault"][kind] for of in (claim["verdicts"][name], verdict))
            for part, is_ in _WORDS.items():
                if not _same(one[part], other[part]):
                    yield f"{_place(kind, name)}: {is_} not what follows from the policy: {_said(other[part])}"


def _same(one: object, other: object) -> bool:
    """Whether two values are the same in JSON, where 1 is not true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _said(value: object, longest: int = 200) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= longest else f"{text[:longest]}..."


def _world(
    policy: Policy, step: Stepper, world: World, claims: Mapping[str, Mapping[str, Any]], states: int | None
) -> Iterator[tuple[str, str]]:
    """Give the property, or another part of the claim, and what is wrong with it."""
    hostile = walk(policy, step, world)
    if states is not None and len(hostile) != states:
        yield "states", f"{states} states claimed, {len(hostile)} found"
    kind = world._replace(friendly=True)
    friendly = walk(policy, step, kind)
    if missing := CHECKS.keys() - claims.keys():
        yield "verdicts", f"no verdict on {', '.join(sorted(missing))}"
    for name, claim in claims.items():
        here, found = (kind, friendly) if name == "hands-free" else (world, hostile)
        try:
            trace = replay(policy, step, here, claim["witness"])
            problem = CHECKS[name](Case(found, policy, step, here, claim, trace))
        except ClaimError as error:
            problem = str(error)
        except (LookupError, TypeError, ValueError, ArithmeticError, StopIteration) as error:
            # A figure or a scene that is missing or of another kind: whatever reads it, the claim shows nothing.
            problem = f"its figures and witness do not bear it ({type(error).__name__}: {error})"
        if problem:
            yield name, problem


def replay(policy: Policy, step: Stepper, world: World, witness: Sequence[Mapping[str, Any]]) -> Trace:
    """Follow a witness from the start; each scene must be possible here, and answered as it says.

    Raises `ClaimError`. A scene marked `instead` is another start's answer and is left to the check of `fresh`.
    """
    node = (policy.start, START)
    trace: Trace = []
    for number, scene in enumerate((one for one in witness if one["part"] != "instead"), 1):
        signal = Signal(**scene["signal"])
        found = next((pair for pair in edges_of(step, world, node) if pair[0].signal == signal), None)
        if found is None and node[1].what == "idle" and signal.kind == "prompt":
            # The comparison of `fresh` begins with a prompt after which nothing is left to deal with.
            node = (node[0], START)
            found = next(pair for pair in edges_of(step, world, node))
        if found is None:
            raise ClaimError(f"witness step {number}: {signal} cannot come here")
        if (found[0].action, found[0].announced) != (scene["action"], scene["announced"]):
            raise ClaimError(f"witness step {number}: to {signal} the policy answers {found[0].action}")
        trace.append((node, *found, scene["part"]))
        node = found[1]
    return trace
