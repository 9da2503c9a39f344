"""From a session to its decision points: what its agent's recovery logic was told, and what was recorded to come next.

Nothing here knows a policy. Where the file does not say what came next, the recorded action is unknown.
"""

from collections.abc import Iterable

from forensics.events import Event
from forensics.replaying.measures import Given, Measures
from forensics.replaying.points import Kind, Point, Recorded, Sight, sight
from forensics.replaying.told import Rows
from forensics.timeline import Session

__all__ = ["Kind", "Point", "Recorded", "Sight", "points", "sight"]


def points(session: Session, seen: Sight, given: Given | None = None, host: Iterable[Event] = ()) -> list[Point]:
    """Give the session's points in order; `host`: rows of the process that ran it, whose ends are points too."""
    measures = Measures(session, given or Given(), failures=seen.failures)
    rows = Rows(session, seen, measures)
    found = _merged(rows.points(), [Point("exit", event) for event in host if event.kind == "exit"])
    return [one._replace(recorded=_recorded(found, at, seen)) for at, one in enumerate(found)]


def _merged(found: Iterable[Point], exits: list[Point]) -> list[Point]:
    """Put the ends of the process where their lines are."""
    merged: list[Point] = []
    for point in found:
        while exits and point.first.line is not None and (exits[0].row.line or 0) < point.first.line:
            merged.append(exits.pop(0))
        merged.append(point)
    return merged + exits


def _recorded(found: list[Point], at: int, seen: Sight) -> Recorded:
    """Say what came next after a point; a format without replies shows by the next check that a request was sent."""
    one = found[at]
    if one.will_retry:
        return "went on"
    for place in range(at + 1, len(found)):
        later = found[place]
        if later.kind in {"reply", "other"}:
            return "went on"
        if later.kind == "resume":
            return "replay" if later.row.origin == "replay" else "continue"
        if later.kind == "compacted":
            if later.boundary:
                return "nothing until a person wrote"
            return "compact" if seen.replies else "went on"
        if later.kind == "echo":
            return "went on"
        if later.kind == "cut":
            return "truncate"
        if later.kind == "said":
            return "error shown"
        if later.kind == "prompt":
            return "nothing until a person wrote"
        if later.kind == "asked":
            return "unknown"
    return "unknown"
