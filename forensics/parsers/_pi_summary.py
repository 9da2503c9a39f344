"""Compaction records of the pi family: what each version writes, and whether a summary is in it."""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

from forensics.events import Event
from forensics.parse import Source
from forensics.parsers._pi import Usage, digest_of
from forensics.patterns import later
from forensics.sane import Count

KEPT = 400
"""Characters of a summary's beginning and of its end that an event keeps."""

_FILE_LISTS = later(r"<(read-files|modified-files)>.*?</\1>", re.DOTALL)
_BOILERPLATE = later(
    r"^(?:[-*+]\s*|\d+\.\s*)?(?:\[[ x]\]\s*)?"
    r"(?:#{1,6}\s.*|-{3,}|\*\*Turn Context \(split turn\):\*\*"
    r"|\(?(?:none(?: captured)?|n/?a|empty|no prior history|not specified|\.\.\.|…)\.?\)?)?$",
    re.IGNORECASE,
)
_SENTINEL = later(
    r"^\s*(?:\(no conversation provided to summari[sz]e\)"
    r"|(?:context contained \d+ messages[^\n]{0,60}\. )?summary unavailable due to (?:context|size) limits)",
    re.IGNORECASE,
)
DISCARDED = (
    "rung fresh: the conversation was discarded (no planner gave a usable answer, or too little was there to plan for)"
)
UNPLANNED = "rung fresh: the conversation was discarded, too few lines to ask a planner"
PLANNED_LINES = 20
"""`MIN_COMPACTABLE_REGION_LINES` of Atomic: below it, no planner is asked."""


class Stats(msgspec.Struct, gc=False, rename="camel"):
    """Atomic's own estimate of what a compaction did."""

    tokens_before: Count | None = None
    tokens_after: Count | None = None
    lines_before: Count | None = None


class Details(msgspec.Struct, gc=False, rename="camel"):
    """Atomic's details of a `compaction` record."""

    strategy: str | None = None
    rung: str | None = None
    stats: Stats | None = None


_STATS = msgspec.json.Decoder(Stats)
_DETAILS = msgspec.json.Decoder(Details)


def details_of(raw: Raw, source: Source, line: int | None, record: str | None = None) -> Details:
    """Decode a compaction's details; those of other agents have no strategy."""
    return source.inner(raw, _DETAILS, line, "details", record) or Details()


def dropped(event: Event, raw: Raw, source: Source) -> Event:
    """Fill the event of Atomic's `context_compaction`, which deletes entries and makes no summary by design."""
    stats = source.inner(raw, _STATS, event.line, "stats", event.record) or Stats()
    event.outcome = "dropped"
    event.before, event.after = stats.tokens_before or None, stats.tokens_after
    return event


def verbatim(event: Event, details: Details, summary: str | None, before: int | None) -> Event:
    """Fill the event of Atomic's `compaction` by `verbatim-lines`: chosen lines are kept as they are.

    Its last rung, `fresh`, keeps nothing of the conversation. It is written when every planner failed, and, with no
    planner asked, when the lines are fewer than Atomic plans for (`MIN_COMPACTABLE_REGION_LINES`).
    """
    stats = details.stats or Stats()
    event.before, event.after = before or stats.tokens_before or None, stats.tokens_after
    if details.rung == "fresh" and stats.lines_before is not None and stats.lines_before < PLANNED_LINES:
        event.outcome, event.requests, event.text = "dropped", 0, UNPLANNED
        event.size = len(summary or "")
        return event
    if details.rung == "fresh":
        event.outcome, event.text = "no-summary", DISCARDED
        event.size = len(summary or "")
        return event
    return summarised(event, summary, event.before)


def summarised(event: Event, summary: str | None, before: int | None) -> Event:
    """Fill the event of a `compaction` with a summary in prose, judged by what is left without its boilerplate.

    `tokensBefore` is 0 where the provider reports no usage, so 0 stays unknown.
    """
    words = summary or ""
    event.before = before or None
    event.size = len(words)
    event.digest = digest_of(words)
    event.text = shortened(words)
    if is_hollow(words):
        event.outcome, event.fault = "no-summary", "empty-summary"
    else:
        event.outcome = "summary"
    return event


def spent(event: Event, usage: Usage | None) -> Event:
    """Add what the summary's own requests used, where it is recorded (pi 1.6)."""
    if usage is not None and (usage.input or usage.output):
        event.input, event.output, event.reasoning = usage.input, usage.output, usage.reasoning
        event.cached = (usage.cache_read or 0) + (usage.cache_write or 0)
        event.cost = usage.cost.total if usage.cost else None
    return event


def is_hollow(summary: str) -> bool:
    """Tell whether a summary says nothing: only headings, placeholders and file lists, or a sentinel text."""
    if _SENTINEL.match(summary):
        return True
    return all(_BOILERPLATE.match(line.strip()) for line in _without_lists(summary).splitlines())


def shortened(summary: str) -> str | None:
    """Keep a summary's beginning, the `## ` headings of its middle and its end, file lists left out."""
    words = _without_lists(summary).strip()
    if len(words) <= 2 * KEPT:
        return words or None
    headings = list(_headings(words, KEPT, len(words) - KEPT))
    return "\n…\n".join(part for part in (words[:KEPT], "\n".join(headings), words[-KEPT:]) if part)


def _headings(words: str, start: int, end: int) -> Iterator[str]:
    at = start - 1
    while (at := words.find("\n## ", at, end)) >= 0:
        stop = words.find("\n", at + 1, end)
        yield words[at + 1 : stop if stop >= 0 else end]
        at += 1


def _without_lists(summary: str) -> str:
    return _FILE_LISTS.sub("", summary) if "-files>" in summary else summary
