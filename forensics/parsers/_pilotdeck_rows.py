"""The rows of a PilotDeck transcript, as far as they are read (`TranscriptEntry` of OpenBMB/PilotDeck)."""

import hashlib
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Raw

from forensics.events import Fault, Stop
from forensics.faults import classify
from forensics.sane import Amount, Code, Count, millis

if TYPE_CHECKING:
    from collections import Counter

TEXT_LIMIT = 400
SUMMARY_LIMIT = 8000
_NONE = Raw(b"null")
_SUMMARY = "[CONTEXT COMPACTION - REFERENCE ONLY]"
_SUMMARY_END = "--- END OF CONTEXT SUMMARY"
_FINISH: dict[str, Stop] = {
    "stop": "done",
    "end_turn": "done",
    "tool_call": "tool",
    "tool_calls": "tool",
    "length": "length",
    "content_filter": "filtered",
    "error": "error",
}
_CODES: dict[str, Fault] = {
    "agent_context_recovery_failed": "overflow",
    "agent_prompt_too_long": "overflow",
    "context_overflow": "overflow",
    "prompt_too_long": "overflow",
}


class Mark(msgspec.Struct, gc=False):
    """Metadata of a message."""

    synthetic: bool | None = None
    purpose: str | None = None
    compactReplacement: bool | None = None  # noqa: N815  (names of the format)
    forkCarryover: bool | None = None  # noqa: N815


class Block(msgspec.Struct, gc=False):
    """A piece of a message."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = _NONE


class Message(msgspec.Struct, gc=False):
    """A message of the conversation."""

    role: str = ""
    content: list[Block] | str = []
    metadata: Mark | None = None

    @property
    def blocks(self) -> list[Block]:
        """The pieces of the message."""
        return [Block("text", self.content)] if isinstance(self.content, str) else self.content

    @property
    def text(self) -> str:
        """The words of the message."""
        return "\n".join(block.text for block in self.blocks if block.type == "text" and block.text)

    @property
    def copied(self) -> bool:
        """Written again behind a compaction or a fork: not said a second time."""
        return self.metadata is not None and bool(self.metadata.compactReplacement or self.metadata.forkCarryover)


class Usage(msgspec.Struct, gc=False):
    """Tokens; the input without what a cache gave."""

    inputTokens: Count | None = None  # noqa: N815
    outputTokens: Count | None = None  # noqa: N815
    cacheReadTokens: Count | None = None  # noqa: N815
    cacheWriteTokens: Count | None = None  # noqa: N815
    reasoningTokens: Count | None = None  # noqa: N815
    totalTokens: Count | None = None  # noqa: N815

    def columns(self) -> dict[str, int | None]:
        """Give the usage columns of an event, empty when nothing was counted."""
        if not (self.inputTokens or self.outputTokens or self.cacheReadTokens or self.cacheWriteTokens):
            return {}
        caches = [figure for figure in (self.cacheReadTokens, self.cacheWriteTokens) if figure is not None]
        return {
            "input": self.inputTokens,
            "cached": sum(caches) if caches else None,
            "output": self.outputTokens,
            "reasoning": self.reasoningTokens,
        }


class Reason(msgspec.Struct, gc=False):
    """What the provider said of an error."""

    code: str | None = None
    status: Code | None = None
    provider: str | None = None
    message: str | None = None


class Error(msgspec.Struct, gc=False):
    """An error of the agent, or of a model's stream."""

    code: str | None = None
    message: str | None = None
    status: Code | None = None
    provider: str | None = None
    details: Reason | None = None


class Failed(NamedTuple):
    """An error in the program's terms."""

    text: str | None
    fault: Fault
    provider: str | None


class Result(msgspec.Struct, gc=False):
    """How a turn ended; its usage is the sum over the turn's requests."""

    type: str = ""
    stopReason: str | None = None  # noqa: N815
    usage: Usage | None = None
    errors: list[Error] = []


