"""Failed replies and broken-off work: what broke, what came next, and who got it going again."""

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Literal, NamedTuple, overload

from forensics.events import GOOD_STOPS, Event
from forensics.patterns import later
from forensics.timeline import Session

Follower = Literal["agent", "person", "nothing", "unknown"]
"""Who acts after a failure: the agent by itself, a person's prompt, nothing to the session's end."""

BreakKind = Literal["error", "length", "empty", "filtered", "idle"]
"""How work broke off: by a failed, cut, empty or filtered reply, or `idle` after a compaction in mid-work."""

_KINDS: dict[str, BreakKind] = {"error": "error", "length": "length", "empty": "empty", "filtered": "filtered"}
_ASIDE = later(r"\bheartbeat|\bcron\b|\bmemory flush\b", re.IGNORECASE)
_ANNOUNCED = ("recovery ended:", "record ends:")
"""How a note begins that says that the agent gave up, or that the record itself was cut here on purpose."""
# What agents say themselves when they give up: pi, opencode, Kilo Code (Kilo-Org/kilocode#9285), oh-my-pi, PilotDeck.
_GIVES_UP = (
    "too large to compact",
    "recovery failed",
    "compaction exhausted",
    "paused to avoid a loop",
    "is thrashing",
    "after_emergency_compaction",
)
_FAILED = frozenset({"error", "empty", "filtered"})
_TOGETHER_MS = 60_000
_OWN_MS = 5_000


def is_failed(row: Event) -> bool:
    """Whether a row is a request that failed: an error, nothing or a filter came back, and nobody cancelled it."""
    return row.kind == "reply" and row.stop in _FAILED and row.fault != "cancelled"


class Failure(NamedTuple):
    """A reply that did not end well, with what follows it up to the next reply or prompt."""

    at: int
    """Position of the failed reply in `Session.events`."""
    reply: Event
    between: tuple[Event, ...]
    """The rows after it and before `next`: compactions, retries, notes."""
    next: Event | None
    """The next reply or prompt; `None` at the end of the session."""

    @property
    def followed(self) -> Follower:
        """Who took it up next."""
        return _follower(self.next)


class _Asked:
    """A person's prompts of one piece of work as they come; `Asked` are views of its beginning, which never changes."""

    def __init__(self) -> None:
        self.prompts: list[Event] = []
        self._first: dict[Hashable, int] = {}
        """What tells a prompt's content, and the position where it came first; filled when it is asked for."""
        self._filled = 0

    def first(self, key: Hashable) -> int | None:
        """Give the position of the first prompt of this content."""
        for at in range(self._filled, len(self.prompts)):
            for one in _contents(self.prompts[at]):
                self._first.setdefault(one, at)
        self._filled = len(self.prompts)
        return self._first.get(key)


class Asked(Sequence[Event]):
    """The person's prompts up to one break, oldest first. All breaks of the same work share one list."""

    def __init__(self, all_: _Asked) -> None:
        self._all = all_
        self._end = len(all_.prompts)

    def __len__(self) -> int:
        return self._end

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> list[Event]: ...
    def __getitem__(self, at: int | slice) -> Event | list[Event]:
        if isinstance(at, slice):
            return [self._all.prompts[one] for one in range(*at.indices(self._end))]
        return self._all.prompts[range(self._end)[at]]

    def holds(self, prompt: Event) -> bool:
        """Whether one of them has the same content: by its hash where both have one, else by its text and size."""
        found = (self._all.first(key) for key in _contents(prompt, sought=True))
        return any(at is not None and at < self._end for at in found)


def _contents(prompt: Event, *, sought: bool = False) -> Iterator[Hashable]:
    """Give what tells a prompt's content; one that is sought with a hash is not like another hash by its text."""
    text = (prompt.text, prompt.size) if (prompt.text or "").strip() else None
    if prompt.digest is not None:
        yield ("digest", prompt.digest)
    if text is not None and (prompt.digest is None or sought):
        yield ("text without digest", *text)
    if text is not None and (prompt.digest is None or not sought):
        yield ("text", *text)


