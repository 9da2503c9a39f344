"""The messages of an opencode session, in order, as events; shared by the database, the export and the JSON tree.

The rules are those of `packages/opencode/src/session/{prompt,processor,compaction}.ts` of anomalyco/opencode. Two of
them have to be inferred, because opencode writes no word about them:

- a request that the provider rejects as too long leaves a message without finish, error or tokens; the compaction
  marker with `overflow: true` after it is what says so;
- a prompt that opencode sends again after such a compaction is an ordinary user message; that it follows the summary
  and says what an earlier one said is what gives it away.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forensics.events import Event, Kind, Origin, Trigger
from forensics.parsers._opencode_rules import (
    DIED,
    SUMMARY_LIMIT,
    TEXT_LIMIT,
    all_redacted,
    count_finish,
    digest,
    ended,
    ending,
    finish,
    is_command,
    marker,
    outcome,
    prompt_digest,
    prompt_size,
    tool,
    visible,
    written_by_agent,
)
from forensics.parsers._opencode_shapes import KNOWN_PARTS, Message, Part, SessionInfo, created, whole
from forensics.parsers._opencode_usage import Failing, Spent, failing, fill, usage

if TYPE_CHECKING:
    from collections import Counter


def session_event(info: SessionInfo, line: int | None) -> Event:
    """Give the row that opens a session."""
    return Event(
        kind="session",
        session=info.id,
        line=line,
        record=info.id,
        ts=whole(info.time.created) if info.time else None,
        version=info.version,
        parent=info.parent_id or info.fork_id,
    )


class Conversation:
    """One session's messages, added in order; each call yields the events that are certain by then."""

    def __init__(self, session: SessionInfo, unknown: "Counter[str]") -> None:
        self._session = session.id
        self._child = session.parent_id is not None
        self._unknown = unknown
        self._seen: set[str] = set()
        """Digests of the prompts so far."""
        self._busy_until = 0
        self._open: Message | None = None
        """The reply without finish or error, until what follows tells how it ended."""
        self._held: list[Event] = []
        """Rows after it."""
        self._trigger: Trigger | None = None
        """What the last marker says of why."""
        self._replay_due = False
        self.spent = Spent()

    def add(self, message: Message) -> Iterator[Event]:
        """Take the next message."""
        for part in message.parts:
            if part.type not in KNOWN_PARTS:
                self._unknown[f"part {part.type or '(none)'}"] += 1
        role = message.info.role
        if role == "assistant":
            yield from self._settle(followed=True)
            yield from self._assistant(message)
        elif role == "user":
            event = self._user(message)
            if self._open is None:
                yield event
                return
            self._held.append(event)
            if event.kind == "compact":
                yield from self._settle(followed=True)
        else:
            self._unknown[f"role {role or '(none)'}"] += 1

    def close(self, *, cut: bool = False) -> Iterator[Event]:
        """End the session; `cut`: its last messages are missing."""
        if cut and self._open is not None and self._open.info.time is not None:
            self._open.info.time.completed = None  # what tells an overflow from an interruption may be missing
        yield from self._settle(followed=False)

    def _assistant(self, message: Message) -> Iterator[Event]:
        info = message.info
        self._replay_due = False
        if info.time and (completed := whole(info.time.completed)):
            self._busy_until = max(self._busy_until, completed)
        yield from self._retries(message)
        count_finish(finish(message), self._unknown)
        if bytes(info.summary) == b"true":
            yield self._compacted(message)
        elif is_command(message):
            yield from self._tools(message)
        elif info.error is None and finish(message) is None:
            self._open = message
        else:
            why = ending(message)
            yield from self._replied(message, None if message.doubted and why.stop == "empty" else why)

    def _settle(self, *, followed: bool) -> Iterator[Event]:
        """Decide how the reply ended that has neither finish nor error; `followed`: something came after it."""
        message, self._open = self._open, None
        held, self._held = self._held, []
        if message is None:
            return
        completed = message.info.time is not None and message.info.time.completed is not None
        why: Failing | None = None
        own: str | None = None
        if held and held[-1].kind == "compact" and held[-1].trigger == "overflow":
            why = Failing("error", "overflow", None)
        elif completed:
            # Every end but the death of the process is written down, and errors with it: this one was interrupted
            # outside the stream (between retries, in a tool call).
            why = Failing("aborted", "cancelled", None)
        elif followed:
            why, own = Failing("error", "unknown", None), DIED
        yield from self._replied(message, why, own)
        yield from held

    def _retries(self, message: Message) -> Iterator[Event]:
        for part in message.parts:
            if part.type == "retry":
                why = failing(part.error) if part.error else Failing("error", "unknown", None)
                yield Event(
                    kind="retry",
                    session=self._session,
                    line=message.line,
                    record=part.id,
                    ts=whole(part.time.created) if part.time else None,
                    fault=why.fault,
                    error=why.words,
                )

    def _replied(self, message: Message, why: Failing | None, own: str | None = None) -> Iterator[Event]:
        """Give a reply; `own` words stand for the reader where it has none."""
        reply = self._event("reply", message, visible(message), TEXT_LIMIT)
        if why is not None:
            reply.stop, reply.fault, reply.error = why
        self._fill(reply, message)
        reply.text = reply.text or own
        yield reply
        yield from self._tools(message)

    def _tools(self, message: Message) -> Iterator[Event]:
        ts = created(message.info)
        return (tool(part, self._session, message.line, ts) for part in message.parts if part.type == "tool")

    def _compacted(self, message: Message) -> Event:
        end = self._event("compacted", message, visible(message), SUMMARY_LIMIT)
        end.outcome, why = outcome(message)
        if message.doubted and why.fault == "empty-summary":
            end.outcome, why = "unknown", Failing("error", None, None)
        end.fault, end.error = why.fault, why.words
        # A summary that failed leaves its marker pending: the next prompt is answered by another summary, for it.
        end.trigger = self._trigger
        self._fill(end, message)
        end.context = None  # the summary request's own, not the session's
        # Only a summary that opencode takes for one is followed by a prompt sent again.
        self._replay_due = self._trigger == "overflow" and message.info.error is None and finish(message) is not None
        return end

    def _event(self, kind: Kind, message: Message, text: str, limit: int) -> Event:
        info = message.info
        return Event(
            kind=kind,
            session=self._session,
            line=message.line,
            record=info.id,
            ts=ended(message),
            size=len(text),
            provider=info.provider_id or None,
            model=info.model_id or None,
            digest=digest(text) if text else None,
            text=text[:limit] or None,
        )

    def _fill(self, event: Event, message: Message) -> None:
        steps = [part for part in message.parts if part.type == "step-finish"]
        spent = usage(steps, message.info.tokens, message.info.cost)
        self.spent.add(spent)
        fill(event, spent)

    def _user(self, message: Message) -> Event:
        part = marker(message)
        if part is None:
            return self._prompt(message)
        self._trigger = "overflow" if part.overflow else "threshold" if part.auto else "manual"
        return Event(
            kind="compact",
            session=self._session,
            line=message.line,
            record=message.info.id,
            ts=created(message.info),
            trigger=self._trigger,
        )

    def _prompt(self, message: Message) -> Event:
        parts = [part for part in message.parts if part.type in {"text", "subtask"}]
        typed = [part for part in parts if not written_by_agent(part)]
        text = "\n".join(filter(None, (part.text or part.prompt for part in typed or parts)))
        mark = prompt_digest(message.parts)
        origin = self._origin(message, typed, mark)
        ts = created(message.info)
        self._replay_due = False
        if mark is not None:
            self._seen.add(mark)
        return Event(
            kind="prompt",
            session=self._session,
            line=message.line,
            record=message.info.id,
            ts=ts,
            origin=origin,
            sent=ts if origin == "queued" else None,
            size=prompt_size(message.parts),
            digest=mark,
            text=text[:TEXT_LIMIT] or None,
        )

    def _origin(self, message: Message, typed: list[Part], mark: str | None) -> Origin:
        if not message.parts:
            return "unknown"
        if self._replay_due and (mark in self._seen or all_redacted(message.parts)):
            return "replay"
        if self._child or (not typed and any(part.type == "text" for part in message.parts)):
            return "synthetic"
        ts = created(message.info)
        return "queued" if ts is not None and ts < self._busy_until else "human"
