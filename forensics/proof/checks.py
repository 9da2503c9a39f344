"""The seven properties once more, by other algorithms than the prover's, on plain dictionaries.

Shared with the prover is what the words mean (the alphabet, the environment, and `terms`). Its searches are not:
potentials are settled where it follows components, partitions are refined where it merges pairs.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from forensics.proof.environment import START, Asked, World, answers, follow
from forensics.proof.terms import FRESH, PACE, abandons, after_prompt, allowance, fails, ledger, silent
from forensics.proof.walk import Move, Stepper
from forensics.replay import COMPACTS, Policy, Signal, State

Node = tuple[State, Asked]
Edges = list[tuple[Move, Node]]
Walk = dict[Node, Edges]
Trace = list[tuple[Node, Move, Node, str]]
"""Where a step of a witness begins, the step, where it leads, and its part (`prefix`, `cycle`)."""


class ClaimError(Exception):
    """A witness that does not show what it claims."""


class Case(NamedTuple):
    """One claim about one property in one world."""

    walk: Walk
    policy: Policy
    step: Stepper
    world: World
    claim: Mapping[str, Any]
    trace: Trace


def edges_of(step: Stepper, world: World, node: Node) -> Edges:
    """Ask the policy for its answer to every signal that may come here."""
    state, asked = node
    found: Edges = []
    for signal in answers(asked, world):
        answer = step(state, signal)
        then = follow(asked, signal, answer.action, answer.announced, world)
        found.append((Move(asked, signal, answer.action, bool(answer.announced), then), (answer.state, then)))
    return found


def walk(policy: Policy, step: Stepper, world: World, *roots: Node) -> Walk:
    """Visit every pair reachable from the start and from the other roots, depth first."""
    found: Walk = {}
    stack: list[Node] = [(policy.start, START), *roots]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = edges_of(step, world, node)
            stack.extend(there for _, there in found[node])
    return found


def _cycle(trace: Trace) -> list[Move]:
    """Give the moves of the witness' loop, which must close."""
    steps = [one for one in trace if one[3] == "cycle"]
    if not steps or steps[0][0] != steps[-1][2]:
        raise ClaimError("the loop of the witness does not close" if steps else "the witness holds no loop")
    return [one[1] for one in steps]


def _bounded(case: Case) -> str:
    figures = case.claim["figures"]
    if not case.claim["holds"]:
        cycle = _cycle(case.trace)
        wrong = any(one.progress or one.boundary for one in cycle) or not any(one.recovery for one in cycle)
        return "the loop is not one of recoveries without progress" if wrong else ""
    for place, name in enumerate(("recoveries", "model_calls", "summaries")):
        top = _settled(case.walk, place, figures[name])
        if top is None or (top != figures[name] and "inherited" not in figures):
            return f"at most {figures[name]} {name} claimed, {'more' if top is None else top} found"
    return ""


def _settled(found: Walk, place: int, limit: int) -> int | None:
    """Raise each pair's potential until nothing changes; `None` as soon as one passes the limit."""
    potential = dict.fromkeys(found, 0)
    arcs = [
        (node, move.weights[place], there, move.progress or move.boundary)
        for node, edges in found.items()
        for move, there in edges
    ]
    changed = True
    while changed:
        changed = False
        for node, weight, there, stops in arcs:
            value = weight + potential[there]
            if not stops and value > potential[node]:
                if value > limit:
                    return None
                potential[node] = value
                changed = True
    return max([*potential.values(), *(weight + potential[there] for _, weight, there, stops in arcs if stops)])


def _paced(case: Case) -> str:
    text = case.claim["figures"]["ratio"]
    ratio = None if text is None else Fraction(text)
    if case.claim["holds"] != (ratio is not None and ratio <= PACE):
        return f"a ratio of {text} does not decide it so"
    if ratio is not None and _exceeds(case.walk, ratio):
        return f"a cycle has a greater ratio than {ratio}"
    if ratio == 0 or "inherited" in case.claim["figures"]:
        return ""
    cycle = _cycle(case.trace)
    gains, costs = sum(one.recovery for one in cycle), sum(one.signal.good for one in cycle)
    found = Fraction(gains, costs) if costs else None
    if found != ratio or not gains or any(one.boundary for one in cycle):
        return f"the loop of the witness has the ratio {found}, not {text}"
    return ""


def _exceeds(found: Walk, ratio: Fraction) -> bool:
    """Whether some cycle has a greater ratio: then potentials do not settle in as many rounds as there are pairs."""
    potential = dict.fromkeys(found, 0)
    arcs = [
        (node, move.recovery * ratio.denominator - move.signal.good * ratio.numerator, there)
        for node, edges in found.items()
        for move, there in edges
        if not move.boundary
    ]
    for _ in range(len(found) + 1):
        changed = False
        for node, weight, there in arcs:
            if weight + potential[there] > potential[node]:
                potential[node] = weight + potential[there]
                changed = True
        if not changed:
            return False
    return True


