"""Under which further assumptions a lost property would hold: what a fix relies on, said exactly."""

from collections.abc import Iterator
from itertools import combinations

from forensics.proof.environment import ASSUMPTIONS, CLASSES, FaultClass, World
from forensics.proof.properties import PROPERTIES
from forensics.proof.terms import Property
from forensics.proof.walk import Graph, Machine
from forensics.prove import Proof, contradictory
from forensics.replay import stepper

MOST_STATES = 2_000
"""A class of failure with more states than this is left unexplained: dozens of walks would take too long."""

Sets = list[tuple[str, ...]]
Explanation = dict[FaultClass, dict[Property, Sets]]


def explain(proof: Proof) -> Explanation:
    """Give, for each lost property of each class, the smallest sets of one or two assumptions that restore it.

    An empty list: no such set does. A class that is too large is absent.
    """
    found: Explanation = {}
    for kind in CLASSES:
        lost = [name for name, judged in proof.verdicts.items() if not judged.by_fault[kind].holds]
        if lost and (proof.states_by_fault[kind] or 0) <= MOST_STATES:
            found[kind] = _restoring(proof, kind, lost)
    return found


def _restoring(proof: Proof, kind: FaultClass, lost: list[Property]) -> dict[Property, Sets]:
    found: dict[Property, Sets] = {name: [] for name in lost}
    for size in (1, 2):
        open_ones = [name for name in lost if not found[name]]
        if not open_ones:
            break
        for more in combinations(_spare(proof), size):
            if contradictory({*proof.assumptions, *more}):
                continue
            for name in _held(proof, kind, more, open_ones):
                found[name].append(more)
    return found


def _spare(proof: Proof) -> list[str]:
    return [name for name in ASSUMPTIONS if name not in proof.assumptions and name != "restarts"]


def _held(proof: Proof, kind: FaultClass, more: tuple[str, ...], names: list[Property]) -> Iterator[Property]:
    machine = Machine(proof.policy, stepper(proof.policy, proof.options))
    world = World(frozenset({kind}), frozenset({*proof.assumptions, *more}))
    graphs = {
        friendly: Graph(machine, world._replace(friendly=friendly), MOST_STATES * 10)
        for friendly in {name == "hands-free" for name in names}
    }
    return (name for name in names if PROPERTIES[name](graphs[name == "hands-free"]).holds)
