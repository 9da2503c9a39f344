"""The PilotDeck transcript parser."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from forensics.events import Event, Origin, Outcome, Trigger
from forensics.faults import classify
from forensics.parse import Piece as Kept
from forensics.parse import Source, parser, write_json_lines, writer
from forensics.parsers._pilotdeck_budget import Snapshot
from forensics.parsers._pilotdeck_capture import CHAT_RULES, MARKS, PREFIXES, chat_pieces
from forensics.parsers._pilotdeck_rows import (
    TEXT_LIMIT,
    Compact,
    Error,
    Extra,
    Failed,
    Message,
    Piece,
    Result,
    Row,
    digest,
    failed,
    milliseconds,
    summary,
)
from forensics.parsers._pilotdeck_turn import Turn
from forensics.sane import Count

_DECODER = msgspec.json.Decoder(Row)
_RESULT = msgspec.json.Decoder(Result)
_PIECE = msgspec.json.Decoder(Piece)
_ERROR = msgspec.json.Decoder(Error | str)
_WORD = msgspec.json.Decoder(str)
_NOTHING = frozenset(
    {
        "agent_instructions",
        "agent_turn_discarded",
        "agent_turn_enqueued",
        "context_snapshot",
        "file_artifacts",
        "inbox_mutation",
        "permission_completed",
        "permission_failed",
        "permission_started",
        "question_completed",
        "question_failed",
        "question_started",
        "step_completed",
        "step_started",
        "subagent_completed",
        "subagent_descriptor",
        "subagent_started",
        "tool_result",
        "turn_started",
    }
)
_GAVE_UP = frozenset(
    {"max_output_recovery_exhausted", "model_empty_response_exhausted", "tool_call_recovery_exhausted"}
)
_AFTERWORD = "[system: the conversation above has been compacted"
_AUTOMATIC = "always-on/"


class _Breakdown(msgspec.Struct, gc=False):
    messages: Count | None = None


class _Detail(Snapshot, gc=False):
    breakdown: _Breakdown | None = None


_DETAIL = msgspec.json.Decoder(_Detail)


@parser(
    "pilotdeck",
    failures="partly",
    json_lines={"type": str, "sessionId": str, "turnId": str, "sequence": int, "createdAt": str},
)
def pilotdeck_chat(source: Source) -> Iterator[Event]:
    """PilotDeck session, `~/.pilotdeck/projects/<project>/chats/<session>.jsonl`, one record a line.

    Builds before September 2026 keep neither finish reasons nor the errors of requests in mid-turn. What a reply came
    to is told by the rows after it: an answer without tool calls after which the turn goes on was cut at its output
    limit; an empty one failed, without words unless the turn ended there; a request that no row answers came empty.
    The coverage says how often the order of rows was all there was to go by. Builds of September 2026 write each
    request's stream, with its finish reason, usage and error.

    `context` is the whole prompt before a request (`context_budget`). The usage of a turn is the sum over its
    requests: it counts into the session's totals, on a row of its own, and is no request's size. At a compaction
    `before` and `after` are the messages alone; builds that write `finalRatio` give the whole prompt after it
    instead, in `context`. A turn that the agent ended itself because the context stayed too large is an overflow
    with 0 `requests`.

    Only compactions that were kept are on record (a boundary), in most builds: failed ones show in the log. July
    builds write no boundary at all: in a transcript without `context_budget` compactions are unknown.
    `compaction_started` comes before every request and is no attempt.
    """
    chat = _Chat(source)
    for line, row in source.decoded(_DECODER):
        yield from chat.rows(line, row)
    yield from chat.close()


class _Chat:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._turns: dict[str, Turn] = {}
        self._boundary: Event | None = None
        self._kept: set[str] = set()
        self._session = ""
        """Of the last row."""
        self._failures = False
        self._measures = False
        """The build tells the context before a request: such a one writes boundaries too."""

    def rows(self, line: int, row: Row) -> Iterator[Event]:
        """Give the rows that a record settles."""
        if not row.sessionId and not self._placed(line, row):
            return
        self._session = row.sessionId
        turn = self._turns.get(row.sessionId)
        if turn is None:
            turn = self._turns[row.sessionId] = Turn(row.sessionId, self._source.unknown)
            yield _event(row, "session", line, agent="pilotdeck")
        if row.message is not None and row.message.copied:
            self._copy(row.message)
            return
        yield from self._settled()
        yield from turn.begin(row.turnId)
        yield from self._row(line, row, turn)

    def _placed(self, line: int, row: Row) -> bool:
        """Give a row without a session id to the session that goes on: a transcript is one session's."""
        known = bool(row.type and self._session)
        said = "no session id: taken as the session's of the row before" if known else "no session id"
        self._source.doubt(line, said, lost=not known)
        row.sessionId = self._session
        return known

    def close(self) -> Iterator[Event]:
        """Give what is held back at the end of the file."""
        yield from self._settled()
        for turn in self._turns.values():
            yield from turn.settle(goes_on=False)
        self._tell()
        if not self._failures:
            self._source.failures = "no"
        if not self._measures:
            self._source.hides.add("compactions")

    def _row(self, line: int, row: Row, turn: Turn) -> Iterator[Event]:
        kind = row.type
        if kind == "accepted_input":
            yield from turn.settle(goes_on=False)
            yield from self._prompts(line, row, turn)
        elif kind == "assistant_message" and row.message is not None:
            yield from turn.reply(line, row, row.message)
        elif kind == "tool_result_message":
            yield from turn.settle(goes_on=True)
        elif kind == "durable_message" and row.message is not None:
            yield from turn.settle(goes_on=False)
            yield _prompt(line, row, row.message, "synthetic" if _synthetic(row.message) else "unknown")
        elif kind == "agent_status_message":
            yield from self._status(line, row, turn)
        elif kind == "turn_result":
            yield from turn.end(line, row, self._source.inner(row.result, _RESULT, line, "result") or Result())
        elif kind == "control_boundary":
            failing = turn.failing
            yield from turn.settle(goes_on=True)
            self._hold(line, row, turn, failing=failing)
        elif kind.startswith("compaction_"):
            yield from turn.settle(goes_on=True)
            yield from self._compaction(line, row, turn)
        elif kind == "model_request":
            yield from turn.request(line, row)
        elif kind == "model_stream_event":
            turn.piece(line, row, self._source.inner(row.event, _PIECE, line, "event") or Piece())
        elif kind == "tool_call" and row.call is not None:
            yield from turn.call(line, row, row.call)
        elif kind == "session_metadata":
            if row.metadata is not None and row.metadata.parentSessionId:
                yield _event(row, "session", line, parent=row.metadata.parentSessionId)
        elif kind not in _NOTHING:
            self._source.unknown[kind or "(no type)"] += 1

    def _prompts(self, line: int, row: Row, turn: Turn) -> Iterator[Event]:
        automatic = row.sessionId.startswith(_AUTOMATIC)
        for message in row.messages:
            if message.copied:
                self._source.duplicates += 1
                continue
            turn.prompted = True
            yield _prompt(line, row, message, "synthetic" if automatic or _synthetic(message) else "human")

    def _status(self, line: int, row: Row, turn: Turn) -> Iterator[Event]:
        event = self._source.inner(row.event, _WORD, line, "event") or ""
        if event == "context_budget":
            self._measures = True
            detail = self._source.inner(row.detail, _DETAIL, line, "detail") or _Detail()
            messages = detail.breakdown.messages if detail.breakdown else None
            yield from turn.budget(_event(row, "budget", line, messages=messages, **detail.columns()))
        elif event == "content_filter_stop":
            turn.mark("filtered")
        elif event == "unknown_finish_reason":
            turn.mark("error", Failed(row.text, classify(row.text), None))
        elif event in _GAVE_UP:
            if event == "max_output_recovery_exhausted":
                turn.mark("length")
            yield from turn.settle(goes_on=False)
            yield _event(row, "note", line, text=f"recovery ended: {row.text or event}"[:TEXT_LIMIT])

    def _hold(self, line: int, row: Row, turn: Turn, *, failing: bool) -> None:
        boundary = row.boundary
        if boundary is None or boundary.compactMetadata is None:
            name = (boundary.subtype or boundary.kind) if boundary else None
            self._boundary = _event(row, "note", line, text=name or "control boundary")
            return
        self._boundary = _compacted(line, row, boundary.compactMetadata)
        self._boundary.trigger = _trigger(boundary.compactMetadata, turn, failing=failing)
        self._kept.add(boundary.compactMetadata.compactionId or "")
        for message in boundary.replacementMessages or (boundary.snapshot.messages if boundary.snapshot else []):
            self._copy(message)

    def _copy(self, message: Message) -> None:
        self._source.duplicates += 1
        words = summary(message)
        held = self._boundary
        if held is None or held.kind != "compacted" or (words is None and "status=" not in message.text):
            return
        if words is not None:
            held.text = words
            if not words and held.outcome == "summary":
                held.outcome, held.fault = "no-summary", "empty-summary"
        elif 'status="summary_failed"' in message.text:
            held.outcome = "no-summary"
        elif 'status="no_content"' in message.text and held.outcome == "unknown":
            held.outcome = "dropped"

    def _settled(self) -> Iterator[Event]:
        held, self._boundary = self._boundary, None
        if held is not None:
            self._failures = self._failures or held.outcome == "no-summary"
            yield held

    def _compaction(self, line: int, row: Row, turn: Turn) -> Iterator[Event]:
        self._failures = True
        if row.type == "compaction_started":
            turn.manual = turn.manual or row.trigger == "manual"
        elif row.type == "compaction_failed":
            said = self._source.inner(row.error, _ERROR, line, "error") or Error()
            error = failed(Error(message=said) if isinstance(said, str) else said)
            yield _event(row, "compacted", line, outcome="failed", error=error.text, fault=error.fault)
        elif row.status == "compacted" and row.compactionId is None:
            outcome: Outcome = "dropped" if row.tier == "micro" else "no-summary"
            yield _event(row, "compacted", line, outcome=outcome, text=row.tier)
        elif row.status == "compacted" and row.compactionId not in self._kept:
            yield _event(row, "compacted", line, outcome="unknown", text=row.tier)

    def _tell(self) -> None:
        turns = self._turns.values()
        told = (
            (sum(turn.cut for turn in turns), "taken as cut at the output limit because the agent went on"),
            (sum(turn.lost for turn in turns), "taken as empty because no row answers their request"),
            (sum(turn.nameless for turn in turns), "that failed with no error on record"),
        )
        self._source.notes += [f"replies {words}: {count}" for count, words in told if count]


