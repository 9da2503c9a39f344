"""What a figure is told for: a process's log as a whole, any other file session by session."""

from collections.abc import Iterator
from typing import NamedTuple

from forensics.events import Event
from forensics.timeline import File, Session

EVIDENCE = 200
"""Most rows that a claim over many occurrences holds: the first half and the last half of them."""


class Unit(NamedTuple):
    """Sessions whose figures are told together; `session` is set where there is just one."""

    session: Session | None
    sessions: list[Session]

    @property
    def where(self) -> str:
        """Say it for a message."""
        return "in this session" if self.session else f"over {len(self.sessions)} sessions of this log"


def units(file: File) -> Iterator[Unit]:
    """Give the units of a file, sessions without rows left out."""
    if not file.log:
        yield from (Unit(session, [session]) for session in file.sessions)
    elif file.sessions:
        yield Unit(file.sessions[0] if len(file.sessions) == 1 else None, file.sessions)


def shortened(rows: list[Event]) -> tuple[Event, ...]:
    """Keep at most `EVIDENCE` rows: where there are more, the first and the last of them."""
    half = EVIDENCE // 2
    return tuple(rows if len(rows) <= EVIDENCE else [*rows[:half], *rows[-half:]])
