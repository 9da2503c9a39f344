"""Call a session by one agent, though not every file of it names its agent."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from forensics.detect import Finding, of_agent
from forensics.scan import Result, SessionTotals


def settled(results: Sequence[Result]) -> list[Result]:
    """Call a session by one agent where one file names it and another, of a format that agents share, does not.

    An event stream of Atomic without a sign of Atomic reads as one of pi; the session's file tells.
    """
    told: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for one in results:
        for session in one.sessions if one.input else ():
            if one.input and session.agent != one.input.agent:
                told[one.input.agent, session.session].add(session.agent)
    names = {key: next(iter(agents)) for key, agents in told.items() if len(agents) == 1}
    return [_renamed(one, one.input.agent, names) if names and one.input else one for one in results]


def _renamed(result: Result, default: str, names: dict[tuple[str, str], str]) -> Result:
    def agent_of(one: SessionTotals | Finding) -> str:
        return names.get((default, one.session or ""), default) if one.agent == default else one.agent

    return msgspec.structs.replace(
        result,
        sessions=[msgspec.structs.replace(one, agent=agent_of(one)) for one in result.sessions],
        findings=[one if one.agent == agent_of(one) else of_agent(one, agent_of(one)) for one in result.findings],
    )
