"""Rows that a session copied from another when it began: a fork holds them, older than itself."""

from collections.abc import Iterable, Iterator, Mapping

from forensics.events import Event
from forensics.timeline import Session


def began_at(session: Session) -> int | None:
    """Give when a session began that holds rows from before: a fork, which copies them."""
    first = next(iter(session.events), None)
    if session.parent is None or session.start is None or first is None or first.kind != "session":
        return None
    return first.ts if first.ts is not None and session.start < first.ts else None


def before(events: Iterable[Event], began: Mapping[str, int]) -> Iterator[Event]:
    """Give the rows of sessions up to the first from when each began; no row after the last of those."""
    left = dict(began)
    for event in events:
        name = event.session
        if name not in left or event.kind == "session":
            continue
        if event.ts is not None and event.ts >= left[name]:
            del left[name]
            if not left:
                return
        else:
            yield event
