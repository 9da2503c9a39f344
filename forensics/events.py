"""The event table: the one vocabulary that parsers write and everything else reads.

One row per thing that happened, in file order; `None` where a column does not apply or is not known.
Rows stream through the program as `Event` structs; `SCHEMA` gives the same columns for the table that
`forensics read` writes.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

import msgspec

Kind = Literal[
    "session", "prompt", "reply", "tool", "compact", "compacted", "budget", "retry", "model", "spawn", "exit", "note"
]
"""What happened. `compact` starts a compaction attempt, `compacted` ends one; either may stand alone."""

Origin = Literal["human", "synthetic", "replay", "queued", "unknown"]
"""Who wrote a prompt. Only `human` is a person typing at that moment; `queued` was typed before it was sent."""

TYPED: frozenset[str | None] = frozenset({"human", "queued"})
"""What a person typed, at that moment or before."""

Stop = Literal["done", "tool", "length", "error", "aborted", "filtered", "empty"]
"""How a reply ended. `empty` ended well with nothing that a person can see."""

Fault = Literal[
    "overflow",
    "output-budget",
    "truncated-summary",
    "empty-summary",
    "rate-limit",
    "quota",
    "overloaded",
    "transport",
    "invalid-request",
    "auth",
    "model",
    "refusal",
    "cancelled",
    "unknown",
]
"""The class of an error; `faults.classify` maps a provider's words to one."""

Trigger = Literal["threshold", "overflow", "manual", "unknown"]
"""Why a compaction ran."""

Outcome = Literal["summary", "dropped", "no-summary", "failed", "aborted", "skipped", "unknown"]
"""How a compaction ended. `dropped`: the context was cut without a summary, by design.
`no-summary`: a summary was asked for and none usable came. `failed`: the attempt broke for another reason."""

CapSource = Literal["recorded", "error text", "option"]
"""Where a context window comes from: the source's own field, a provider's error text, or the user's `--cap`."""

GOOD_STOPS: frozenset[str] = frozenset({"done", "tool"})


class Run(msgspec.Struct, gc=False):
    """Good replies, measured and added up but not told one by one: what a brief reading needs of them.

    They lie before the row that brings them: the steps of a turn, or whole turns that went well.

    The columns are in order, of one length and never empty. The sums are of the same replies.
    """

    lines: Sequence[int]
    dates: Sequence[datetime]
    """Never falling, each with its zone."""
    contexts: Sequence[int]
    totals: Sequence[int]
    """-1 where it is unknown."""
    start: int
    """The time of the first, UTC milliseconds."""
    end: int
    """The time of the last."""
    input: int = 0
    cached: int = 0
    output: int = 0
    costs: Sequence[float] = ()
    """Of the replies whose cost is recorded."""
    prompts: int = 0
    """A person's prompts among them, where whole turns were gathered."""
    stopped: int = 0
    """Replies of these turns that the person aborted."""
    unmeasured: Sequence[int] = ()
    """The times of those among them that have no figures, and stand in no column."""


class Event(msgspec.Struct, kw_only=True, gc=False):
    """One row. Tokens are counts, times are UTC milliseconds since 1970, cost is US dollars.

    A parser fills what its source says and leaves the rest `None`. It never writes 0 for what it does not know.
    """

    kind: Kind
    session: str | None = None
    """Session id; one id per branch where a file holds a tree; `None` for the host's own rows (process exits)."""
    line: int | None = None
    """1-based physical line in the file; `None` in databases."""
    record: str | None = None
    """The record's own id: message id, entry id, row id."""
    ts: int | None = None
    agent: str | None = None
    """On `session` rows: the agent, where it differs from the parser's (an OpenClaw session read by the pi parser)."""
    version: str | None = None
    """On `session` rows: the agent's own version."""
    parent: str | None = None
    """On `session` rows: the session this one is a child or branch of."""
    origin: Origin | None = None
    sent: int | None = None
    """On prompts: when the person sent it, where that is recorded and earlier than `ts` (a queued message)."""
    stop: Stop | None = None
    fault: Fault | None = None
    error: str | None = None
    """The provider's or agent's own words."""
    trigger: Trigger | None = None
    outcome: Outcome | None = None
    before: int | None = None
    """Tokens before a compaction."""
    after: int | None = None
    """Tokens after a compaction."""
    requests: int | None = None
    """On `compacted` rows: model requests the attempt made, where recorded (0: an echo of an earlier failure)."""
    will_retry: bool | None = None
    """On `compacted` rows: whether the agent said that it goes on by itself."""
    context: int | None = None
    """Tokens in the whole context at this row (after a reply: its output included)."""
    messages: int | None = None
    """Tokens of the messages alone, where the source keeps that measure apart from `context`."""
    cap: int | None = None
    """The context window in force, in tokens."""
    cap_source: CapSource | None = None
    input: int | None = None
    """Prompt tokens of the request that were neither read from nor written to a cache."""
    cached: int | None = None
    """Prompt tokens of the request read from or written to a cache."""
    output: int | None = None
    """Tokens generated, `reasoning` included where the source counts it there."""
    reasoning: int | None = None
    total: int | None = None
    """The source's own total for the request, as reported; it can be cumulative or absurd."""
    estimate: int | None = None
    """The agent's own local estimate that `total` can be held against."""
    cost: float | None = None
    size: int | None = None
    """Characters of content."""
    provider: str | None = None
    model: str | None = None
    api: str | None = None
    tool: str | None = None
    code: int | None = None
    """On `exit` rows: the exit code."""
    digest: str | None = None
    """Hash of the content: equal for repeated messages and repeated tool calls."""
    text: str | None = None
    """The first characters of what was said, or the summary's own text where a detector must judge it."""
    run: Run | None = None
    """Only in a brief reading: the good replies right before this row, which are not told."""
    nth: int = 0
    """Good replies in the session before this row. Filled by `timeline`, not by parsers."""
    seq: int = 0
    """Order in the session. Filled by `timeline`, not by parsers."""


