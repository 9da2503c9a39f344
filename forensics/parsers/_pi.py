"""What a message of the pi family holds (pi, Atomic, OpenClaw), and which event it is.

Shared by the session file, the event stream and OpenClaw's database, which all store the same messages. Shapes after
`packages/ai/src/types.ts` of badlogic/pi-mono and `session-manager-types.ts` of bastani-inc/atomic.
"""

import hashlib
import re
import struct
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import ClassVar

import msgspec
from msgspec import Raw

from forensics.events import Event, Fault, Stop
from forensics.faults import classify, window
from forensics.parse import Source
from forensics.patterns import later
from forensics.sane import NO_TIME, Amount, Code, Count, Millis, is_time, millis, read_time

TEXT_LIMIT = 400
"""Characters of a prompt or a reply that an event keeps."""

NO_RAW = Raw(b"")
NOTHING = (b"", b"null")
"""What a field holds, kept as it stood, that is absent or null."""


class Cost(msgspec.Struct, gc=False):
    """US dollars of one request."""

    total: Amount | None = None


class Usage(msgspec.Struct, gc=False, rename="camel"):
    """Tokens of one request; `input` is what was neither read from nor written to a cache."""

    input: Count | None = None
    output: Count | None = None
    cache_read: Count | None = None
    cache_write: Count | None = None
    total_tokens: Count | None = None
    reasoning: Count | None = None
    cost: Cost | None = None


class WholeUsage(msgspec.Struct, gc=False, rename="camel"):
    """A `Usage` of which no part is missing."""

    input: Count
    output: Count
    cache_read: Count
    cache_write: Count
    total_tokens: Count | None = None
    reasoning: Count | None = None
    cost: Cost | None = None


class Message(msgspec.Struct, gc=False, rename="camel"):
    """A message of any role; `content` is left undecoded until a row needs it."""

    role: str = ""
    content: Raw = NO_RAW
    usage: Usage | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    timestamp: datetime | Millis | None = None
    """When the request began, Unix milliseconds; the line that holds the message was written when it ended."""
    provider: str | None = None
    model: str | None = None
    api: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    details: Raw = NO_RAW
    provenance: Raw = NO_RAW
    custom_type: str | None = None
    command: str | None = None
    exit_code: Code | None = None
    cancelled: bool | None = None


class AssistantMessage(msgspec.Struct, gc=False, rename="camel", tag_field="role", tag="assistant", kw_only=True):
    """A model's reply with its usage: what of a `Message` it has. A third cheaper to decode; so are the two others."""

    role: ClassVar[str] = "assistant"
    content: Raw = NO_RAW
    api: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: WholeUsage
    stop_reason: str | None = None
    error_message: str | None = None


class UserMessage(msgspec.Struct, gc=False, tag_field="role", tag="user"):
    """A prompt: what of a `Message` it has."""

    role: ClassVar[str] = "user"
    content: Raw = NO_RAW
    provenance: Raw = NO_RAW


class ToolMeta(msgspec.Struct, gc=False, rename="camel"):
    """What Atomic adds to the result of a tool that reads."""

    source_path: Raw = NO_RAW


class ToolDetails(msgspec.Struct, gc=False, rename="camel"):
    """What only Atomic says of a tool's result: where a text was read, how long a command took."""

    wall_time_ms: Raw = NO_RAW
    meta: ToolMeta | None = None


class ToolMessage(msgspec.Struct, gc=False, rename="camel", tag_field="role", tag="toolResult"):
    """A tool's result: what of a `Message` it has."""

    role: ClassVar[str] = "toolResult"
    tool_name: str | None = None
    is_error: bool | None = None
    details: ToolDetails | None = None


class ShellMessage(msgspec.Struct, gc=False, rename="camel", tag_field="role", tag="bashExecution"):
    """A shell command that the person ran: what of a `Message` it has."""

    role: ClassVar[str] = "bashExecution"
    command: str | None = None
    exit_code: Code | None = None
    cancelled: bool | None = None


