"""Whose a log entry is, and OpenClaw's compaction attempts put together from the entries that tell of them."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from forensics.events import Event, Trigger
from forensics.parse import Source
from forensics.parsers._failed_compaction import Verdict, judged
from forensics.parsers._openclaw_lines import Entry
from forensics.parsers._openclaw_names import Names
from forensics.parsers._pi import TEXT_LIMIT

UNATTRIBUTED = "unattributed"
"""The session of compactions whose entries name none."""
_WAIT_MS = 60_000
"""How long OpenClaw waits for a compaction (`COMPACTION_RETRY_AGGREGATE_TIMEOUT_MS`)."""
_GRACE_MS = 5_000
_HELD_ENTRIES = 500
_TRIGGERS: dict[str, Trigger] = {
    "overflow": "overflow",
    "budget": "threshold",
    "cli_budget": "threshold",
    "threshold": "threshold",
    "manual": "manual",
}


class Attempt:
    """A compaction attempt being read. `end` is held back until the entries that explain it have passed."""

    def __init__(self, start: Event | None) -> None:
        self.start = start
        self.end: Event | None = None
        self.diag: str | None = None
        self.requests: int | None = 0
        self.hollow: str | None = None
        self.words: str | None = None
        self.tokens: int | None = None


class Runs:
    """The sessions of a log and their open attempts; rows leave in file order once nothing can change them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.attempts: dict[str, Attempt] = {}
        self.working: set[str] = set()
        self.counts_requests = False
        self.pressed: tuple[str, int | None] | None = None
        """The session of the last overflow, and its tokens."""
        self.rolled_back: Event | None = None
        """The last word that a run went on without its compaction."""
        self._names = Names()
        self._known: set[str] = set()
        self._rows: deque[Event] = deque()
        self._held: dict[int, int] = {}
        self._orphans: list[Event] = []
        self._cancels: list[Event] = []
        self._entries = 0

    def session_of(self, entry: Entry, fields: dict[str, Any]) -> str | None:
        """Name the session of an entry: the one it names by itself, else the only one at work."""
        return self._names.session_of(entry, fields) or self.only()

    def only(self) -> str | None:
        """Name the one session that is at work or compacting; none when there are several."""
        open_ones = {name for name, one in self.attempts.items() if one.end is None}
        at_work = self.working | open_ones
        return next(iter(at_work)) if len(at_work) == 1 else None

    def add(self, event: Event) -> None:
        """Take a row; the first one of a session is preceded by the session's own."""
        name = event.session
        if name is not None:
            self._settle(name)
            if name not in self._known:
                self._known.add(name)
                self._rows.append(Event(kind="session", session=name, line=event.line, ts=event.ts))
        self._rows.append(event)

    def pass_on(self, entry: Entry) -> None:
        """Let go of what an entry, and those after it, can no longer explain."""
        self._entries += 1
        if self._held:
            self._expire(entry.ts)

    def settled(self) -> Iterator[Event]:
        """Give the rows that nothing can change any more."""
        while self._rows and id(self._rows[0]) not in self._held:
            yield self._rows.popleft()

    def flush(self) -> Iterator[Event]:
        """Give all rows that are left, at the end of the file."""
        for event in (*self._orphans, *self._cancels):
            self._say(event)
        self._held.clear()
        yield from self._rows
        self._rows.clear()

    def begin(self, entry: Entry, session: str, trigger: str, before: int | None, diag: str | None = None) -> None:
        """Begin an attempt. The two entries that tell of one beginning (overflow seen, compaction begun) are one."""
        one = self.attempts.get(session)
        if one is not None and one.end is None and one.diag is None and diag is not None:
            one.diag, one.tokens = diag, before
            return
        event = Event(
            kind="compact",
            session=session,
            line=entry.line,
            ts=entry.ts,
            trigger=_TRIGGERS.get(trigger, "unknown"),
            before=before,
        )
        self.add(event)
        one = self.attempts[session] = Attempt(event)
        one.diag, one.tokens = diag, before if diag is not None else None

    def finish(self, entry: Entry, session: str, *, made: bool, words: str | None = None) -> Event:
        """End the open attempt of a session, or one whose beginning was not logged; the row is held."""
        one = self.attempts.get(session)
        if one is None or one.end is not None:
            one = Attempt(None)
            one.requests = None
        event = Event(kind="compacted", session=session, line=entry.line, ts=entry.ts)
        reason = None if made else self._claimed_cancel(entry.ts)
        self.add(event)
        self.attempts[session] = one
        one.end = event
        self._hold(event)
        if one.start is not None:
            event.trigger = one.start.trigger
        event.requests = one.requests if self.counts_requests else None
        if made and one.hollow is None:
            event.outcome = "summary"
        elif one.hollow is not None:
            event.outcome, event.fault, event.error = "no-summary", "empty-summary", one.hollow
        else:
            self.explain(session, one.words or reason or words)
        return event

    def _claimed_cancel(self, now: int | None) -> str | None:
        """Take over the words of a cancelled attempt whose end this is."""
        event = next((one for one in self._cancels if _is_recent(one.ts, now)), None)
        if event is None:
            return None
        self._cancels.remove(event)
        self._held.pop(id(event), None)
        self._rows.remove(event)
        return event.error

    def explain(self, session: str, words: str | None) -> None:
        """Say why the last attempt of a session made nothing; the last words are the fullest."""
        one = self.attempts.get(session)
        if one is None:
            return
        if one.end is None:
            one.words = words
        elif self.is_held(one.end) and one.end.outcome != "summary" and one.hollow is None:
            one.end.error = words
            one.end.outcome, one.end.fault = judged(words)

    def is_held(self, event: Event) -> bool:
        """Tell whether later entries may still explain a row."""
        return id(event) in self._held

    def just_failed(self, now: int | None) -> str | None:
        """Name the session whose attempt failed a moment ago, if one did: OpenClaw says so several times."""
        for name, one in reversed(self.attempts.items()):
            end = one.end
            if end is not None and end.outcome != "summary" and _is_recent(end.ts, now):
                return name
        return None

    def fallback(self, entry: Entry) -> None:
        """Take the safeguard's word that it wrote a boundary without a summary; it names no session."""
        session = self.only()
        one = self.attempts.get(session) if session is not None else None
        if one is not None and one.end is None:
            one.hollow = entry.text
            return
        self._orphans.append(self._nameless(entry, Verdict("no-summary", "empty-summary")))

    def cancelled(self, entry: Entry) -> None:
        """Take the safeguard's word that it cancelled an attempt; the end of the attempt may be logged after it."""
        session = self.only()
        one = self.attempts.get(session) if session is not None else None
        if session is not None and one is not None and one.end is None:
            self.explain(session, entry.text)
        else:
            self._cancels.append(self._nameless(entry, judged(entry.text)))

    def _nameless(self, entry: Entry, verdict: Verdict) -> Event:
        event = Event(kind="compacted", session=UNATTRIBUTED, line=entry.line, ts=entry.ts, error=entry.text)
        event.trigger, event.outcome, event.fault = "unknown", verdict.outcome, verdict.fault
        self._rows.append(event)
        self._hold(event)
        return event

    def timed_out(self, entry: Entry, session: str, limit: int | None) -> None:
        """Take the end of the wait for a compaction: the run goes on with the state before it."""
        orphan = next((one for one in self._orphans if _is_age(one.ts, entry.ts, limit)), None)
        one = self.attempts.get(session)
        if orphan is not None:
            self._orphans.remove(orphan)
            self._held.pop(id(orphan), None)
            orphan.session = session
            self._introduce(orphan)
        elif one is None or one.end is None:
            self.finish(entry, session, made=False, words=entry.text)
        text = f"compaction rolled back: {entry.text}"[:TEXT_LIMIT]
        self.rolled_back = Event(kind="note", session=session, line=entry.line, ts=entry.ts, text=text)
        self.add(self.rolled_back)

    def _introduce(self, event: Event) -> None:
        if event.session not in self._known:
            self._known.add(event.session or "")
            row = Event(kind="session", session=event.session, line=event.line, ts=event.ts)
            self._rows.insert(self._rows.index(event), row)

    def _say(self, event: Event) -> None:
        self._introduce(event)
        self.source.notes.append(f"line {event.line}: a compaction that names no session, told as {UNATTRIBUTED}")

    def _hold(self, event: Event) -> None:
        self._held[id(event)] = self._entries

    def _settle(self, session: str) -> None:
        one = self.attempts.get(session)
        if one is not None and one.end is not None:
            self._held.pop(id(one.end), None)

    def _expire(self, now: int | None) -> None:
        for nameless, wait in ((self._orphans, _WAIT_MS + _GRACE_MS), (self._cancels, _GRACE_MS)):
            for event in list(nameless):
                late = now is not None and event.ts is not None and now - event.ts > wait
                if late or self._entries - self._held[id(event)] > _HELD_ENTRIES:
                    nameless.remove(event)
                    self._say(event)
                    self._held.pop(id(event))
        waiting = {id(event) for event in (*self._orphans, *self._cancels)}
        for held, since in list(self._held.items()):
            if held not in waiting and self._entries - since > _HELD_ENTRIES:
                self._held.pop(held)


def _is_age(begun: int | None, ended: int | None, limit: int | None) -> bool:
    if begun is None or ended is None or limit is None:
        return False
    return limit <= ended - begun + 1 and ended - begun <= limit + _GRACE_MS


def _is_recent(then: int | None, now: int | None) -> bool:
    return then is not None and now is not None and 0 <= now - then <= _GRACE_MS
