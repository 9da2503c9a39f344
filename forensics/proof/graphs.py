"""Exact algorithms on walked graphs: components, heaviest runs, shortest loops.

All work on nodes `0 … size-1` of a `Graph` and on the edges whose move is allowed by `allow`, one byte per move.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forensics.proof.walk import Graph

Path = list[int]
"""Edges, by number."""


class Lasso(NamedTuple):
    """A way from the start, then a loop that can be repeated for ever. Both are edges by number."""

    prefix: Path
    cycle: Path


def components(graph: Graph, allow: bytearray) -> tuple[list[int], int]:
    """Give the strongly connected component of every node; components are numbered so that edges lead to lower ones.

    Tarjan's algorithm with its own stack, in time linear in the edges.
    """
    begin, end, target, move = graph.begin, graph.end, graph.target, graph.move
    size = graph.size
    index = [0] * size
    low = [0] * size
    component = [-1] * size
    position = begin[:size]
    stack: list[int] = []
    counter = count = 0
    for root in range(size):
        if index[root]:
            continue
        counter += 1
        index[root] = low[root] = counter
        stack.append(root)
        call = [root]
        while call:
            node = call[-1]
            edge = position[node]
            last = end[node]
            while edge < last:
                if allow[move[edge]]:
                    other = target[edge]
                    if not index[other]:
                        break
                    if component[other] < 0 and index[other] < low[node]:
                        low[node] = index[other]
                edge += 1
            if edge < last:
                position[node] = edge + 1
                counter += 1
                other = target[edge]
                index[other] = low[other] = counter
                stack.append(other)
                call.append(other)
                continue
            position[node] = edge
            call.pop()
            if low[node] == index[node]:
                while True:
                    member = stack.pop()
                    component[member] = count
                    if member == node:
                        break
                count += 1
            if call and low[node] < low[call[-1]]:
                low[call[-1]] = low[node]
    return component, count


def inner(graph: Graph, allow: bytearray, component: Sequence[int], wanted: bytearray) -> list[int]:
    """Give the allowed edges of wanted moves that lie inside a component, so on a cycle."""
    found = []
    target, move = graph.target, graph.move
    for node in range(graph.size):
        home = component[node]
        for edge in range(graph.begin[node], graph.end[node]):
            kind = move[edge]
            if wanted[kind] and allow[kind] and component[target[edge]] == home:
                found.append(edge)
    return found


def heaviest(
    graph: Graph, allow: bytearray, component: Sequence[int], weights: Sequence[Sequence[int]]
) -> tuple[list[int], Path]:
    """Give the greatest sum of each weight that a run can gather, and a run with the greatest first one.

    A run is a way of allowed edges, and the edge before it that is not allowed (a prompt that begins a recovery
    belongs to the turn it begins). No allowed cycle may have weight. One pass over the components, last first.
    """
    order = sorted(range(graph.size), key=component.__getitem__)
    tables = [_best_runs(graph, allow, component, order, weight) for weight in weights]
    tops = [_top(graph, allow, component, weight, runs) for weight, runs in zip(weights, tables, strict=True)]
    return [top for top, _ in tops], _unroll(graph, allow, component, tables[0][1], tops[0][1])


def _best_runs(
    graph: Graph, allow: bytearray, component: Sequence[int], order: list[int], weight: Sequence[int]
) -> tuple[list[int], list[int]]:
    best, via = [0] * graph.size, [-1] * graph.size
    target, move, begin, end = graph.target, graph.move, graph.begin, graph.end
    for node in order:
        home = component[node]
        for edge in range(begin[node], end[node]):
            kind = move[edge]
            if allow[kind]:
                other = component[target[edge]]
                if other != home and weight[kind] + best[other] > best[home]:
                    best[home], via[home] = weight[kind] + best[other], edge
    return best, via


def _top(
    graph: Graph, allow: bytearray, component: Sequence[int], weight: Sequence[int], runs: tuple[list[int], list[int]]
) -> tuple[int, int]:
    best, via = runs
    top = max(best, default=0)
    first = via[best.index(top)] if top else -1
    entering = bytearray(not ok and bool(weight[kind]) for kind, ok in enumerate(allow))
    if not any(entering):
        return top, first
    for edge, kind in enumerate(graph.move[: graph.end[graph.size - 1]]):
        if entering[kind] and weight[kind] + best[component[graph.target[edge]]] > top:
            top, first = weight[kind] + best[component[graph.target[edge]]], edge
    return top, first


def _unroll(graph: Graph, allow: bytearray, component: Sequence[int], via: list[int], edge: int) -> Path:
    path: Path = []
    while edge >= 0:
        path.append(edge)
        at = graph.target[edge]
        edge = via[component[at]]
        if edge >= 0 and graph.sources[edge] != at:
            path += between(graph, allow, at, graph.sources[edge]) or []
    return path


def between(graph: Graph, allow: bytearray, start: int, goal: int, limit: int | None = None) -> Path | None:
    """Give a shortest path of allowed edges, of at most `limit` edges; `None` where there is none."""
    if start == goal:
        return []
    reached: dict[int, tuple[int, int]] = {start: (-1, -1)}
    layer = [start]
    depth = 0
    while layer and (limit is None or depth < limit):
        depth += 1
        ahead = []
        for node in layer:
            for edge in range(graph.begin[node], graph.end[node]):
                other = graph.target[edge]
                if allow[graph.move[edge]] and other not in reached:
                    reached[other] = edge, node
                    if other == goal:
                        return back(reached, goal)
                    ahead.append(other)
        layer = ahead
    return None


def back(reached: dict[int, tuple[int, int]], node: int) -> Path:
    """Give the edges by which a search reached a node."""
    path: Path = []
    while reached[node][0] >= 0:
        edge, node = reached[node]
        path.append(edge)
    return path[::-1]


def shortest_lasso(graph: Graph, allow: bytearray, through: Iterable[int]) -> Lasso:
    """Give the shortest lasso (prefix and cycle together) whose cycle holds one of the edges `through`."""
    far, _ = graph.reach
    best: tuple[int, int, Path] | None = None
    for edge in sorted(through, key=lambda one: (far[graph.sources[one]], one)):
        start = far[graph.sources[edge]]
        if best is not None and start + 1 >= best[0]:
            break
        limit = None if best is None else best[0] - start - 2
        home = between(graph, allow, graph.target[edge], graph.sources[edge], limit)
        if home is not None:
            best = start + 1 + len(home), edge, [edge, *home]
    if best is None:
        raise ValueError("no cycle holds any of these edges")
    return Lasso(graph.way(graph.sources[best[1]]), best[2])
