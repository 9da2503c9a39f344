"""The records of PilotDeck's transcripts and of its log as a capture takes them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from forensics.parse import Piece, Rules, Source, Wanted, json_lines, words
from forensics.parsers._pilotdeck_lines import Line, part
from forensics.parsers._pilotdeck_stages import STAGES, unquoted
from forensics.patterns import later
from forensics.sane import figure, read_time
from forensics.tolerant import salvage

_TYPES = words("""
accepted_input agent_instructions agent_status_message agent_turn_discarded agent_turn_enqueued assistant_message
compaction_completed compaction_failed compaction_skipped compaction_started context_budget context_snapshot
control_boundary durable_message file_artifacts inbox_mutation model_request model_stream_event permission_completed
permission_failed permission_started question_completed question_failed question_started session_metadata
step_completed step_started subagent_completed subagent_descriptor subagent_started tool_call tool_result
tool_result_message turn_result turn_started text thinking image message_start message_end text_delta thinking_delta
tool_call_start tool_call_delta tool_call_end usage error success aborted max_turns
""")
_EVENTS = words("""
context_budget content_filter_stop unknown_finish_reason max_output_recovery_exhausted model_empty_response_exhausted
tool_call_recovery_exhausted model_request_failed turn_failed turn_aborted
""")
_FINISHES = words("stop end_turn tool_call tool_calls length content_filter error")
_NUMBERS = words("""
sequence inputTokens outputTokens cacheReadTokens cacheWriteTokens reasoningTokens totalTokens used displayUsed total
effectiveTotal reservedOutputTokens ratio exact tokens maxContextTokens totalContextTokens effectiveContextTokens
maxOutputTokens warningRatio blockingRatio localEstimateTokens calibrationActualInputTokens
calibrationEstimatedInputTokens preTokens postTokens finalRatio finalBudgetTokens finalUsedTokens summarySucceeded
summaryGenerated messagesSummarized messageCount turns status synthetic compactReplacement forkCarryover applied
rewritten messages system tools memory mcp targetTokens checkpointMerged cacheReset step
""")
_SNAPSHOT: Rules = {
    **dict.fromkeys(_NUMBERS, ("number",)),
    "sessionId": ("id",),
    "turnId": ("id",),
    "snapshot": ("inside",),
    "relaxedSnapshot": ("inside",),
    "state": (words("ok warning blocking"),),
    "error": ("inside", "error"),
}
CHAT_RULES: Rules = {
    **_SNAPSHOT,
    "type": (_TYPES,),
    "createdAt": ("time",),
    "startedAt": ("time",),
    "completedAt": ("time",),
    "entryId": ("id",),
    "parentEntryId": ("id",),
    "operationId": ("id",),
    "runId": ("id",),
    "compactionId": ("id",),
    "compactSnapshotId": ("id",),
    "parentSessionId": ("id",),
    "id": ("id",),
    "toolCallId": ("id",),
    "messages": ("inside", "number"),
    "message": ("inside", "error"),
    "replacementMessages": ("inside",),
    "role": (words("user assistant system tool"),),
    "content": ("inside", "text"),
    "text": ("text",),
    "agent_status_message.text": ("words",),
    "name": ("name",),
    "input": ("empty", "number"),
    "metadata": ("inside",),
    "purpose": ("name",),
    "event": ("inside", _EVENTS),
    "detail": ("inside",),
    "breakdown": ("inside",),
    "result": ("inside",),
    "usage": ("inside",),
    "errors": ("inside",),
    "details": ("inside",),
    "stopReason": ("words",),
    "finishReason": (_FINISHES,),
    "code": ("words",),
    "provider": ("name",),
    "model": ("name",),
    "request": ("inside",),
    "call": ("inside",),
    "boundary": ("inside",),
    "compactMetadata": ("inside",),
    "extra": ("inside",),
    "tier": ("words",),
    "trigger": (words("auto manual reactive"), "name"),
    "kind": (words("compact status error text"), "name"),
    "subtype": (words("compact_boundary"), "name"),
    "status": ("number", words("compacted skipped failed completed")),
}
MARKS = (
    r"^\[CONTEXT COMPACTION - REFERENCE ONLY\]|--- END OF CONTEXT SUMMARY(?: ---)?"
    r"""|status="(?:summary_failed|no_content)"|^\[system: the conversation above has been compacted"""
)
PREFIXES = ("always-on/", "web:", "cli:", "tui:")
LOG_RULES: Rules = {
    **_SNAPSHOT,
    "stamp": ("time",),
    "at": ("time",),
    "process": (words("gateway server runtime-supervisor restart-supervisor"),),
    "stage": (frozenset(STAGES), "name"),
    "tag": (words("model-error-recovery proactive manual"), "words"),
    "data": ("inside",),
    "session": ("id",),
    "turn": ("id",),
    "said": ("words",),
    "retry": (words("transientRetry zeroUsageRetry"),),
    "tail": ("words",),
    "reason": ("words",),
    "diagnostic": ("error",),
}
_STAGE = later(r"\[context:auto-compact\] (?P<stage>[a-z_]+)(?: (?P<data>\{.*))?", re.DOTALL)
_BROKEN = later(
    r"\[agent:auto-compact\] (?P<tag>[\w-]+) failed sessionId=(?P<session>\S*) turnId=(?P<turn>\S*): (?P<error>.*)",
    re.DOTALL,
)
_RETRY = later(
    r"\[PilotDeck\] (?P<retry>\w+): (?P<error>.*?) (?P<tail>\(attempt \d+/\d+(?:, delay=\d+ms)?)"
    r"(?:, session=(?P<session>[^)]*))?\)"
)
_FIELD = later(
    r'"(?P<name>sessionId|turnId|error|reason|preTokens|postTokens)":(?P<value>"(?:[^"\\]|\\.)*"|\d+(?=[,}]))'
)
_SPAWN = later(r"=== (?P<at>\S+) spawn gateway")


def chat_pieces(source: Source, wanted: Wanted | None) -> Iterator[Piece]:
    """Give the records of a transcript; each names the one before it."""
    above = None
    for at, (line, value) in enumerate(json_lines(source, wanted)):
        name = value.get("entryId")
        yield Piece(
            value=value,
            table="agent_status_message" if value.get("type") == "agent_status_message" else "",
            line=line,
            record=name if isinstance(name, str) else None,
            above=above,
            link="parentEntryId",
        )
        above = at


def log_pieces(source: Source, wanted: Wanted | None) -> Iterator[Piece]:
    """Give the lines of a log that say something; an event that was cut across lines is one."""
    turns: dict[str, str] = {}
    for line in _all_lines(source):
        if wanted is None or line.number in wanted.lines:
            said = _said(line.message.decode(errors="replace"))
            if not said:
                continue
            _mend(said.get("data") or {}, turns)
            value = {
                "stamp": _time(line.stamp),
                "process": line.process.decode() if line.process else None,
            } | said
            yield Piece(value={name: inner for name, inner in value.items() if inner is not None}, line=line.number)


def _time(stamp: bytes | None) -> str | None:
    text = (stamp or b"").decode(errors="replace")
    return None if read_time(text) is None else text


def _all_lines(source: Source) -> Iterator[Line]:
    found: list[Line] = []
    for _ in part(source, found.append):
        yield from found
        found.clear()


def _mend(data: dict[str, Any], turns: dict[str, str]) -> None:
    """Give a session id that the host tore apart back its whole name, which its turn tells."""
    session, turn = data.get("sessionId"), data.get("turnId")
    if isinstance(session, str) and isinstance(turn, str):
        if "\ufffd" in session:
            data["sessionId"] = turns.get(turn, session)
        else:
            turns.setdefault(turn, session)


def _said(text: str) -> dict[str, Any]:
    for pattern in (_BROKEN, _RETRY, _SPAWN):
        if (found := pattern.match(text)) is not None:
            return found.groupdict()
    stage = _STAGE.match(text)
    if stage is None:
        return {"said": text}
    if stage["data"] is None:
        return {"stage": stage["stage"]}
    values = salvage(stage["data"].encode()).values
    data = values[0] if values and isinstance(values[0], dict) else _torn(stage["stage"], stage["data"])
    return {"stage": stage["stage"], "data": data} if data else {}


def _torn(stage: str, text: str) -> dict[str, Any]:
    """Give what a torn record of an attempt still says, which is all that is read of it."""
    if not stage.startswith("full_compaction_"):
        return {}
    return {name: unquoted(value) if value.startswith('"') else figure(value) for name, value in _FIELD.findall(text)}


def write_log(kept: Sequence[Piece], target: Path) -> None:
    """Write a log, each line as the process that said it writes it."""
    target.write_text("".join(f"{_line(piece.value)}\n" for piece in kept), encoding="utf-8")


def _line(value: dict[str, Any]) -> str:
    stamp = f"{value['stamp']} " if "stamp" in value else ""
    process = f"[{value['process']}] " if "process" in value else "[gateway] " if stamp and "said" not in value else ""
    return f"{stamp}{process}{_message(value)}"


def _message(value: dict[str, Any]) -> str:
    if "stage" in value:
        data = f" {msgspec.json.encode(value['data']).decode()}" if "data" in value else ""
        return f"[context:auto-compact] {value['stage']}{data}"
    if "tag" in value:
        ids = f"sessionId={value.get('session', '')} turnId={value.get('turn', '')}"
        return f"[agent:auto-compact] {value['tag']} failed {ids}: {value.get('error', '')}"
    if "retry" in value:
        session = f", session={value['session']}" if "session" in value else ""
        return f"[PilotDeck] {value['retry']}: {value.get('error', '')} {value.get('tail', '')}{session})"
    return f"=== {value['at']} spawn gateway" if "at" in value else str(value.get("said", ""))
