"""opencode's V2 session rows (`session_message`, since mid 2026) as events.

Shapes after `packages/schema/src/session-message.ts` of anomalyco/opencode.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from forensics.events import Event, Fault, Kind, Outcome
from forensics.parsers._opencode_rules import (
    DIED,
    SUMMARY_LIMIT,
    TEXT_LIMIT,
    call_digest,
    closing,
    count_finish,
    digest,
    judged,
)
from forensics.parsers._opencode_shapes import NO_RAW, ModelRef, Number, Problem, SessionInfo, Times, Tokens, whole
from forensics.parsers._opencode_usage import Failing, failing, fill, usage
from forensics.sane import Millis

if TYPE_CHECKING:
    from collections import Counter

_SILENT = frozenset({"system", "shell", "agent-switched", "location-switched", "idle"})
_STATUSES = frozenset({None, "running", "completed", "failed"})
_NO_SUMMARY: frozenset[Fault | None] = frozenset({"truncated-summary", "empty-summary", "refusal"})


class Call(msgspec.Struct, gc=False):
    """The state of a tool call."""

    input: Raw = NO_RAW
    error: Problem | None = None


class Content(msgspec.Struct, gc=False):
    """A piece of a reply: text, reasoning or a tool call."""

    type: str = ""
    id: str | None = None
    text: str | None = None
    name: str | None = None
    state: Call | None = None


class Retry(msgspec.Struct, gc=False):
    """The last time that a step was tried again."""

    at: Millis | None = None
    error: Problem | None = None


class V2Row(msgspec.Struct, gc=False):
    """A row of any type."""

    id: str | None = None
    type: str = ""
    text: str | None = None
    model: ModelRef | None = None
    content: list[Content] = []
    finish: str | None = None
    cost: Number | None = None
    tokens: Tokens | None = None
    error: Problem | None = None
    retry: Retry | None = None
    time: Times | None = None
    status: str | None = None
    reason: str | None = None
    summary: str | None = None


class Timeline:
    """One session's V2 rows, added in order."""

    def __init__(self, session: SessionInfo, unknown: "Counter[str]") -> None:
        self._session = session.id
        self._child = session.parent_id is not None
        self._unknown = unknown
        self._busy_until = 0
        self._open: V2Row | None = None
        self._overflowed = False

    def add(self, row: V2Row) -> Iterator[Event]:
        """Take the next row."""
        if row.type == "assistant":
            yield from self._settle(followed=True)
            yield from self._assistant(row)
        elif row.type in {"user", "synthetic", "skill"}:
            yield self._prompt(row)
        elif row.type == "compaction":
            if row.status not in _STATUSES:
                self._unknown[f"compaction status {str(row.status)[:40]}"] += 1
            yield self._compaction(row)
        elif row.type == "model-switched":
            yield self._event("model", row)
        elif row.type not in _SILENT:
            self._unknown[f"session message {row.type or '(none)'}"] += 1

    def close(self) -> Iterator[Event]:
        """End the session."""
        yield from self._settle(followed=False)

    def _event(self, kind: Kind, row: V2Row, ts: int | None = None) -> Event:
        event = Event(kind=kind, session=self._session, record=row.id, ts=ts or _created(row))
        if row.model is not None:
            event.provider, event.model = row.model.provider_id, row.model.id
        return event

    def _assistant(self, row: V2Row) -> Iterator[Event]:
        if row.retry is not None and row.retry.error is not None:
            why = failing(row.retry.error)
            retry = self._event("retry", row, whole(row.retry.at))
            retry.fault, retry.error = why.fault, why.words
            yield retry
        ended = whole(row.time.completed) if row.time else None
        self._busy_until = max(self._busy_until, ended or 0)
        if row.error is None and not row.finish and ended is None:
            self._open = row
            return
        yield from self._replied(row, _ending(row))

    def _settle(self, *, followed: bool) -> Iterator[Event]:
        row, self._open = self._open, None
        if row is not None and followed:
            yield from self._replied(row, Failing("error", "unknown", None), DIED)
        elif row is not None:
            yield from self._replied(row, None)

    def _replied(self, row: V2Row, why: Failing | None, own: str | None = None) -> Iterator[Event]:
        """Give a reply; `own` words stand for the reader where it has none."""
        reply = self._event("reply", row, whole(row.time.completed) if row.time else None)
        if why is not None:
            reply.stop, reply.fault, reply.error = why
            self._overflowed = why.fault == "overflow"
        fill(reply, usage([], row.tokens, row.cost))
        count_finish(row.finish, self._unknown)
        text = _visible(row)
        reply.size = len(text)
        if text:
            reply.text, reply.digest = text[:TEXT_LIMIT], digest(text)
        reply.text = reply.text or own
        yield reply
        for piece in row.content:
            if piece.type == "tool":
                yield self._tool(piece, row)

    def _tool(self, piece: Content, row: V2Row) -> Event:
        error = piece.state.error if piece.state else None
        return Event(
            kind="tool",
            session=self._session,
            record=row.id,
            ts=_created(row),
            tool=piece.name,
            error=error.message if error else None,
            digest=call_digest(piece.name, piece.state.input if piece.state else NO_RAW),
        )

    def _prompt(self, row: V2Row) -> Event:
        prompt = self._event("prompt", row)
        text = row.text or ""
        prompt.size = len(text)
        if text:
            prompt.text, prompt.digest = text[:TEXT_LIMIT], digest(text)
        if row.type != "user" or self._child:
            prompt.origin = "synthetic"
        elif prompt.ts is not None and prompt.ts < self._busy_until:
            prompt.origin, prompt.sent = "queued", prompt.ts
        else:
            prompt.origin = "human"
        return prompt

    def _compaction(self, row: V2Row) -> Event:
        running = row.status == "running"
        event = self._event("compact" if running else "compacted", row)
        if row.reason == "manual":
            event.trigger = "manual"
        else:
            # `auto` may be either: an overflow that is recovered from leaves no failed step behind.
            event.trigger = "overflow" if self._overflowed else "unknown"
        if not running:
            event.outcome, why = _outcome(row)
            event.fault, event.error = why.fault, why.words
            event.size = len(row.summary or "")
            event.text = (row.summary or "")[:SUMMARY_LIMIT] or None
            fill(event, usage([], row.tokens, row.cost))
            event.context = None
        return event


def _created(row: V2Row) -> int | None:
    return whole(row.time.created) if row.time else None


def _visible(row: V2Row) -> str:
    texts = (piece.text for piece in row.content if piece.type == "text")
    return "\n".join(text for text in texts if text and text.strip())


def _ending(row: V2Row) -> Failing:
    if row.error is not None:
        return failing(row.error)
    if not row.finish:
        return Failing("aborted", "cancelled", None)
    return closing(row.finish, shown=bool(_visible(row)) or any(piece.type == "tool" for piece in row.content))


def _outcome(row: V2Row) -> tuple[Outcome, Failing]:
    if row.error is not None:
        why = failing(row.error)
        if why.stop == "aborted":
            return "aborted", why
        return ("no-summary" if why.fault in _NO_SUMMARY else "failed"), why
    return judged("error" if row.status == "failed" else "stop", row.summary or "")
