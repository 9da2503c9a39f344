"""What was seen of a session in one file, in a few numbers: tells copies of a stretch from stretches side by side."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import nsmallest
from zlib import crc32

import msgspec

from forensics.timeline import Session

MOST = 64
"""Marks that are kept of any number: the least ones, so that two files keep the same of what they share."""
ENDS = 8
"""Marks kept of each end: a short copy of a long recording begins or ends as that does, and is known by it."""
_LONG = 64
_PART = 13
"""Of more rows than `_LONG` those are marked whose milliseconds are a multiple of this. Theirs are the least marks."""
_HIGH = 1 << 61


class Seen(msgspec.Struct, kw_only=True, frozen=True):
    """Marks of measured rows and of failures: of time and figures, the same in every file that holds the row."""

    rows: int
    """Rows that could be marked."""
    least: tuple[int, ...]
    below: int | None
    """Up to here no mark is missing; `None`: none is missing at all."""
    ends: tuple[int, ...]


def seen(session: Session) -> Seen:
    """Give the marks of a session."""
    rows = len(session.samples)
    failures = list(_failures(session))
    samples = session.samples
    marks = {_mark(one) for one in (*(samples.marked(_PART) if rows > _LONG else samples.ends()), *failures)}
    least = tuple(nsmallest(MOST, marks))
    whole = rows <= _LONG and len(marks) <= MOST
    ends = [*samples.ends(ENDS), *(failures if rows <= ENDS else ())]
    return Seen(
        rows=rows + len(failures),
        least=least,
        below=None if whole else least[-1] if least else -1,
        ends=tuple(sorted(map(_mark, ends))),
    )


def _mark(row: tuple[int, ...]) -> int:
    return hash(row) % _HIGH + (_HIGH if row[0] % 1000 % _PART else 0)


def _failures(session: Session) -> Iterator[tuple[int, ...]]:
    """Give the time and kind of what is kept of every reading: replies that did not end well, compactions."""
    for one in session.events:
        said = one.kind == "compacted" or (one.kind == "reply" and one.stop in {"error", "length", "aborted"})
        if said and one.context is None and one.ts is not None:
            yield one.ts, _kind(one.kind, one.stop, one.fault, one.outcome)
    if session.stopped:
        kind = _kind("reply", "aborted", None, None)
        yield from ((time, kind) for time in session.stopped)


@lru_cache(maxsize=256)
def _kind(*words: str | None) -> int:
    return crc32(" ".join(map(str, words)).encode())


def shared(one: Seen, other: Seen) -> tuple[float, float] | None:
    """Give which share of the one is in the other, and the other way; `None` where the marks do not tell."""
    limits = [two.below for two in (one, other) if two.below is not None]
    mine, theirs = (_upto(two.least, limits) for two in (one, other))
    both = mine & theirs
    if both:
        return len(both) / len(mine), len(both) / len(theirs)
    if {*one.ends, *one.least} & {*other.ends, *other.least}:
        return min(1.0, other.rows / one.rows), min(1.0, one.rows / other.rows)
    return (0.0, 0.0) if mine and theirs else None


def _upto(marks: Iterable[int], limits: list[int]) -> set[int]:
    return {mark for mark in marks if not limits or mark <= min(limits)}
