"""Who wrote a user message of the pi family, when it was sent, and what is left when the wrapping is off.

OpenClaw wraps what people send: the channel, the sender and the time stand before the words; its heartbeat, its
timers and other sessions write user messages too.
"""

import re
from typing import NamedTuple

import msgspec
from msgspec import Raw

from forensics.events import Origin
from forensics.parse import Source
from forensics.parsers._pi import milliseconds
from forensics.patterns import later

_UNTRUSTED = later(
    r"(?:^|\n)[A-Z][\w ]{2,40} \(untrusted[^)\n]{0,60}\):\s*\n```(?:json)?\n.*?\n```[ \t]*(?=\n|$)", re.DOTALL
)
_SYSTEM_LINE = later(r"^System(?: \(untrusted\))?: \[\d{4}-\d\d-\d\d[^\]\n]*\][^\n]*(?:\n|$)")
_ENVELOPE = later(
    r"^\[(?P<before>[^\]\n]{0,160}?)(?P<day>\d{4}-\d\d-\d\d)[ T](?P<clock>\d\d:\d\d(?::\d\d)?)"
    r" ?(?P<zone>UTC|GMT(?:[+-]\d{1,2}(?::?\d\d)?)?|Z|[+-]\d\d:?\d\d|[A-Z]{2,5})?\]\s*"
)
_OFFSET = later(r"([+-])(\d{1,2}):?(\d\d)?$")
_SYNTHETIC = later(
    r"^\s*(?:\[OpenClaw heartbeat poll\]|Read HEARTBEAT\.md\b|Pre-compaction memory flush\b|\[cron:[^\]]*\]"
    r"|A new session was started via /(?:new|reset)\b|\[Subagent (?:Context|Task)\]|\[System Message\]"
    r"|An async command you ran earlier has completed)"
)
_MARKS = frozenset("[RPAS \t\r\n")
"""The first characters of everything that `_SYNTHETIC`, `_COLLECTED`, `_ENVELOPE` and `_SYSTEM_LINE` look for."""
_COLLECTED = later(r"^\s*\[Queued (?:messages while agent was busy|announce messages)[^\]]*\]")


class Prompt(NamedTuple):
    """A user message: its own words, its writer, and when it was sent (UTC ms) where that is told."""

    text: str
    origin: Origin
    sent: int | None
    to_the_minute: bool


class _Provenance(msgspec.Struct, gc=False):
    kind: str | None = None


_PROVENANCE = msgspec.json.Decoder(_Provenance)


def is_wrapped(text: str) -> bool:
    """Tell whether a user message may be more than what a person typed; hardly any is."""
    return text[:1] in _MARKS or "(untrusted" in text


def prompt_of(text: str, *, machine: bool = False) -> Prompt:
    """Take the wrapping off a user message; it is a person's unless it or `machine` says otherwise."""
    origin: Origin = "synthetic" if machine else "human"
    if not is_wrapped(text):
        return Prompt(text, origin, None, to_the_minute=False)
    if text.startswith(("System: [", "System (untrusted): [")):
        rest = _without_system_lines(text)
        if not rest.strip():
            return Prompt(text, "synthetic", None, to_the_minute=False)
        text = rest
    if "(untrusted" in text:
        text = _UNTRUSTED.sub("", text).strip()
    sent, seconds = None, True
    if text.startswith("[") and (match := _ENVELOPE.match(text)) is not None:
        sent, seconds = _time(match), match["clock"].count(":") == 2
        text = text[match.end() :]
    if _SYNTHETIC.match(text):
        origin = "synthetic"
    elif origin == "human" and _COLLECTED.match(text):
        origin = "queued"
    return Prompt(text, origin, sent, not seconds)


def is_machine(provenance: Raw, source: Source, line: int | None, record: str | None = None) -> bool:
    """Tell whether OpenClaw says that a user message came from itself or from another session."""
    found = source.inner(provenance, _PROVENANCE, line, "provenance", record)
    return found is not None and found.kind is not None and found.kind != "external_user"


def _without_system_lines(text: str) -> str:
    while (match := _SYSTEM_LINE.match(text)) is not None:
        text = text[match.end() :].lstrip("\n")
    return text


def _time(match: re.Match[str]) -> int | None:
    zone = match["zone"] or ""
    if zone in {"UTC", "GMT", "Z"}:
        return milliseconds(f"{match['day']}T{match['clock']}+00:00")
    offset = _OFFSET.search(zone)
    if offset is None:  # the name of a zone, or none: which one is not known
        return None
    sign, hours, minutes = offset.groups()
    return milliseconds(f"{match['day']}T{match['clock']}{sign}{int(hours):02}:{minutes or '00'}")
