"""Which known logic a session ran: the policies of its agent that the record is consistent with."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from forensics.replay import Policy, find, policies
from forensics.replaying.conform import Conformance, conform
from forensics.replaying.decisions import Point, Sight

Agrees = Literal["consistent", "departs", "undetermined"]

VARIANTS: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "pi": (("pi 0.73", {"mid-turn": False, "hollow": True}),),
    "opencode-37584": (("opencode-37584 (a third summary)", {"fail-on-third": False}),),
}
"""Named settings of a policy's options that are another version, or another reading of one."""
BEFORE: dict[str, str] = {
    "atomic-1684": "pull request 1684",
    "atomic-1690": "pull request 1690",
    "atomic-head": "August 2026",
    "opencode-37584": "pull request 37584",
    "opencode-replo": "Replo's fix",
    "opencode-v2": "version 2",
    "pilotdeck-head": "August 2026",
    "openclaw-2026-9": "September 2026",
}
"""The change that a policy is after: a session that departs from it may have run before that."""


class Candidate(NamedTuple):
    """A policy with the options of one version."""

    label: str
    policy: Policy
    options: dict[str, Any]


class Print(NamedTuple):
    """How a session agrees with a candidate, and where that is seen."""

    candidate: Candidate
    found: Conformance
    agrees: Agrees
    proof: list[Point]
    """The points that contradict it: the failure, what was decided on, what came next."""


def candidates(agent: str, *, variants: bool = True) -> list[Candidate]:
    """Give the known policies of an agent, oldest first where their names tell.

    A witness of a proof names the policy itself as its agent: then they are those of that policy's agent.
    """
    if agent in policies():
        agent = policies()[agent].agent or agent
    known = [one for one in policies().values() if one.agent == agent]
    found: list[Candidate] = []
    for one in sorted(known, key=_age):
        found.append(Candidate(one.name, one, {}))
        if variants:
            found += [Candidate(label, one, options) for label, options in VARIANTS.get(one.name, ())]
    return found


def _age(policy: Policy) -> tuple[int, str]:
    words = ("before", "1684", "1690", "head", "after", "37584", "replo", "v2")
    last = policy.name.rsplit("-", 1)[-1]
    return (words.index(last) if last in words else len(words), policy.name)


def named(names: Iterable[str]) -> list[Candidate]:
    """Give candidates by the names of policies, variants, or a user's own file. Raises `PolicyError`."""
    known = {label: (name, options) for name, found in VARIANTS.items() for label, options in found}
    made = []
    for name in names:
        real, options = known.get(name, (name, {}))
        made.append(Candidate(name, find(real), options))
    return made


def fingerprint(points: list[Point], seen: Sight, chosen: Iterable[Candidate]) -> list[Print]:
    """Compare a session with candidates. Raises `PolicyError`."""
    return [_print(points, seen, one) for one in chosen]


def _print(points: list[Point], seen: Sight, one: Candidate) -> Print:
    found = conform(points, one.policy, seen, one.options)
    first = found.departs
    if first is None:
        return Print(one, found, "consistent" if found.equal else "undetermined", [])
    lead = next((place for place in range(first.at, -1, -1) if _bad(points[place])), first.at)
    places = sorted({lead if points[first.at].kind == "compacted" else first.at, first.at, *_next(first.next)})
    return Print(one, found, "departs", [points[place] for place in places])


def _next(at: int | None) -> list[int]:
    return [] if at is None else [at]


def _bad(point: Point) -> bool:
    return point.kind == "reply" and bool(point.signals) and point.signals[0].bad


def ran(prints: Iterable[Print]) -> str:
    """Say in words which logic the session ran, and what proves it."""
    found = list(prints)
    fits = [one for one in found if one.agrees == "consistent"]
    out = [one for one in found if one.agrees == "departs"]
    if not fits:
        return "decided as no known logic of its agent does" if out else "shows no decision that tells its logic"
    if not out:
        return f"cannot be told apart: {_either(one.candidate.label for one in fits)}"
    return f"ran {_words(found, fits, out)}; {_proof(found, fits, out)}"


def _words(found: list[Print], fits: list[Print], out: list[Print]) -> str:
    """Say it by the changes between versions, where those that fit lie on one side of a change."""
    first, last = found.index(fits[0]), found.index(fits[-1])
    after = next((one for one in found[last + 1 :] if one.agrees == "departs" and _change(one)), None)
    words = _either(one.candidate.label for one in fits)
    if after is not None and all(found.index(one) > last for one in out):
        return f"the logic before {_change(after)} ({words})"
    if _change(fits[0]) and all(found.index(one) < first for one in out):
        return f"the logic of {_change(fits[0])} or later ({words})"
    return words


def _change(one: Print) -> str | None:
    return BEFORE.get(one.candidate.policy.name)


def _proof(found: list[Print], fits: list[Print], out: list[Print]) -> str:
    """Name the rows that refute the nearest candidate that does not fit."""
    near = min(out, key=lambda one: min(abs(found.index(one) - found.index(fit)) for fit in fits))
    lines = [line for point in near.proof for line in point.lines]
    if lines:
        span = f"line {min(lines)} is" if len(set(lines)) == 1 else f"lines {min(lines)}-{max(lines)} are"
    else:
        records = list(dict.fromkeys(point.row.record for point in near.proof if point.row.record))
        span = f"{' and '.join(records[:2])} {'is' if len(records) == 1 else 'are'}" if records else "its rows are"
    return f"{span} the proof"


def _either(labels: Iterable[str]) -> str:
    return " or ".join(labels)
