"""Event streams of pi and Atomic against what really happened: the scripted model's own request log.

A stream shows what happened until it ends, never anything else: in print mode each step's replies must be the first
of that step's requests. `UNSHOWN` lists what came after a stream's end, `INSIDE` what the provider's library tried
by itself, `COMPACTIONS` the attempts of each run against the summary requests that they took, and why they differ.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from forensics.attempts import attempts
from forensics.parse import Source, read, recognise

RECORDED = Path(__file__).parents[3] / "shared" / "corpus" / "recorded"
RUNS = sorted(
    truth.parent.relative_to(RECORDED).as_posix()
    for agent in ("pi-*", "atomic-*")
    for truth in RECORDED.glob(f"{agent}/*/truth.json")
)
SAME: dict[tuple[str | None, str | None], set[str]] = {
    ("done", None): {"text"},
    ("tool", None): {"tool"},
    ("length", None): {"length", "length_empty"},
    ("aborted", None): {"text"},
    ("error", "overflow"): {"overflow"},
    ("error", "output-budget"): {"underflow"},
    ("error", "overloaded"): {"overloaded529"},
    ("error", "rate-limit"): {"rate429"},
    ("error", "transport"): {"drop", "malformed"},
}
"""How a reply ended, and the outcomes of its request that it can stand for."""

PENDING = "print mode waits for one automatic continuation only; the next one goes on after the stream has ended"
NO_WAIT = "before #1690 print mode waits for no continuation after a length stop; it goes on after the stream has ended"
COMPACTING = "pi 0.73's print mode ends inside the compaction that the last reply called for; what follows is unseen"
UNSHOWN: dict[tuple[str, int], tuple[list[str], str]] = {
    ("atomic-6031a926-head/b3_overflow_progress", 2): (["tool", "overflow"], PENDING),
    ("atomic-6031a926-head/b3_overflow_progress", 3): (["tool", "overflow"], PENDING),
    ("atomic-6031a926-head/d_length_continue", 3): (["length"], PENDING),
    ("atomic-6031a926-head/d_length_continue", 4): (["length_empty"], PENDING),
    ("atomic-7c87ed1d-pr1690/b3_overflow_progress", 2): (["tool", "overflow"], PENDING),
    ("atomic-7c87ed1d-pr1690/b3_overflow_progress", 3): (["tool", "overflow"], PENDING),
    ("atomic-7c87ed1d-pr1690/d_length_continue", 3): (["length"], PENDING),
    ("atomic-7c87ed1d-pr1690/d_length_continue", 4): (["length_empty"], PENDING),
    ("atomic-7c87ed1d-pr1690/e_underflow_continue", 2): (["tool", "tool", "tool", "underflow"], PENDING),
    ("atomic-cf3c2059-pre1690/b3_overflow_progress", 2): (["tool", "overflow"], PENDING),
    ("atomic-cf3c2059-pre1690/b3_overflow_progress", 3): (["tool", "overflow"], PENDING),
    ("atomic-cf3c2059-pre1690/d_length_continue", 2): (["text"], NO_WAIT),
    ("atomic-cf3c2059-pre1690/d_length_continue", 3): (["length"], NO_WAIT),
    ("atomic-cf3c2059-pre1690/d_length_continue", 4): (["length"], NO_WAIT),
    ("atomic-cf3c2059-pre1690/d_length_continue", 5): (["length_empty"], NO_WAIT),
    ("pi-0.73.1/b3_overflow_progress", 2): (["tool", "overflow"], COMPACTING),
    ("pi-0.73.1/b3_overflow_progress", 3): (["tool", "overflow"], COMPACTING),
    ("pi-0.73.1/b_overflow_loop", 3): (["overflow"], COMPACTING),
    ("pi-0.73.1/b_overflow_loop", 4): (["overflow"], COMPACTING),
    ("pi-0.73.1/h_oversized_message", 3): (["overflow"], COMPACTING),
    ("pi-0.73.1/h_oversized_message", 4): (["overflow"], COMPACTING),
}
"""Run and step: the requests after the stream's end."""

LIBRARY = "pi 0.73's provider library tries up to three times before pi hears of it"
INSIDE: dict[tuple[str, int], tuple[list[int], str]] = {
    ("pi-0.73.1/f_retry_storm", 2): ([3], LIBRARY),
    ("pi-0.73.1/f_retry_storm", 3): ([3, 3, 3, 3], LIBRARY),
    ("pi-0.73.1/f_retry_storm", 4): ([3, 3, 3, 3], LIBRARY),
}
"""Run and step: how many requests each reply stands for; the last of them is the one it tells of."""

