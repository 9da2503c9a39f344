"""What several files tell of one session, counted once."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from forensics.detect import SEVERITIES
from forensics.incident.cases import number
from forensics.incident.model import Case

NEAR = 2000
"""Milliseconds by which two files may date the same thing differently."""
Cases = list[Case]


def tellings(cases: Iterable[Case]) -> list[list[Cases]]:
    """Give for each thing that a detector found what every file that shows it tells of it, the fullest file first.

    Findings of one session in different files that overlap in time are about the same thing; one without times may
    be about anything of its session.
    """
    sessions: defaultdict[tuple[str, str], Cases] = defaultdict(list)
    found: list[list[Cases]] = []
    for case in cases:
        if case.finding.session is None:
            found.append([[case]])
        else:
            sessions[case.finding.agent, case.finding.session].append(case)
    found += [_by_file(group) for group_of in sessions.values() for group in _overlapping(group_of)]
    return found


def once(cases: Iterable[Case]) -> Cases:
    """Leave out the cases that tell again what another file's tell more fully."""
    cases = list(cases)
    kept = {id(case) for files in tellings(cases) for case in files[0]}
    return [case for case in cases if id(case) in kept]


def _overlapping(cases: Cases) -> Iterator[Cases]:
    """Group the cases of a session that several files may tell of; all of them where one has no time."""
    if len({case.finding.file for case in cases}) < 2:
        yield from ([case] for case in cases)
        return
    if any(case.finding.start is None or case.finding.end is None for case in cases):
        yield cases
        return
    group: Cases = []
    last = 0
    for case in sorted(cases, key=lambda one: one.finding.start or 0):
        if group and (case.finding.start or 0) > last + NEAR:
            yield group
            group = []
        last = max(last if group else 0, case.finding.end or 0)
        group.append(case)
    yield group


def _by_file(cases: Cases) -> list[Cases]:
    files: defaultdict[str, Cases] = defaultdict(list)
    for case in cases:
        files[case.finding.file].append(case)
    return sorted(files.values(), key=_weight)


def _weight(cases: Cases) -> tuple[int, float, int, str]:
    """Sort the file that tells the worst and the most first."""
    findings = [case.finding for case in cases]
    worst = min(SEVERITIES.index(one.severity) for one in findings)
    much = sum(number(one, "cycles") or number(one, "attempts") or 1 for one in findings)
    return worst, -much, -sum(len(one.lines) + len(one.records) for one in findings), findings[0].file