class Block(msgspec.Struct, gc=False):
    """A block of a message's content, with the fields that make up its size."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    data: str | None = None
    name: str | None = None
    arguments: Raw = NO_RAW


_BLOCKS = msgspec.json.Decoder(list[Block] | str | None)
_TOOL_DETAILS = msgspec.json.Decoder(ToolDetails | None)
_NO_USAGE = Usage()
_TOOL_CALL = b'"type":"toolCall"'
CALL_END = b"}}]"
"""How content ends whose last block holds an object: the arguments of a tool call, and nothing else, are one."""
last_bytes = struct.Struct(f"{len(CALL_END)}s").unpack_from
"""Give as many last bytes of content as `CALL_END` has, in a tuple, without a copy of the rest: `last_bytes(raw, -3)`.
Raises `struct.error` where it has fewer."""
_NO_END = frozenset({"pending", "deferred"})
_NO_MODEL_REPLY = frozenset({"delivery-mirror", "gateway-injected"})
_REFUSAL = later(
    r"sorry\W+(?:but\W+)?i\s*(?:cannot|can.?t|am unable to|.m unable to)\s+(?:assist|help|comply|continue)",
    re.IGNORECASE,
)
STOPS: dict[str | None, Stop] = {
    "stop": "done",
    "toolUse": "tool",
    "length": "length",
    "error": "error",
    "aborted": "aborted",
}
"""pi's stop reasons; `pending` and `deferred` say nothing of how the reply ended."""


def blocks(content: Raw, source: Source, line: int | None, record: str | None = None) -> list[Block]:
    """Decode a message's content; a plain string is one text block. The source lists a line that does not fit."""
    found = source.inner(content, _BLOCKS, line, "content", record)
    if isinstance(found, str):
        return [Block("text", found)]
    return found or []


def text_of(found: list[Block]) -> str:
    """Join the visible text of a message."""
    if len(found) == 1:
        return (found[0].text or "") if found[0].type == "text" else ""
    return "\n".join(block.text for block in found if block.text and block.type == "text")


def visible(content: Raw) -> str | None:
    """Give a message's visible text; `None` where the content is absent or of another shape, which nobody lists."""
    try:
        found = _BLOCKS.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return None
    return text_of(found) if isinstance(found, list) else found


def size_of(found: list[Block]) -> int:
    """Count the characters of a message, images (as base64) and tool arguments included."""
    if len(found) == 1 and found[0].type == "text":
        return len(found[0].text or "")
    return sum(
        len(block.text or "")
        + len(block.thinking or "")
        + len(block.data or "")
        + len(block.name or "")
        + len(bytes(block.arguments).decode(errors="replace"))
        for block in found
    )


def digest_of(text: str) -> str:
    """Hash a text, so that repeats are equal."""
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def milliseconds(time: datetime | float | str | None) -> int | None:
    """Give a time in Unix milliseconds: ISO 8601 text (UTC where it names no zone) or a number of milliseconds.

    `None` for what is no time, or not one of a recording (`sane.is_time`).
    """
    if isinstance(time, str):
        ms = read_time(time)
    elif isinstance(time, datetime):
        ms = millis(time)
    else:
        ms = int(time) if time is not None and isfinite(time) else None
    return ms if is_time(ms) else None


def told_time(time: datetime | float | None, source: Source, line: int | None, record: str | None) -> int | None:
    """Give a record's time as `milliseconds` does; the source lists one that cannot be it."""
    ms = milliseconds(time)
    if ms is None and time is not None:
        source.doubt(line, f"its time {NO_TIME}", record=record)
    return ms


def is_model_reply(message: Message | AssistantMessage) -> bool:
    """Tell a model's reply from the rows that OpenClaw writes in a model's name.

    Those are mirrors of what it sent to a channel, replies injected by its gateway, and notices of its CLI.
    """
    return message.api != "cli" and message.model not in _NO_MODEL_REPLY


