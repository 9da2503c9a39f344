"""The records of a pi family session as a capture takes them: linked, unwrapped, with the files beside it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from forensics.parse import Piece, Rules, Source, Wanted, json_lines, words, write_json_lines
from forensics.parsers._pi_diagnostics import NAME, beside
from forensics.parsers._pi_prompt import prompt_of
from forensics.parsers._pi_rows import home_of

_STOPS = frozenset({"stop", "toolUse", "length", "error", "aborted", "pending", "deferred"})
_TYPES = words(
    """session message model_change thinking_level_change compaction context_compaction context_window_change
    branch_summary custom custom_message context_edit label session_info session_summary text thinking toolCall
    image"""
)
_ROLES = words("user assistant toolResult bashExecution custom hookMessage branchSummary compactionSummary system")
_CUSTOM = frozenset({"openclaw:prompt-error", "model-snapshot", "openclaw:bootstrap-context:full", "openclaw:capture"})
_CATEGORIES = frozenset({"starved", "aborted", "cancelled", "context_overflow", "rate_limit", "provider_error"})
_NUMBERS = words("""version input output cacheRead cacheWrite totalTokens reasoning total tokensBefore tokensAfter
linesBefore linesAfter contextWindow isError exitCode cancelled truncated fromHook display wallTimeMs
messagesBefore messagesAfter""")
MESSAGE_RULES: Rules = {
    **dict.fromkeys(_NUMBERS, ("number",)),
    "role": (_ROLES,),
    "content": ("inside", "text"),
    "type": (_TYPES,),
    "id": ("id",),
    "text": ("text",),
    "thinking": ("text",),
    "data": ("inside", "text"),
    "name": ("name",),
    "arguments": ("empty",),
    "usage": ("inside",),
    "cost": ("inside", "number"),
    "stopReason": (_STOPS,),
    "errorMessage": ("error",),
    "timestamp": ("time",),
    "provider": ("name",),
    "model": ("inside", "name"),
    "model.id": ("name",),
    "api": ("name",),
    "toolName": ("name",),
    "toolCallId": ("id",),
    "provenance": ("inside",),
    "kind": (frozenset({"external_user", "inter_session", "internal_system"}), "name"),
    "details": ("inside",),
    "meta": ("inside",),
    "sourcePath": ("path",),
    "strategy": (frozenset({"verbatim-lines"}), "name"),
    "rung": (frozenset({"fresh", "planned", "critical"}), "name"),
    "stats": ("inside",),
    "customType": (_CUSTOM, "name"),
    "command": ("text",),
}
"""What a message of the pi family holds, wherever it is stored."""
RULES: Rules = {
    **MESSAGE_RULES,
    "message": ("inside",),
    "parentId": ("id",),
    "targetId": ("id",),
    "firstKeptEntryId": ("id",),
    "parentSession": ("id",),
    "branchedFrom": ("id",),
    "cwd": ("path",),
    "workflow": ("empty",),
    "protectedReconciliation": ("empty", "number"),
    "modelId": ("name",),
    "thinkingLevel": (frozenset({"off", "minimal", "low", "medium", "high", "xhigh"}), "name"),
    "summary": ("text",),
    "error": ("error",),
    "file": ("inside",),
    "ms": ("time",),
    "failureCategory": (_CATEGORIES, "name"),
    "failureMessage": ("error",),
    "rawResponse": ("text",),
}
MARKS = (
    r"^\[\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC\] (?:\[OpenClaw heartbeat poll\])?"
    r"|^System: \[\d{4}-\d\d-\d\d \d\d:\d\d UTC\]"
    r"|^\s*(?:\[OpenClaw heartbeat poll\]|Read HEARTBEAT\.md\b|Pre-compaction memory flush\b|\[cron:\]"
    r"|A new session was started via /(?:new|reset)\b|\[Subagent (?:Context|Task)\]|\[System Message\]"
    r"|An async command you ran earlier has completed|\[Queued messages while agent was busy\])"
)
PREFIXES = ("openclaw:", "openclaw-", "pi-workflows-", "rate_limit")
_OWN: dict[str, dict[str, Any]] = {
    "atomic": {"type": "session_summary"},
    "openclaw": {"type": "custom", "customType": "openclaw:capture"},
}
_MACHINE_MARKS = ("[cron:", "[Queued messages while agent was busy", "[Queued announce messages")


class _Link(msgspec.Struct, gc=False, rename="camel"):
    id: str | None = None
    parent_id: str | UnsetType | None = UNSET


_LINKS = msgspec.json.Decoder(_Link)


def pieces(source: Source, wanted: Wanted | None) -> Iterator[Piece]:
    """Give the records, each with the nearest one above it that is given too."""
    loaded = list(json_lines(source, wanted))
    places = {name: at for at, (_, value) in enumerate(loaded) if isinstance(name := value.get("id"), str)}
    above = _above(source, places)
    for at, (line, value) in enumerate(loaded):
        name = value.get("id")
        yield Piece(
            value=unwrapped(value),
            line=line,
            record=name if isinstance(name, str) else None,
            fixed=value.get("type") == "session" and at == 0,
            above=above.get(name) if isinstance(name, str) else None,
            link="parentId",
        )
    if (home := home_of(source.path)) is not None:  # what only this agent writes tells it where its folder does not
        yield Piece(value=dict(_OWN[home]))
    for path in beside(source.path):
        yield from _side(path)


def _above(source: Source, places: dict[str, int]) -> dict[str, int | None]:
    """Map each record to the position of the nearest given record above it, over those that are not given."""
    nearest: dict[str, int | None] = {}
    found: dict[str, int | None] = {}
    before: int | None = None
    for _, link in Source(source.path).decoded(_LINKS):
        if link.id is None or link.id in nearest or link.parent_id is UNSET:
            continue
        above = None if link.parent_id is None else nearest.get(link.parent_id, before)
        place = places.get(link.id)
        if place is not None:
            found[link.id] = above
        nearest[link.id] = before = above if place is None else place
    return found


def _side(path: Path) -> Iterator[Piece]:
    try:
        value = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, RecursionError):
        return
    name = NAME.match(path.name)
    if isinstance(value, dict) and name is not None:
        about = {"ms": int(name["ms"]), "id": name["id"]}
        yield Piece(value={**value, "file": about}, table="beside", record=path.name)


def unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """Take off a user message what OpenClaw wraps it in, but for when it was sent and that a machine wrote it."""
    message = value.get("message")
    if not isinstance(message, dict) or message.get("role") != "user":
        return value
    content = message.get("content")
    if isinstance(content, str):
        return {**value, "message": {**message, "content": _bare(content)}}
    if not isinstance(content, list):
        return value
    blocks = [
        {**block, "text": _bare(block["text"])}
        if isinstance(block, dict) and isinstance(block.get("text"), str)
        else block
        for block in content
    ]
    return {**value, "message": {**message, "content": blocks}}


def _bare(text: str) -> str:
    found = prompt_of(text)
    bare = found.text
    if found.origin == "synthetic" and bare == text and text.startswith("System"):
        return f"System: [2020-01-01 00:00 UTC] {text.partition(']')[2]}"
    if found.sent is None and bare == text and not text.startswith(_MACHINE_MARKS):
        return text
    for mark in _MACHINE_MARKS:
        if bare.lstrip().startswith(mark):
            bare = f"{mark}]{bare.partition(']')[2]}"
    if found.sent is None:
        return bare
    sent = datetime.fromtimestamp(found.sent / 1000, UTC)
    return f"[{sent:%Y-%m-%d %H:%M}{'' if found.to_the_minute else f':{sent:%S}'} UTC] {bare}"


def write(kept: Sequence[Piece], target: Path) -> None:
    """Write the session file, and the files that belong beside it."""
    write_json_lines([piece.value for piece in kept if piece.table != "beside"], target)
    stem = target.name.removesuffix(".jsonl")
    for piece in kept:
        if piece.table == "beside":
            about = piece.value["file"]
            name = f"{stem}-compaction-diagnostic-{about['ms']}-{about['id']}.json"
            value = {key: inner for key, inner in piece.value.items() if key != "file"}
            target.with_name(name).write_bytes(msgspec.json.encode(value))
