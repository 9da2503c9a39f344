"""The lines of a pi family session file, as they are decoded."""

from datetime import datetime
from typing import Annotated, ClassVar, cast

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from forensics.parsers._pi import NO_RAW, AssistantMessage, Message, ShellMessage, ToolMessage, Usage, UserMessage
from forensics.sane import Count, Millis

Time = Annotated[datetime, Meta(tz=True)]
"""A time that names its zone: such times have an order."""


class Entry(msgspec.Struct, gc=False, rename="camel"):
    """A line of a session file. v1 entries have neither `id` nor `parentId`."""

    type: str = ""
    id: str | None = None
    parent_id: str | UnsetType | None = UNSET
    timestamp: datetime | Millis | None = None
    message: Message | None = None
    parent_session: str | None = None
    branched_from: str | None = None
    workflow: Raw = NO_RAW
    provider: str | None = None
    model_id: str | None = None
    thinking_level: str | None = None
    context_window: Count | None = None
    summary: str | None = None
    tokens_before: Count | None = None
    details: Raw = NO_RAW
    stats: Raw = NO_RAW
    usage: Usage | None = None
    custom_type: str | None = None
    data: Raw = NO_RAW
    content: Raw = NO_RAW
    protected_reconciliation: Raw = NO_RAW
    target_id: str | None = None
    name: str | None = None


class MessageLine(msgspec.Struct, gc=False, rename="camel", tag_field="type", tag="message"):
    """What a dated `Entry` has whose message is one of the usual."""

    type: ClassVar[str] = "message"
    timestamp: Time
    message: AssistantMessage | UserMessage | ToolMessage | ShellMessage
    id: str | None = None
    parent_id: str | UnsetType | None = UNSET


class _SettingLine(msgspec.Struct, gc=False, rename="camel", tag_field="type"):
    """What a dated `Entry` has that changes a setting."""

    message: ClassVar[None] = None
    timestamp: Time
    id: str | None = None
    parent_id: str | UnsetType | None = UNSET


class ThinkingLine(_SettingLine, gc=False, tag="thinking_level_change"):
    """What a dated `Entry` has that changes the thinking level."""

    type: ClassVar[str] = "thinking_level_change"
    thinking_level: str | None = None


class ModelLine(_SettingLine, gc=False, tag="model_change"):
    """What a dated `Entry` has that changes the model."""

    type: ClassVar[str] = "model_change"
    provider: str | None = None
    model_id: str | None = None


ENTRIES = msgspec.json.Decoder(Entry)
USUAL = cast("msgspec.json.Decoder[Entry]", msgspec.json.Decoder(MessageLine | ThinkingLine | ModelLine))
"""Such a line has all that its row asks of an entry, without the fields that other types have."""