def _compacted(line: int, row: Row, about: Compact) -> Event:
    extra = about.extra or Extra()
    outcome: Outcome = "unknown"
    if extra.summarySucceeded is not None:
        outcome = "summary" if extra.summarySucceeded else "no-summary"
    whole = about.finalRatio is not None
    event = _event(row, "compacted", line, outcome=outcome, error=extra.error)
    event.before = event.messages = about.preTokens
    event.after = None if whole else about.postTokens
    event.context = about.postTokens if whole else extra.finalUsedTokens
    event.cap = extra.finalBudgetTokens
    event.cap_source = None if event.cap is None else "recorded"
    if outcome == "no-summary" and extra.error is not None:
        event.fault = classify(extra.error)
    return event


def _trigger(about: Compact, turn: Turn, *, failing: bool) -> Trigger:
    """Say why a compaction ran; `reactive` is what emergency tiers, recoveries and commands all write."""
    if turn.manual or about.trigger == "manual":
        return "manual"
    if about.trigger == "auto":
        return "threshold"
    return "unknown" if not turn.prompted else "overflow" if failing else "threshold"


def _synthetic(message: Message) -> bool:
    mark = message.metadata
    return (mark is not None and bool(mark.synthetic or mark.purpose)) or message.text.startswith(_AFTERWORD)


def _prompt(line: int, row: Row, message: Message, origin: Origin) -> Event:
    text = message.text
    return _event(
        row,
        "prompt",
        line,
        origin=origin,
        size=len(text),
        text=text[:TEXT_LIMIT] or None,
        digest=digest(text) if text else None,
    )


def _event(row: Row, kind: Any, line: int, **columns: Any) -> Event:
    return Event(
        kind=kind, session=row.sessionId, line=line, ts=milliseconds(row.createdAt), record=row.entryId, **columns
    )


@writer(pilotdeck_chat, suffix=".jsonl", pieces=chat_pieces, rules=CHAT_RULES, marks=MARKS, prefixes=PREFIXES)
def pilotdeck_chat_writer(kept: Sequence[Kept], target: Path) -> None:
    """Write a transcript, each record after the one that it now follows."""
    write_json_lines([piece.value for piece in kept], target)
