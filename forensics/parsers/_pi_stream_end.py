"""The end of a compaction in the pi family's event stream: what it made, or why it made nothing."""

import msgspec
from msgspec import Raw

from forensics.events import Event
from forensics.parse import Source
from forensics.parsers._failed_compaction import judged
from forensics.parsers._pi import NO_RAW, NOTHING, Usage
from forensics.parsers._pi_stream import Line
from forensics.parsers._pi_summary import details_of, dropped, spent, summarised, verbatim
from forensics.sane import Count


class Result(msgspec.Struct, gc=False, rename="camel"):
    """What a compaction made: pi's summary, Atomic's kept lines (`compactedText`) or its deletions."""

    summary: str | None = None
    compacted_text: str | None = None
    deleted_targets: Raw = NO_RAW
    tokens_before: Count | None = None
    estimated_tokens_after: Count | None = None
    stats: Raw = NO_RAW
    usage: Usage | None = None


_RESULT = msgspec.json.Decoder(Result)


def has_result(event: Line) -> bool:
    """Tell whether the attempt made something; undefined keys are left out of the JSON."""
    return bytes(event.result) not in NOTHING


def ended(row: Event, event: Line, source: Source) -> Event:
    """Fill the row of an end. Without a result and without an error it found nothing to do."""
    if has_result(event):
        _made(row, event, source)
    elif event.aborted:
        row.outcome, row.fault = "aborted", "cancelled"
    elif event.error_message is None:
        row.outcome, row.requests = "skipped", 0
    else:
        row.outcome, row.fault = judged(event.error_message)
    return row


def _made(row: Event, event: Line, source: Source) -> None:
    result = source.inner(event.result, _RESULT, row.line, "result") or Result()
    if bytes(result.deleted_targets) not in NOTHING:
        dropped(row, result.stats, source)
    elif result.compacted_text is not None:
        verbatim(row, details_of(event.result, source, row.line), result.compacted_text, result.tokens_before)
    elif result.summary is not None:
        spent(summarised(row, result.summary, result.tokens_before), result.usage)
        row.after = result.estimated_tokens_after
    else:
        row.outcome, row.before = "unknown", result.tokens_before or None
    if row.error:
        row.fault = judged(row.error).fault
