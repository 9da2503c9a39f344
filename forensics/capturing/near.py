"""Which of a large file's records a capture of a finding needs to look at."""

from collections.abc import Iterator

from forensics.detect import Finding
from forensics.timeline import File, Session
from forensics.writing import Wanted


def wanted_near(file: File, finding: Finding, margin: int) -> Wanted:
    """Choose lines and records: the evidence and its surroundings; with a margin, all notable rows of the session."""
    sessions = [one for one in file.sessions if finding.session in {None, one.id}] or file.sessions
    rows = [row for session in sessions for row in session.events]
    first, last = min(finding.lines, default=0), max(finding.lines, default=0)
    lines = set(finding.lines)
    records = set(finding.records)
    around = {line + step for line in finding.lines for step in range(-margin, margin + 1)}
    lines |= {row.line for row in rows if row.line is not None and (margin > 2 or first <= row.line <= last)}
    lines |= {row.line for row in rows if row.line is not None and row.kind in {"session", "model"}}
    records |= {row.record for row in rows if row.record is not None}
    if margin > 2:
        lines |= {row.line for row in file.host if row.line is not None}
        lines |= {line + step for line in lines for step in (-2, -1, 1, 2)}
    names = {part for session in sessions for part in _family(file, session)}
    return Wanted(frozenset(line for line in lines | around if line > 0), frozenset(records), frozenset(names))


def _family(file: File, session: Session) -> Iterator[str]:
    yield session.id
    yield session.id.partition("/")[0]
    if session.parent is not None and any(one.id == session.parent for one in file.sessions):
        yield session.parent
