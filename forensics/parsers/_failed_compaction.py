"""What the words of a failed compaction mean. Shared by pi's event stream and OpenClaw, which runs on pi's engine."""

import re
from typing import NamedTuple

from forensics.events import Fault, Outcome
from forensics.faults import classify
from forensics.patterns import later

_NOTHING_TO_DO = later(
    r"nothing to compact|no real conversation messages|below[ _]threshold|already under target|already[ _]compacted"
    r"|no_compactable_entries|deferred to background|session too small|no compactable transcript entries",
    re.IGNORECASE,
)
_CANCELLED = later(r"\bcancell?(?:ed|ing)\b|\baborted\b|\bAbortError\b", re.IGNORECASE)
_NOT_USABLE = later(
    r"no usable|failed quality checks|no (?:text|content)\b|not valid|unparsable|malformed (?:summary|range)",
    re.IGNORECASE,
)
_DOES_NOT_FIT = later(r"no complete recent message fits|over the provider hard input limit", re.IGNORECASE)
_WHAT_FAILED = later(
    r"^(?:Context overflow recovery failed|Auto-compaction failed|Compaction failed|Response truncation recovery failed"
    r"|Post-tool context compaction failed before the next provider request): ",
)
"""What was tried, as pi and Atomic say it: no cause, though it may read like one."""


class Verdict(NamedTuple):
    """How an attempt ended, and the class of what broke it (`None`: nothing broke, or nobody said)."""

    outcome: Outcome
    fault: Fault | None


def judged(words: str | None) -> Verdict:
    """Judge an attempt that made no result by the words it left.

    A summary that came empty, cut or unusable is `no-summary`; a request or a state that broke before a summary
    could come is `failed`; one that found nothing to do is `skipped`.
    """
    if not words:
        return Verdict("unknown", None)
    words = _WHAT_FAILED.sub("", words)
    if _NOTHING_TO_DO.search(words):
        return Verdict("skipped", None)
    if _DOES_NOT_FIT.search(words):
        return Verdict("failed", "overflow")
    fault = classify(words)
    if fault in {"truncated-summary", "empty-summary"}:
        return Verdict("no-summary", fault)
    if fault in {"unknown", "cancelled"} and _CANCELLED.search(words):
        return Verdict("aborted", "cancelled")
    if _NOT_USABLE.search(words):
        return Verdict("no-summary", None if fault == "unknown" else fault)
    return Verdict("failed", fault)
