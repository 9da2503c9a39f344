"""Lines of the pi family's event stream, and whose session they belong to where no header says it (rpc mode)."""

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from forensics.parse import Source
from forensics.parsers._pi import NO_RAW
from forensics.sane import Amount, Count, Millis

_PHASES = ("_start", "_end", "_update", "_appended", "_settled")
_EVENTS = frozenset(
    {"agent_continue_error", "extension_ui_request", "model_changed", "response", "summarization_retry_scheduled"}
    | {"extension_error", "session_info_changed", "summarization_retry_finished", "thinking_level_changed"}
)
_ROLES = frozenset({"user", "assistant", "toolResult", "custom", "bashExecution"})
_SWITCHES = frozenset({"new_session", "switch_session", "fork", "clone"})


def is_header(record: dict[str, Any]) -> bool:
    """Tell the record that a session's file begins with, and its event stream too."""
    return (
        record.get("type") == "session"
        and isinstance(record.get("id"), str)
        and isinstance(record.get("timestamp"), str)
        and (isinstance(record.get("cwd"), str) or isinstance(record.get("version"), int))
    )


def is_event(record: dict[str, Any]) -> bool | None:
    """Tell a line of the stream; a header says nothing, as the session's own file begins with it, too."""
    kind = record.get("type")
    if is_header(record):
        return None
    return isinstance(kind, str) and (kind in _EVENTS or kind.endswith(_PHASES)) and "timestamp" not in record


def is_sure(record: dict[str, Any]) -> bool:
    """Tell an event that no other program's stream has: an rpc answer, a whole message, a compaction."""
    kind = record.get("type")
    if kind == "response":
        return "command" in record and isinstance(record.get("success"), bool)
    if kind in ("message_start", "message_end"):
        message = record.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        return isinstance(message, dict) and isinstance(role, str) and role in _ROLES and "timestamp" in message
    return False


class Line(msgspec.Struct, gc=False, rename="camel"):
    """One line of the stream: the header, an event of the agent's session, or an answer to an rpc command."""

    type: str = ""
    id: str | None = None
    timestamp: datetime | Millis | None = None
    parent_session: str | None = None
    message: Raw = NO_RAW
    entry: Raw = NO_RAW
    reason: str | None = None
    result: Raw = NO_RAW
    aborted: bool | None = None
    will_retry: bool | None = None
    error_message: str | None = None
    final_error: str | None = None
    success: bool | None = None
    attempt: Count | None = None
    max_attempts: Count | None = None
    delay_ms: Amount | None = None
    command: str | None = None
    error: str | None = None
    data: Raw = NO_RAW
    model: Raw = NO_RAW
    to: Raw = NO_RAW
    steering: Raw = NO_RAW
    follow_up: Raw = NO_RAW


class Model(msgspec.Struct, gc=False, rename="camel"):
    """A model as the stream names it."""

    id: str | None = None
    provider: str | None = None
    api: str | None = None
    context_window: Count | None = None


class _ContextUsage(msgspec.Struct, gc=False, rename="camel"):
    tokens: Count | None = None
    context_window: Count | None = None


class Answer(msgspec.Struct, gc=False, rename="camel"):
    """The data of an answer to `get_state`, `get_session_stats` or a switch of the session."""

    session_id: str | None = None
    context_usage: _ContextUsage | None = None
    model: Model | None = None
    cancelled: bool | None = None


_ANSWER = msgspec.json.Decoder(Answer)
_LINE = msgspec.json.Decoder(Line)
_MODEL = msgspec.json.Decoder(Model | str)
_TEXTS = msgspec.json.Decoder(list[str])


def answer_of(data: Raw, source: Source, line: int) -> Answer:
    """Decode an answer's data; most answers hold none, or another's, of which nothing is asked."""
    if not bytes(data).startswith(b"{"):
        return Answer()
    return source.inner(data, _ANSWER, line, "data") or Answer()


def _named(data: Raw) -> Answer:
    """Decode an answer ahead of the reading that tells what is wrong with it."""
    try:
        return _ANSWER.decode(bytes(data) or b"{}")
    except (msgspec.DecodeError, RecursionError):
        return Answer()


def model_of(data: Raw, source: Source, line: int) -> Model:
    """Decode a model: an object, or `provider/id`."""
    found = source.inner(data, _MODEL, line, "model") or Model()
    if isinstance(found, str):
        provider, slash, name = found.partition("/")
        return Model(id=name, provider=provider) if slash else Model(id=found)
    return found


def switches(line: Line, answer: Answer) -> bool:
    """Tell whether an answer means that what follows belongs to another session."""
    return line.command in _SWITCHES and line.success is not False and not answer.cancelled


def texts_of(data: Raw, source: Source, line: int, name: str) -> list[str]:
    """Decode a list of texts."""
    return source.inner(data, _TEXTS, line, name) or []


def sessions_in(path: Path) -> list[str]:
    """Give the sessions of an rpc stream in order, as its answers name them (one more after every switch).

    rpc mode writes no header, and the first answer that names the session may be its last line. A session that no
    answer names is called after the file.
    """
    named: list[str | None] = [None]
    with path.open("rb") as stream:
        for raw in stream:
            if b'"response"' not in raw:
                continue
            try:
                line = _LINE.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if line.type != "response" or line.success is False:
                continue
            answer = _named(line.data)
            if switches(line, answer):
                named.append(None)
            named[-1] = named[-1] or answer.session_id
    return [name or (path.stem if at == 0 else f"{path.stem}#{at + 1}") for at, name in enumerate(named)]
