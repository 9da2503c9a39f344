"""A PilotDeck session turn by turn: what each request came to, told by the rows that follow it.

A transcript keeps neither finish reasons nor, in mid-turn, errors (builds of September 2026 do). The order of the rows
does: it is that of `AgentLoop.run` (OpenBMB/PilotDeck). A reply is held until a row says how it ended.
"""

from typing import TYPE_CHECKING, Any

import msgspec

from forensics.events import Event, Stop
from forensics.faults import window
from forensics.parsers._pilotdeck_rows import (
    TEXT_LIMIT,
    Call,
    Failed,
    Message,
    Piece,
    Request,
    Result,
    Row,
    digest,
    failed,
    finish,
    milliseconds,
)

if TYPE_CHECKING:
    from collections import Counter

_RESULTS = frozenset({"success", "error", "aborted", "max_turns"})
_NO_REQUEST = frozenset({"agent_context_recovery_failed"})
_NOT_THE_MODEL = frozenset(
    {"agent_max_turns_reached", "agent_tool_error_loop", "agent_transcript_error", "agent_unsupported_feature"}
)


class Turn:
    """The turn that a session is in. Methods give the rows that are settled, in order."""

    def __init__(self, session: str, unknown: "Counter[str]") -> None:
        self.session = session
        self._unknown = unknown
        self.id = ""
        self.prompted = False
        """The turn began with a prompt."""
        self.manual = False
        """A person asked for a compaction in this turn."""
        self.cut = self.lost = self.nameless = 0
        """How often the order of the rows alone told how a reply ended: cut, without a row, failed without words."""
        self._held: list[Event] = []
        self._asked: Event | None = None
        """The budget row of a request that no row has answered yet."""
        self._stream: _Stream | None = None
        self._streams = False
        self._counted = False
        self._calls: set[str] = set()

    @property
    def failing(self) -> bool:
        """The last request of the turn failed."""
        return bool(self._held) and self._held[0].stop == "error"

    def begin(self, turn: str) -> list[Event]:
        """Take the id of the next row's turn; a row without one belongs to the turn that goes on."""
        if turn in {self.id, ""}:
            return []
        rows = self.settle(goes_on=False)
        self.id = turn
        self.prompted = self.manual = self._counted = False
        self._calls.clear()
        return rows

    def budget(self, row: Event) -> list[Event]:
        """Take the size of the next request."""
        rows = self.settle(goes_on=True)
        if self._asked is not None and not self._streams:
            self.lost += 1
            asked = self._asked
            rows.append(self._event("reply", asked.line, asked.ts, asked.record, stop="empty"))
        self._asked = row
        return [*rows, row]

    def request(self, line: int, row: Row) -> list[Event]:
        """Take a request to the model (September 2026)."""
        rows = self.settle(goes_on=True)
        self._streams = True
        self._stream = _Stream(line, row, row.request, self._unknown)
        return rows

    def piece(self, line: int, row: Row, piece: Piece) -> None:
        """Take an event of the model's stream (September 2026)."""
        self._streams = True
        if self._stream is None:
            self._stream = _Stream(line, row, None, self._unknown)
        self._stream.take(line, row, piece)

    def reply(self, line: int, row: Row, message: Message) -> list[Event]:
        """Take a message of the model."""
        stream, self._stream = self._stream, None
        rows = self.settle(goes_on=True)
        self._asked = None
        text = message.text
        calls = [Call(one.id, one.name, one.input) for one in message.blocks if one.type == "tool_call"]
        told = "tool" if calls else "done" if text else "error" if not message.blocks else "empty"
        event = self._event("reply", line, milliseconds(row.createdAt), row.entryId, stop=told)
        event.size, event.text, event.digest = len(text), text[:TEXT_LIMIT] or None, digest(text) if text else None
        if stream is not None:
            self._counted = stream.fill(event) or self._counted
        self._held = [event]
        for call in calls:
            self._held += self.call(line, row, call)
        return rows

    def call(self, line: int, row: Row, call: Call) -> list[Event]:
        """Take a tool call; a call is written once, whichever rows name it."""
        if call.id is not None and call.id in self._calls:
            return []
        self._calls.add(call.id or "")
        mark = digest(call.name or "", _canonical(call.input))
        event = self._event("tool", line, milliseconds(row.createdAt), call.id, tool=call.name, digest=mark)
        if self._held:
            self._held.append(event)
            return []
        return [event]

    def settle(self, *, goes_on: bool) -> list[Event]:
        """Give the reply held back. When the turn goes on, an answer without tool calls was cut or failed."""
        rows, self._held = self._held, []
        stream, self._stream = self._stream, None
        if rows and goes_on and rows[0].stop == "done" and not self._streams:
            rows[0].stop = "length"
            self.cut += 1
        if rows and rows[0].stop == "error" and rows[0].error is None:
            rows[0].fault = "unknown"
            self.nameless += 1
        if stream is not None and stream.answered:
            event = self._event("reply", stream.line, stream.ts, stream.record)
            self._counted = stream.fill(event) or self._counted
            self._asked = None
            rows.append(event)
        return rows

    def mark(self, stop: Stop, error: Failed | None = None) -> None:
        """Take a status that says how the reply held back really ended."""
        if self._held:
            self._held[0].stop = stop
            if error is not None:
                self._held[0].error, self._held[0].fault = error.text, error.fault

    def end(self, line: int, row: Row, result: Result) -> list[Event]:
        """Take the end of the turn."""
        ts = milliseconds(row.createdAt)
        error = result.errors[0] if result.errors else None
        rows: list[Event] = []
        if result.type == "aborted" or (result.stopReason or "").startswith("aborted"):
            last = self._last(line, ts, row, "aborted")
            last.fault = "cancelled"
        elif result.type == "error" and (error is None or error.code not in _NOT_THE_MODEL):
            self._fail(self._last(line, ts, row, "error"), failed(error) if error else None)
            if error is not None and error.code in _NO_REQUEST:
                self._held[0].requests = 0
        elif result.type in {"error", "max_turns"}:
            rows.append(self._event("note", line, ts, row.entryId, text=result.stopReason, error=_words(error)))
        elif result.type not in _RESULTS:
            self._unknown[f"turn result {result.type[:40] or '(no type)'}"] += 1
        elif self._asked is not None and not self._held and not self._streams:
            self.lost += 1
            self._held = [self._event("reply", self._asked.line, self._asked.ts, self._asked.record, stop="empty")]
        rows = [*self.settle(goes_on=False), *rows]
        self._asked = None
        usage = result.usage.columns() if result.usage and not self._counted else {}
        if usage:
            rows.append(self._event("note", line, ts, row.entryId, text="tokens of the whole turn", **usage))
        return rows

    def _last(self, line: int, ts: int | None, row: Row, stop: Stop) -> Event:
        """Give the reply that the turn ended with: the one held back, unless its tools were already called."""
        if not self._held:
            self._held = [self._event("reply", line, ts, row.entryId)]
            if self._stream is not None:
                self._counted = self._stream.fill(self._held[0]) or self._counted
                self._stream = None
        self._held[0].stop = stop
        return self._held[0]

    def _fail(self, reply: Event, error: Failed | None) -> None:
        if error is None:
            return
        reply.error, reply.fault, reply.provider = error.text, error.fault, error.provider
        if error.fault == "overflow" and error.text:
            sizes = window(error.text)
            reply.estimate = sizes.used
            if sizes.cap is not None:
                reply.cap, reply.cap_source = sizes.cap, "error text"

    def _event(self, kind: Any, line: int | None, ts: int | None, record: str | None, **columns: Any) -> Event:
        return Event(kind=kind, session=self.session, line=line, ts=ts, record=record, **columns)


