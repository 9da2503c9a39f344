"""The marks of a timeline: a shape and a filling for each, so that they differ without colour too."""

from collections.abc import Mapping

from forensics.incident.model import MARK_WORDS

_FULL, _HOLLOW, _LINE = "full", "hollow", "line"
SHAPES: dict[str, tuple[str, str]] = {
    "summary": (_FULL, "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0-4.5 0Z"),
    "dropped": (_HOLLOW, "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0-4 0Z"),
    "no-summary": (_LINE, "M-4.5-4.5L4.5 4.5M-4.5 4.5L4.5-4.5"),
    "failed": (_FULL, "M0-5.5L5.5 4.5H-5.5Z"),
    "aborted": (_HOLLOW, "M0-5L5 0L0 5L-5 0Z"),
    "skipped": (_LINE, "M-4 0H4"),
    "unknown": (_HOLLOW, "M-4-4H4V4H-4Z"),
    "error": (_FULL, "M0 5.5L5.5-4.5H-5.5Z"),
    "cut": (_HOLLOW, "M0 5L5-4H-5Z"),
    "aborted-reply": (_LINE, "M-4 4L4-4"),
    "continue": (_FULL, "M0-6L5 0L0 6L-5 0Z"),
    "prompt": (_LINE, "M0-4V4"),
    "queued": (_LINE, "M-2-4V4M2-4V4"),
    "crash": (_LINE, "M0-5.5V5.5M-4.8-2.75L4.8 2.75M-4.8 2.75L4.8-2.75"),
    "stopped": (_HOLLOW, "M-3.5-3.5H3.5V3.5H-3.5Z"),
    "start": (_LINE, "M-4 4L0-4L4 4"),
    "attempt": (_FULL, "M-4.5-4.5H4.5V4.5H-4.5Z"),
}
"""By mark: how it is filled, and its outline around (0, 0), about 10 units wide."""

PATTERNS: dict[str, str] = {
    "summary": "",
    "dropped": "M0 3H6",
    "no-summary": "M-1 1L1-1M0 6L6 0M5 7L7 5",
    "failed": "M-1 5L1 7M0 0L6 6M5-1L7 1",
    "aborted": "M3 0V6",
    "skipped": "M3 3h.1",
    "unknown": "M0 0H6M0 0V6",
    "attempt": "",
}
"""By outcome: the lines drawn over a bar's colour, in a square of 6 units. Nothing: the bar is plain."""

LABELS: dict[str, str] = {
    "summary": "summary", "dropped": "dropped", "no-summary": "no summary", "failed": "compaction failed",
    "aborted": "compact. aborted", "skipped": "compact. skipped", "unknown": "end unknown",
    "error": "reply failed",
    "cut": "reply cut or empty", "aborted-reply": "reply aborted", "continue": "person continues",
    "prompt": "person's prompts", "queued": "queued prompts",
    "crash": "exit with error", "stopped": "exit, no error", "start": "process start",
    "attempt": "attempts",
}  # fmt: skip
"""Names short enough for the margin of a figure."""

ORDER = tuple(MARK_WORDS)
"""The order of the rows under a curve."""


def label_of(mark: str, counts: Mapping[str, int]) -> str:
    """Give the name of a row of a figure: a person's continues are prompts too, so beside them stand the others."""
    return "other prompts" if mark == "prompt" and counts.get("continue") else LABELS[mark]


def counted(counts: Mapping[str, int]) -> list[str]:
    """Say how often each mark stands in a figure; prompts are all that a person typed, as everywhere."""
    told = {mark: f"{LABELS[mark]}: {counts[mark]:,}" for mark in ORDER if counts.get(mark)}
    again, queued = counts.get("continue", 0), counts.get("queued", 0)
    if again or queued:
        first = next(mark for mark in told if mark in {"continue", "prompt", "queued"})
        typed = again + queued + counts.get("prompt", 0)
        parts = [f"{again:,} of them to go on"] * bool(again) + [f"{queued:,} queued"] * bool(queued)
        told[first] = ", ".join((f"{LABELS['prompt']}: {typed:,}", *parts))
        told = {mark: words for mark, words in told.items() if mark == first or mark not in {"prompt", "queued"}}
    return list(told.values())
