"""The incident report as plain data: every form of it (HTML, Markdown, JSON, PNG) is written from this alone.

Times are UTC milliseconds since 1970, tokens are counts, cost is US dollars. `None` is unknown, never 0.
"""

from typing import Literal

import msgspec

from forensics.detect import Basis, Finding, Severity
from forensics.scan import SessionTotals
from forensics.summary import Coverage, Summary, Tool

SCHEMA_VERSION = 1
Lane = Literal["compactions", "failures", "people", "process"]
"""The row under a session's curve that a mark stands in."""

LANES: tuple[Lane, ...] = ("compactions", "failures", "people", "process")

Mark = Literal[
    "summary", "dropped", "no-summary", "failed", "aborted", "skipped", "unknown",
    "error", "cut", "aborted-reply",
    "continue", "prompt", "queued",
    "crash", "stopped", "start",
]  # fmt: skip
"""What a mark says. The first seven are outcomes of compactions; `cut` is a reply cut at a limit, `crash` an exit
with an error, `stopped` one without."""

OUTCOMES: tuple[Mark, ...] = ("summary", "dropped", "no-summary", "failed", "aborted", "skipped", "unknown")

MARK_WORDS: dict[str, str] = {
    "summary": "compacted with a summary",
    "dropped": "compacted by dropping, no summary meant",
    "no-summary": "compaction made no summary",
    "failed": "compaction failed",
    "aborted": "compaction aborted",
    "skipped": "compaction skipped",
    "unknown": "compaction started, end not on record",
    "error": "reply failed",
    "cut": "reply cut at a limit, or empty",
    "aborted-reply": "reply aborted by the person",
    "continue": "a person had to continue",
    "prompt": "prompt by a person",
    "queued": "prompt that a person queued",
    "crash": "process exit with an error",
    "stopped": "process exit without an error",
    "start": "process start",
}


class Piece(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """A stretch of a sentence; `ref` is the anchor of what it rests on."""

    text: str
    ref: str | None = None


class Impact(msgspec.Struct, kw_only=True, frozen=True):
    """A row of the impact table: a figure, how it is known, and what it rests on: anchors, or places in files."""

    metric: str
    value: str
    basis: Basis
    note: str = ""
    refs: list[str] = []
    where: str = ""


class Row(msgspec.Struct, kw_only=True, frozen=True):
    """A row of evidence in short form. `text` is an excerpt of the transcript, only where it was asked for."""

    line: int | None
    record: str | None
    ts: int | None
    words: str
    text: str | None = None


class Case(msgspec.Struct, kw_only=True):
    """A finding with what a reader needs to check it."""

    anchor: str
    finding: Finding
    trigger: str | None
    sustained: list[str]
    """What kept it going: one sentence each."""
    evidence: list[Row]
    left_out: int
    """Rows of evidence that are not shown."""


class Group(msgspec.Struct, kw_only=True):
    """The findings of one detector and severity, with what is the same for all of them."""

    anchor: str
    detector: str
    severity: Severity
    what: str
    why: str
    todo: str | None
    cases: list[Case]


class Pin(msgspec.Struct, kw_only=True, frozen=True):
    """Marks of one kind that fall on one place of the figure. `x` is the first one's, `last` the last one's."""

    lane: Lane
    mark: Mark
    x: int
    last: int
    count: int
    words: str


class Gap(msgspec.Struct, kw_only=True, frozen=True):
    """A stretch in which nothing was recorded, and what ended it."""

    start: int
    end: int
    then: str


class Clock(msgspec.Struct, kw_only=True, frozen=True):
    """How a file's clock stands to that of the first one: milliseconds were added to its times.

    `matched` pairs of events support it, the worst of them is `spread` milliseconds off. An `offset` that nothing
    tells is `None`, and nothing was added.
    """

    file: str
    offset: int | None
    matched: int
    spread: int | None


class Track(msgspec.Struct, kw_only=True):
    """One session (or the host process alone) on its time axis, thinned out for drawing; peaks are kept.

    `timed` says whether `x` is time (UTC milliseconds) or the row's number. `points` are (x, tokens in the context),
    `caps` (x, cap), `spent` (x, dollars so far).
    """

    anchor: str
    title: str
    agent: str
    session: str | None
    files: list[str]
    timed: bool
    start: int
    end: int
    points: list[tuple[int, int]]
    measured: int
    """Measured rows before thinning."""
    peak: tuple[int, int] | None
    refused: int | None
    """The greatest request that was refused as too large, of those whose size is known; it is not on the curve."""
    cap: int | None
    caps: list[tuple[int, int]]
    begins: int | None
    """The least context at which a threshold compaction began (derived: the threshold is not above it)."""
    spent: list[tuple[int, float]]
    pins: list[Pin]
    counts: dict[str, int]
    """How often each mark stands on the track."""
    gaps: list[Gap]
    gaps_in_all: int
    clocks: list[Clock]
    refs: list[str]


class Bars(msgspec.Struct, kw_only=True):
    """Counts by stretch of time: `rows` are (start of the stretch, count by mark), those without any left out."""

    anchor: str
    title: str
    start: int
    step: int
    """Milliseconds of a stretch."""
    steps: int
    rows: list[tuple[int, dict[str, int]]]


class Definition(msgspec.Struct, kw_only=True):
    """What a detector that fired looks for, and the options it ran with."""

    name: str
    page: str
    options: dict[str, str]


class Digest(msgspec.Struct, kw_only=True):
    """An input's SHA-256 and size in bytes, so that a reader can tell that it is the same file."""

    path: str
    sha256: str | None
    bytes: int


class Incident(msgspec.Struct, kw_only=True):
    """The whole report."""

    schema_version: int = SCHEMA_VERSION
    tool: Tool
    title: str
    redacted: bool
    excerpts: bool
    paragraph: list[list[Piece]]
    """Sentences, plain words first."""
    impact: list[Impact]
    tracks: list[Track]
    tracks_left_out: int
    bars: list[Bars]
    groups: list[Group]
    replays: list["Replay"]
    replays_left_out: int
    """Sessions with findings that were not replayed here."""
    sessions: list[SessionTotals]
    summary: Summary
    coverage: Coverage
    limits: list[str]
    """What these files cannot show, and what the figures do not say."""
    remarks: list[str]
    """What a check says beyond the findings: of a baseline, of suppressions, of expectations."""
    definitions: list[Definition]
    options: dict[str, str]
    digests: list[Digest]


class Other(msgspec.Struct, kw_only=True):
    """What one policy does with a session's failures. Figures are simulated: from pessimistic to optimistic."""

    policy: str
    agrees: Literal["consistent", "departs", "undetermined"]
    decisions: str
    """How many of the recorded decisions are the policy's, and where the first one that is not stands."""
    bounded: bool | None
    verdict: str
    """What the proof says of the policy, for the classes of failure that the session holds."""
    avoided: list[tuple[str, str]]
    """(figure, how much of it), for the figures that differ from the record."""
    notes: list[str]


class Replay(msgspec.Struct, kw_only=True):
    """One session under other policies, up to and past the first decision that differs from the record."""

    anchor: str
    session: str
    agent: str
    file: str
    ran: str
    """Which policy the record itself fits, and the evidence."""
    recoveries: str
    """The longest streak of recoveries without progress on record."""
    others: list[Other]
    notes: list[str]