class Break(NamedTuple):
    """Work that broke off with nothing automatic to take it up, and the person's prompt that came next."""

    kind: BreakKind
    row: Event
    """The reply that failed; for `idle` the compaction after which nothing came."""
    asked: Asked
    """The person's prompts since work last ended well, oldest first: what the broken work was for."""
    compactions: tuple[Event, ...]
    """The compaction directly before a failed reply, then the last one after it: a row each."""
    compacted: bool
    """A compaction that came after the failure (or is the break itself) cut the context down."""
    announced: bool
    """The recovery itself said that it ended; the provider's error text alone is no announcement."""
    last: Event
    """The last row before the prompt that says when anything happened."""
    prompt: Event | None
    """The person's prompt; `None` when the session ends here."""
    answer: Event | None
    """The reply to that prompt: the first good one before the person wrote again, else the first one."""

    @property
    def resumed(self) -> bool:
        """Whether a good reply followed the person's prompt."""
        return self.answer is not None and self.answer.stop in GOOD_STOPS

    @property
    def cause(self) -> str:
        """The fault class of a failed reply, else how it ended."""
        return (self.row.fault or "unknown") if self.kind == "error" else self.kind

    @property
    def waited(self) -> float | None:
        """Seconds between the break and the person's prompt; `None` where a time is missing or the clock went back."""
        if self.prompt is None or self.prompt.ts is None or self.row.ts is None:
            return None
        seconds = (self.prompt.ts - self.row.ts) / 1000
        return seconds if seconds >= 0 else None


def is_own_compaction(one: Break, prompt: Event) -> bool:
    """Say whether the compaction was that of this very prompt: agents compact before they record or resend one."""
    ends = [row.ts for row in one.compactions if row.seq > one.row.seq] + [one.row.ts] * (one.kind == "idle")
    if not ends or ends[-1] is None or prompt.ts is None:
        return False
    return 0 <= prompt.ts - ends[-1] < _OWN_MS


def written(session: Session) -> list[Event]:
    """Give the prompts that a person had to write because work had broken off; a compaction of its own breaks none."""
    found = ((one, one.prompt) for one in breaks(session) if one.prompt is not None)
    return [prompt for one, prompt in found if not (one.kind == "idle" and is_own_compaction(one, prompt))]


def gives_up(error: str | None) -> bool:
    """Whether an error's words are those in which an agent says that its recovery is over."""
    words = (error or "").lower()
    return any(one in words for one in _GIVES_UP)


def failures(session: Session) -> list[Failure]:
    """Give every reply of the session that ended in an error, a cut, nothing, or by the person's own abort."""
    events = session.events
    found = []
    for index in session.failed:
        event = events[index]
        if event.stop is None:
            continue
        end = _next_turn(events, index)
        found.append(Failure(index, event, tuple(events[index + 1 : end]), events[end] if end < len(events) else None))
    return found


def follower(session: Session, at: int) -> Follower:
    """Say who took up after the row at position `at` of `Session.events`."""
    end = _next_turn(session.events, at)
    return _follower(session.events[end] if end < len(session.events) else None)


def _next_turn(events: Sequence[Event], at: int) -> int:
    return next((i for i in range(at + 1, len(events)) if events[i].kind in {"reply", "prompt"}), len(events))


def _follower(event: Event | None) -> Follower:
    if event is None:
        return "nothing"
    if event.kind == "reply" or event.origin in {"synthetic", "replay", "queued"}:
        return "agent"
    return "person" if event.origin == "human" else "unknown"


def breaks(session: Session) -> list[Break]:
    """Give every place where the agent left a person's work unfinished, up to the person's next prompt.

    Not a break: a reply that ended well, one that the person aborted, work that a heartbeat or timer asked for, and
    a prompt that came while a compaction was still running.
    """
    if "breaks" not in session.memo:
        session.memo["breaks"] = _breaks(session)
    found: list[Break] = session.memo["breaks"]
    return found


def _breaks(session: Session) -> list[Break]:
    if not session.failed and not session.attempts:
        return []
    turns = list(_turns(session.events))
    answers = _answers(turns)
    found: list[Break] = []
    asked = _Asked()
    for index, turn in enumerate(turns):
        if turn.prompt is not None:
            if turn.prompt.run is not None and turn.prompt.run.prompts:  # turns that ended well lie before it
                asked = _Asked()
            asked.prompts.append(turn.prompt)
        following = turns[index + 1] if index + 1 < len(turns) else None
        one = _break(turn, asked, following, answers[index + 1] if following else None)
        if one is not None:
            found.append(one)
        elif turn.reply is not None and turn.reply.stop == "done":
            asked = _Asked()
    return found


