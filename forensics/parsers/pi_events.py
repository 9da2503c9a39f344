"""The event stream of the pi family: `--mode json` and the output of rpc mode."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from forensics.events import Event, Trigger
from forensics.parse import Head, Piece, Source, parser, write_json_lines, writer
from forensics.parsers._pi import (
    TEXT_LIMIT,
    Message,
    blocks,
    digest_of,
    fault_of,
    is_atomics,
    reply,
    size_of,
    text_of,
    told_time,
    tool,
)
from forensics.parsers._pi_capture import MARKS, PREFIXES
from forensics.parsers._pi_prompt import is_machine, prompt_of
from forensics.parsers._pi_stream import (
    Line,
    answer_of,
    is_event,
    is_header,
    is_sure,
    model_of,
    sessions_in,
    switches,
    texts_of,
)
from forensics.parsers._pi_stream_capture import RULES, pieces
from forensics.parsers._pi_stream_end import ended, has_result

_DECODER = msgspec.json.Decoder(Line)
_MESSAGE = msgspec.json.Decoder(Message)
_STARTS = frozenset({"compaction_start", "auto_compaction_start", "context_compaction_start"})
_ENDS = frozenset({"compaction_end", "auto_compaction_end", "context_compaction_end"})
_REPEATS = frozenset(
    {
        "agent_settled",
        "message_start",
        "message_update",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
        "bash_execution_update",
        "entry_appended",
        "thinking_level_changed",
        "session_info_changed",
        "extension_ui_request",
        "summarization_retry_attempt_start",
        "summarization_retry_finished",
    }
)
"""Types whose content stands in another line too, or that say nothing of how the work went."""
_BOUNDS = frozenset({"agent_start", "agent_end", "turn_start", "turn_end"})
_TRIGGERS: dict[str, Trigger] = {"threshold": "threshold", "overflow": "overflow", "manual": "manual"}
_GAVE_UP = ("after one compact-and-retry attempt", "recovery stopped after", "the next provider request was not sent")
_ENDED = "recovery ended: "
_ATOMIC_RESULTS = (b'"deletedTargets"', b'"compactedText"')


def _recognised(head: Head) -> bool:
    return head.is_json_lines(is_event, lambda record: is_sure(record) or _is_framed(head))


def _is_framed(head: Head) -> bool:
    """Tell a stream by its header, or by the agent's start and what follows it."""
    types = [one.get("type") for one in head.objects]
    return any(map(is_header, head.objects)) or ("agent_start" in types and "turn_start" in types)


@parser("pi", failures="yes", when=_recognised)
def pi_events(source: Source) -> Iterator[Event]:
    """Events that `--mode json` and rpc mode print, of pi and of Atomic, one per line.

    It alone shows compactions that failed: a start whose end has no result. An end whose error says that recovery
    gave up stands for no attempt; it becomes a note, `recovery ended: …`. A start without an end is an attempt of
    unknown outcome: print mode may stop writing before its last compaction is over, and what ran after that is in
    no line either.

    Events carry no time. Only messages do: a reply's time is when its request began, a prompt's when it was sent.
    """
    stream = _Stream(source)
    for line, event in source.decoded(_DECODER):
        yield from stream.read(line, event)


