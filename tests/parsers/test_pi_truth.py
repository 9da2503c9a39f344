"""Session files of the corpus against what really happened: the scripted model's own request log.

Where the file holds less than happened, `MISSING` says how much and why; nothing else may differ.
"""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.events import Event
from forensics.parse import Source, read
from forensics.timeline import File

RECORDED = Path(__file__).parents[3] / "shared" / "corpus" / "recorded"
SCENARIOS = sorted(
    path.parent.relative_to(RECORDED).as_posix()
    for agent in ("pi-*", "atomic-*")
    for path in RECORDED.glob(f"{agent}/*/session")
)
TRANSIENT = ("rate-limit", "overloaded")
EXITED = "print mode exits before it writes the replies of its last continuation"
INSIDE = "retries inside the provider's library leave no record, only the last of three errors does"
MISSING: dict[str, tuple[str, int, str]] = {
    "atomic-6031a926-head/b3_overflow_progress": ("overflow", 2, EXITED),
    "atomic-6031a926-head/d_length_continue": ("length", 2, EXITED),
    "atomic-7c87ed1d-pr1690/b3_overflow_progress": ("overflow", 2, EXITED),
    "atomic-7c87ed1d-pr1690/d_length_continue": ("length", 2, EXITED),
    "atomic-7c87ed1d-pr1690/e_underflow_continue": ("underflow", 1, EXITED),
    "atomic-cf3c2059-pre1690/b3_overflow_progress": ("overflow", 2, EXITED),
    "atomic-cf3c2059-pre1690/d_length_continue": ("length", 3, EXITED),
    "pi-0.73.1/b3_overflow_progress": ("overflow", 2, EXITED),
    "pi-0.73.1/b_overflow_loop": ("overflow", 2, EXITED),
    "pi-0.73.1/f_retry_storm": ("transient", 18, INSIDE),
    "pi-0.73.1/h_oversized_message": ("overflow", 2, EXITED),
}
WITHOUT_SUMMARY: dict[str, tuple[int, str | None, str]] = {
    "atomic-6031a926-head/c_empty_summary": (3, "empty-summary", "one fresh boundary, two side files"),
    "atomic-6031a926-head/h_oversized_message": (1, "overflow", "one fresh boundary after six planner requests"),
    "pi-0.73.1/c_empty_summary": (5, "empty-summary", "hollow records: boilerplate and a list of files"),
}
"""Compactions without a summary that a session file shows; every other failed one left no record."""


def _rows(scenario: str) -> tuple[dict[str, Any], list[Event], Source]:
    folder = RECORDED / scenario
    (path,) = (folder / "session").glob("*.jsonl")
    source = Source(path)
    return json.loads((folder / "truth.json").read_text(encoding="utf-8")), list(read(source)), source


def _read(rows: list[Event]) -> dict[str, int]:
    replies = [row for row in rows if row.kind == "reply"]
    faults: Counter[str] = Counter(row.fault or "" for row in replies if row.stop == "error")
    return {
        "overflow": faults["overflow"],
        "underflow": faults["output-budget"],
        "transient": faults["rate-limit"] + faults["overloaded"],
        "broken": faults["transport"],
        "other": sum(faults.values())
        - sum(faults[one] for one in ("overflow", "output-budget", *TRANSIENT, "transport")),
        "length": sum(row.stop == "length" for row in replies),
        "aborted": sum(row.stop == "aborted" for row in replies),
        "prompts": sum(row.kind == "prompt" and row.origin == "human" for row in rows),
        "compactions": sum(row.kind == "compacted" and row.line is not None for row in rows),
    }


