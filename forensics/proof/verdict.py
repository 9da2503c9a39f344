"""What a judgement is made of: the verdict with its figures and reason, and the scenes of its witness."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from forensics.proof.graphs import Lasso, Path
from forensics.proof.walk import Graph, Move
from forensics.replay import Signal


class Scene(NamedTuple):
    """One step of a witness. `part`: on the way, in the loop that repeats, or in the comparison of another start."""

    signal: Signal
    action: str
    announced: bool
    part: Literal["prefix", "cycle", "instead"] = "prefix"


class Verdict(NamedTuple):
    """What was found of one property: its figures where it holds, the shortest witness where it does not."""

    holds: bool
    figures: dict[str, Any]
    reason: str
    witness: tuple[Scene, ...] = ()


def first_edge(graph: Graph, wrong: Callable[[Move], bool], good: str) -> Verdict:
    """Judge a property of single moves; the witness is a shortest way to one that is wrong."""
    kinds = {number for number, one in enumerate(graph.moves) if wrong(one)}
    shown = sorted({f"{graph.moves[kind].signal} → {graph.moves[kind].action}" for kind in kinds})
    if not kinds:
        return Verdict(True, {"violations": shown}, good)
    far, _ = graph.reach
    edge = min(
        (edge for edge in range(len(graph.sources)) if graph.move[edge] in kinds),
        key=lambda one: (far[graph.sources[one]], one),
    )
    path = [*graph.way(graph.sources[edge]), edge]
    return Verdict(False, {"violations": shown}, ending(graph, path), scenes(graph, path, ()))


def ending(graph: Graph, path: Path) -> str:
    """Say the moves of a path in words, but for the prompts."""
    shown = [graph.moves[graph.move[edge]] for edge in path if graph.moves[graph.move[edge]].signal.kind != "prompt"]
    return words(shown or [graph.moves[graph.move[edge]] for edge in path])


def led(graph: Graph, path: Path) -> Path:
    """Put the way from the root before a path."""
    return [*graph.way(graph.sources[path[0]]), *path] if path else []


def lasso_scenes(graph: Graph, lasso: Lasso | None) -> tuple[Scene, ...]:
    """Give the scenes of a lasso, none where there is none."""
    return () if lasso is None else scenes(graph, lasso.prefix, lasso.cycle)


def scenes(graph: Graph, prefix: Iterable[int], cycle: Iterable[int]) -> tuple[Scene, ...]:
    """Give the scenes of a way and of the loop after it."""
    parts: list[tuple[Literal["prefix", "cycle"], Iterable[int]]] = [("prefix", prefix), ("cycle", cycle)]
    return tuple(
        Scene(one.signal, one.action, one.announced, part)
        for part, edges in parts
        for one in (graph.moves[graph.move[edge]] for edge in edges)
    )


def many(number: int | Fraction, word: str) -> str:
    """Say a number with its noun."""
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{number} {word if number == 1 else plural}"


def words(moves: Iterable[Move]) -> str:
    """Say moves in words; what repeats is said once, with a count."""
    said = [f"{one.signal} → {one.action}" for one in moves if one.signal.kind != "tick" or one.action != "proceed"]
    return ", ".join(_folded(said))


def loop_words(cycle: list[Move]) -> str:
    """Say a loop in words, from a reply on where it holds one."""
    first = next((place for place, one in enumerate(cycle) if one.signal.kind == "reply"), 0)
    return words([*cycle[first:], *cycle[:first]])


def _folded(said: list[str], longest: int = 3) -> Iterable[str]:
    at = 0
    while at < len(said):
        size, times = max(
            ((size, _repeats(said, at, size)) for size in range(1, longest + 1)), key=lambda one: one[0] * (one[1] - 1)
        )
        block = ", ".join(said[at : at + size])
        if times == 1:
            yield said[at]
            at += 1
        else:
            yield f"{times} times ({block})"
            at += size * times


def _repeats(said: list[str], at: int, size: int) -> int:
    times = 1
    while said[at : at + size] == said[at + times * size : at + (times + 1) * size] and len(said) > at:
        times += 1
    return times
