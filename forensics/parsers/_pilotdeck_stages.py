"""The stages of PilotDeck's auto-compaction (`[context:auto-compact] <stage> <json>`) and what their JSON says."""

import msgspec

from forensics.parsers._pilotdeck_budget import Snapshot
from forensics.patterns import later
from forensics.sane import Count
from forensics.tolerant import salvage

STAGES = frozenset(
    {
        "post_summary_snip",
        "emergency_summary",
        "emergency_tool_projection",
        "emergency_head_truncate",
        "full_compaction_completed",
        "full_compaction_skipped",
        "context_overflow_after_emergency_compaction",
        "disabled",
        "full_compaction_cooldown_set",
        "full_compaction_effective",
        "full_compaction_ineffective",
        "full_compaction_no_summary",
        "full_compaction_relaxed_no_summary",
        "full_compaction_relaxed_result",
        "full_compaction_relaxed_retry",
        "full_compaction_skipped_cooldown",
        "full_compaction_started",
        "full_compaction_still_blocking",
        "full_compaction_unavailable",
        "manual_compaction_unavailable",
        "manual_force",
        "micro_compaction",
        "micro_compaction_noop",
        "micro_compaction_stop",
        "policy_skip",
        "policy_trigger",
        "pre_summary_prune",
        "snip_compaction",
        "snip_compaction_noop",
        "snip_compaction_stop",
        "warning_threshold_skip",
    }
)
"""Every stage that a known build writes."""
_ESCAPE = later(r'(?P<sound>\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\u?')


class Details(msgspec.Struct, gc=False, omit_defaults=True):
    """The JSON behind a stage; a stage fills what it knows."""

    sessionId: str = ""  # noqa: N815  (names of the format)
    turnId: str = ""  # noqa: N815
    snapshot: Snapshot | None = None
    relaxedSnapshot: Snapshot | None = None  # noqa: N815
    reason: str | None = None
    error: str | None = None
    diagnostic: str | None = None
    preTokens: Count | None = None  # noqa: N815
    """Before the summary; the messages alone."""
    postTokens: Count | None = None  # noqa: N815
    """After the summary and before any later tier; the messages alone."""
    summarySucceeded: bool | None = None  # noqa: N815
    applied: bool | None = None
    rewritten: Count | None = None


DECODE = msgspec.json.Decoder(Details).decode
"""For ASCII: msgspec passes over what it is not asked for, without a look at the bytes."""


def decoded(payload: bytes) -> Details:
    """Read the JSON behind a stage, whatever bytes it has."""
    if not payload.isascii():
        try:
            payload.decode()
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError("invalid UTF-8") from error
    return DECODE(payload)


def unquoted(text: str) -> str:
    """Give the words of a JSON string; an escape that is none becomes U+FFFD, and the rest is kept."""
    sound = _ESCAPE.sub(lambda found: found["sound"] or "\ufffd", text)
    return str(salvage(sound.encode(errors="replace")).values[0])
