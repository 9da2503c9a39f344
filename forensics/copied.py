"""Rows that a session copied from another when it began: a fork holds them, older than itself."""

from forensics.timeline import Session


def began_at(session: Session) -> int | None:
    """Give when a session began that holds rows from before: a fork, which copies them."""
    first = next(iter(session.events), None)
    if session.parent is None or session.start is None or first is None or first.kind != "session":
        return None
    return first.ts if first.ts is not None and session.start < first.ts else None