NO_REQUEST = "a reply aborted while a tool ran: the row `This operation was aborted` has no request of its own"
WITHOUT_REQUEST: dict[tuple[str, int], tuple[int, str]] = {("pi-1.6.0/i_user_abort_rpc", 0): (1, NO_REQUEST)}

SPLIT = "one request for the history and, where the cut lies inside a turn, one for the turn's beginning"
ENDS_INSIDE = f"{COMPACTING}; requests: {SPLIT}"
RETRIED = "each attempt's two requests overflowed; the ends before a prompt are shown, those after a reply are not"
PLANNER = "July's planner is a conversation of 1 to 12 requests; it deletes entries and makes no summary, by design"
NOT_MET = "the planner answered, but what it asked for was refused or freed too little: nothing was deleted"
VERBATIM = "one request to the planner"
TINY = "the first was planned with one request; regions of fewer than 20 lines are dropped without asking"
NOTHING = "nothing to compact: no request"
EMPTY_PLAN = "two failed plans and one boundary after a failed plan, a request each; the others had nothing to compact"
LAST_RUNG = "six requests to the planner, none usable: the conversation was discarded"
CUT = "the summary came empty or cut at its output limit: pi 1.6 keeps none and says so"

COMPACTIONS: dict[str, tuple[dict[str, int], int, str]] = {
    "atomic-6031a926-head/a_healthy": ({"summary": 1}, 1, VERBATIM),
    "atomic-6031a926-head/b3_overflow_progress": ({"summary": 1, "dropped": 3}, 1, TINY),
    "atomic-6031a926-head/c2_truncated_summary": ({"skipped": 2}, 0, NOTHING),
    "atomic-6031a926-head/c_empty_summary": ({"skipped": 7, "no-summary": 3}, 3, EMPTY_PLAN),
    "atomic-6031a926-head/e2_underflow_forever": ({"summary": 1}, 1, VERBATIM),
    "atomic-6031a926-head/e3_underflow_honest": ({"summary": 3}, 3, VERBATIM),
    "atomic-6031a926-head/e_underflow_continue": ({"summary": 3}, 3, VERBATIM),
    "atomic-6031a926-head/h_oversized_message": ({"no-summary": 1}, 6, LAST_RUNG),
    "atomic-7c87ed1d-pr1690/b3_overflow_progress": ({"dropped": 4}, 24, PLANNER),
    "atomic-7c87ed1d-pr1690/b_overflow_loop": ({"dropped": 3}, 9, PLANNER),
    "atomic-7c87ed1d-pr1690/c_empty_summary": ({"failed": 9}, 18, NOT_MET),
    "atomic-7c87ed1d-pr1690/d2_length_at_limit": ({"dropped": 2, "failed": 2}, 21, f"{PLANNER}; {NOT_MET}"),
    "atomic-7c87ed1d-pr1690/e2_underflow_forever": ({"dropped": 1}, 6, PLANNER),
    "atomic-7c87ed1d-pr1690/e_underflow_continue": ({"dropped": 2}, 10, PLANNER),
    "atomic-7c87ed1d-pr1690/e_underflow_continue_rpc": ({"dropped": 3}, 14, PLANNER),
    "atomic-7c87ed1d-pr1690/h_oversized_message": ({"failed": 3}, 36, NOT_MET),
    "atomic-cf3c2059-pre1690/a_healthy": ({"dropped": 1}, 4, PLANNER),
    "atomic-cf3c2059-pre1690/b3_overflow_progress": ({"dropped": 4}, 24, PLANNER),
    "atomic-cf3c2059-pre1690/b_overflow_loop": ({"dropped": 3}, 9, PLANNER),
    "atomic-cf3c2059-pre1690/c2_truncated_summary": ({"failed": 2}, 4, NOT_MET),
    "atomic-cf3c2059-pre1690/c_empty_summary": ({"failed": 9}, 18, NOT_MET),
    "atomic-cf3c2059-pre1690/e2_underflow_forever": ({"dropped": 1}, 6, PLANNER),
    "atomic-cf3c2059-pre1690/e3_underflow_honest": ({"dropped": 3}, 8, PLANNER),
    "atomic-cf3c2059-pre1690/e_underflow_continue": ({"dropped": 3}, 14, PLANNER),
    "atomic-cf3c2059-pre1690/e_underflow_continue_rpc": ({"dropped": 3}, 14, PLANNER),
    "atomic-cf3c2059-pre1690/h_oversized_message": (
        {"failed": 2, "unknown": 1},
        35,
        f"{NOT_MET}; the third attempt was killed with the process at the cap of requests",
    ),
    "pi-0.73.1/a_healthy": ({"unknown": 1}, 2, ENDS_INSIDE),
    "pi-0.73.1/b3_overflow_progress": ({"unknown": 2}, 4, ENDS_INSIDE),
    "pi-0.73.1/b_overflow_loop": ({"unknown": 2}, 3, ENDS_INSIDE),
    "pi-0.73.1/c2_truncated_summary": ({"unknown": 1}, 2, ENDS_INSIDE),
    "pi-0.73.1/c3_summary_error": ({"unknown": 4, "failed": 3}, 14, RETRIED),
    "pi-0.73.1/c_empty_summary": ({"unknown": 5}, 10, ENDS_INSIDE),
    "pi-0.73.1/e2_underflow_forever": ({"unknown": 1}, 2, ENDS_INSIDE),
    "pi-0.73.1/e_underflow_continue": ({"unknown": 3}, 6, ENDS_INSIDE),
    "pi-0.73.1/h_oversized_message": ({"unknown": 2}, 2, ENDS_INSIDE),
    "pi-1.6.0/a_healthy": ({"summary": 1}, 2, SPLIT),
    "pi-1.6.0/a_healthy_rpc": ({"summary": 1}, 2, SPLIT),
    "pi-1.6.0/b3_overflow_progress": ({"summary": 12}, 13, SPLIT),
    "pi-1.6.0/b_overflow_loop": ({"summary": 1}, 2, SPLIT),
    "pi-1.6.0/c2_truncated_summary": ({"no-summary": 2}, 2, CUT),
    "pi-1.6.0/c_empty_summary": ({"no-summary": 10}, 10, CUT),
    "pi-1.6.0/e_underflow_continue": ({"summary": 3}, 6, SPLIT),
    "pi-1.6.0/e_underflow_continue_rpc": ({"summary": 3}, 6, SPLIT),
    "pi-1.6.0/h_oversized_message": ({"summary": 1}, 2, SPLIT),
    "pi-1.6.0/i_user_abort_rpc": ({"summary": 1}, 2, SPLIT),
}
"""Run: attempts by outcome, summary requests in the truth, and what lies between the two figures."""