class _Stream:
    """The state of reading: whose session it is, and what is queued."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names: list[str] = []
        self._session: str | None = None
        self._queued: set[str] = set()
        self._taken: set[str] = set()
        """Texts that left the queue and may come next: where they do not, the queue was emptied without delivery."""
        self._atomic = False
        self._open = False
        """A compaction began, and its end was not seen yet."""

    def read(self, line: int, event: Line) -> Iterator[Event]:
        kind = event.type
        if kind == "session":
            yield from self._header(line, event)
            return
        if self._session is None:
            yield self._begin(line, self._next_name())
        if kind == "message_end":
            yield from self._message(line, event)
        elif kind in _STARTS:
            self._open = True
            yield self._row("compact", line, trigger=self._trigger(event))
        elif kind in _ENDS:
            yield from self._end(line, event)
        elif kind == "response":
            yield from self._answer(line, event)
        elif kind == "queue_update":
            self._queue(line, event)
        elif kind in _BOUNDS:
            self._taken.clear()
        elif kind not in _REPEATS:
            yield from self._other(line, event)

    def _queue(self, line: int, event: Line) -> None:
        before = self._queued
        self._queued = {
            *texts_of(event.steering, self._source, line, "steering"),
            *texts_of(event.follow_up, self._source, line, "followUp"),
        }
        self._taken |= before - self._queued

    def _header(self, line: int, event: Line) -> Iterator[Event]:
        if event.id is None:
            self._source.unknown["session without id"] += 1
        elif event.id != self._session:
            yield self._begin(line, event.id, told_time(event.timestamp, self._source, line, event.id))

    def _next_name(self) -> str:
        if not self._names:
            self._names = sessions_in(self._source.path)
        return self._names.pop(0)

    def _begin(self, line: int, name: str, ts: int | None = None) -> Event:
        self._session = name
        return Event(kind="session", session=name, line=line, ts=ts)

    def _row(self, kind: str, line: int, **columns: object) -> Event:
        return Event(kind=kind, session=self._session, line=line, **columns)  # type: ignore[arg-type]

    def _trigger(self, event: Line) -> Trigger:
        return _TRIGGERS.get(event.reason or "", "unknown")

    def _shown(self, line: int) -> Iterator[Event]:
        """Say that it is Atomic: the header does not tell."""
        if not self._atomic:
            self._atomic = True
            yield self._row("session", line, agent="atomic")

    def _message(self, line: int, event: Line) -> Iterator[Event]:
        message = self._source.inner(event.message, _MESSAGE, line, "message") or Message()
        session = self._session or ""
        ts = told_time(message.timestamp, self._source, line, None)
        if message.role == "assistant":
            self._taken.clear()
            yield reply(message, self._source, session, line, None, ts=ts)
        elif message.role in {"toolResult", "bashExecution"}:
            yield tool(message, session, line, None, ts)
            if is_atomics(message):
                yield from self._shown(line)
        elif message.role == "user":
            yield self._prompt(message, line, ts)
        elif message.role in {"custom", "hookMessage", "system", "compactionSummary", "branchSummary"}:
            yield self._row("note", line, ts=ts, text=message.custom_type or message.role)
        else:
            self._source.unknown[f"message of role {message.role[:40] or 'none'}"] += 1

    def _prompt(self, message: Message, line: int, ts: int | None) -> Event:
        found = blocks(message.content, self._source, line)
        words = text_of(found)
        prompt = prompt_of(words, machine=is_machine(message.provenance, self._source, line))
        origin = prompt.origin
        if words in self._queued or words in self._taken:
            self._queued.discard(words)
            self._taken.discard(words)
            origin = "queued" if origin == "human" else origin
        return self._row(
            "prompt",
            line,
            ts=ts,
            origin=origin,
            sent=prompt.sent,
            text=prompt.text[:TEXT_LIMIT] or None,
            size=size_of(found),
            digest=digest_of(prompt.text),
        )

    def _end(self, line: int, event: Line) -> Iterator[Event]:
        words = event.error_message
        gave_up = words is not None and any(said in words for said in _GAVE_UP)
        begun, self._open = self._open, False
        if has_result(event) or begun or not gave_up:
            row = self._row("compacted", line, trigger=self._trigger(event), error=words, will_retry=event.will_retry)
            yield ended(row, event, self._source)
            if any(mark in bytes(event.result) for mark in _ATOMIC_RESULTS):
                yield from self._shown(line)
        if gave_up:
            yield self._ended(line, words)

    def _ended(self, line: int, words: str | None, why: str = "") -> Event:
        text = f"{_ENDED}{why}{words or 'no reason given'}"[:TEXT_LIMIT]
        return self._row("note", line, text=text, error=words)

    def _answer(self, line: int, event: Line) -> Iterator[Event]:
        answer = answer_of(event.data, self._source, line)
        if switches(event, answer):
            yield self._begin(line, self._next_name())
        usage = answer.context_usage
        if usage is not None and usage.context_window:
            yield self._row("budget", line, context=usage.tokens, cap=usage.context_window, cap_source="recorded")
        if event.success is False:
            yield self._row("note", line, text=f"{event.command} refused"[:TEXT_LIMIT], error=event.error)

    def _other(self, line: int, event: Line) -> Iterator[Event]:
        kind = event.type
        if kind in {"auto_retry_start", "summarization_retry_scheduled"}:
            text = f"try {event.attempt} of {event.max_attempts} in {event.delay_ms or 0:.0f} ms"
            yield self._row(
                "retry",
                line,
                text=text if kind == "auto_retry_start" else f"summary: {text}",
                error=event.error_message,
                fault=fault_of(event.error_message) if event.error_message else None,
            )
        elif kind == "auto_retry_end":
            if event.success is False:
                yield self._ended(line, event.final_error, "retries used up: ")
        elif kind == "agent_continue_error":
            yield self._ended(line, event.error_message)
        elif kind == "model_fallback_end":
            if event.success is False:
                yield self._ended(line, event.final_error, "no other model worked: ")
        elif kind in {"model_changed", "model_fallback_start"}:
            model = model_of(event.model if kind == "model_changed" else event.to, self._source, line)
            yield self._row(
                "model",
                line,
                model=model.id,
                provider=model.provider,
                api=model.api,
                cap=model.context_window,
                cap_source="recorded" if model.context_window else None,
                text=event.reason,
            )
        else:
            self._source.unknown[kind or "no type"] += 1


@writer(pi_events, suffix=".jsonl", pieces=pieces, rules=RULES, marks=MARKS, prefixes=PREFIXES)
def pi_events_writer(kept: Sequence[Piece], target: Path) -> None:
    """Write an event stream."""
    write_json_lines([piece.value for piece in kept], target)
