"""Tokens, cost and errors of an opencode message, as columns of an event."""

from typing import NamedTuple

from forensics.events import Event, Fault, Stop
from forensics.faults import classify, window
from forensics.parsers._opencode_shapes import Number, Part, Problem, SessionInfo, Tokens, whole

_SPECIFIC: frozenset[Fault] = frozenset({"overflow", "output-budget", "quota", "rate-limit", "overloaded"})
_BY_NAME: dict[str, tuple[Stop, Fault | None]] = {
    "ContextOverflowError": ("error", "overflow"),
    "MessageAbortedError": ("aborted", "cancelled"),
    "MessageOutputLengthError": ("length", None),
    "ContentFilterError": ("filtered", "refusal"),
    "ProviderAuthError": ("error", "auth"),
}
_BY_TYPE: dict[str, tuple[Stop, Fault]] = {
    "aborted": ("aborted", "cancelled"),
    "compaction.interrupted": ("aborted", "cancelled"),
    "provider.content-filter": ("filtered", "refusal"),
}


class Usage(NamedTuple):
    """What a message spent (sums over its steps), and the context that its last step used. `None`: unknown."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None
    total: int | None = None
    context: int | None = None
    cost: float | None = None


class Failing(NamedTuple):
    """How an error ended a reply, its class, and its words."""

    stop: Stop
    fault: Fault | None
    words: str | None


def usage(steps: list[Part], tokens: Tokens | None, cost: Number | None) -> Usage:
    """Add up the steps of a message; the message's own figures stand in where it has no finished step.

    opencode adds a step's cost to the message but overwrites the message's tokens with the last step's
    (anomalyco/opencode `session/processor.ts`), so spending is what the step-finish parts say. All-zero tokens are
    what a message starts with: unknown. So is a cost of 0: it is what opencode writes where it has no price.
    """
    counts = [step.tokens for step in steps if step.tokens is not None and _known(step.tokens)]
    price = sum(step.cost for step in steps if step.cost) or cost
    if not counts:
        if tokens is None or not _known(tokens):
            return Usage(cost=price or None)
        counts = [tokens]
    return Usage(
        input=_sum([count.input for count in counts]),
        cached=_sum([part for count in counts if count.cache for part in (count.cache.read, count.cache.write)]),
        output=_sum([_generated(count) for count in counts]),
        reasoning=_sum([count.reasoning for count in counts]),
        total=whole(counts[-1].total),
        context=_context(counts[-1]),
        cost=price or None,
    )


def _least(tokens: Tokens) -> int | None:
    cached = [tokens.cache.read, tokens.cache.write] if tokens.cache else []
    return _sum([tokens.input, tokens.output, *cached])


def _generated(tokens: Tokens) -> int | None:
    """Tokens that the step generated, all of which opencode bills as output.

    Until 1.2 `output` held the reasoning, later versions keep it apart; the reported total tells which.
    """
    if not whole(tokens.reasoning) or whole(tokens.total) == _least(tokens):
        return whole(tokens.output)
    return _sum([tokens.output, tokens.reasoning])


def _context(tokens: Tokens) -> int | None:
    """Tokens in the context after the step.

    A total that neither reading of `_generated` gives is kept out: some providers leave cache reads out of it
    (anomalyco/opencode#47832), others report a running sum.
    """
    least = _least(tokens)
    total = whole(tokens.total)
    if not least:
        return total or least
    most = least + (whole(tokens.reasoning) or 0)
    return total if total is not None and least <= total <= most else most


def _known(tokens: Tokens) -> bool:
    cache = tokens.cache
    figures = (tokens.total, tokens.input, tokens.output, tokens.reasoning)
    return any(figures) or (cache is not None and any((cache.read, cache.write)))


def _sum(figures: list[Number | None]) -> int | None:
    known = [number for figure in figures if (number := whole(figure)) is not None]
    return sum(known) if known else None


def failing(problem: Problem) -> Failing:
    """Class an error by its name or type first, then by its words, its body and its HTTP status."""
    detail = problem.data
    words = (detail.message if detail else None) or problem.message
    name = problem.name or problem.type
    text = words or name
    known = _BY_NAME.get(problem.name or "") or _BY_TYPE.get(problem.type or "")
    if known:
        return Failing(*known, text)
    status = whole(detail.status_code if detail else problem.status)
    fault = classify(" ".join(filter(None, (words, problem.type))) or None, status)
    body = detail.response_body if detail else None
    if fault in {"unknown", "invalid-request"} and body:
        inner = classify(body)
        fault = inner if inner in _SPECIFIC else fault
    return Failing("aborted" if fault == "cancelled" else "error", fault, text)


def fill(event: Event, spent: Usage) -> None:
    """Write a message's usage into its row, and what its overflow error says of sizes."""
    event.input, event.cached, event.output, event.reasoning = spent.input, spent.cached, spent.output, spent.reasoning
    event.total, event.context, event.cost = spent.total, spent.context, spent.cost
    blame(event)


def blame(event: Event) -> None:
    """Read the context window, and the tokens that were too many, out of an overflow error's words."""
    if event.fault == "overflow" and event.error:
        said = window(event.error)
        event.cap, event.estimate = said.cap, said.used
        event.cap_source = "error text" if said.cap is not None else None


class Spent:
    """Sums over a session's messages, to hold the session's own recorded totals against."""

    def __init__(self) -> None:
        self.input = 0
        self.cached = 0
        self.cost = 0.0

    def add(self, spent: Usage) -> None:
        """Add one message."""
        self.input += spent.input or 0
        self.cached += spent.cached or 0
        self.cost += spent.cost or 0.0

    def difference(self, info: SessionInfo) -> str | None:
        """Say how the recorded totals differ from the sums; `None` when they agree or none are recorded."""
        tokens = info.tokens
        cache = tokens.cache if tokens else None
        recorded = (
            (whole(tokens.input) or 0) if tokens else 0,
            (whole(cache.read) or 0) + (whole(cache.write) or 0) if cache else 0,
        )
        cost = info.cost or 0.0
        # Zeros are what the columns began with when they were added: nothing is recorded.
        tokens_agree = not any(recorded) or recorded == (self.input, self.cached)
        if tokens_agree and (not cost or abs(cost - self.cost) <= 1e-6 * max(1.0, self.cost)):
            return None
        return (
            f"session {info.id}: its recorded totals ({recorded[0]} input, {recorded[1]} cached tokens, "
            f"${cost:.4f}) are not the sums of its messages ({self.input}, {self.cached}, ${self.cost:.4f}): "
            "messages are missing, or were taken back"
        )