class Extra(msgspec.Struct, gc=False):
    """What a compaction boundary says besides."""

    tier: str | None = None
    summarySucceeded: bool | None = None  # noqa: N815
    error: str | None = None
    finalBudgetTokens: Count | None = None  # noqa: N815
    finalUsedTokens: Count | None = None  # noqa: N815


class Compact(msgspec.Struct, gc=False):
    """The metadata of a compaction boundary."""

    compactionId: str | None = None  # noqa: N815
    trigger: str | None = None
    preTokens: Count | None = None  # noqa: N815
    """The messages alone."""
    postTokens: Count | None = None  # noqa: N815
    """The messages alone; the whole prompt in builds that write `finalRatio` beside it."""
    finalRatio: Amount | None = None  # noqa: N815
    extra: Extra | None = None


class Copies(msgspec.Struct, gc=False):
    """The context after a compaction, in the boundary's own row (PR 599)."""

    messages: list[Message] = []


class Boundary(msgspec.Struct, gc=False):
    """A mark in the conversation."""

    kind: str | None = None
    subtype: str | None = None
    compactMetadata: Compact | None = None  # noqa: N815
    snapshot: Copies | None = None
    replacementMessages: list[Message] = []  # noqa: N815


class About(msgspec.Struct, gc=False):
    """Metadata of a session."""

    parentSessionId: str | None = None  # noqa: N815


class Piece(msgspec.Struct, gc=False):
    """An event of a model's stream."""

    type: str = ""
    text: str | None = None
    finishReason: str | None = None  # noqa: N815
    usage: Usage | None = None
    error: Error | None = None


class Request(msgspec.Struct, gc=False):
    """A request to a model."""

    provider: str | None = None
    model: str | None = None


class Call(msgspec.Struct, gc=False):
    """A tool call."""

    id: str | None = None
    name: str | None = None
    input: Raw = _NONE


class Row(msgspec.Struct, gc=False):
    """A row; a type fills what it has."""

    type: str = ""
    sessionId: str = ""  # noqa: N815
    turnId: str = ""  # noqa: N815
    createdAt: datetime | None = None  # noqa: N815
    entryId: str | None = None  # noqa: N815
    messages: list[Message] = []
    message: Message | None = None
    metadata: About | None = None
    event: Raw = _NONE
    text: str | None = None
    detail: Raw = _NONE
    result: Raw = _NONE
    boundary: Boundary | None = None
    trigger: str | None = None
    status: str | None = None
    tier: str | None = None
    compactionId: str | None = None  # noqa: N815
    error: Raw = _NONE
    request: Request | None = None
    call: Call | None = None


def milliseconds(time: datetime | None) -> int | None:
    """Give a row's time in UTC milliseconds."""
    return None if time is None else millis(time)


def digest(*parts: str) -> str:
    """Give a short hash of what was said or called."""
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


def failed(error: Error) -> Failed:
    """Class an error by its words, then by the agent's or the provider's code, then by the HTTP status."""
    inner = error.details or Reason(error.code, error.status, error.provider)
    text = error.message or inner.message
    fault = classify(text)
    for code in (inner.code, error.code):
        if fault == "unknown" and code:
            fault = _CODES.get(code) or classify(code)
    if fault == "unknown":
        fault = classify(None, inner.status)
    return Failed(text, fault, inner.provider)


def finish(reason: str | None, unknown: "Counter[str]") -> Stop | None:
    """Give how a reply ended by the stream's finish reason."""
    if reason is not None and reason not in _FINISH:
        unknown[f"finish reason {reason[:40]}"] += 1
    return None if reason is None else _FINISH.get(reason)


def summary(message: Message) -> str | None:
    """Give the words of a compaction summary without its frame; `None` when the message is none."""
    text = message.text
    if not text.startswith(_SUMMARY):
        return None
    body = text.split("\n", 1)[1] if "\n" in text else ""
    return body.split(_SUMMARY_END, 1)[0].strip()[:SUMMARY_LIMIT]
