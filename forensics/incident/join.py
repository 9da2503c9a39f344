"""Several files that show one session: put on one timeline, their clocks held against each other.

Sessions are the same by agent and id. Two files of one format that overlap are copies: the fullest one stands for
both. Others are views, a transcript and a runtime log for instance: what both record tells how their clocks differ.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from forensics.incident.clocks import NEAR, clock_of
from forensics.incident.model import Clock
from forensics.incident.thin import steps
from forensics.incident.tracks import Draft, Spot
from forensics.incident.watch import SILENCE
from forensics.timeline import File, Session

_UNSAFE = re.compile(r'[\\/:<>"|?*]')


class View(NamedTuple):
    """One file's draft of a session, and where it comes from."""

    draft: Draft
    file: File
    session: Session | None


def joined(views: Iterable[View]) -> list[Draft]:
    """Give one draft for each session; what cannot be set on one axis (a file without times) stays by itself."""
    groups: defaultdict[tuple[str, str], list[View]] = defaultdict(list)
    for at, view in enumerate(views):
        name = _UNSAFE.sub("-", view.session.id) if view.session else f"\0{at}"
        groups[view.draft.agent, name].append(view)
    return [one for group in groups.values() for one in _joined(group)]


def _joined(group: list[View]) -> list[Draft]:
    kept = _without_copies(group)
    timed = [view for view in kept if view.draft.timed]
    apart = [view.draft for view in kept if not view.draft.timed]
    if len(timed) < 2:
        drafts = [view.draft for view in timed]
        return [*drafts, *(_by_itself(one) if drafts else one for one in apart if not drafts or _adds(one, drafts))]
    base = max(timed, key=lambda view: (not view.file.log, len(view.draft.points), len(view.draft.spots)))
    result = base.draft
    for view in timed:
        if view is not base:
            clock = clock_of(view.file.name, base.session, view.session)
            result = _merged(result, _shifted(view.draft, clock.offset or 0), clock)
    return [result, *(_by_itself(one) for one in apart if _adds(one, [result]))]


def _by_itself(one: Draft) -> Draft:
    """Name the file of a view that stands beside a figure of the same session."""
    return one._replace(title=f"{one.title}, as {one.files[0]} alone shows it")


def _adds(one: Draft, others: list[Draft]) -> bool:
    """Whether a view without times shows an event that none of the others has, one that did nothing left out."""
    own, theirs = _happened(one), [_happened(other) for other in others]
    return any(times > max(counts[what] for counts in theirs) for what, times in own.items())


def _happened(one: Draft) -> Counter[str]:
    """Count what a view shows by mark and by lane: an end that it does not know may be any that another knows."""
    marks = Counter(spot[2] for spot in one.spots if spot[2] not in {"skipped", "unknown"})
    return marks + Counter(spot[1] for spot in one.spots if spot[2] != "skipped")


def _without_copies(group: list[View]) -> list[View]:
    """Leave out files of one format that show the same stretch as a fuller one."""
    kept: list[View] = []
    for view in sorted(group, key=lambda one: (-(one.session.rows if one.session else 0), one.file.name)):
        if not any(view.file.parser == other.file.parser and _overlap(view, other) for other in kept):
            kept.append(view)
    return kept


def _overlap(one: View, other: View) -> bool:
    if one.session is None or other.session is None:
        return False
    times = (one.session.start, one.session.end, other.session.start, other.session.end)
    if None in times:
        return True
    start, end, first, last = times
    return (start or 0) <= (last or 0) and (first or 0) <= (end or 0)


def _shifted(one: Draft, by: int) -> Draft:
    if not by:
        return one
    return one._replace(
        seen=(one.seen[0] + by, one.seen[1] + by),
        spots=[(x + by, lane, mark, words) for x, lane, mark, words in one.spots],
        points=[(x + by, value) for x, value in one.points],
        caps=[(x + by, cap) for x, cap in one.caps],
        spent=[(x + by, value) for x, value in one.spent],
        silences=[(a + by, b + by, kind) for a, b, kind in one.silences],
    )


def _merged(base: Draft, other: Draft, clock: Clock) -> Draft:
    """Put two views together: every event once, the curve of the one that measured more."""
    fuller = base if len(base.points) >= len(other.points) else other
    return base._replace(
        files=[*base.files, *other.files],
        seen=(min(base.seen[0], other.seen[0]), max(base.seen[1], other.seen[1])),
        spots=_both(base.spots, other.spots),
        points=fuller.points,
        refused=max((one for one in (base.refused, other.refused) if one is not None), default=None),
        cap=base.cap or other.cap,
        caps=steps(base.caps or other.caps),
        begins=min((one for one in (base.begins, other.begins) if one is not None), default=None),
        spent=base.spent or other.spent,
        silences=_in_both(base, other),
        clocks=[*base.clocks, clock],
    )


def _both(ours: list[Spot], theirs: list[Spot]) -> list[Spot]:
    """Add the events that only the other view has; where both have one, the one that says how it ended stays."""
    result = sorted(ours)
    xs = [spot[0] for spot in result]
    taken: set[int] = set()
    added: list[Spot] = []
    for spot in sorted(theirs):
        twin = next(
            (
                at
                for at in range(bisect_left(xs, spot[0] - NEAR), len(xs))
                if xs[at] <= spot[0] + NEAR and at not in taken and _same(result[at], spot)
            ),
            None,
        )
        if twin is None:
            added.append(spot)
            continue
        taken.add(twin)
        if result[twin][2] == "unknown" or spot[2] == "continue":
            result[twin] = (result[twin][0], *spot[1:])
    return sorted([*result, *added])


def _same(one: Spot, other: Spot) -> bool:
    if one[1] != other[1]:
        return False
    return one[2] == other[2] or "unknown" in {one[2], other[2]} or one[1] == "people"


def _in_both(base: Draft, other: Draft) -> list[tuple[int, int, str]]:
    """Give the stretches in which neither view has a row; outside its own first and last row a view is silent."""
    seen = min(base.seen[0], other.seen[0]), max(base.seen[1], other.seen[1])
    found = []
    for start, end, kind in _silent(base, seen):
        for first, last, ender in _silent(other, seen):
            low, high = max(start, first), min(end, last)
            if high - low >= SILENCE:
                found.append((low, high, (kind or ender) if end <= last else (ender or kind)))
    return found


def _silent(one: Draft, seen: tuple[int, int]) -> list[tuple[int, int, str]]:
    """Give a view's silences between the first and the last row that any view has."""
    first, last = one.seen
    return [(seen[0], first, "another file's first row"), *one.silences, (last, seen[1], "")]