def _single(wrong: Callable[[Move], bool]) -> Callable[[Case], str]:
    def check(case: Case) -> str:
        found = {f"{one.signal} → {one.action}" for edges in case.walk.values() for one, _ in edges if wrong(one)}
        if sorted(found) != case.claim["figures"]["violations"] or case.claim["holds"] == bool(found):
            return f"these steps are wrong: {', '.join(sorted(found)) or 'none'}"
        return "" if not found or wrong(case.trace[-1][1]) else "the last step of the witness is not wrong"

    return check


def _fresh(case: Case) -> str:
    if not case.claim["holds"]:
        return _differs(case)
    idle = {state for state, asked in case.walk if asked.what == "idle"}
    block = _partition(walk(case.policy, case.step, case.world, *((state, START) for state in idle)))
    wrong = [state for state in idle if block[state, START] != block[case.policy.start, START]]
    return f"{wrong[0]!r} is left by a turn and behaves otherwise than the start" if wrong else ""


def _differs(case: Case) -> str:
    """Run the witness' last turn from the start state too: it must be answered as the last scene says."""
    prompts = [place for place, one in enumerate(case.trace) if one[1].signal.kind == "prompt"]
    if not prompts:
        return "the witness holds no prompt after which the two starts could differ"
    first = prompts[-1]
    state = case.policy.start
    answers_there = []
    for _, move, _, _ in case.trace[first:]:
        answer = case.step(state, move.signal)
        answers_there.append((move.signal, answer.action, bool(answer.announced)))
        state = answer.state
    scene = case.claim["witness"][-1]
    other = (Signal(**scene["signal"]), scene["action"], scene["announced"])
    here = [(move.signal, move.action, move.announced) for _, move, _, _ in case.trace[first:]]
    if answers_there[-1] != other or answers_there[:-1] != here[:-1] or answers_there[-1] == here[-1]:
        return "the two starts do not differ as the witness says"
    return ""


def _partition(found: Walk) -> dict[Node, int]:
    """Split the pairs by what they answer, then by where that leads, until no block is split (Moore)."""
    block = dict.fromkeys(found, 0)
    count = 1
    while True:
        keys: dict[Any, int] = {}
        block = {
            node: keys.setdefault(
                (block[node], tuple((one.signal, one.action, one.announced, block[there]) for one, there in edges)),
                len(keys),
            )
            for node, edges in found.items()
        }
        if len(keys) == count:
            return block
        count = len(keys)


def _accounted(case: Case) -> str:
    unsaid = any(fails(one.signal) and not one.announced for edges in case.walk.values() for one, _ in edges)
    found = unsaid or any(_spends(case, node, *edge) for node, edges in case.walk.items() for edge in edges)
    return "" if case.claim["holds"] != found else f"an attempt {'vanishes' if found else 'does not vanish'}"


def _spends(case: Case, node: Node, move: Move, there: Node) -> bool:
    """Whether this recovery, if it comes to nothing, leaves less than was there before it."""
    if move.signal.stop is None:
        return False
    reply = move.signal._replace(kind="reply")
    if move.action == "continue":
        return any(
            allowance(case.step, end[0], reply) < allowance(case.step, node[0], reply)
            for one, end in case.walk[there]
            if one.signal.kind == "skipped"
        )
    if move.action not in COMPACTS:
        return False
    before = after_prompt(case.step, node[0], reply, {})
    return any(after_prompt(case.step, end, reply, {}) < before for end in _ends(case, there))


def _ends(case: Case, first: Node) -> set[State]:
    """Give the states left where a compaction comes to nothing, or where what it made is not continued after all."""
    found = {
        end[0]
        for one, there in case.walk[first]
        if one.action == "continue"
        for after, end in case.walk[there]
        if after.signal.kind == "skipped"
    }
    stack, seen = [first], {first}
    while stack:
        for one, there in case.walk[stack.pop()]:
            if not fails(one.signal) or there in seen:
                continue
            seen.add(there)
            if there[1].what == "idle":
                found.add(there[0])
            elif there[1].what == "compaction":
                stack.append(there)
    return found


def _contained(case: Case) -> str:
    pairs = {((case.policy.start, START), FRESH)}
    stack = list(pairs)
    found: set[str] = set()
    while stack:
        node, held = stack.pop()
        for one, there in case.walk[node]:
            after, futile = ledger(held, one)
            if futile:
                found.add(f"{one.signal} → {one.action}")
            if (there, after) not in pairs:
                pairs.add((there, after))
                stack.append((there, after))
    if sorted(found) != case.claim["figures"]["violations"] or case.claim["holds"] == bool(found):
        return f"these steps are futile: {', '.join(sorted(found)) or 'none'}"
    held, futile = FRESH, not found
    for _, one, _, _ in case.trace:
        held, futile = ledger(held, one)
    return "" if not found or futile else "the last step of the witness is not futile"


CHECKS: dict[str, Callable[[Case], str]] = {
    "bounded": _bounded,
    "paced": _paced,
    "hands-free": _single(abandons),
    "loud": _single(silent),
    "fresh": _fresh,
    "accounted": _accounted,
    "contained": _contained,
}
