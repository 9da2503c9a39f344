"""What opencode stores of a message, in every kind of file it has, decoded no further than needed.

Shapes after `packages/schema/src/v1/session.ts` of anomalyco/opencode (1.18.4) and its predecessors since mid 2025:
the database, the export, the JSON tree and `run --format json` all hold the same messages and parts.
"""

from typing import NamedTuple, TypeVar, cast

import msgspec
from msgspec import Raw

from forensics.parse import Source, rescue
from forensics.sane import LIMIT, Amount, Code, Count, Millis

NO_RAW = Raw(b"")
Number = Count | Amount
T = TypeVar("T", bound=msgspec.Struct)


class Cache(msgspec.Struct, gc=False):
    """Prompt tokens read from and written to a cache."""

    read: Number | None = None
    write: Number | None = None


class Tokens(msgspec.Struct, gc=False):
    """Tokens of one provider step. `input` lies outside the cache; `output` leaves `reasoning` out since 1.3."""

    total: Number | None = None
    input: Number | None = None
    output: Number | None = None
    reasoning: Number | None = None
    cache: Cache | None = None


class Times(msgspec.Struct, gc=False):
    """When a message, a session or a retry was made, and when a message was over: Unix milliseconds."""

    created: Millis | None = None
    completed: Millis | None = None


class Span(msgspec.Struct, gc=False):
    """How long a tool call took: Unix milliseconds."""

    start: Millis | None = None
    end: Millis | None = None


class Detail(msgspec.Struct, gc=False, rename={"status_code": "statusCode", "response_body": "responseBody"}):
    """What an error says."""

    message: str | None = None
    status_code: Code | None = None
    response_body: str | None = None


class Problem(msgspec.Struct, gc=False):
    """An error: `name` and `data` in V1, `type`, `message` and `status` in V2."""

    name: str | None = None
    data: Detail | None = None
    type: str | None = None
    message: str | None = None
    status: Code | None = None


class ModelRef(msgspec.Struct, gc=False, rename={"provider_id": "providerID", "model_id": "modelID"}):
    """A model of a provider; V2 and session rows call the model `id`."""

    provider_id: str | None = None
    model_id: str | None = None
    id: str | None = None


class Info(
    msgspec.Struct,
    gc=False,
    rename={"session_id": "sessionID", "parent_id": "parentID", "model_id": "modelID", "provider_id": "providerID"},
):
    """A message without its parts. `summary` is `true` on compaction rows and an object on user rows."""

    id: str | None = None
    session_id: str | None = None
    role: str = ""
    parent_id: str | None = None
    model_id: str | None = None
    provider_id: str | None = None
    cost: Number | None = None
    tokens: Tokens | None = None
    time: Times | None = None
    finish: str | None = None
    error: Problem | None = None
    summary: Raw = NO_RAW


class Mark(msgspec.Struct, gc=False):
    """The metadata of a part, as far as it tells who wrote it."""

    compaction_continue: bool | None = None


class ToolState(msgspec.Struct, gc=False):
    """A tool call; its output is not decoded."""

    status: str | None = None
    input: Raw = NO_RAW
    error: str | None = None
    time: Span | None = None


class Part(msgspec.Struct, gc=False, rename={"message_id": "messageID"}):
    """A part of a message of any type."""

    type: str = ""
    id: str | None = None
    message_id: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    metadata: Mark | None = None
    time: Times | None = None
    tool: str | None = None
    state: ToolState | None = None
    reason: str | None = None
    cost: Number | None = None
    tokens: Tokens | None = None
    auto: bool | None = None
    overflow: bool | None = None
    mime: str | None = None
    url: str | None = None
    prompt: str | None = None
    error: Problem | None = None


class Message(msgspec.Struct):
    """A message with its parts, and where it stands: its line, and what it is sorted by."""

    info: Info
    parts: list[Part] = []
    line: int | None = None
    doubted: bool = False
    """Something of it could not be read: that it shows nothing does not mean that there was nothing."""

    @property
    def order(self) -> tuple[int, str]:
        """Time, then id: ids alone wrap every 795 days (12 hex digits of milliseconds x 4,096)."""
        return created(self.info) or 0, self.info.id or ""


class SessionInfo(msgspec.Struct, gc=False, rename={"parent_id": "parentID"}):
    """A session's own record. `cost` and `tokens` are its recorded totals, since May 2026."""

    id: str | None = None
    parent_id: str | None = None
    fork_id: str | None = None
    """In the database of version 2: the session this one was forked from."""
    version: str | None = None
    cost: Number | None = None
    tokens: Tokens | None = None
    time: Times | None = None


KNOWN_PARTS = frozenset(
    {
        "text",
        "reasoning",
        "tool",
        "step-start",
        "step-finish",
        "file",
        "patch",
        "snapshot",
        "agent",
        "subtask",
        "retry",
        "compaction",
    }
)


def created(info: Info) -> int | None:
    """When the message was made, Unix milliseconds."""
    return whole(info.time.created) if info.time else None


def whole(value: float | None) -> int | None:
    """Give a count or a time as a whole number; what is negative or no number is unknown."""
    return int(value) if value is not None and 0 <= value < LIMIT else None


class Place(NamedTuple):
    """Where an object stands: 1-based line and byte offset (0 in a database), its own name, and whose line it is."""

    line: int
    offset: int
    name: str = ""
    of: str | None = None


def decoded(source: Source, data: bytes, decoder: "msgspec.json.Decoder[T]", place: Place) -> T | None:
    """Decode one JSON object tolerantly; list it with its place when it was not clean."""
    try:
        if data.isascii() or _is_utf8(data):
            return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        pass
    records, reason = rescue(data, cast("type[T]", decoder.type))
    said = f"{place.name}: {reason}" if place.name else reason
    source.reject(place.line, place.offset, said, salvaged=bool(records), of=place.of)
    return records[0] if records else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