def _happened(truth: dict[str, Any]) -> dict[str, int]:
    in_files = truth["in_files"]
    return {
        "overflow": truth["overflow_errors"],
        "underflow": truth["underflow_errors"],
        "transient": truth["transient_errors"],
        "broken": truth["drops"] + truth["malformed"],
        "other": 0,
        "length": truth["length_stops"] + truth["length_empty"],
        "aborted": len(truth["aborted_steps"]),
        "prompts": len(truth["steps"]),
        "compactions": in_files.get("compaction", 0) + in_files.get("context_compaction", 0),
    }


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_session_file_tells_what_happened(scenario: str) -> None:
    truth, rows, source = _rows(scenario)
    found, happened = _read(rows), _happened(truth)
    if scenario in MISSING:
        what, count, _ = MISSING[scenario]
        found[what] += count
    assert found == happened
    assert (source.malformed, source.unknown, source.notes) == ([], {}, [])
    assert source.records == source.lines


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_a_session_file_shows_of_failed_compactions(scenario: str) -> None:
    truth, rows, source = _rows(scenario)
    without = [row for row in rows if row.kind == "compacted" and row.outcome not in {"summary", "dropped"}]
    if scenario not in WITHOUT_SUMMARY:
        assert (without, source.failures) == ([], None)
        return
    count, fault, _ = WITHOUT_SUMMARY[scenario]
    assert [(row.outcome, row.fault) for row in without] == [("no-summary", fault)] * count
    assert source.failures == "partly"
    requests = [row.requests for row in without]
    assert sum(one or 0 for one in requests) in {truth["summary_requests"], 0}


def test_the_agent_is_told_from_what_it_wrote() -> None:
    if not SCENARIOS:
        pytest.skip("the corpus of recordings is not beside this checkout")
    undecided = {"atomic-6031a926-head/d_length_continue", "atomic-6031a926-head/f_retry_storm"}
    for scenario in SCENARIOS:
        agent = _rows(scenario)[1][0].agent
        # Two sessions without a tool call or a compaction hold nothing that pi would not have written, too.
        assert agent == (None if scenario in undecided or scenario.startswith("pi-") else "atomic")


def test_a_copy_made_before_a_compaction_is_a_session_like_any_other(corpus: Path) -> None:
    copies = list(corpus.glob("recorded/atomic-*/*/session/*.bak"))
    assert copies
    for copy in copies:
        (session,) = [row for row in read(Source(copy)) if row.kind == "session" and row.parent is None]
        assert session.session == copy.name.partition(".jsonl")[0].rpartition("_")[2]


def test_real_sessions_of_pi_v1(corpus: Path, file_of: Callable[[Path], File]) -> None:
    (before,) = file_of(corpus / "real" / "pi-v1-before-compaction.jsonl").sessions
    assert (before.agent, before.prompts, before.replies, before.aborted, before.tools) == ("pi", 55, 484, 18, 451)
    assert before.errors == {"invalid-request": 1}
    assert sum(event.kind == "compacted" for event in before.events) == 2
    (large,) = file_of(corpus / "real" / "pi-v1-large-session.jsonl").sessions
    assert (large.agent, large.prompts, large.replies, large.aborted, large.tools) == ("pi", 88, 453, 21, 373)
    assert large.errors == {"transport": 1}
    stops = {event.line: event.stop for event in large.events if event.kind == "reply"}
    kinds = {event.line: event.kind for event in large.events}
    assert (stops[234], stops[276], kinds[235], kinds[277]) == ("aborted", "aborted", "prompt", "prompt")
    (died,) = [event for event in large.events if event.stop == "error"]
    assert (died.line, died.error, died.context) == (33, "terminated", 37753)


def test_real_sessions_of_openclaw_that_end_at_the_output_cap(corpus: Path, file_of: Callable[[Path], File]) -> None:
    lines = {"openclaw-length-cap-1": [12, 16, 22, 27, 29, 31], "openclaw-length-cap-2": [8, 40, 53, 77]}
    capped = {"openclaw-length-cap-1": [12, 16, 22, 31], "openclaw-length-cap-2": [8, 40, 53, 77]}
    for name, expected in lines.items():
        (session,) = file_of(corpus / "real" / f"{name}.jsonl").sessions
        cut = [event for event in session.events if event.stop == "length"]
        assert session.agent == "openclaw"
        assert [event.line for event in cut] == expected
        assert [event.line for event in cut if event.output == 8192] == capped[name]


def test_a_provider_without_usage_leaves_the_context_unknown(corpus: Path, file_of: Callable[[Path], File]) -> None:
    (session,) = file_of(corpus / "real" / "openclaw-zero-usage-1.jsonl").sessions
    assert (session.agent, session.prompts, session.replies, session.aborted) == ("openclaw", 38, 302, 3)
    assert (session.peak, session.input_tokens, len(session.samples)) == (None, None, 0)
    assert session.errors == {"overflow": 1, "transport": 3}
    compactions = [event for event in session.events if event.kind == "compacted"]
    assert (len(compactions), sum(event.before is None for event in compactions)) == (23, 21)
    by_line = {event.line: event for event in compactions}
    assert by_line[601].digest == by_line[604].digest
    sizes = [event.size or 0 for event in compactions]
    assert (min(sizes), max(sizes)) == (4843, 27440)
    # A row before each says that the provider ended it: their stop reason is `aborted`, though no person stopped them.
    timed_out = [event.line for event in session.events if event.stop == "error" and event.fault == "transport"]
    assert timed_out == [87, 144, 373]
    notices = [event.line for event in session.events if event.kind == "note" and event.api == "cli"]
    assert notices[0] == 177
    assert len(notices) == 4


