"""What one turn or one failed attempt leaves behind: the properties *fresh* and *accounted*."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from forensics.proof.environment import START
from forensics.proof.equivalence import Steps, first_difference
from forensics.proof.graphs import Path
from forensics.proof.terms import ALLOWANCE_CAP, Known, after_prompt, allowance, fails
from forensics.proof.verdict import Scene, Verdict, ending, first_edge, scenes, words
from forensics.proof.walk import Graph, Move
from forensics.replay import COMPACTS, Signal, State


def fresh(graph: Graph) -> Verdict:
    """After a person's prompt the policy behaves as from its start state."""
    far, _ = graph.reach
    ends: dict[State, int] = {}
    for node in sorted(range(graph.size), key=lambda one: (far[one], one)):
        state, asked = graph.pair(node)
        if asked.what == "idle" and state != graph.policy.start:
            ends.setdefault(state, node)
    start = graph.node(graph.policy.start, START)
    pairs = {graph.node(state, START): end for state, end in ends.items()}
    found = first_difference(graph, ((node, start) for node in pairs))
    figures = {"compared": len(pairs)}
    if found is None:
        return Verdict(True, figures, "nothing is left of the turn before")
    return _stale(graph, pairs[found[0]], found[1], figures)


def _stale(graph: Graph, end: int, steps: Steps, figures: dict[str, Any]) -> Verdict:
    path = graph.way(end)
    last, other = steps[-1]
    shown = list(scenes(graph, path, ()))
    shown += [Scene(one.signal, one.action, one.announced) for one, _ in steps]
    shown.append(Scene(other.signal, other.action, other.announced, "instead"))
    run = words(one for one, _ in steps[:-1])
    where = f"{run}, {last.signal}" if run else str(last.signal)
    reason = f"after {ending(graph, path)}: at {where}, {_deed(last)}, where a fresh one does {_deed(other)}"
    return Verdict(False, figures, reason, tuple(shown))


def _deed(one: Move) -> str:
    return f"{one.action}{' and says so' if one.announced else ''}"


def accounted(graph: Graph) -> Verdict:
    """No attempt vanishes: a skipped continuation costs nothing, a failed attempt is announced and costs nothing."""
    unsaid = {one for one in graph.moves if fails(one.signal) and not one.announced}
    spent = [one for one in (_spent_by_skips(graph), _spent_by_failures(graph), _spent_after_compaction(graph)) if one]
    if unsaid:
        spent.append(first_edge(graph, lambda one: one in unsaid, ""))
    if not spent:
        return Verdict(True, {"violations": []}, "a skipped or failed attempt costs nothing and is told")
    return spent[0]._replace(figures={"violations": [one.reason for one in spent]})


class _Attempt(NamedTuple):
    """A recovery that came to nothing: where it began, its first move, the way to its end, and the state left."""

    node: int
    first: int
    tail: Path
    end: int


def _spent(
    graph: Graph, tries: Iterable[_Attempt], what: str, measure: Callable[[State, Signal], int]
) -> Verdict | None:
    """Find the first attempt after which less is left of the allowance than before it."""
    checked: set[tuple[int, Signal, int]] = set()
    for one in tries:
        move = graph.moves[graph.move[one.first]]
        key = graph.state_number(one.node), move.signal, graph.state_number(one.end)
        if key in checked:
            continue
        checked.add(key)
        state, after = graph.pair(one.node)[0], graph.pair(one.end)[0]
        reply = move.signal._replace(kind="reply")
        before, now = measure(state, reply), measure(after, reply)
        if now < before:
            path = [*graph.way(one.node), one.first, *one.tail]
            reason = f"{what} after {move.signal} leaves {now} of {_count(before)}"
            return Verdict(False, {"before": before, "after": now}, reason, scenes(graph, path, ()))
    return None


def _spent_by_skips(graph: Graph) -> Verdict | None:
    """Look for a continuation that is skipped and yet spends the allowance of the next one."""
    known: Known = {}
    return _spent(
        graph,
        _attempts(graph, frozenset({"continue"}), _skips),
        "a continuation that is skipped",
        lambda state, reply: allowance(graph.step, state, reply, known),
    )


def _spent_after_compaction(graph: Graph) -> Verdict | None:
    """Look for one that is skipped after a compaction and spends the allowance of the next prompt."""
    known: Known = {}
    return _spent(
        graph,
        _attempts(graph, COMPACTS, _skipped_after),
        "a continuation that is skipped once the compaction is made",
        lambda state, reply: after_prompt(graph.step, state, reply, known),
    )


def _spent_by_failures(graph: Graph) -> Verdict | None:
    """Look for a compaction that fails, ends the turn, and spends the allowance of the next prompt."""
    known: Known = {}
    return _spent(
        graph,
        _attempts(graph, COMPACTS, _failures),
        "a compaction that fails",
        lambda state, reply: after_prompt(graph.step, state, reply, known),
    )


def _attempts(
    graph: Graph, actions: frozenset[str], ends: Callable[[Graph, int], Iterable[tuple[Path, int]]]
) -> Iterable[_Attempt]:
    """Give every recovery begun by one of the actions, nearest first, with each of its ends."""
    far, _ = graph.reach
    begins = bytearray(one.action in actions and one.signal.stop is not None for one in graph.moves)
    ended: dict[int, list[tuple[Path, int]]] = {}
    seen: set[tuple[int, str, Signal | None]] = set()
    for node in sorted(range(graph.size), key=far.__getitem__):
        # What an attempt leaves depends on the policy's state and on what it is told, so the nearest such pair does.
        asked = graph.pair(node)[1]
        place = graph.state_number(node), asked.what, asked.last
        if place in seen or place[1] == "compaction":
            continue
        seen.add(place)
        for edge in range(graph.begin[node], graph.end[node]):
            if begins[graph.move[edge]]:
                target = graph.target[edge]
                if target not in ended:
                    nearest = {end: tail for tail, end in reversed(list(ends(graph, target)))}
                    ended[target] = [(tail, end) for end, tail in nearest.items()]
                for tail, end in ended[target]:
                    yield _Attempt(node, edge, tail, end)


def _skips(graph: Graph, node: int) -> Iterable[tuple[Path, int]]:
    for edge in range(graph.begin[node], graph.end[node]):
        if graph.moves[graph.move[edge]].signal.kind == "skipped":
            yield [edge], graph.target[edge]


def _skipped_after(graph: Graph, node: int) -> Iterable[tuple[Path, int]]:
    sends: dict[int, int] = {}
    for edge in range(graph.begin[node], graph.end[node]):
        if graph.moves[graph.move[edge]].action == "continue":
            sends.setdefault(graph.target[edge], edge)
    for target, edge in sends.items():
        for tail, end in _skips(graph, target):
            yield [edge, *tail], end


def _failures(graph: Graph, start: int) -> Iterable[tuple[Path, int]]:
    """Give where the turn ends if this compaction fails, and each one that follows it at once."""
    queue: deque[tuple[Path, int]] = deque([([], start)])
    seen = {start}
    while queue:
        path, node = queue.popleft()
        for edge in range(graph.begin[node], graph.end[node]):
            one = graph.moves[graph.move[edge]]
            other = graph.target[edge]
            if not fails(one.signal) or other in seen:
                continue
            seen.add(other)
            if one.then.what == "idle":
                yield [*path, edge], other
            elif one.then.what == "compaction":
                queue.append(([*path, edge], other))


def _count(number: int) -> str:
    return "no end of them" if number >= ALLOWANCE_CAP else str(number)
