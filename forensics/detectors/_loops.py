"""Compactions in a row without progress between: what links two of them, and which links make a loop."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from forensics.attempts import Round
from forensics.timeline import Session

Kind = Literal["overflow", "threshold", "failed", "refill", "every prompt"]

_SAME = 0.95
"""At least this share of the size before: the compaction made no room."""
_ROOM = 0.8
"""At most this share of the size before: it made room, and something filled it again."""
_ALERT, _TWICE, _ALWAYS = 1, 2, 5
"""Links in a row that make a loop: of the surest kind, of failed attempts, of prompts that each cost a compaction."""


class Limits(NamedTuple):
    """The options: replies within which the context is full again, and how many such refills are thrash."""

    within: int
    refills: int


class Link(NamedTuple):
    """How an attempt leads to the next without progress, and how many such links in a row make a loop."""

    kind: Kind
    needs: int
    bridge: bool = False
    """A retry after a failed attempt: it holds a loop together, but neither begins nor ends one."""

    @property
    def strong(self) -> bool:
        """Whether it makes a loop alone."""
        return self.needs == _ALERT


class Loop(NamedTuple):
    """The attempts of one loop, in order, and what links them."""

    rounds: list[Round]
    kind: Kind
    links: list[Link]


def loops(session: Session, limits: Limits) -> Iterator[Loop]:
    """Give the loops of a session, in order, in linear time."""
    found = session.rounds
    start = 0
    links: list[Link] = []
    for at, one in enumerate(found):
        link = _link(one, found[at + 1], session, limits) if at + 1 < len(found) else None
        if link is not None:
            links.append(link)
            continue
        yield from _judged(found[start : at + 1], links)
        start, links = at + 1, []


def _judged(found: list[Round], links: list[Link]) -> Iterator[Loop]:
    strong = any(link.strong for link in links)
    found, links = _trimmed(found, links, lambda link: link.needs <= _TWICE if strong else not link.bridge)
    counted = [link for link in links if not link.bridge]
    if counted and (strong or len(counted) >= max(link.needs for link in counted)):
        kind = Counter(link.kind for link in links if link.strong or not strong).most_common(1)[0][0]
        yield Loop(found, kind, links)


def _trimmed(found: list[Round], links: list[Link], keeps: Callable[[Link], bool]) -> tuple[list[Round], list[Link]]:
    """Cut links off both ends of a chain that are no part of the loop: healthy compactions, a retry that worked."""
    first, last = 0, len(links)
    while first < last and not keeps(links[first]):
        first += 1
    while last > first and not keeps(links[last - 1]):
        last -= 1
    return found[first : last + 1], links[first:last]


def _link(one: Round, after: Round, session: Session, limits: Limits) -> Link | None:
    """Say how `one` leads to `after` without progress; `None` when there was progress, or nothing can be said."""
    if one.good > limits.within:
        return _across_prompts(one) if one.good <= 2 * limits.within else None
    if one.good == 0:
        return _nothing_between(one, after, session, limits)
    if _failed(one):
        if after.attempt.made:
            return None
        return Link("threshold" if _not_smaller(one, session) else "failed", _TWICE)
    if _not_smaller(one, session):
        return Link("threshold", _ALERT)
    return _across_prompts(one) if one.asked else Link("refill", limits.refills)


def _nothing_between(one: Round, after: Round, session: Session, limits: Limits) -> Link | None:
    """Judge two attempts with no good reply between.

    A prompt between them changed nothing, unless it began new work after a compaction that answered no failure: then
    what fails is the prompt's own size. Where the file shows no replies at all, sizes alone can tell.
    """
    failed = _failed(one)
    answers = one.lead is not None or one.attempt.trigger == "overflow"
    if one.prompt is not None and not answers and not failed:
        return _across_prompts(one)
    if one.overflows or (after.attempt.trigger == "overflow" and session.replies and not failed):
        return Link("overflow", _ALERT)
    if failed:
        return Link("failed", _TWICE, bridge=after.attempt.made)
    before, then = one.attempt.before, after.attempt.before
    if before and then and one.attempt.room is not True and then >= _SAME * before:
        return Link("threshold", _ALERT)
    if not session.replies or (one.attempt.room and not one.failures):
        return None
    return Link("threshold", limits.refills)


def _failed(one: Round) -> bool:
    return one.attempt.unfinished or one.attempt.outcome in {"failed", "no-summary", "aborted"}


def _across_prompts(one: Round) -> Link | None:
    """Judge two attempts with good replies and a person's prompts between.

    A prompt that was answered well is progress, unless nothing is known of the sizes and every single prompt costs
    a compaction.
    """
    unknown = one.pressure is None and one.attempt.after is None and (one.first is None or one.first.context is None)
    return Link("every prompt", _ALWAYS) if unknown and one.asked == 1 else None


def _not_smaller(one: Round, session: Session) -> bool:
    """Whether the first good reply after the compaction stood at the size before it.

    A person's prompt can bring that much, so with a prompt between, a recorded size after the compaction that left
    room speaks for the compaction.
    """
    refused = one.lead is not None and one.lead.fault == "overflow"
    before = one.pressure if refused else one.pressure or one.attempt.before
    then = session.context(one.first) if one.first else None
    if not before or then is None or then < _SAME * before:
        return False
    left = one.attempt.after
    return one.asked == 0 or (left is not None and left > _ROOM * before)