def test_reproduction_clock_skew_and_branches(corpus: Path, file_of: Callable[[Path], File]) -> None:
    path = corpus / "reproductions" / "pi_clock_skew_branches" / "session.jsonl"
    live, abandoned = file_of(path).sessions
    assert [event.line for event in live.events if event.kind != "session"] == [2, 3, 6, 7]
    assert [event.line for event in abandoned.events if event.kind != "session"] == [4, 5]
    assert (live.peak, live.length_stops, abandoned.length_stops) == (2060, 0, 1)
    assert abandoned.input_tokens == 900000
    source = Source(path)
    list(read(source))
    assert source.notes == ["line 6: the clock went back by 3630 s; file order is kept"]


def test_reproduction_cumulative_totals(corpus: Path, file_of: Callable[[Path], File]) -> None:
    (session,) = file_of(corpus / "reproductions" / "pi_cumulative_totaltokens" / "session.jsonl").sessions
    samples = list(session.samples)
    assert [one.context for one in samples] == [51000 + 100 * n for n in range(8)] + [50800]
    assert [one.total for one in samples][-2:] == [410800, 50800]
    assert session.peak == 51700
    assert (session.input_tokens or 0) + (session.output_tokens or 0) == 461600


def test_reproduction_length_stops(corpus: Path, file_of: Callable[[Path], File]) -> None:
    (session,) = file_of(corpus / "reproductions" / "pi_length_manual_continue" / "session.jsonl").sessions
    cut = [(event.line, event.output) for event in session.events if event.stop == "length"]
    assert cut == [(5, 8192), (7, 8192), (11, 8192)]


def test_reproduction_identical_tool_calls(corpus: Path, file_of: Callable[[Path], File]) -> None:
    (session,) = file_of(corpus / "reproductions" / "pi_identical_tool_calls" / "session.jsonl").sessions
    assert session.tools == 18


def test_reproduction_truncated_summary_keeps_what_shows_it(
    corpus: Path, events_of: Callable[[Path], list[Event]]
) -> None:
    rows = events_of(corpus / "reproductions" / "pi_truncated_summary" / "session.jsonl")
    compactions = [row for row in rows if row.kind == "compacted"]
    assert [(row.line, row.outcome) for row in compactions] == [(4, "summary"), (7, "summary"), (10, "summary")]
    texts = [row.text or "" for row in compactions]
    assert texts[1].endswith("you went fro")
    assert ["## Next Steps" in text for text in texts] == [True, False, False]


def test_reproduction_atomic_underflow(corpus: Path, file_of: Callable[[Path], File]) -> None:
    (session,) = file_of(corpus / "reproductions" / "atomic_underflow_manual_continue" / "session.jsonl").sessions
    assert session.agent == "atomic"
    failed = [(event.line, event.fault) for event in session.events if event.stop == "error"]
    assert failed == [(5, "output-budget"), (11, "output-budget"), (17, "output-budget"), (21, "invalid-request")]
    compactions = [
        (event.line, event.outcome, event.before, event.after) for event in session.events if event.kind == "compacted"
    ]
    assert compactions == [
        (6, "dropped", 267000, 131000),
        (12, "dropped", 267001, 131001),
        (18, "dropped", 267002, 131002),
    ]


def test_reproduction_byte_order_mark_and_carriage_returns(corpus: Path) -> None:
    source = Source(corpus / "reproductions" / "jsonl_bom_crlf" / "session.jsonl")
    rows = list(read(source))
    assert [(row.line, row.kind) for row in rows] == [(1, "session"), (2, "prompt"), (3, "reply")]
    assert rows[2].context == 15
    assert (source.records, source.malformed) == (3, [])
    assert sorted(source.notes) == ["UTF-8 byte order mark skipped", "lines end with CRLF"]
