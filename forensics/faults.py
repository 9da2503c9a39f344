"""The words of provider errors, and the class each belongs to.

One table, shared by every parser, so that the same error is the same fault whatever wrote it down. The overflow
words are those that pi (`packages/ai/src/utils/overflow.ts`), opencode (`packages/llm/src/provider-error.ts`) and
OpenClaw (`pi-embedded-helpers/errors.ts`) match on.
"""

import re
from typing import NamedTuple

from forensics.events import Fault
from forensics.patterns import later

FOREIGN: re.Pattern[str] = later("上下文过长|上下文超出|超出最大上下文|请压缩上下文")
"""What of the words that the patterns look for is not ASCII."""
_OUTPUT_BUDGET = (
    r"integer\s+below\s+minimum\s+value",
    r"expected\s+(?:a\s+)?value\s*>=\s*16",
    r"max_?(?:output|completion)?_?tokens\b.{0,80}(?:below|at least|minimum|must be (?:greater|positive|at least)|>=)",
    r"(?:invalid|unsupported)\b.{0,20}\bmax_?(?:output|completion)?_?tokens",
    r"maxOutputTokens value of \d+",
)
_NOT_OVERFLOW = (r"^(?:throttling error|service unavailable):", r"rate.?limit", r"too many requests", r"\bTPM\b")
_OVERFLOW = (
    r"prompt is too long",
    r"prompt too (?:long|large)",
    r"request_too_large|request exceeds the maximum size|request entity too large|413.{0,40}too large",
    r"input is too long for requested model",
    r"exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context (?:window|length|limit|size)",
    r"exceeds? (?:the )?available context size",
    r"exceed(?:s|ed)? (?:max |the )?context",
    r"maximum context length",
    r"input token count.*exceeds the maximum",
    r"maximum prompt length is \d+",
    r"reduce the length of the (?:messages|prompt|input)",
    r"exceeds? (?:the )?maximum allowed input length",
    r"longer than the model'?s context length",
    r"exceeds the limit of \d+",
    r"greater than the context length",
    r"context window exceeds? limit",
    r"exceed(?:s|ed) model token limit|model token limit",
    r"too large for model with \d+ maximum context length",
    r"configured context size is \d+ tokens",
    r"model_context_window_exceeded|context_window_exceeded",
    r"model_max_prompt_tokens_exceeded",
    r"range of input length should be",
    r"context[_ ]length[_ ]exceeded",
    r"too many tokens|token limit exceeded",
    r"context overflow",
    r"ContextOverflowError",
    r"(?:conversation history|session) too large to compact",
    r"ran out of room in the model'?s context",
    r"^4(?:00|13)(?: status code)? \(no body\)",
    FOREIGN.pattern,
)
# Order decides: the first class that matches wins.
_TABLE: tuple[tuple[Fault, str], ...] = (
    (
        "truncated-summary",
        r"summar.{0,60}(?:truncated|token (?:limit|cap)|output token)|hit the token cap.{0,40}summary",
    ),
    (
        "empty-summary",
        r"summar.{0,60}(?:empty|no (?:text|content|summary)|stopped by content filter)"
        r"|(?:returned|produced|got) (?:no|an empty) summary|no summary text|empty_summary|empty summary"
        r"|empty response from model",
    ),
    ("output-budget", "|".join(_OUTPUT_BUDGET)),
    ("overflow", "|".join(_OVERFLOW)),
    (
        "quota",
        r"insufficient_quota|quota exceeded|usage.?limit|billing|out of budget|available balance|payment required"
        r"|credit balance|hit your (?:session|weekly) limit|spending limit",
    ),
    ("rate-limit", r"rate.?limit|too many requests|\b429\b|resource.?exhausted|throttl"),
    (
        "overloaded",
        r"overloaded|\b5(?:00|02|03|04|20|24|29)\b|service.?unavailable|server.?error|internal.?error|bad gateway"
        r"|gateway timeout|at capacity|try again later",
    ),
    (
        "refusal",
        r"content_?filter|content management policy|safety|sorry, (?:but )?i can(?:no|')t (?:assist|help)|refused",
    ),
    (
        "transport",
        r"network|connection|econnreset|econnrefused|etimedout|epipe|enotfound|socket|fetch failed"
        r"|other side closed|upstream.?connect|reset before headers|ended without"
        r"|stream (?:ended|closed|disconnected|error|deadline)"
        r"|http2 request|timed? ?out|timeout|terminated|premature|unexpected (?:end|eof)|incomplete (?:chunk|response)"
        r"|malformed|(?:un)?parsable|unexpected (?:non-whitespace|token)|json (?:at|parse)"
        r"|decompress|zlib|finish.?reason:?\s*error",
    ),
    (
        "auth",
        r"\b40[13]\b|unauthori[sz]ed|forbidden|api.?key|authenticat|permission denied"
        r"|invalid.?token|token expired|oauth",
    ),
    ("cancelled", r"\babort|cancel|interrupted|\bstale after session"),
    ("model", r"model.{0,40}(?:not found|not exist|unavailable|not supported|unsupported)|\b404\b|no such model"),
    ("invalid-request", r"invalid.?request|bad request|\b4(?:00|22)\b|invalid_|unsupported|schema|tool_use|tool_call"),
)
_PATTERNS: tuple[tuple[Fault, re.Pattern[str]], ...] = tuple(
    (fault, later(pattern, re.IGNORECASE | re.DOTALL)) for fault, pattern in _TABLE
)
_VETO = later("|".join(_NOT_OVERFLOW), re.IGNORECASE)
_BY_STATUS: dict[int, Fault] = {
    400: "invalid-request",
    401: "auth",
    402: "quota",
    403: "auth",
    404: "model",
    408: "transport",
    413: "overflow",
    422: "invalid-request",
    429: "rate-limit",
}
_DIGITS = 15
"""No count of tokens has more."""
_WINDOW = later(
    r"(?P<used>\d[\d,]*) tokens? ?> ?(?P<cap>\d[\d,]*)"
    r"|maximum context length is (?P<cap2>\d[\d,]*)"
    r"(?:.{0,80}?(?:requested|resulted in|contains?|has) (?:about )?(?P<used2>\d[\d,]*))?"
    r"|context (?:size|length|window)(?: is| of| limit)?:? \(?(?P<cap3>\d[\d,]*)"
    r"|(?P<used4>\d[\d,]*) tokens?.{0,60}?(?:context (?:window|size|length)|limit|maximum)"
    r"[^\d]{0,20}(?P<cap4>\d[\d,]*)",
    re.IGNORECASE | re.DOTALL,
)


