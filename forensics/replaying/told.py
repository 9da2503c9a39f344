"""From the rows of a session to what its agent's recovery logic was told at each of them.

Where the file does not say what the logic saw, a point holds every signal that it may have been.
"""

from collections.abc import Iterable, Iterator

from forensics.attempts import Attempt
from forensics.events import GOOD_STOPS, Event
from forensics.failures import gives_up
from forensics.replay import Fault, Fits, Outcome, Signal, Stop
from forensics.replaying.measures import Answer, Basis, Measures, tokens
from forensics.replaying.points import Point, Sight
from forensics.timeline import Session

_TRANSIENT = frozenset({"rate-limit", "overloaded", "transport"})
_EMERGENCY = "emergency"
_NAMED = "session name"
_ROUTE, _FITS = "route=", "route=fits"
"""What OpenClaw's log says of the check before a prompt."""
_NEAR = 12
"""Rows to look ahead for what belongs to a row: notes, retries and checks may stand between."""
_TURNS = frozenset({"reply", "prompt"})
_AT_ONCE_MS = 500
"""pi and Atomic write a prompt this soon after the compaction that it waited for; nobody types that fast. In the
recordings 1 to 3 ms lie between, and 827 ms or more after a compaction that followed a reply."""
_BOOTSTRAP_MS = 15_000
"""OpenClaw prepares its workspace in between: 4 to 7 seconds in the recordings."""
_MOST = 16
"""Good replies in a row after which no policy's state changes any more."""


class Rows:
    """The rows of one session, read once and in order."""

    def __init__(self, session: Session, seen: Sight, measures: Measures) -> None:
        self.session, self.seen, self.measures = session, seen, measures
        self.owner = {id(event): pair for pair in session.attempts for event in pair.events}
        self.marked = _marked(session.events)
        self.last: Event | None = None
        """The last reply since the last compaction or prompt."""
        self.context: int | None = None
        """Tokens at the last measured row since the last compaction."""
        self.added: int | None = 0
        """Tokens that came to it since; `None` where that is not known."""

    def points(self) -> Iterator[Point]:
        """Give the points, without what was recorded to come next."""
        events = self.session.events
        renamed = running = cut = False
        for at, event in enumerate(events):
            pair = self.owner.get(id(event))
            if pair is not None:
                running, cut = event is not pair.last, False
                if event is pair.last:
                    made = self._compacted(pair, events[at + 1 : at + _NEAR])
                    yield made._replace(boundary=self._boundary(renamed=renamed), early=self._early(event, at))
            elif event.kind == "reply":
                yield Point("said", event) if event.requests == 0 else self._reply(event, at)
            elif event.kind == "prompt":
                yield self._prompt(event, at, boundary=self._boundary(renamed=renamed))
            elif event.kind == "exit":
                yield Point("exit", event)
            elif event.kind == "note" and _ends(event):
                yield Point("said", event)
            elif event.kind == "budget" and (event.text or "").startswith(_EMERGENCY) and not running:
                if not cut:
                    yield Point("cut", event)
                cut = True
            if event.kind == "note" and (event.text or "").startswith(_NAMED):
                renamed = True
            elif event.kind in _TURNS:
                renamed = False
            if pair is not None and event is pair.last:
                self.last, self.context, self.added = None, None, 0
            elif event.kind in _TURNS:
                self.last = event if event.kind == "reply" else None

    def _boundary(self, *, renamed: bool) -> bool | None:
        """Say whether a new process read this prompt: Atomic names the session when it starts."""
        if self.seen.whole:
            return False
        return renamed if self.marked else None

    def _early(self, event: Event, at: int) -> bool | None:
        """Say by the time to the next prompt whether a compaction belongs to the check before it."""
        following = next((one for one in self.session.events[at + 1 : at + _NEAR] if one.kind in _TURNS), None)
        if not self.seen.early or following is None or following.kind != "prompt":
            return False
        if event.ts is None or following.ts is None:
            return None
        if self.session.agent == "openclaw":
            return None if following.ts - event.ts <= _BOOTSTRAP_MS else False
        return following.ts - event.ts <= _AT_ONCE_MS

    def _prompt(self, event: Event, at: int, *, boundary: bool | None) -> Point:
        self.added = None if self.added is None or event.size is None else self.added + tokens(event.size)
        if event.origin in {"synthetic", "replay"}:
            return Point("resume", event)
        asked = event.origin in {"unknown", "queued", None}
        full = self._checked(at)
        return Point(
            "asked" if asked else "prompt",
            event,
            decides=full.yes is True,
            boundary=boundary,
            full=full.yes,
            basis=full.basis,
        )

    def _checked(self, at: int) -> Answer:
        """Say what the check of the whole request found, once the prompt was in it."""
        if self.measures.family == "ratio":
            return self._next_check(at)
        if not self.seen.preflight:
            return Answer()
        for later in self.session.events[at + 1 : at + _NEAR]:
            if later.kind == "budget" and (later.text or "").startswith(_ROUTE):
                return Answer(later.text != _FITS, "recorded")
            if later.kind in _TURNS:
                break
        return Answer() if self._following(at) is None else Answer(True, "inferred")

    def _reply(self, event: Event, at: int) -> Point:
        stop = _stop(event)
        faults = _faults(event)
        if stop is None or (stop == "error" and not faults):
            return Point("other", event)
        following = self._following(at)
        over = self._over(event, at, stop, following)
        self._measure(event, stop)
        signals = tuple(
            Signal("reply", stop, fault, full, output)
            for fault in faults
            for full in ((True, False) if over.yes is None else (over.yes,))
            for output in (self.measures.output(event) if stop == "length" else (None,))
        )
        bad = stop in {"length", "error"}
        basis = "unknown" if len(signals) > 1 else over.basis if over.basis != "unknown" else "recorded"
        return Point("reply", event, signals, bad or over.yes is True, basis, self._hidden(event, at))

    def _measure(self, event: Event, stop: Stop) -> None:
        if event.context is not None:
            self.context, self.added = event.context, 0
        if stop == "tool":
            self.added = None

    def _hidden(self, event: Event, at: int) -> int:
        """Count the good replies after this one that the session counted and did not keep."""
        if event.stop not in GOOD_STOPS:
            return 0
        later = self.session.events[at + 1].nth if at + 1 < len(self.session.events) else self.session.good
        return max(0, min(later - event.nth - 1, _MOST))

    def _following(self, at: int) -> Attempt | None:
        """Give the compaction that the agent began by itself after a reply, before anything else was asked."""
        for event in self.session.events[at + 1 : at + _NEAR]:
            pair = self.owner.get(id(event))
            if pair is not None:
                return None if pair.trigger == "manual" else pair
            if event.kind in {"reply", "prompt"}:
                return None
        return None

    def _over(self, event: Event, at: int, stop: Stop, following: Attempt | None) -> Answer:
        if self.measures.family == "ratio":
            return self._next_check(at)
        if event.fault == "overflow":
            return Answer(True, "recorded")
        if following is not None and following.trigger != "overflow" and not _perhaps_manual(event, following):
            return Answer(True, "recorded" if following.trigger == "threshold" else "inferred")
        if event.context is not None:
            answer = self.measures.over(event.context, least=stop == "tool")
        elif self.context is not None:
            least = self.added is None
            answer = self.measures.over(self.context + (self.added or 0), least=least)
        else:
            answer = Answer()
        if answer.yes is None and stop in {"done", "tool"} and self.seen.failures and following is None:
            return Answer(False, "inferred")
        return answer

    def _next_check(self, at: int) -> Answer:
        """Say what PilotDeck's check before the next request found."""
        for later in self.session.events[at + 1 : at + _NEAR]:
            if later.kind in {"reply", "prompt"}:
                break
            if later.kind == "compacted" and id(later) in self.owner and self.owner[id(later)].start is None:
                return Answer(True, "inferred")
            if later.kind in {"budget", "compact"} and later.context is not None:
                return self.measures.over(later.context)
        return Answer()

    def _compacted(self, pair: Attempt, later: list[Event]) -> Point:
        event = pair.last
        if pair.trigger == "manual":
            return Point("manual", event, (Signal("compacted", outcome="summary"),), start=pair.start)
        unasked = False
        if self.measures.family == "ratio" and pair.end is not None and pair.outcome in {"no-summary", "failed"}:
            if pair.end.requests == 0:
                return Point("echo", event, decides=True, start=pair.start)
            unasked = pair.end.requests is None
        perhaps = _perhaps_manual(self.last, pair)
        outcomes = _outcomes(pair)
        fits: tuple[Fits, ...] = ("unknown",)
        if outcomes == ("summary",):
            fits = _fits(later)
        shrunk = None if pair.before is None or pair.after is None else pair.after < pair.before
        fault: Fault | None = "overflow" if pair.end is not None and pair.end.fault == "overflow" else None
        signals = tuple(
            Signal("compacted", fault=fault if outcome == "failed" else None, outcome=outcome, fits=fit,
                   shrunk=shrunk is not False)
            for outcome in outcomes
            for fit in (fits if outcome == "summary" else ("unknown",))
        )  # fmt: skip
        basis: Basis = "recorded" if len(outcomes) == 1 else "unknown"
        retry = pair.end.will_retry if pair.end is not None else None
        return Point(
            "compacted",
            event,
            signals,
            decides=True,
            basis=basis,
            start=pair.start,
            will_retry=retry,
            unasked=unasked,
            perhaps=perhaps,
        )


