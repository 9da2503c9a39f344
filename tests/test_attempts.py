import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.attempts import attempts, hollow
from forensics.detect import detect
from forensics.events import Event
from forensics.timeline import File

MINE = [
    "compaction-loop",
    "context-blowup",
    "crash-loop",
    "ineffective-compaction",
    "no-summary",
    "starved-summary",
    "usage-outlier",
]


def _compact(session: str = "s", **fields: object) -> Event:
    return Event(kind="compact", session=session, **fields)  # type: ignore[arg-type]  # names and types are the test's own


def _compacted(session: str = "s", **fields: object) -> Event:
    return Event(kind="compacted", session=session, **fields)  # type: ignore[arg-type]  # as above


def test_starts_and_ends_pair_within_their_session() -> None:
    rows = [_compact("a"), _compact("b"), _compacted("a", outcome="summary"), _compacted("b", outcome="failed")]
    assert [(one.start, one.end, one.outcome) for one in attempts(rows)] == [
        (rows[0], rows[2], "summary"),
        (rows[1], rows[3], "failed"),
    ]


def test_either_end_may_be_missing() -> None:
    first, second, end, alone = _compact(), _compact(), _compacted(outcome="summary"), _compacted(outcome="dropped")
    found = attempts([first, second, end, alone])
    assert [(one.start, one.end) for one in found] == [(first, None), (second, end), (None, alone)]
    assert [(one.outcome, one.unfinished, one.known) for one in found] == [
        ("unknown", True, False),
        ("summary", False, True),
        ("dropped", False, True),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\n",
        "## Goal\n\n## Next Steps\n",
        "## Goal\n(none)\n\n---\n\n**Turn Context (split turn):**\n\n<read-files>\n/a/b.md\n</read-files>",
        "Summary unavailable due to context limits. Older messages were truncated.",
        "(No conversation provided to summarize)",
    ],
)
def test_a_summary_that_says_nothing_is_none(text: str) -> None:
    assert hollow(text)
    assert attempts([_compacted(outcome="summary", text=text)])[0].outcome == "no-summary"


@pytest.mark.parametrize(
    "text", [None, "## Goal\nSort the table.", "ok", "Summary unavailable was the error seen.\nIt is fixed."]
)
def test_a_summary_that_says_something_or_was_not_recorded_stands(text: str | None) -> None:
    assert not hollow(text)
    assert attempts([_compacted(outcome="summary", text=text)])[0].outcome == "summary"


def test_what_follows_an_attempt_is_counted_to_it() -> None:
    rows = [
        Event(kind="reply", session="s", stop="error", fault="overflow", estimate=131_500),
        _compact(trigger="overflow"),
        _compacted(outcome="summary"),
        Event(kind="prompt", session="s", origin="human"),
        Event(kind="reply", session="s", stop="tool", context=9000),
        Event(kind="reply", session="s", stop="done", context=9500),
        Event(kind="reply", session="s", stop="length"),
        _compacted(outcome="skipped"),
        _compacted(outcome="summary", trigger="manual"),
        _compact(),
    ]
    (session,) = File("f", "p", "a").build(rows).sessions
    first, second = session.rounds
    assert (first.lead, first.pressure) == (rows[0], 131_500)
    assert (first.good, first.prompts, first.failures, first.overflows) == (2, 1, 1, 0)
    assert (first.first, first.prompt) == (rows[4], rows[3])
    assert (second.lead, second.pressure, second.good) == (rows[6], 9500, 0)


def test_what_the_person_aborted_after_the_work_went_on_is_no_failure_of_the_attempt() -> None:
    """A brief reading does not tell it, so it must not stand in a finding's evidence."""
    aborted = Event(kind="reply", session="s", stop="aborted")
    good = Event(kind="reply", session="s", stop="done")
    failed = Event(kind="reply", session="s", stop="error", fault="overflow")
    rows = [_compacted(outcome="summary", trigger="overflow"), aborted, good, aborted, failed]
    (session,) = File("f", "plain", "a").build([replace(row) for row in rows]).sessions
    (one,) = session.rounds
    assert ([row.seq for row in one.failed], one.failures, one.overflows) == ([2, 5], 3, 1)


_EVENTS = st.builds(
    Event,
    kind=st.sampled_from(["prompt", "reply", "compact", "compacted", "budget", "spawn", "exit", "note"]),
    session=st.sampled_from(["a", "b", None]),
    line=st.integers(1, 99),
    ts=st.none() | st.integers(0, 10_000_000),
    origin=st.sampled_from(["human", "synthetic", None]),
    stop=st.sampled_from(["done", "tool", "length", "error", "aborted", None]),
    fault=st.sampled_from(["overflow", "truncated-summary", "empty-summary", "transport", None]),
    trigger=st.sampled_from(["threshold", "overflow", "manual", None]),
    outcome=st.sampled_from(["summary", "dropped", "no-summary", "failed", "aborted", "skipped", "unknown", None]),
    before=st.none() | st.integers(0, 1 << 40),
    after=st.none() | st.integers(0, 1 << 40),
    context=st.none() | st.integers(0, 1 << 70),
    total=st.none() | st.integers(0, 1 << 70),
    estimate=st.none() | st.integers(0, 1000),
    messages=st.none() | st.integers(0, 1 << 40),
    cap=st.none() | st.integers(0, 200_000),
    cost=st.none() | st.floats(0, 10),
    output=st.none() | st.integers(0, 5000),
    reasoning=st.none() | st.integers(0, 5000),
    requests=st.none() | st.integers(0, 12),
    code=st.sampled_from([0, 1, 137, None]),
    text=st.none() | st.text(max_size=40),
)


@given(st.lists(_EVENTS, max_size=60), st.booleans())
def test_any_rows_give_findings_that_hold_together(rows: list[Event], log: bool) -> None:
    file = File("f", "plain", "demo", log=log).build(rows)
    for finding in detect(file, MINE):
        figures = finding.measures
        assert finding.lines
        assert all(low <= high for low, high in finding.intervals.values())
        if finding.detector == "compaction-loop":
            cycles, made = figures["cycles"], figures["summaries"]
            assert isinstance(cycles, int)
            assert cycles >= 2
            assert made is None or (isinstance(made, int) and made <= cycles)
        if finding.detector == "context-blowup":
            assert isinstance(figures["ratio"], float)
            assert figures["ratio"] >= 1
        if finding.detector == "no-summary" and "unfinished" in figures:
            tries, none = figures["attempts"], figures["no_summary"]
            assert isinstance(tries, int)
            assert isinstance(none, int)
            assert 0 < none <= tries