def vocabulary() -> frozenset[str]:
    """Give the words that the patterns look for, in lower case: an error text cut down to them keeps its class."""
    plain = re.sub(r"\\[a-zA-Z]|\[[^\]]*\]|\?", " ", "|".join(pattern for _, pattern in _TABLE))
    return frozenset(word.lower() for word in re.findall(r"[A-Za-z]{2,}", plain))


class Window(NamedTuple):
    """What an overflow error says of sizes: tokens used and the context window, each `None` where unsaid."""

    used: int | None
    cap: int | None


def classify(error: str | None, status: int | None = None) -> Fault:
    """Give the fault class of an error text, falling back to the HTTP status, else `unknown`."""
    if error:
        veto = _VETO.search(error) is not None
        for fault, pattern in _PATTERNS:
            if not (veto and fault == "overflow") and pattern.search(error):
                return fault
    if status is not None:
        return _BY_STATUS.get(status, "overloaded" if status >= 500 else "unknown")
    return "unknown"


def window(error: str) -> Window:
    """Read the tokens used and the context window out of an overflow error's text."""
    match = _WINDOW.search(error)
    if match is None:
        return Window(None, None)
    groups = match.groupdict()
    return Window(_number(groups, "used", "used2", "used4"), _number(groups, "cap", "cap2", "cap3", "cap4"))


def _number(groups: dict[str, str | None], *names: str) -> int | None:
    for name in names:
        if (text := groups[name]) is not None:
            figure = text.replace(",", "")
            return int(figure) if len(figure) <= _DIGITS else None
    return None