class Column(NamedTuple):
    """A column of the exported table: its polars type name, its unit, what it means."""

    dtype: str
    unit: str
    meaning: str


def _column(name: str, dtype: str, unit: str, meaning: str) -> tuple[str, Column]:
    return name, Column(dtype, unit, meaning)


SCHEMA: dict[str, Column] = dict(
    [
        _column("file", "String", "", "path as given"),
        _column("agent", "String", "", "the agent that wrote the session"),
        _column("version", "String", "", "the agent's own version, when it says it"),
        _column("session", "String", "", "session id; one per branch where a file holds a tree"),
        _column("seq", "Int64", "", "order in the session"),
        _column("line", "Int64", "", "1-based physical line; null in databases"),
        _column("record", "String", "", "the record's own id"),
        _column("ts", "Datetime", "UTC, ms", "when it was recorded"),
        _column("kind", "String", "|".join(get_args(Kind)), "what happened"),
        _column("origin", "String", "|".join(get_args(Origin)), "who wrote a prompt"),
        _column("sent", "Datetime", "UTC, ms", "when a queued prompt was sent"),
        _column("stop", "String", "|".join(get_args(Stop)), "how a reply ended"),
        _column("fault", "String", "|".join(get_args(Fault)), "class of an error"),
        _column("error", "String", "", "the provider's or agent's own words"),
        _column("trigger", "String", "|".join(get_args(Trigger)), "why a compaction ran"),
        _column("outcome", "String", "|".join(get_args(Outcome)), "how a compaction ended"),
        _column("before", "Int64", "tokens", "before a compaction"),
        _column("after", "Int64", "tokens", "after a compaction"),
        _column("requests", "Int64", "", "model requests a compaction made"),
        _column("will_retry", "Boolean", "", "the agent said it goes on by itself"),
        _column("context", "Int64", "tokens", "in the whole context at this row"),
        _column("messages", "Int64", "tokens", "of the messages alone"),
        _column("cap", "Int64", "tokens", "the context window in force"),
        _column("cap_source", "String", "|".join(get_args(CapSource)), "where the cap comes from"),
        _column("input", "Int64", "tokens", "prompt tokens outside a cache"),
        _column("cached", "Int64", "tokens", "prompt tokens read from or written to a cache"),
        _column("output", "Int64", "tokens", "generated"),
        _column("reasoning", "Int64", "tokens", "generated as reasoning"),
        _column("total", "Int64", "tokens", "the source's own total, as reported"),
        _column("estimate", "Int64", "tokens", "the agent's own local estimate"),
        _column("cost", "Float64", "US dollars", "as recorded"),
        _column("size", "Int64", "characters", "of content"),
        _column("provider", "String", "", "the model's provider"),
        _column("model", "String", "", "the model"),
        _column("api", "String", "", "the provider's interface"),
        _column("tool", "String", "", "the tool called"),
        _column("code", "Int64", "", "exit code"),
        _column("digest", "String", "", "hash of the content"),
        _column("text", "String", "", "the first characters"),
        _column("parent", "String", "", "the session this one is a child or branch of"),
    ]
)


def fields(event: Event) -> dict[str, Any]:
    """Give the event's non-null columns by name (the shape of the plain format's lines)."""
    return {
        name: value
        for name in event.__struct_fields__
        if name not in {"nth", "seq", "run"} and (value := getattr(event, name)) is not None
    }
