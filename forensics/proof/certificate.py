"""Check a certificate without trusting the prover: walk again, replay the witnesses, derive the figures otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.proof.checks import CHECKS, Case, ClaimError, Trace, edges_of, walk
from forensics.proof.environment import CLASSES, START, World
from forensics.proof.walk import Stepper
from forensics.prove import SCHEMA_VERSION, alphabet, assumptions_of
from forensics.replay import Policy, PolicyError, Signal, find, source_hash, stepper


def verify(document: Mapping[str, Any]) -> list[str]:
    """Give everything that is wrong with a certificate: nothing, where all its claims hold of the policies here."""
    if document.get("schema_version") != SCHEMA_VERSION:
        return [f"schema version {document.get('schema_version')!r}, not {SCHEMA_VERSION}"]
    if document.get("alphabet", {}).get("signals") != alphabet():
        return ["the certificate is of another alphabet of signals"]
    return [f"{claim['policy']}: {problem}" for claim in document["policies"] for problem in _policy(claim)]


def _policy(claim: Mapping[str, Any]) -> Iterator[str]:
    file = claim["source"]["file"]
    try:
        policy = find(claim["policy"] if file.startswith("forensics/policies/") else file)
        if source_hash(policy) != claim["source"]["sha256"]:
            yield "the source of the policy is not the one that was proved"
        else:
            yield from refuted(claim, policy)
    except (PolicyError, ValueError) as error:
        yield str(error)


def refuted(claim: Mapping[str, Any], policy: Policy) -> Iterator[str]:
    """Give what is wrong with the claims about a policy, whatever its text."""
    step = stepper(policy, claim["options"])
    assume = frozenset(assumptions_of(policy, claim["assumptions"]))
    for kind in (None, *CLASSES):
        claims = {
            name: verdict if kind is None else verdict["by_fault"][kind] for name, verdict in claim["verdicts"].items()
        }
        states = claim["states"] if kind is None else claim["states_by_fault"][kind]
        world = World(frozenset(CLASSES if kind is None else (kind,)), assume)
        for problem in _world(policy, step, world, claims, states):
            yield f"{kind or 'all failures'}: {problem}"


def _world(
    policy: Policy, step: Stepper, world: World, claims: Mapping[str, Mapping[str, Any]], states: int | None
) -> Iterator[str]:
    hostile = walk(policy, step, world)
    if states is not None and len(hostile) != states:
        yield f"{states} states claimed, {len(hostile)} found"
    kind = world._replace(friendly=True)
    friendly = walk(policy, step, kind)
    if missing := CHECKS.keys() - claims.keys():
        yield f"no verdict on {', '.join(sorted(missing))}"
    for name, claim in claims.items():
        here, found = (kind, friendly) if name == "hands-free" else (world, hostile)
        try:
            trace = replay(policy, step, here, claim["witness"])
            problem = CHECKS[name](Case(found, policy, step, here, claim, trace))
        except ClaimError as error:
            problem = str(error)
        if problem:
            yield f"{name}: {problem}"


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
