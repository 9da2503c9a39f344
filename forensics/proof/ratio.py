"""The worst lasting ratio of two weights on the cycles of a walked graph, exactly."""

from collections import deque
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from forensics.proof.graphs import Lasso, Path, back, components, inner, shortest_lasso
from forensics.proof.walk import Graph

_UNREACHED = -(1 << 62)


class _Arc(NamedTuple):
    source: int
    target: int
    edge: int
    gain: int
    cost: int


def worst_ratio(
    graph: Graph, allow: bytearray, gains: Sequence[int], costs: Sequence[int]
) -> tuple[Fraction | None, Lasso | None]:
    """Give the greatest ratio of gains to costs on a cycle, and a shortest lasso of it.

    `None` and a lasso: a cycle gains without any cost. 0 and no lasso: no cycle gains.
    """
    gainful = bytearray(bool(gain) for gain in gains)
    free = bytearray(bool(ok and not cost) for ok, cost in zip(allow, costs, strict=True))
    loops = inner(graph, free, components(graph, free)[0], gainful)
    if loops:
        return None, shortest_lasso(graph, free, loops)
    ratio, tight = Fraction(0), []
    for arcs in _cyclic(graph, allow, gainful, gains, costs):
        better, edges = _best(arcs, ratio)
        if better > ratio:
            ratio, tight = better, edges
    return ratio, _shortest(graph, tight, gainful) if ratio else None


def _cyclic(
    graph: Graph, allow: bytearray, gainful: bytearray, gains: Sequence[int], costs: Sequence[int]
) -> Iterable[list[_Arc]]:
    """Give the arcs of each component in which something is gained on a cycle."""
    component, _ = components(graph, allow)
    homes = {component[graph.target[edge]] for edge in inner(graph, allow, component, gainful)}
    found: dict[int, list[_Arc]] = {home: [] for home in sorted(homes)}
    for node in reversed(range(graph.size)):
        home = component[node]
        if home not in found:
            continue
        for edge in range(graph.begin[node], graph.end[node]):
            other, kind = graph.target[edge], graph.move[edge]
            if allow[kind] and component[other] == home:
                found[home].append(_Arc(node, other, edge, gains[kind], costs[kind]))
    return found.values()


def _best(arcs: list[_Arc], ratio: Fraction) -> tuple[Fraction, list[int]]:
    """Raise the ratio until no cycle is better, and give the edges that cycles of the best ratio are made of.

    A cycle better than p/q is one whose weights `gain*q - cost*p` sum above 0. Where there is none, the values settle,
    and an edge lies on a best cycle only if its weight is the difference of the values at its ends.
    """
    while True:
        value, cycle = _positive_cycle(arcs, ratio)
        if cycle is None:
            p, q = ratio.numerator, ratio.denominator
            tight = [arc.edge for arc in arcs if value[arc.source] + arc.gain * q - arc.cost * p == value[arc.target]]
            return ratio, tight
        ratio = Fraction(sum(arc.gain for arc in cycle), sum(arc.cost for arc in cycle))


def _positive_cycle(arcs: list[_Arc], ratio: Fraction) -> tuple[dict[int, int], list[_Arc] | None]:
    """Raise the values along the arcs until they settle, or until a cycle is found that raises itself.

    The component is entered at one node, so that most nodes get their value at once; only those whose value rises
    are looked at again.
    """
    p, q = ratio.numerator, ratio.denominator
    ahead: dict[int, list[tuple[int, int, _Arc]]] = {}
    for arc in arcs:
        ahead.setdefault(arc.source, []).append((arc.target, arc.gain * q - arc.cost * p, arc))
    value = dict.fromkeys(ahead, _UNREACHED)
    via: dict[int, _Arc] = {}
    first = min(ahead)
    value[first] = 0
    queue, waiting = deque([first]), {first}
    rises = 0
    while queue:
        source = queue.popleft()
        waiting.discard(source)
        here = value[source]
        for target, weight, arc in ahead[source]:
            if here + weight > value[target]:
                value[target] = here + weight
                via[target] = arc
                rises += 1
                if target not in waiting:
                    waiting.add(target)
                    queue.append(target)
        if rises > len(value):
            rises = 0
            cycle = _cycle_in(via)
            if cycle is not None:
                return value, cycle
    return value, None


def _cycle_in(via: dict[int, _Arc]) -> list[_Arc] | None:
    seen: dict[int, int] = {}
    for start in via:
        node = start
        while node in via and node not in seen:
            seen[node] = start
            node = via[node].source
        if node in via and seen[node] == start:
            cycle = [via[node]]
            while cycle[-1].source != node:
                cycle.append(via[cycle[-1].source])
            return cycle[::-1]
    return None


def _shortest(graph: Graph, tight: list[int], gainful: bytearray) -> Lasso:
    """Give the shortest lasso over a best cycle: every cycle of tight edges that gains has the best ratio."""
    far, _ = graph.reach
    ahead: dict[int, list[int]] = {}
    for edge in tight:
        ahead.setdefault(graph.sources[edge], []).append(edge)
    best: tuple[int, int, Path] | None = None
    gaining = (one for one in tight if gainful[graph.move[one]])
    for edge in sorted(gaining, key=lambda one: (far[graph.sources[one]], one)):
        start = far[graph.sources[edge]]
        if best is not None and start + 1 >= best[0]:
            break
        home = _through(graph, ahead, graph.target[edge], graph.sources[edge])
        if home is not None and (best is None or start + 1 + len(home) < best[0]):
            best = start + 1 + len(home), edge, [edge, *home]
    if best is None:
        raise ValueError("a best ratio without a cycle")
    return Lasso(graph.way(graph.sources[best[1]]), best[2])


def _through(graph: Graph, ahead: dict[int, list[int]], start: int, goal: int) -> Path | None:
    reached: dict[int, tuple[int, int]] = {start: (-1, -1)}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if node == goal:
            return back(reached, goal)
        for edge in ahead.get(node, ()):
            other = graph.target[edge]
            if other not in reached:
                reached[other] = edge, node
                queue.append(other)
    return None
