"""Whether two nodes of a walked graph behave alike, whatever the environment does.

Graphs are deterministic per signal, so a pair of nodes is compared as two automata are (Hopcroft and Karp): assume
them equal, merge, and follow each signal from both; a difference in what is done or announced refutes the assumption.
"""

from collections import deque
from collections.abc import Iterable

from forensics.proof.walk import Graph, Move

Steps = list[tuple[Move, Move]]
"""What the two nodes answer to the same signals, up to the first different answer."""


def first_difference(graph: Graph, pairs: Iterable[tuple[int, int]]) -> tuple[int, Steps] | None:
    """Give the first node of a pair that behaves differently from its partner, and the shortest run that shows it.

    `None` where every pair behaves alike. Near-linear in the nodes reached; the first pair that differs ends it.
    """
    parent: dict[int, int] = {}
    for one, other in pairs:
        if not _merge(graph, parent, one, other):
            return one, _separate(graph, one, other)
    return None


def alike(graph: Graph, one: int, other: int) -> bool:
    """Whether the two nodes behave alike for ever."""
    return _merge(graph, {}, one, other)


def _merge(graph: Graph, parent: dict[int, int], one: int, other: int) -> bool:
    """Merge the two nodes, and all that follows from it; `False` where that would make unlike nodes equal."""

    def root(node: int) -> int:
        while (above := parent.get(node, node)) != node:
            parent[node] = parent.get(above, above)
            node = above
        return node

    queue = deque([(one, other)])
    while queue:
        left, right = (root(node) for node in queue.popleft())
        if left == right:
            continue
        parent[left] = right
        for (move, there), (twin, elsewhere) in zip(graph.edges(left), graph.edges(right), strict=True):
            if (move.action, move.announced) != (twin.action, twin.announced):
                return False
            queue.append((there, elsewhere))
    return True


def _separate(graph: Graph, one: int, other: int) -> Steps:
    via: dict[tuple[int, int], tuple[tuple[Move, Move], tuple[int, int]] | None] = {(one, other): None}
    queue = deque([(one, other)])
    while queue:
        here = queue.popleft()
        for (move, there), (twin, elsewhere) in zip(graph.edges(here[0]), graph.edges(here[1]), strict=True):
            if (move.action, move.announced) != (twin.action, twin.announced):
                return _trace(via, here, (move, twin))
            pair = (there, elsewhere)
            if there != elsewhere and pair not in via:
                via[pair] = (move, twin), here
                queue.append(pair)
    raise ValueError("the two nodes behave alike")


def _trace(
    via: dict[tuple[int, int], tuple[tuple[Move, Move], tuple[int, int]] | None],
    at: tuple[int, int],
    last: tuple[Move, Move],
) -> Steps:
    steps = [last]
    while (came := via[at]) is not None:
        steps.append(came[0])
        at = came[1]
    return steps[::-1]