class _Turn:
    """A person's prompt and the state of things when the person's next one came.

    What the agent asks itself on the side (heartbeats, timers, memory flushes) is left out with its replies.
    """

    __slots__ = ("after", "announced", "before", "first", "foreign", "good", "last", "opening", "prompt", "reply")

    def __init__(self, prompt: Event | None) -> None:
        self.prompt = prompt
        self.first: Event | None = None
        self.good: Event | None = None
        self.reply: Event | None = None
        self.before: Event | None = None
        self.after: list[Event] = []
        self.opening: str | None = None
        self.foreign = False
        self.announced = False
        self.last = prompt

    @property
    def running(self) -> bool:
        return bool(self.after) and self.after[-1].kind == "compact"

    def add(self, event: Event) -> None:
        if event.ts is not None or self.last is None:
            self.last = event
        if event.kind == "reply":
            self._reply(event)
        elif event.kind == "prompt":
            self._prompt(event)
        elif event.kind in {"compact", "compacted"}:
            self._compaction(event)
        elif event.kind == "note" and event.text is not None and event.text.startswith(_ANNOUNCED):
            self.announced = True

    def _reply(self, event: Event) -> None:
        self.first = self.first or event
        if self.good is None and event.stop in GOOD_STOPS:
            self.good = event
        self.before = self.after[-1] if self.after else None
        self.after = []
        self.reply = event
        self.announced = event.error is not None and gives_up(event.error)

    def _prompt(self, event: Event) -> None:
        """Work that a program asked for, of its own accord, does not become the person's when it fails."""
        if event.origin == "synthetic" and not self.after:
            self.foreign = self.foreign or self.reply is None or self.reply.stop == "done"
        elif event.origin not in {"synthetic", "replay"}:
            self.foreign = False
        if event.origin in {"unknown", None}:
            self.reply, self.before, self.after = None, None, []

    def _compaction(self, event: Event) -> None:
        self.opening = self.opening or event.kind
        if event.kind == "compacted" and self.running:
            self.after[-1] = event
        else:
            self.after.append(event)
        if event.kind == "compacted" and event.error is not None:
            self.announced = event.will_retry is False or gives_up(event.error)


def _turns(events: Sequence[Event]) -> Iterator[_Turn]:
    turn = _Turn(None)
    skipping = False
    for event in events:
        if event.kind == "prompt":
            skipping = event.origin == "synthetic" and _ASIDE.search(event.text or "") is not None
            if event.origin == "human":
                yield turn
                turn = _Turn(event)
                continue
        if not (skipping and event.kind in {"prompt", "reply"}):
            turn.add(event)
    yield turn


def _answers(turns: Sequence[_Turn]) -> list[Event | None]:
    """Give the reply to each turn's prompt; prompts sent together share the reply to the last of them."""
    answers: list[Event | None] = []
    later: Event | None = None
    following: _Turn | None = None
    for turn in reversed(turns):
        shared = later if following is not None and _together(turn.prompt, following.prompt) else None
        later, following = turn.good or turn.first or shared, turn
        answers.append(later)
    return answers[::-1]


def _together(one: Event | None, other: Event | None) -> bool:
    if one is None or other is None or one.ts is None or other.ts is None:
        return False
    return 0 <= other.ts - one.ts <= _TOGETHER_MS


def _break(turn: _Turn, asked: _Asked, following: _Turn | None, answer: Event | None) -> Break | None:
    reply = turn.reply
    if reply is not None and reply.stop == "done" and not turn.after:
        return None
    row = turn.after[-1] if turn.after else None
    if turn.foreign or (following is not None and turn.running and following.opening == "compacted"):
        return None
    if row is not None and row.outcome == "aborted":
        return None
    if reply is not None and reply.stop in _KINDS and reply.fault != "cancelled":
        kind, broken = _KINDS[reply.stop], reply
        around = [one for one in (turn.before, row) if one is not None]
    elif row is not None and _fell_idle(turn, row):
        kind, broken, around = "idle", row, []
    else:
        return None
    return Break(
        kind=kind,
        row=broken,
        asked=Asked(asked),
        compactions=tuple(around),
        compacted=any(one.outcome in {"summary", "dropped"} for one in turn.after),
        announced=turn.announced,
        last=turn.last or broken,
        prompt=following.prompt if following is not None else None,
        answer=answer,
    )


def _fell_idle(turn: _Turn, row: Event) -> bool:
    if row.kind == "compact" or row.outcome == "skipped":
        return False
    if turn.reply is None:
        return turn.prompt is not None and row.trigger != "manual"
    return turn.reply.stop == "tool"
