"""Show each finding once, though several files of a session show it, each in its own way."""

import sys
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Hashable, Iterable

import msgspec

from forensics.detect import SEVERITIES, Finding, told_again
from forensics.scan import SessionTotals
from forensics.totals import stretches, views

NEAR = 2000
"""Milliseconds by which two files may date the same thing differently: before and after a request, two writers."""
REFUTED = "only the file ends here"
"""How the reason of a finding that another file refutes begins."""
_STALL = "silent-stall"
_BLOWUP = "context-blowup"

Key = tuple[str, str | None]
Place = tuple[str, str | None, str]


class Merger:
    """What is known of the sessions' files: which is the fullest, which follow one another, when each ends."""

    def __init__(self, sessions: list[SessionTotals], parsers: dict[str, str]) -> None:
        self._parsers = parsers
        self._rows: dict[Place, int] = {}
        self._stretch: dict[Place, int] = {}
        self._ends: defaultdict[Key, dict[str, int]] = defaultdict(dict)
        for one in sessions:
            self._rows[one.agent, one.session, one.file] = one.rows
            if one.end is not None:
                self._ends[one.agent, one.session][one.file] = one.end
        for entries in views(sessions, parsers).values():
            for number, stretch in enumerate(stretches(entries)):
                self._stretch |= {(one.agent, one.session, one.file): number for one in stretch}

    def merge(self, findings: list[Finding]) -> tuple[list[Finding], list[Finding]]:
        """Give the findings to show, and those that another file of their session refutes."""
        once, superseded = self._upheld(self._same_ids(findings), alike=True)
        shown, refuted = self._upheld(self._same_moments(once), alike=False)
        return _one_id_each(shown), [*self._same_moments(superseded), *refuted]

    def _upheld(self, findings: list[Finding], *, alike: bool) -> tuple[list[Finding], list[Finding]]:
        """Tell findings from those that files of the same format (`alike`), or of others, refute."""
        kept: list[Finding] = []
        refuted: list[Finding] = []
        for one in findings:
            other = self._goes_on_in(one, alike=alike)
            if other is None:
                kept.append(one)
            else:
                reason = f"{REFUTED}: the session goes on in {other}"
                refuted.append(msgspec.structs.replace(one, state="suppressed", reason=reason))
        return kept, refuted

    def _fullest(self, agent: str, session: str | None, file: str) -> tuple[int, int, str]:
        """Sort the fullest file first, then the shortest name."""
        return -self._rows.get((agent, session, file), 0), len(file), file

    def _same_ids(self, findings: list[Finding]) -> list[Finding]:
        """Merge equal ids: the same finding only at the same time, since ids without record ids count from a start."""
        groups: defaultdict[Hashable, defaultdict[str, list[Finding]]] = defaultdict(lambda: defaultdict(list))
        for one in findings:
            groups[one.id, self._when(one)][one.file].append(one)
        kept: list[Finding] = []
        for files in groups.values():
            some = next(iter(files.values()))[0]
            first = min(files, key=lambda file: self._fullest(some.agent, some.session, file))
            for one in files[first]:
                one.also = sorted({*one.also, *files} - {first})
                kept.append(one)
        return kept

    def _when(self, one: Finding) -> Hashable:
        if one.start is not None:
            return one.start
        stretch = self._stretch.get((one.agent, one.session, one.file))
        return (tuple(one.lines), tuple(one.records)) if stretch is None else (self._parsers.get(one.file), stretch)

    def _same_moments(self, findings: list[Finding]) -> list[Finding]:
        """Merge what files of different formats tell of the same moment, one to one, the nearest first."""
        groups: defaultdict[tuple[str, str, str | None], list[Finding]] = defaultdict(list)
        for one in findings:
            groups[one.detector, one.agent, one.session].append(one)
        kept: list[Finding] = []
        for (_, agent, session), group in groups.items():
            if session is None or len({self._parsers.get(one.file) for one in group}) < 2:
                kept.extend(group)
                continue
            matched = self._matched(sorted(group, key=lambda one: self._fullest(agent, session, one.file)))
            kept.extend(self._contained(sorted(matched, key=_fuller)))
        return kept

    def _contained(self, group: list[Finding]) -> list[Finding]:
        """Merge what one file tells in parts, or in part, into the finding of another format that tells it whole.

        Each evidence row of the whole one stands for one finding of a file at most, and nothing is merged into a
        finding that is less severe.
        """
        kept: list[Finding] = []
        whole: list[set[str]] = []
        dated: list[tuple[int, int]] = []
        used: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
        for one in group:
            for at in self._near(one, kept, dated):
                other = kept[at]
                rows = None if one.file in whole[at] else self._rows_of(one, other)
                if rows is not None and not rows & used[at, one.file]:
                    used[at, one.file] |= rows
                    other.also = sorted({*other.also, one.file, *one.also} - {other.file})
                    break
            else:
                for time in one.times:
                    insort(dated, (time, len(kept)))
                kept.append(one)
                whole.append(set(one.also))
        return kept

    @staticmethod
    def _near(one: Finding, kept: list[Finding], dated: list[tuple[int, int]]) -> Iterable[int]:
        """Give the places of the findings that may hold one: with a row at the time of its first, in order."""
        if one.detector == _BLOWUP:
            return range(len(kept))
        if not one.times:
            return ()
        first, last = (bisect_left(dated, (one.times[0] + apart, 0)) for apart in (-NEAR, NEAR + 1))
        return sorted({at for _, at in dated[first:last]})

    def _rows_of(self, one: Finding, other: Finding) -> set[int] | None:
        """Give the evidence rows of another format's finding, by their time, that tell all that one tells."""
        if self._parsers.get(one.file) == self._parsers.get(other.file):
            return None
        if one.detector == _BLOWUP:
            sizes = [(f.measures.get("measure"), f.measures.get("peak"), f.measures.get("cap")) for f in (one, other)]
            return {0} if sizes[0] == sizes[1] and None not in sizes[0] else None
        if one.start is None or other.start is None or not one.times or not other.times:
            return None
        nearest = {time: _nearest_of(other.times, time) for time in one.times}
        return set(nearest.values()) if all(abs(a - b) <= NEAR for a, b in nearest.items()) else None

    def _matched(self, group: list[Finding]) -> list[Finding]:
        kept: list[Finding] = []
        starts: list[tuple[int, int]] = []
        taken: set[tuple[int, str]] = set()
        for one in group:
            at = self._nearest(one, kept, starts, taken)
            if at is None:
                if one.start is not None:
                    insort(starts, (one.start, len(kept)))
                kept.append(one)
            else:
                taken.add((at, one.file))
                kept[at].also = sorted({*kept[at].also, one.file, *one.also} - {kept[at].file})
        return kept

    def _nearest(
        self, one: Finding, kept: list[Finding], starts: list[tuple[int, int]], taken: set[tuple[int, str]]
    ) -> int | None:
        if one.start is None or one.end is None:
            return None
        parser = self._parsers.get(one.file)
        found: list[tuple[int, int]] = []
        for start, at in starts[
            bisect_left(starts, (one.start - NEAR, 0)) : bisect_left(starts, (one.start + NEAR + 1, 0))
        ]:
            other = kept[at]
            apart = max(abs(one.start - start), abs(one.end - (other.end or 0)))
            if apart <= NEAR and self._parsers.get(other.file) != parser and (at, one.file) not in taken:
                found.append((apart, at))
        return min(found)[1] if found else None

    def _goes_on_in(self, one: Finding, *, alike: bool) -> str | None:
        """Give the file that shows the session going on after a stall at the end of its own file.

        Files of one format date a row alike, so that any later row counts, and a longer copy of the same time.
        """
        if one.detector != _STALL or one.session is None or one.end is None:
            return None
        ends = self._ends[one.agent, one.session]
        own = ends.get(one.file)
        if own is None or own > one.end + NEAR:
            return None
        parser = self._parsers.get(one.file)
        later = [
            (end, self._rows[one.agent, one.session, file], file)
            for file, end in ends.items()
            if (self._parsers.get(file) == parser) == alike
        ]
        last = max(later, default=None)
        if last is None:
            return None
        here = (own, self._rows[one.agent, one.session, one.file]) if alike else (own + NEAR, sys.maxsize)
        return last[2] if last[:2] > here else None


def _one_id_each(findings: list[Finding]) -> list[Finding]:
    """Give findings of several files that share an id one each: the earliest keeps it, so that later ones may come."""
    keeper: dict[str, str] = {}
    named: dict[int, Finding] = {}
    for one in sorted(findings, key=_earliest):
        if keeper.setdefault(one.id, one.file) != one.file:
            named[id(one)] = msgspec.structs.replace(one, id=told_again(one))
    return [named.get(id(one), one) for one in findings]


def _nearest_of(times: list[int], time: int) -> int:
    at = bisect_left(times, time)
    return min(times[max(at - 1, 0) : at + 1], key=lambda one: abs(one - time))


def _fuller(one: Finding) -> tuple[int, bool, int, int]:
    return SEVERITIES.index(one.severity), one.start is None, -len(one.times), -len(one.records)


def _earliest(one: Finding) -> tuple[bool, int, str, list[int]]:
    return not one.times, one.times[0] if one.times else 0, one.file, one.lines
