"""Failed replies: what broke, what came next, and how long it took until someone or something went on."""

from typing import NamedTuple

from forensics.events import GOOD_STOPS, Event
from forensics.timeline import Session


class Failure(NamedTuple):
    """A reply that did not end well, with what follows it up to the next reply or prompt."""

    at: int
    """Position of the failed reply in `Session.events`."""
    reply: Event
    between: tuple[Event, ...]
    """The rows after it and before `next`: compactions, retries, notes."""
    next: Event | None
    """The next reply or prompt; `None` at the end of the session."""


def failures(session: Session) -> list[Failure]:
    """Give every reply of the session that ended in an error, a cut, nothing, or by the person's own abort."""
    events = session.events
    found = []
    for index, event in enumerate(events):
        if event.kind != "reply" or event.stop in GOOD_STOPS or event.stop is None:
            continue
        end = next((i for i in range(index + 1, len(events)) if events[i].kind in {"reply", "prompt"}), len(events))
        found.append(Failure(index, event, tuple(events[index + 1 : end]), events[end] if end < len(events) else None))
    return found
