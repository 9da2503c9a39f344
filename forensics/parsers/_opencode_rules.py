"""What a single opencode message says: how a reply ended, whether a summary was made, what a prompt holds.

The rules are those of `packages/opencode/src/session/{processor,compaction,message-v2}.ts` of anomalyco/opencode.
"""

import hashlib
from typing import TYPE_CHECKING

import msgspec

from forensics.events import Event, Fault, Outcome, Stop
from forensics.parsers._opencode_shapes import Message, Part, created, whole
from forensics.parsers._opencode_usage import Failing, failing
from forensics.patterns import later

if TYPE_CHECKING:
    from collections import Counter

TEXT_LIMIT = 400
"""Characters of a prompt or a reply that an event keeps."""
SUMMARY_LIMIT = 4000
"""Characters of a summary that an event keeps."""
DIED = "no end recorded: the process ended while this reply was being made"
"""The text of a reply that has none of its own: no error, which is for the words of others."""

_ATTACHED = later(r"^\[Attached [^\]\n]{1,200}: [^\]\n]*\]$")
_REDACTED = later(r"^\[redacted:[^\]]*\]$")
_MEDIA = ("image/", "application/pdf")
_FINISHES: dict[str, Failing] = {
    "tool-calls": Failing("tool", None, None),
    "length": Failing("length", None, None),
    "content-filter": Failing("filtered", "refusal", None),
    "error": Failing("error", "unknown", None),
}
_ORDINARY = frozenset({"stop", "other", "unknown"})
_SHOWN = frozenset({"tool", "file", "patch"})
_STEP = frozenset({"step-start", "step-finish", "text", "reasoning"})


def digest(text: str) -> str:
    """Hash a text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def canonical(raw: msgspec.Raw) -> bytes:
    """Give the same bytes for the same JSON value, however it was laid out."""
    if not bytes(raw):
        return b""
    try:
        return msgspec.json.encode(msgspec.json.decode(raw), order="deterministic")
    except (msgspec.DecodeError, RecursionError):
        return bytes(raw)


def call_digest(tool: str | None, call: msgspec.Raw) -> str:
    """Hash a tool call: equal for the same tool with the same input."""
    return digest(f"{tool}\0{canonical(call).decode(errors='replace')}")


def ended(message: Message) -> int | None:
    """When the message was over, else when it was made."""
    completed = whole(message.info.time.completed) if message.info.time else None
    return completed or created(message.info)


def marker(message: Message) -> Part | None:
    """Give the part that asks for a compaction."""
    return next((part for part in message.parts if part.type == "compaction"), None)


def finish(message: Message) -> str | None:
    """Why the message ended: its own word, else its last step's (messages had none until late 2025)."""
    if message.info.finish:
        return message.info.finish
    step = next((part for part in reversed(message.parts) if part.type == "step-finish"), None)
    return None if step is None else step.reason or "unknown"


def visible(message: Message) -> str:
    """Give the text that a person saw."""
    texts = (part.text for part in message.parts if part.type == "text" and not part.synthetic and not part.ignored)
    return "\n".join(text for text in texts if text and text.strip())


def is_command(message: Message) -> bool:
    """Say whether the message is a command that a person ran (`!ls`, a subtask): tools, but no provider's step."""
    kinds = {part.type for part in message.parts}
    return "tool" in kinds and not kinds & _STEP and message.info.error is None


def closing(reason: str, *, shown: bool) -> Failing:
    """Say how a reply ended that its provider ended for `reason`; `shown`: a person can see something of it."""
    stop: Stop = "done" if shown else "empty"
    return _FINISHES.get(reason, Failing(stop, None, None))


def count_finish(reason: str | None, unknown: "Counter[str]") -> None:
    """Count a finish reason that is not known; it ends a reply like `stop`."""
    if reason and reason not in _FINISHES and reason not in _ORDINARY:
        unknown[f"finish {reason[:40]}"] += 1


def ending(message: Message) -> Failing:
    """Say how a reply ended that has an error or a finish."""
    if message.info.error is not None:
        return failing(message.info.error)
    reason = finish(message) or ""
    if reason == "unknown" and not message.info.finish:
        last = next((part.type for part in reversed(message.parts) if part.type in {"tool", "text"}), "")
        reason = "tool-calls" if last == "tool" else reason
    # Reasoning alone, billed output without a part, or nothing at all: nobody saw an answer.
    shown = bool(visible(message)) or any(part.type in _SHOWN for part in message.parts)
    return closing(reason, shown=shown)


def outcome(message: Message) -> tuple[Outcome, Failing]:
    """Judge a summary. opencode itself takes an empty or a cut one for a summary, and drops the history for it."""
    problem = message.info.error
    if problem is not None:
        why = failing(problem)
        return ("aborted" if why.stop == "aborted" else "failed"), why
    reason = finish(message)
    if reason is None:
        over = message.info.time is not None and message.info.time.completed is not None
        return ("aborted" if over else "unknown"), Failing("error", None, None)
    return judged(reason, visible(message))


def judged(reason: str, text: str) -> tuple[Outcome, Failing]:
    """Judge a summary by why its provider ended it and by its text."""
    fault: Fault
    if reason == "error":
        return "failed", Failing("error", "unknown", None)
    if reason == "content-filter":
        fault = "refusal"
    elif not text.strip():
        fault = "empty-summary"
    elif reason == "length":
        fault = "truncated-summary"
    else:
        return "summary", Failing("done", None, None)
    return "no-summary", Failing("error", fault, None)


def tool(part: Part, session: str | None, line: int | None, ts: int | None) -> Event:
    """Give the row of a tool call."""
    state = part.state
    time = state.time if state else None
    return Event(
        kind="tool",
        session=session,
        line=line,
        record=part.id,
        ts=(whole(time.end or time.start) if time else None) or ts,
        error=state.error if state else None,
        tool=part.tool,
        digest=call_digest(part.tool, msgspec.Raw(b"") if state is None else state.input),
    )


def written_by_agent(part: Part) -> bool:
    """Say whether opencode wrote this part of a user message."""
    return part.synthetic is True or (part.metadata is not None and part.metadata.compaction_continue is True)


def prompt_size(parts: list[Part]) -> int:
    """Characters that a user message puts into the prompt: its texts, and the data URLs of files that stay whole."""
    return sum(len(part.text or part.prompt or "") for part in parts) + sum(
        len(part.url or "")
        for part in parts
        if part.type == "file" and not _is_media(part) and (part.url or "").startswith("data:")
    )


def prompt_digest(parts: list[Part]) -> str | None:
    """Hash what survives a replay: media files become a placeholder text there, everything else is copied whole."""
    kept = [
        f"{part.type}\0{part.text or part.prompt or part.url or ''}"
        for part in parts
        if part.type in {"text", "file", "subtask", "agent"}
        and not (part.type == "file" and _is_media(part))
        and not (part.type == "text" and _ATTACHED.match(part.text or ""))
    ]
    return digest("\1".join(kept)) if kept else None


def all_redacted(parts: list[Part]) -> bool:
    """Say whether `--sanitize` blanked every text, so that equal texts are not equal any more."""
    texts = [part.text for part in parts if part.type == "text"]
    return bool(texts) and all(_REDACTED.match(text or "") for text in texts)


def _is_media(part: Part) -> bool:
    return (part.mime or "").startswith(_MEDIA)
