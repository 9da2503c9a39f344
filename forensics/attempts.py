"""Compaction attempts: starts paired with ends, what each made, and what the session did until the next one."""

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import msgspec

from forensics.events import GOOD_STOPS, Event, Outcome, Trigger
from forensics.patterns import later

TRIES: frozenset[str] = frozenset({"summary", "no-summary", "failed", "unknown"})
"""Outcomes of attempts that wanted a summary and ran: not cut by design, not cancelled, not skipped."""
_SENTINELS = later(
    r"summary unavailable due to context limits|no conversation provided to summari[sz]e"
    r"|no (?:prior|previous) (?:history|conversation)",
    re.IGNORECASE,
)
_TAG_BLOCK = later(r"<(?P<tag>read-files|modified-files)>.*?</(?P=tag)>", re.DOTALL)
_HEADING = later(
    r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?|[-=*_]{3,}|</?[\w-]+>|[-*+]?\s*\(?(?:none|n/a|tbd)\)?\.?)?\s*", re.IGNORECASE
)


class Attempt(NamedTuple):
    """One compaction attempt. Either end may be missing: formats without starts, processes that died."""

    start: Event | None
    end: Event | None
    outcome: Outcome = "unknown"
    """How it ended; an attempt whose end was never written is `unknown`.

    A summary whose recorded text says nothing (see `hollow`) is none, whatever the agent called it: pi 0.73 and
    PilotDeck of July write a success for an empty summary.
    """

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
    def unfinished(self) -> bool:
        """Whether the record holds no end of it."""
        return self.end is None

    @property
    def known(self) -> bool:
        """Whether the record says how it ended."""
        return self.outcome != "unknown"

    @property
    def made(self) -> bool:
        """Whether it cut the context, with a summary or without one by design."""
        return self.outcome in {"summary", "dropped"}

    @property
    def room(self) -> bool | None:
        """Whether its own rows say that it made room: at most 80 % of the size before; `None` where they do not say."""
        sizes = [(self.before, self.after)]
        if self.start is not None and self.end is not None:
            sizes.append((self.start.context, self.end.context))
        known = [after <= 0.8 * before for before, after in sizes if before and after is not None]
        return known[-1] if known else None

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


def hollow(text: str | None) -> bool:
    """Whether a summary's text says nothing: blank, headings alone, or an agent's stand-in for a summary.

    `None` (the text was not recorded) is not hollow: nothing is known of it.
    """
    if text is None:
        return False
    body = _TAG_BLOCK.sub("", text)
    words = [line for line in body.splitlines() if not _HEADING.fullmatch(line)]
    return not words or (len(words) == 1 and _SENTINELS.search(words[0]) is not None)


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
                found.append(Attempt(None, event, _outcome(event)))
            else:
                found[at] = Attempt(found[at].start, event, _outcome(event))
    return found


def _outcome(end: Event) -> Outcome:
    if end.outcome == "summary" and hollow(end.text):
        return "no-summary"
    return end.outcome or "unknown"


class Round(msgspec.Struct):
    """An attempt of one session, and what happened from its end until the next attempt (or the end)."""

    attempt: Attempt
    lead: Event | None
    """The failed reply that the attempt answers: the last one before it since the last good reply."""
    pressure: int | None
    """The size that called for the attempt, in tokens: the refused request's where the provider names it, else the
    context at the last measured row before it. `None` after a refused request of unknown size: the last good reply
    before it fitted, so its size says nothing."""
    good: int = 0
    """Replies that ended well until the next attempt."""
    prompts: int = 0
    """Prompts typed by a person until the next attempt."""
    asked: int = 0
    """Prompts that the agent did not write itself: `prompts`, and those whose writer is not on record."""
    failed: list[Event] = []
    """Replies that did not end well, until the next attempt; of a long run the first and the last. Those that the
    person aborted after the work had gone on are none of its failures."""
    failures: int = 0
    overflows: int = 0
    first: Event | None = None
    """The first good reply after the attempt."""
    prompt: Event | None = None
    """The first prompt after the attempt that the agent did not write itself."""


def rounds(
    events: list[Event], pairs: list[Attempt], good: int, sizes: Callable[[Event, Event | None], int | None]
) -> list[Round]:
    """Give the attempts that the agent made by itself, in order, each with what followed it, in linear time.

    `events` are one session's, `pairs` its attempts, `good` its number of good replies; `sizes` tells the last size
    that was measured before a row, and after another. Attempts that a person asked for or cancelled, or that had
    nothing to do, are passed over: what lies around them is counted to the attempt before. A cancelled attempt is one
    that nothing follows, or a prompt; where the agent itself tries again, nobody cancelled anything.
    """
    if not pairs:
        return []
    owner = {id(event): pair for pair in pairs for event in pair.events}
    found: list[Round] = []
    lead: Event | None = None
    pressure: int | None = None
    since: Event | None = None
    for event in events:
        if event.run is not None:
            lead = None
            if found:
                found[-1].prompts += event.run.prompts
                found[-1].asked += event.run.prompts
                found[-1].failures += event.run.stopped
        pair = owner.get(id(event))
        if pair is not None:
            size = sizes(event, since)
            pressure, since = pressure if size is None else size, event
        if pair is not None and not (pair.trigger == "manual" or pair.outcome == "skipped"):
            if found and found[-1].attempt is pair:
                found[-1] = Round(pair, found[-1].lead, found[-1].pressure)
            else:
                refused = lead is not None and lead.fault == "overflow"
                found.append(Round(pair, lead, lead.estimate if refused and lead else pressure))
        elif event.kind == "reply":
            lead = None if event.stop in GOOD_STOPS else event
            if found:
                _tally(found[-1], event)
        elif event.kind == "prompt" and found:
            _ask(found[-1], event)
        if pair is not None and event.context is not None:
            pressure = event.context
    found = _without_cancelled(found)
    for one, after in pairwise([*found, None]):
        if one is not None:
            one.good = (after.attempt.first.nth if after else good) - one.attempt.last.nth
    return found


def _without_cancelled(found: list[Round]) -> list[Round]:
    kept: list[Round] = []
    for at, one in enumerate(found):
        cancelled = one.attempt.outcome == "aborted" and (one.asked > 0 or at == len(found) - 1)
        if not cancelled:
            kept.append(one)
        elif kept:
            _merge(kept[-1], one)
    return kept


def _merge(one: Round, later: Round) -> None:
    one.prompts += later.prompts
    one.asked += later.asked
    one.failures += later.failures
    one.overflows += later.overflows
    one.first = one.first or later.first
    one.prompt = one.prompt or later.prompt
    one.failed = [*one.failed, *later.failed][:1] + [*one.failed, *later.failed][1:][-1:]


def _ask(one: Round, prompt: Event) -> None:
    if prompt.origin not in {"synthetic", "replay"}:
        one.prompts += prompt.origin == "human"
        one.asked += 1
        one.prompt = one.prompt or prompt


def _tally(one: Round, reply: Event) -> None:
    if reply.stop in GOOD_STOPS:
        one.first = one.first or reply
        return
    one.failures += 1
    one.overflows += reply.fault == "overflow"
    if one.first is not None and reply.stop == "aborted" and reply.fault is None:
        return
    one.failed = [*one.failed[:1], reply]
