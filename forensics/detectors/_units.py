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
    alone: bool
    """Whether the file holds no other: the session may go on in another file, so its figures are the file's."""

    @property
    def where(self) -> str:
        """Say it for a message."""
        if self.session is None:
            return f"over {len(self.sessions)} sessions of this log"
        return "in this file" if self.alone else "in this session"


def units(file: File) -> Iterator[Unit]:
    """Give the units of a file, sessions without rows left out."""
    if not file.log:
        yield from (Unit(session, [session], len(file.sessions) == 1) for session in file.sessions)
    elif file.sessions:
        one = len(file.sessions) == 1
        yield Unit(file.sessions[0] if one else None, file.sessions, one)


def shortened(rows: list[Event]) -> tuple[Event, ...]:
    """Keep at most `EVIDENCE` rows: where there are more, the first and the last of them."""
    half = EVIDENCE // 2
    return tuple(rows if len(rows) <= EVIDENCE else [*rows[:half], *rows[-half:]])
