"""Find few of many records that still show the same thing (delta debugging: Zeller and Hildebrandt's ddmin)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Minimum(NamedTuple):
    """What is left: positions in order, how many tries it took, whether no single one can be left out any more."""

    kept: list[int]
    tries: int
    complete: bool


class _Spent(Exception):  # noqa: N818  (a way out of nested loops)
    pass


class _Search:
    def __init__(self, holds: Callable[[Sequence[int]], bool], budget: int) -> None:
        self._holds = holds
        self._left = budget
        self._known: dict[tuple[int, ...], bool] = {}
        self.best: list[int] = []

    @property
    def tries(self) -> int:
        return len(self._known)

    def holds(self, kept: list[int]) -> bool:
        """Ask once for each set; remember the smallest that holds."""
        key = tuple(kept)
        if key not in self._known:
            if self._left <= 0:
                raise _Spent
            self._left -= len(kept) + 1
            self._known[key] = self._holds(kept)
            if self._known[key] and len(kept) < len(self.best):
                self.best = kept
        return self._known[key]


def minimise(kept: Sequence[int], holds: Callable[[Sequence[int]], bool], budget: int) -> Minimum:
    """Leave out as many positions as possible while `holds` stays true; it must be true of all of `kept`.

    Large chunks first, then smaller ones, then one by one until none can go. `holds` is never called twice for the same
    positions, and no more once the positions that it was asked about add up to `budget`. The result is the same
    whenever `holds` is a function.
    """
    search = _Search(holds, budget)
    search.best = list(kept)
    try:
        _chunks(search)
        _singly(search)
    except _Spent:
        return Minimum(search.best, search.tries, complete=False)
    return Minimum(search.best, search.tries, complete=True)


def _chunks(search: _Search) -> None:
    parts = 2
    while len(search.best) > 1:
        kept = search.best
        size = -(-len(kept) // parts)
        pieces = [kept[at : at + size] for at in range(0, len(kept), size)]
        alone = next((piece for piece in pieces if search.holds(piece)), None)
        if alone is not None:
            parts = 2
            continue
        rest = next((left for at in range(len(pieces)) if search.holds(left := _without(pieces, at))), None)
        if rest is not None:
            parts = max(parts - 1, 2)
        elif size == 1:
            return
        else:
            parts = min(2 * parts, len(kept))


def _without(pieces: list[list[int]], left_out: int) -> list[int]:
    return [one for at, piece in enumerate(pieces) if at != left_out for one in piece]


def _singly(search: _Search) -> None:
    """Leave out one at a time, the last first, until a whole round leaves nothing out."""
    shrunk = True
    while shrunk:
        shrunk = False
        for one in reversed(search.best):
            if search.holds([other for other in search.best if other != one]):
                shrunk = True