def _ends(event: Event) -> bool:
    return (event.text or "").startswith("recovery ended:") or gives_up(event.text)


def _perhaps_manual(last: Event | None, pair: Attempt) -> bool:
    """Say whether a person may have asked for it: the turn was over, and the file does not say why it ran."""
    return pair.trigger == "unknown" and (last is None or last.stop == "done")


def _marked(events: Iterable[Event]) -> bool:
    return any(event.kind == "note" and (event.text or "").startswith(_NAMED) for event in events)


def _stop(event: Event) -> Stop | None:
    if event.stop == "length" and event.tool is not None:
        return "tool"  # its calls ran all the same
    return event.stop if event.stop in {"done", "tool", "length", "error"} else None


def _faults(event: Event) -> tuple[Fault | None, ...]:
    if event.stop != "error":
        return (None,)
    if event.fault in {"overflow", "output-budget"}:
        return (event.fault,)
    if event.fault in _TRANSIENT:
        return ("transient",)
    return ("overflow", "output-budget", "transient") if event.fault in {"unknown", None} else ()


def _outcomes(pair: Attempt) -> tuple[Outcome, ...]:
    if pair.outcome == "dropped":
        return ("summary",)
    if pair.outcome == "skipped":
        return ("nothing",)
    if pair.outcome == "unknown":
        return ("summary", "no-summary", "failed", "aborted", "nothing")
    return (pair.outcome,)


def _fits(later: list[Event]) -> tuple[Fits, ...]:
    for event in later:
        if event.fault == "overflow" and event.kind == "note":
            return ("no",)
        if event.kind == "reply":
            return (
                ("yes",)
                if event.stop in GOOD_STOPS
                else ("unknown", "no")
                if event.fault == "overflow"
                else ("unknown",)
            )
        if event.kind in {"compact", "compacted"} or (event.kind == "prompt" and event.origin == "human"):
            break
    return ("unknown",)