class _Stream:
    """A request whose stream is on record: how it ended, what it cost."""

    def __init__(self, line: int, row: Row, request: Request | None, unknown: "Counter[str]") -> None:
        self._unknown = unknown
        self.line = line
        self.ts = milliseconds(row.createdAt)
        self.record = row.entryId
        self._request = request
        self._stop: Stop | None = None
        self._piece = Piece()
        self._error: Failed | None = None
        self._size = 0

    @property
    def answered(self) -> bool:
        """The stream's end is on record."""
        return self._stop is not None

    def take(self, line: int, row: Row, piece: Piece) -> None:
        """Take an event of the stream."""
        if piece.text is not None and piece.type == "text_delta":
            self._size += len(piece.text)
        if piece.usage is not None:
            self._piece.usage = piece.usage
        if piece.finishReason is not None or piece.type == "error":
            self.line, self.ts, self.record = line, milliseconds(row.createdAt), row.entryId
            self._stop = "error" if piece.type == "error" else finish(piece.finishReason, self._unknown)
        if piece.error is not None:
            self._error = failed(piece.error)

    def fill(self, event: Event) -> bool:
        """Write what the stream says into a reply; say whether its tokens are known."""
        event.stop = self._stop or event.stop
        if self._request is not None:
            event.provider, event.model = self._request.provider, self._request.model
        if self._error is not None:
            event.error, event.fault = self._error.text, self._error.fault
        event.size = self._size if event.size is None else event.size
        usage = self._piece.usage.columns() if self._piece.usage else {}
        if not usage:
            return False
        for name, figure in usage.items():
            setattr(event, name, figure)
        event.context = sum(usage[name] or 0 for name in ("input", "cached", "output"))
        event.total = self._piece.usage.totalTokens if self._piece.usage else None
        return True


def _canonical(raw: msgspec.Raw) -> str:
    try:
        return msgspec.json.encode(msgspec.json.decode(raw), order="deterministic").decode()
    except (msgspec.MsgspecError, RecursionError):
        return bytes(raw).decode(errors="replace")


def _words(error: Any) -> str | None:
    return None if error is None else error.message