def reply(
    message: Message, source: Source, session: str, line: int | None, record: str | None, *, ts: int | None
) -> Event:
    """Give the event of an assistant message; `ts` is when it ended.

    All-zero usage is what pi writes when it has none, so it stays unknown.
    """
    usage = message.usage or _NO_USAGE
    fresh, output = usage.input, usage.output
    try:
        cached: int | None = usage.cache_read + usage.cache_write  # type: ignore[operator]
        context: int | None = fresh + cached + output  # type: ignore[operator]
    except TypeError:  # a part is not told
        cached = _sum(usage.cache_read, usage.cache_write)
        context = _sum(fresh, cached, output)
    total, cost = usage.total_tokens or None, usage.cost
    if not context:
        context = fresh = cached = output = None
    event = Event(
        kind="reply",
        session=session,
        line=line,
        record=record,
        ts=ts,
        stop=STOPS.get(message.stop_reason),
        context=context,
        input=fresh,
        cached=cached,
        output=output,
        total=total,
        cost=None if cost is None or not (context or total) else cost.total,
        provider=message.provider,
        model=message.model,
        api=message.api,
    )
    if context:
        if usage.reasoning is not None:
            event.reasoning = usage.reasoning
        if event.stop == "tool":
            content = bytes(message.content)
            if content.endswith(CALL_END) or _TOOL_CALL in content:
                return event
    if event.stop == "error":
        _failed(event, message.error_message)
    elif event.stop == "aborted":
        event.error = message.error_message
    elif event.stop is None and message.stop_reason is not None and message.stop_reason not in _NO_END:
        source.unknown[f"stop reason {message.stop_reason[:40]}"] += 1
    _look_inside(event, message, source)
    return event


def _sum(*parts: int | None) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _failed(event: Event, error: str | None) -> None:
    event.error = error
    event.fault = fault_of(error) if error else "unknown"
    if event.fault == "overflow" and error:
        used, cap = window(error)
        event.estimate = used
        if cap:
            event.cap, event.cap_source = cap, "error text"


def _look_inside(event: Event, message: Message, source: Source) -> None:
    doubts = source.doubts
    found = blocks(message.content, source, event.line, event.record)
    text = text_of(found)
    event.text = text[:TEXT_LIMIT] or None
    if event.context is None:
        event.size = size_of(found)
    if event.stop not in {"done", "tool", "length"}:
        return
    calls = any(block.type not in {"text", "thinking"} for block in found)
    if not calls and not event.output and 0 < len(text) <= 120 and _REFUSAL.search(text):
        event.stop, event.fault = "filtered", "refusal"
    elif event.stop != "length" and not calls and not text.strip() and doubts == source.doubts:
        event.stop = "empty"  # missing and null content is empty; content of another shape is not known


def is_atomics(message: Message | ToolMessage) -> bool:
    """Tell a tool's result that only Atomic writes."""
    details = message.details
    if isinstance(details, Raw):
        try:
            details = _TOOL_DETAILS.decode(details)
        except (msgspec.DecodeError, RecursionError):
            return False
    if details is None:
        return False
    meta = details.meta
    return details.wall_time_ms is not NO_RAW or (meta is not None and meta.source_path is not NO_RAW)


def tool(message: Message, session: str, line: int | None, record: str | None, ts: int | None) -> Event:
    """Give the event of a tool's result, or of a shell command that the person ran (`bashExecution`)."""
    if message.role == "bashExecution":
        stop: Stop | None = "aborted" if message.cancelled else None
        return Event(
            kind="tool",
            session=session,
            line=line,
            record=record,
            ts=ts,
            tool="bash",
            stop=stop,
            code=message.exit_code,
        )
    stop = "error" if message.is_error else None
    return Event(kind="tool", session=session, line=line, record=record, ts=ts, tool=message.tool_name, stop=stop)


@lru_cache(maxsize=256)
def fault_of(error: str) -> Fault:
    """Classify an error's words; a storm repeats the same ones."""
    return classify(error)
