"""Compaction attempts: starts paired with ends, what each made, and whether the next request fitted."""

from collections.abc import Iterable
from typing import NamedTuple

from forensics.events import Event, Outcome, Trigger


class Attempt(NamedTuple):
    """One compaction attempt. Either end may be missing: formats without starts, processes that died."""

    start: Event | None
    end: Event | None

    @property
    def events(self) -> list[Event]:
        """The rows of the attempt, in order."""
        return [event for event in (self.start, self.end) if event is not None]

    @property
    def first(self) -> Event:
        """The row the attempt is known by."""
        return self.events[0]

    @property
    def last(self) -> Event:
        """The row after which the attempt is over."""
        return self.events[-1]

    @property
    def outcome(self) -> Outcome:
        """How it ended; an attempt whose end was never written is `unknown`."""
        return (self.end.outcome if self.end else None) or "unknown"

    @property
    def trigger(self) -> Trigger:
        """Why it ran."""
        return next((event.trigger for event in self.events if event.trigger), "unknown")

    @property
    def before(self) -> int | None:
        """Tokens before it."""
        return next((event.before for event in reversed(self.events) if event.before is not None), None)

    @property
    def after(self) -> int | None:
        """Tokens after it."""
        return self.end.after if self.end else None


def attempts(events: Iterable[Event]) -> list[Attempt]:
    """Pair `compact` rows with the `compacted` rows that end them, session by session."""
    found: list[Attempt] = []
    open_at: dict[str | None, int] = {}
    for event in events:
        if event.kind == "compact":
            open_at[event.session] = len(found)
            found.append(Attempt(event, None))
        elif event.kind == "compacted":
            at = open_at.pop(event.session, None)
            if at is None:
                found.append(Attempt(None, event))
            else:
                found[at] = Attempt(found[at].start, event)
    return found
