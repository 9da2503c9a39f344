"""The seven properties of a recovery policy, each judged on a walked graph, with figures and a shortest witness.

*Progress* is a reply that ended well and left the context under the threshold. A *recovery* begins with a compaction,
or with a continuation, retry, replay or cut that answers a failure directly; what is sent after a compaction completes
the one that the compaction began.
"""

from collections import deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Literal

from forensics.accounts import accounted, fresh
from forensics.environment import failed
from forensics.graphs import Path, components, heaviest, inner, shortest_lasso
from forensics.ratio import worst_ratio
from forensics.replay import COMPACTS, SENDS, Signal
from forensics.verdict import Verdict, ending, first_edge, lasso_scenes, led, many, scenes, words
from forensics.walk import Graph, Move

Property = Literal["bounded", "paced", "hands-free", "loud", "fresh", "accounted", "contained"]

PACE = Fraction(1, 3)
"""At most one recovery for every three good replies, on any cycle that can last."""


def bounded(graph: Graph) -> Verdict:
    """Between two signs of progress within one prompt, recoveries have a greatest number."""
    moves = graph.moves
    allow = bytearray(not (one.progress or one.boundary) for one in moves)
    recovery = bytearray(one.recovery for one in moves)
    loops = inner(graph, allow, components(graph, allow)[0], recovery)
    across = _across_prompts(graph)
    if loops:
        lasso = shortest_lasso(graph, allow, loops)
        cycle = [graph.moves[graph.move[edge]] for edge in lasso.cycle]
        figures = {"cycle": _cost(cycle), "delay": any(one.delay for one in cycle), "across_prompts": across}
        pause = "with a delay" if figures["delay"] else "without delay"
        return Verdict(False, figures, f"{words(cycle)}, for ever, {pause}", scenes(graph, lasso.prefix, lasso.cycle))
    runs = [heaviest(graph, allow, [one.weights[place] for one in moves]) for place in range(3)]
    most, path = [weight for weight, _ in runs], runs[0][1]
    figures = {"recoveries": most[0], "model_calls": most[1], "summaries": most[2], "across_prompts": across}
    reason = f"at most {many(most[0], 'recovery')}, {many(most[1], 'model call')}, {many(most[2], 'paid summary')}"
    return Verdict(True, figures, reason, scenes(graph, led(graph, path), ()))


def _across_prompts(graph: Graph) -> dict[str, Any]:
    """Say whether a person who writes again and again, and gets nowhere, pays for recoveries each time."""
    allow = bytearray(not one.progress for one in graph.moves)
    component, _ = components(graph, allow)
    loops = inner(graph, allow, component, bytearray(bool(one.weights[2]) for one in graph.moves))
    return {"repeats": bool(loops)}


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
    return Verdict(False, figures, f"{worst}: {words(cycle)}, for ever", lasso_scenes(graph, lasso))


def hands_free(graph: Graph) -> Verdict:
    """In the friendly environment no recoverable failure needs a person."""
    return first_edge(graph, _abandons, "every failure is recovered without a person")


def _abandons(one: Move) -> bool:
    """Whether the turn ends here though its task was not done."""
    if one.then.what != "idle":
        return False
    unfinished = one.signal.bad or one.signal.stop == "tool" or one.signal.kind in {"elapsed", "prompt"}
    return unfinished or (one.signal.kind == "compacted" and (one.asked.waiting or failed(one.asked.last)))


def loud(graph: Graph) -> Verdict:
    """No failed or cut reply and no failed compaction ends in silence."""
    return first_edge(graph, silent, "every end of a recovery is announced")


def silent(one: Move) -> bool:
    """Whether a recovery, or a failure that none follows, ends here without a word of the agent's own."""
    if one.announced or one.action in COMPACTS | SENDS | {"wait"}:
        return False
    kind, outcome = one.signal.kind, one.signal.outcome
    if kind == "compacted":
        left = failed(one.asked.last) and not one.asked.told and one.then.what == "idle"
        return outcome in {"no-summary", "failed"} or (left and outcome != "aborted")
    return one.signal.bad or kind == "elapsed" or (kind == "prompt" and one.then.what == "idle")


def contained(graph: Graph) -> Verdict:
    """No paid action whose outcome the state already shows to be futile."""
    wrong, path = _futile(graph)
    if not wrong:
        return Verdict(True, {"violations": []}, "nothing is paid for that the state shows to be futile")
    return Verdict(
        False,
        {"violations": sorted(f"{signal} → {action}" for signal, action in wrong)},
        ending(graph, path),
        scenes(graph, path, ()),
    )


FRESH, FAILED, GIVEN_UP, MADE = range(4)


def ledger(held: int, one: Move) -> tuple[int, bool]:
    """Follow what is known of summaries since the last progress or prompt, and say whether this move is futile.

    After a summary a second one is futile; after a failed one, one announced retry is not.
    """
    if one.boundary or one.progress:
        held = FRESH
    futile = one.signal.fits == "no" and (
        one.action in SENDS - {"truncate"} or (one.action == "proceed" and one.then.what == "request")
    )
    if one.signal.kind == "compacted":
        if one.signal.outcome == "summary":
            held = MADE
        elif one.signal.outcome in {"no-summary", "failed"}:
            held = FAILED if held == FRESH else max(held, GIVEN_UP)
    if one.action in COMPACTS:
        futile = futile or held in {MADE, GIVEN_UP} or (held == FAILED and not one.announced)
    return held, futile


def _futile(graph: Graph) -> tuple[set[tuple[Signal, str]], Path]:
    start = (graph.root, FRESH)
    via: dict[tuple[int, int], tuple[int, tuple[int, int]]] = {start: (-1, start)}
    queue = deque([start])
    wrong: set[tuple[Signal, str]] = set()
    first: tuple[int, tuple[int, int]] | None = None
    while queue:
        here = queue.popleft()
        for edge in range(graph.begin[here[0]], graph.end[here[0]]):
            one = graph.moves[graph.move[edge]]
            held, futile = ledger(here[1], one)
            if futile:
                wrong.add((one.signal, one.action))
                first = first or (edge, here)
            there = (graph.target[edge], held)
            if there not in via:
                via[there] = edge, here
                queue.append(there)
    path: Path = []
    while first is not None and first[0] >= 0:
        path.append(first[0])
        first = via[first[1]]
    return wrong, path[::-1]


PROPERTIES: dict[Property, Callable[[Graph], Verdict]] = {
    "bounded": bounded,
    "paced": paced,
    "hands-free": hands_free,
    "loud": loud,
    "fresh": fresh,
    "accounted": accounted,
    "contained": contained,
}