FREE = frozenset({"skipped"})
"""Outcomes of attempts that ask no model."""
GAVE_UP = {
    "atomic-7c87ed1d-pr1690/b_overflow_loop": [3, 4],
    "atomic-cf3c2059-pre1690/b_overflow_loop": [3, 4],
    "pi-1.6.0/b_overflow_loop": [3],
}
"""Run: the steps in which recovery said that it gives up on an overflow."""


def _streams(run: str) -> list[tuple[int, Path]]:
    """List a run's streams with their steps; one rpc stream holds all steps and counts as step 0."""
    folder = RECORDED / run
    rpc = folder / "rpc_stdout.jsonl"
    if rpc.exists():
        return [(0, rpc)]
    return sorted((int(path.name[4:].partition("_")[0]), path) for path in folder.glob("step*_stdout.txt"))


def _truth(run: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((RECORDED / run / "truth.json").read_text(encoding="utf-8"))
    return loaded


def _requests(truth: dict[str, Any], kind: str, step: int) -> list[str]:
    return [one["outcome"] for one in truth["events"] if one["class"] == kind and step in {0, one["step"]}]


def _told(run: str, step: int, happened: list[str]) -> list[str]:
    """Give the requests that the stream of a step can tell of."""
    groups, _ = INSIDE.get((run, step), ([], ""))
    ends = [sum(groups[: at + 1]) - 1 for at in range(len(groups))]
    told = [happened[end] for end in ends] if groups else happened
    after, _ = UNSHOWN.get((run, step), ([], ""))
    assert told[len(told) - len(after) :] == after
    return told[: len(told) - len(after)]


@pytest.mark.parametrize("run", RUNS)
def test_every_reply_is_a_request_of_its_step_in_order(run: str) -> None:
    truth = _truth(run)
    for step, path in _streams(run):
        replies = [event for event in read(Source(path)) if event.kind == "reply"]
        extra, _ = WITHOUT_REQUEST.get((run, step), (0, ""))
        aborted = [event for event in replies if event.error == "This operation was aborted"]
        assert len(aborted) == extra
        shown = [(event.stop, event.fault) for event in replies if event not in aborted]
        told = _told(run, step, _requests(truth, "normal", step))
        assert len(shown) == len(told), (step, shown, told)
        assert all(one in SAME[reply] for reply, one in zip(shown, told, strict=True)), (step, shown, told)


@pytest.mark.parametrize("run", RUNS)
def test_figures_of_a_run_are_the_truths_less_what_no_stream_shows(run: str) -> None:
    truth = _truth(run)
    unshown = Counter(one for (name, _), (after, _) in UNSHOWN.items() if name == run for one in after)
    if any(name == run for name, _ in INSIDE):
        unshown += Counter({"transient": 2 + 2 * 8})  # the two 429 of step 2, and two of every three 529
    faults: Counter[str] = Counter()
    lengths = prompts = aborted = 0
    for _, path in _streams(run):
        rows = list(read(Source(path)))
        faults.update(row.fault or "unknown" for row in rows if row.stop == "error" and row.kind == "reply")
        lengths += sum(row.stop == "length" for row in rows)
        aborted += sum(row.stop == "aborted" and row.kind == "reply" for row in rows)
        prompts += sum(row.kind == "prompt" and row.origin == "human" for row in rows)
    assert faults["overflow"] == truth["overflow_errors"] - unshown["overflow"]
    assert faults["output-budget"] == truth["underflow_errors"] - unshown["underflow"]
    assert faults["rate-limit"] + faults["overloaded"] == truth["transient_errors"] - unshown["transient"]
    assert faults["transport"] == truth["drops"] + truth["malformed"]
    assert lengths == truth["length_stops"] + truth["length_empty"] - unshown["length"] - unshown["length_empty"]
    assert aborted == len(truth["aborted_steps"])
    assert prompts == len(truth["steps"])
    assert faults.keys() <= {"overflow", "output-budget", "rate-limit", "overloaded", "transport"}


def _attempts(run: str) -> dict[int, Counter[str]]:
    return {step: Counter(one.outcome for one in attempts(read(Source(path)))) for step, path in _streams(run)}


@pytest.mark.parametrize("run", RUNS)
def test_attempts_and_the_summary_requests_they_took(run: str) -> None:
    truth = _truth(run)
    outcomes, requests, _ = COMPACTIONS.get(run, ({}, 0, "no compaction"))
    by_step = _attempts(run)
    assert dict(sum(by_step.values(), Counter())) == outcomes
    assert truth["summary_requests"] == requests
    for step, found in by_step.items():
        asked = sum(count for outcome, count in found.items() if outcome not in FREE)
        if not asked:
            assert not _requests(truth, "summary", step)


@pytest.mark.parametrize("run", [run for run in RUNS if run.startswith("pi-1.6.0/")])
def test_a_summary_is_shown_where_the_model_gave_one_and_none_where_it_did_not(run: str) -> None:
    truth = _truth(run)
    found = sum(_attempts(run).values(), Counter())
    assert (found["summary"] > 0) == (truth["summary_ok"] > 0)
    assert (found["no-summary"] > 0) == (truth["summary_empty_or_cut"] > 0)


@pytest.mark.parametrize("run", RUNS)
def test_recovery_that_gives_up_says_so_and_is_no_attempt(run: str) -> None:
    said = [
        step
        for step, path in _streams(run)
        for event in read(Source(path))
        if event.kind == "note" and (event.text or "").startswith("recovery ended: Context overflow recovery failed")
    ]
    assert said == GAVE_UP.get(run, [])


@pytest.mark.parametrize("run", RUNS)
def test_every_line_of_a_stream_is_read(run: str) -> None:
    for _, path in _streams(run):
        source = Source(path)
        chosen = recognise(path)
        rows = list(read(source, chosen))
        assert chosen.name == "pi-events"
        assert (source.malformed, source.unknown, source.records) == ([], {}, source.lines)
        assert {row.session for row in rows} == {rows[0].session}


@pytest.mark.parametrize("run", [run for run in RUNS if run.endswith("_rpc")])
def test_an_rpc_stream_names_its_session_and_its_window(run: str) -> None:
    ((_, path),) = _streams(run)
    (session,) = (RECORDED / run / "session").glob("*.jsonl")
    rows = list(read(Source(path)))
    assert session.stem.endswith(rows[0].session or "?")
    assert {row.cap for row in rows if row.kind == "budget"} == {_truth(run)["window"]}


def test_the_agent_shows_in_what_it_compacts_or_reads() -> None:
    if not RUNS:
        pytest.skip("the corpus of recordings is not beside this checkout")
    for run in RUNS:
        rows = [event for _, path in _streams(run) for event in read(Source(path))]
        told = {event.agent for event in rows if event.kind == "session" and event.agent}
        silent = run.endswith(("/d_length_continue", "/f_retry_storm"))  # neither a compaction nor a tool call
        assert told == ({"atomic"} if run.startswith("atomic") and not silent else set())
