"""Does a lock notice? Perturb a recording's events one at a time, and see which perturbations its lock would tell."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from forensics.checking.lock import Difference, compare
from forensics.checking.mutations import MUTATIONS, Mutation, Rows
from forensics.checking.shape import Shape, shape_of
from forensics.events import Event
from forensics.scan import Options, look

MOST = 8
"""Places at which one kind of mutation is tried; of more, as many spread evenly."""


class Outcome(NamedTuple):
    """What became of one mutation."""

    kind: Mutation
    row: Event
    differences: list[Difference]

    @property
    def noticed(self) -> bool:
        """Whether the lock tells it: fails on a harmful one, says anything of another."""
        return any(one.fails for one in self.differences) if self.kind.harmful else bool(self.differences)

    def __str__(self) -> str:
        """Say what was done and where."""
        row = self.row
        place = f"line {row.line}" if row.line is not None else f"record {row.record}" if row.record else row.kind
        return f"{self.kind.name} at {place}"


class Trial(NamedTuple):
    """All mutations of one recording. `places` counts the places by kind, of which `tried` says how many were tried."""

    outcomes: list[Outcome]
    places: Counter[str]

    @property
    def tried(self) -> Counter[str]:
        """Mutations tried, by kind."""
        return Counter(one.kind.name for one in self.outcomes)


def trial(path: Path, name: str, options: Options, lock: Shape) -> Trial:
    """Mutate the recording at `path` in every way that applies, and hold each result against the lock."""
    rows = Rows()

    def keep(events: Iterator[Event]) -> Iterator[Event]:
        for one in events:
            rows.append(replace(one))
            yield one

    look(path, name, options, keep)
    outcomes: list[Outcome] = []
    places: Counter[str] = Counter()
    for kind in MUTATIONS:
        found = [at for at in range(len(rows)) if kind.edit(rows, at) is not None]
        places[kind.name] = len(found)
        for at in _spread(found):
            edited = kind.edit(rows, at) or []
            outcomes.append(Outcome(kind, rows[at], _held(path, name, options, lock, edited)))
    return Trial(outcomes, places)


def _spread(found: list[int]) -> list[int]:
    if len(found) <= MOST:
        return found
    return [found[round(step * (len(found) - 1) / (MOST - 1))] for step in range(MOST)]


def _held(path: Path, name: str, options: Options, lock: Shape, rows: list[Event]) -> list[Difference]:
    def swap(events: Iterator[Event]) -> Iterator[Event]:
        for _ in events:  # the file is read all the same, for what it says of itself
            pass
        yield from map(replace, rows)

    result, file = look(path, name, options, swap)
    if file is None:
        return [Difference("changed", "recording", "cannot be read")]
    return compare(lock, shape_of(result, file, options.cap))
