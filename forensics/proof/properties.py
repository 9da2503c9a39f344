"""The seven properties of a recovery policy, each judged on a walked graph, with figures and a shortest witness.

*Progress* is a reply that ended well and left the context under the threshold. A *recovery* begins with a compaction,
or with a continuation, retry, replay or cut that answers a failure directly; what is sent after a compaction completes
the one that the compaction began.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from forensics.proof.accounts import accounted, fresh
from forensics.proof.graphs import Path, components, heaviest, inner, shortest_lasso
from forensics.proof.ratio import worst_ratio
from forensics.proof.terms import FRESH, PACE, Property, abandons, ledger, silent
from forensics.proof.verdict import Verdict, ending, first_edge, lasso_scenes, led, loop_words, many, scenes
from forensics.proof.walk import Graph, Move
from forensics.replay import Signal


def bounded(graph: Graph) -> Verdict:
    """Between two signs of progress within one prompt, recoveries have a greatest number."""
    moves = graph.moves
    allow = bytearray(not (one.progress or one.boundary) for one in moves)
    recovery = bytearray(one.recovery for one in moves)
    component, _ = components(graph, allow)
    loops = inner(graph, allow, component, recovery)
    beside = {"across_prompts": _across_prompts(graph), "restart_forgets": _restart_forgets(graph)}
    if loops:
        lasso = shortest_lasso(graph, allow, loops)
        cycle = [graph.moves[graph.move[edge]] for edge in lasso.cycle]
        figures = {"cycle": _cost(cycle), "delay": any(one.delay for one in cycle), **beside}
        pause = "with a delay" if figures["delay"] else "without delay"
        return Verdict(
            False, figures, f"{loop_words(cycle)}, for ever, {pause}", scenes(graph, lasso.prefix, lasso.cycle)
        )
    most, path = heaviest(graph, allow, component, [[one.weights[place] for one in moves] for place in range(3)])
    figures = {"recoveries": most[0], "model_calls": most[1], "summaries": most[2], **beside}
    reason = f"at most {many(most[0], 'recovery')}, {many(most[1], 'model call')}, {many(most[2], 'paid summary')}"
    return Verdict(True, figures, reason, scenes(graph, led(graph, path), ()))


def _across_prompts(graph: Graph) -> bool:
    """Say whether a person who writes again and again, and gets nowhere, pays for recoveries each time."""
    allow = bytearray(not one.progress for one in graph.moves)
    component, _ = components(graph, allow)
    loops = inner(graph, allow, component, bytearray(bool(one.weights[2]) for one in graph.moves))
    return bool(loops)


def _restart_forgets(graph: Graph) -> bool:
    """Say whether a process that dies and comes back remembers nothing."""
    start = graph.policy.start
    return all(graph.step(state, Signal("restart")).state == start for state in graph.machine.states)


def _cost(moves: Iterable[Move]) -> dict[str, int]:
    sums = [sum(column) for column in zip(*(one.weights for one in moves), strict=True)]
    return dict(zip(("recoveries", "model_calls", "summaries"), sums, strict=True))


def paced(graph: Graph) -> Verdict:
    """On cycles without a prompt, recoveries stay at or below one for three good replies."""
    moves = graph.moves
    allow = bytearray(not one.boundary for one in moves)
    gains, costs = [int(one.recovery) for one in moves], [int(one.signal.good) for one in moves]
    ratio, lasso = worst_ratio(graph, allow, gains, costs)
    figures: dict[str, Any] = {"ratio": None if ratio is None else str(ratio)}
    if ratio is not None and ratio <= PACE:
        return Verdict(
            True, figures, f"at worst {many(ratio, 'recovery')} for each good reply", lasso_scenes(graph, lasso)
        )
    cycle = [] if lasso is None else [moves[graph.move[edge]] for edge in lasso.cycle]
    worst = "recoveries without one good reply" if ratio is None else f"{many(ratio, 'recovery')} for each good reply"
    return Verdict(False, figures, f"{worst}: {loop_words(cycle)}, for ever", lasso_scenes(graph, lasso))


def hands_free(graph: Graph) -> Verdict:
    """In the friendly environment no recoverable failure needs a person."""
    return first_edge(graph, abandons, "every failure is recovered without a person")


def loud(graph: Graph) -> Verdict:
    """No failed or cut reply and no failed compaction ends in silence."""
    return first_edge(graph, silent, "every end of a recovery is announced")


def contained(graph: Graph) -> Verdict:
    """No paid action whose outcome the state already shows to be futile."""
    wrong, path = _futile(graph)
    if not wrong:
        return Verdict(True, {"violations": []}, "nothing is paid for that the state shows to be futile")
    return Verdict(False, {"violations": sorted(wrong)}, ending(graph, path), scenes(graph, path, ()))


def _futile(graph: Graph) -> tuple[set[str], Path]:
    """Walk the pairs of node and ledger, breadth first; give every kind of futile move, and a way to the first."""
    rules = [[ledger(held, one) for one in graph.moves] for held in range(4)]
    start = graph.root * 4 + FRESH
    via = array("i", [-1]) * (graph.size * 4)
    came = array("i", [-1]) * (graph.size * 4)
    came[start] = start
    queue, wrong, first = deque([start]), set(), (-1, -1)
    begin, end, target, move = graph.begin, graph.end, graph.target, graph.move
    while queue:
        here = queue.popleft()
        node, rule = here >> 2, rules[here & 3]
        for edge in range(begin[node], end[node]):
            held, futile = rule[move[edge]]
            if futile:
                wrong.add(move[edge])
                first = (edge, here) if first[0] < 0 else first
            there = target[edge] * 4 + held
            if came[there] < 0:
                came[there], via[there] = here, edge
                queue.append(there)
    path: Path = []
    edge, here = first
    while edge >= 0:
        path.append(edge)
        edge, here = via[here], came[here]
    return {f"{graph.moves[kind].signal} → {graph.moves[kind].action}" for kind in wrong}, path[::-1]


PROPERTIES: dict[Property, Callable[[Graph], Verdict]] = {
    "bounded": bounded,
    "paced": paced,
    "hands-free": hands_free,
    "loud": loud,
    "fresh": fresh,
    "accounted": accounted,
    "contained": contained,
}
