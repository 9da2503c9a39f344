"""Which policies a session is consistent with, in the words that checks and locks use."""

from typing import NamedTuple

from forensics.parse import parsers
from forensics.replay import Policy, find, policies
from forensics.replaying.conform import conform
from forensics.replaying.decisions import points, sight
from forensics.replaying.measures import Given
from forensics.scan import Input
from forensics.timeline import File, Session


class Agreement(NamedTuple):
    """How a session agrees with a policy. `decisions` = equal + undetermined + departures."""

    policy: str
    decisions: int
    equal: int
    undetermined: int
    line: int | None
    """Of the first decision that departs, where it stands on a line."""
    departs: str | None
    """What was recorded there, and what the policy does instead."""

    @property
    def holds(self) -> bool | None:
        """Whether the session conforms; `None` where the file shows no decision that tells."""
        if self.departs is not None:
            return False
        return True if self.equal or not self.decisions else None


def agreement(session: Session, read: Input, policy: Policy, cap: int | None = None) -> Agreement:
    """Follow the policy through a session of a file that was read. Raises `PolicyError`."""
    seen = sight(parsers()[read.parser], read.failures_observable)
    made = points(session, seen, Given(cap=cap))
    found = conform(made, policy, seen)
    first = found.departs
    line = made[first.at].row.line if first else None
    words = f"recorded: {first.recorded}; {policy.name}: {' or '.join(first.policy)}" if first else None
    return Agreement(policy.name, found.decisions, found.equal, found.undetermined, line, words)


def consistent(session: Session, read: Input, cap: int | None = None) -> list[str] | None:
    """Give the policies of the session's agent, and those of none, that it conforms to, sorted.

    `None` where no decision tells: there is none, or the file does not show what decides.
    """
    found = [agreement(session, read, one, cap) for one in policies().values() if one.agent in {session.agent, None}]
    telling = [one for one in found if one.decisions and one.holds is not None]
    return [one.policy for one in telling if one.holds] if telling else None


def agreements(file: File, read: Input, name: str, cap: int | None = None) -> list[tuple[Session, Agreement]]:
    """Follow the named policy through every session of a file. Raises `PolicyError`."""
    policy = find(name)
    return [(one, agreement(one, read, policy, cap)) for one in file.sessions]
