"""The records of a pi family event stream as a capture takes them."""

from collections.abc import Iterator

from forensics.parse import Piece, Rules, Source, Wanted, json_lines, words
from forensics.parsers._pi_capture import MESSAGE_RULES, unwrapped

_TYPES = words("""
session agent_start agent_end agent_settled turn_start turn_end message_start message_update message_end
tool_execution_start tool_execution_update tool_execution_end entry_appended response queue_update
compaction_start compaction_end auto_compaction_start auto_compaction_end context_compaction_start
context_compaction_end auto_retry_start auto_retry_end agent_continue_error model_fallback_start model_fallback_end
model_changed summarization_retry_scheduled summarization_retry_attempt_start summarization_retry_finished
thinking_level_changed session_info_changed text thinking toolCall image context_edit
""")
_COMMANDS = words("""
prompt steer follow_up abort compact get_state get_session_stats new_session switch_session fork clone set_model bash
set_auto_compaction set_auto_retry get_messages
""")
_NUMBERS = words("""
aborted willRetry success attempt maxAttempts delayMs tokens estimatedTokensAfter percentReduction linesDeleted
linesKept rangeCount objectsBefore objectsAfter objectsDeleted promptVersion midTurn cancelled contentIndex
""")
RULES: Rules = {
    **MESSAGE_RULES,
    **dict.fromkeys(_NUMBERS, ("number",)),
    "type": (_TYPES,),
    "message": ("inside",),
    "parentId": ("id",),
    "parentSession": ("id",),
    "firstKeptEntryId": ("id",),
    "entryId": ("id",),
    "targetId": ("id",),
    "entry": ("inside",),
    "cwd": ("path",),
    "reason": (frozenset({"threshold", "overflow", "manual"}), "name"),
    "result": ("inside",),
    "summary": ("text",),
    "compactedText": ("text",),
    "deletedTargets": ("inside",),
    "finalError": ("error",),
    "error": ("error",),
    "command": (_COMMANDS, "text"),
    "sessionId": ("id",),
    "contextUsage": ("inside",),
    "steering": ("inside", "text"),
    "followUp": ("inside", "text"),
    "to": ("inside", "name"),
    "to.id": ("name",),
}


def pieces(source: Source, wanted: Wanted | None) -> Iterator[Piece]:
    """Give the lines that are objects."""
    for line, value in json_lines(source, wanted):
        yield Piece(value=unwrapped(value), line=line, fixed=value.get("type") == "session" and line == 1)
