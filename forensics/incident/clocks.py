"""How the clocks of two files of one session stand to each other, told by what both of them record."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from forensics.events import Event
from forensics.incident.model import Clock
from forensics.timeline import Session

NEAR = 2000
"""Milliseconds within which two files' records of one event lie, once their clocks are set."""
_FEWEST = 2
"""Events that a clock's offset must rest on."""
Key = tuple[str, str, str]
Marks = dict[Key, list[int]]
"""The times of rows that two files can both record, by what the row says."""


def clock_of(name: str, base: Session | None, view: Session | None) -> Clock:
    """Say how many milliseconds to add to the times of the file `name`, which shows a session as `view`.

    Files of one machine have one clock, so 0 holds wherever the files do not contradict it. Another offset needs
    several events that each file has once: where a text repeats, nothing says which of its rows is which.
    """
    ours, theirs = _marks(base), _marks(view)
    shared = ours.keys() & theirs.keys()
    single = sorted(
        ours[key][0] - theirs[key][0] for key in shared if len(ours[key]) == len(theirs[key]) == 1 and key[2]
    )
    moved = _cluster(single)
    still = [apart for apart in single if abs(apart) <= NEAR]
    if len(moved) >= _FEWEST and len(moved) > len(still):
        middle = round(median(moved))
        return Clock(file=name, offset=middle, matched=len(moved), spread=max(abs(one - middle) for one in moved))
    if len(still) * 2 >= len(single) and (held := _as_recorded(ours, theirs)):
        return Clock(file=name, offset=0, matched=len(held), spread=max(map(abs, held)))
    return Clock(file=name, offset=None, matched=0, spread=None)


def _as_recorded(ours: Marks, theirs: Marks) -> list[int]:
    """Give how far the shared events lie apart with the clocks as they are; nothing where that says nothing.

    Two formats may write one error in different words, so its class will do here.
    """
    pairs = {key: list(_pairs(ours[key], theirs[key])) for key in ours.keys() & theirs.keys()}
    own = any(found and key[2] for key, found in pairs.items())
    plain, other = _by_class(ours), _by_class(theirs)
    shared = plain.keys() & other.keys()
    matched = [apart for key in shared for apart in _pairs(plain[key], other[key])]
    possible = sum(min(len(plain[key]), len(other[key])) for key in shared)
    return matched if (own or len(matched) >= _FEWEST) and len(matched) * 2 >= possible else []


def _by_class(marks: Marks) -> Marks:
    found: defaultdict[Key, list[int]] = defaultdict(list)
    for (kind, name, words), times in marks.items():
        found[kind, name, "" if kind == "reply" else words].extend(times)
    return {key: sorted(times) for key, times in found.items()}


def _cluster(differences: list[int]) -> list[int]:
    """Give the most differences that agree, of sorted ones; none where they agree on no offset worth the name."""
    best: list[int] = []
    for at, low in enumerate(differences):
        found = differences[at : bisect_left(differences, low + NEAR + 1)]
        if len(found) > len(best):
            best = found
    return [] if best and abs(median(best)) <= NEAR else best


def _pairs(ours: list[int], theirs: list[int]) -> Iterator[int]:
    """Give the differences of rows that lie near each other with the clocks as they are, each row used once."""
    at = 0
    for second in theirs:
        while at + 1 < len(ours) and abs(ours[at + 1] - second) <= abs(ours[at] - second):
            at += 1
        if at < len(ours) and abs(ours[at] - second) <= NEAR:
            yield ours[at] - second
            at += 1


def _marks(session: Session | None) -> Marks:
    found: defaultdict[Key, list[int]] = defaultdict(list)
    for event in session.events if session else ():
        key = _key(event)
        if key is not None and event.ts is not None:
            found[key].append(event.ts)
    return {key: sorted(times) for key, times in found.items()}


def _key(event: Event) -> Key | None:
    if event.kind == "compacted":
        return "compacted", event.outcome or "", "" if event.before is None else str(event.before)
    if event.kind == "prompt" and event.origin == "human":
        return "prompt", "", event.digest or ""
    if event.kind == "reply" and event.fault:
        return "reply", event.fault, event.error or ""
    return None
