"""PilotDeck's recordings against what really happened, from its transcripts and its logs.

The truth counts requests that reached the model. Where a kind of file cannot show a figure, the table says what it
shows instead and why; an entry that is no longer needed fails.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from forensics.attempts import attempts
from forensics.events import Event
from forensics.parse import Source, read, recognise
from forensics.timeline import File

RECORDED = Path(__file__).parent.parent.parent.parent / "shared" / "corpus" / "recorded"
RUNS = sorted(path.parent.relative_to(RECORDED).as_posix() for path in RECORDED.glob("pilotdeck-*/*/truth.json"))
HEAD, JULY, AUGUST = "pilotdeck-1104fd9e-head", "pilotdeck-974404a1-2026-07-07", "pilotdeck-v260806"

NAMELESS = "a request that fails in mid-turn leaves an empty message and no error"
OWN_END = "the agent gave the turn up itself: no request was sent"
ROUTER = "the router repeats a request below the agent: only its last failure is on record"
ABORTED = "the client left while a compaction ran: the turn's end is on record, no request was open"
NO_FAILED = "a compaction without a summary is not kept, so that no boundary is written"
NO_JULY = "builds of July write no boundary"
TWO_IN_ONE = "one compaction asked for two summaries, the second one in an emergency"
REPEATED = "failures repeated in the cooldown ask no model"

CHAT: dict[tuple[str, str], tuple[int, str]] = {
    (f"{HEAD}/b_overflow_loop", "overflow"): (0, NAMELESS),
    (f"{HEAD}/b_overflow_loop", "nameless"): (75, NAMELESS),
    (f"{AUGUST}/b_overflow_loop", "overflow"): (0, NAMELESS),
    (f"{AUGUST}/b_overflow_loop", "nameless"): (74, NAMELESS),
    (f"{JULY}/b_overflow_loop", "overflow"): (2, NAMELESS),
    (f"{JULY}/b_overflow_loop", "nameless"): (2, NAMELESS),
    (f"{HEAD}/h_oversized_message", "refused"): (1, OWN_END),
    (f"{AUGUST}/h_oversized_message", "refused"): (1, OWN_END),
    (f"{HEAD}/f_retry_storm", "transient"): (2, ROUTER),
    (f"{HEAD}/f_retry_storm", "requests"): (4, ROUTER),
    (f"{AUGUST}/c6_client_gone_in_compaction", "aborted"): (1, ABORTED),
    (f"{HEAD}/c_empty_summary", "without summary"): (0, NO_FAILED),
    (f"{AUGUST}/c_empty_summary", "without summary"): (0, NO_FAILED),
    (f"{AUGUST}/c4_growth_no_summary", "without summary"): (0, NO_FAILED),
    (f"{AUGUST}/c5_growth_summary_dropped", "without summary"): (0, NO_FAILED),
    (f"{AUGUST}/c6_client_gone_in_compaction", "without summary"): (0, NO_FAILED),
    (f"{JULY}/a_healthy", "summaries"): (0, NO_JULY),
    (f"{JULY}/b_overflow_loop", "summaries"): (0, NO_JULY),
    (f"{JULY}/c_empty_summary", "without summary"): (0, NO_JULY),
    (f"{HEAD}/h_oversized_message", "summaries"): (2, TWO_IN_ONE),
    (f"{AUGUST}/h_oversized_message", "summaries"): (2, TWO_IN_ONE),
}
LOG: dict[tuple[str, str], tuple[int, str]] = {
    (f"{JULY}/a_healthy", "summaries"): (0, "builds of July write no compaction lines"),
    (f"{JULY}/b_overflow_loop", "summaries"): (0, "builds of July write no compaction lines"),
    (f"{JULY}/c_empty_summary", "without summary"): (0, "builds of July write no compaction lines"),
    (f"{HEAD}/h_oversized_message", "summaries"): (2, TWO_IN_ONE),
    (f"{AUGUST}/h_oversized_message", "summaries"): (2, TWO_IN_ONE),
    (f"{HEAD}/c_empty_summary", "without summary"): (2, REPEATED),
    (f"{AUGUST}/c_empty_summary", "without summary"): (2, REPEATED),
    (f"{AUGUST}/c4_growth_no_summary", "without summary"): (31, REPEATED),
    (f"{AUGUST}/c5_growth_summary_dropped", "without summary"): (32, REPEATED),
    (f"{AUGUST}/c6_client_gone_in_compaction", "without summary"): (32, REPEATED),
}
IN_NO_LOG = "the log holds neither prompts nor replies"


def _truth(run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDED / run / "truth.json").read_text(encoding="utf-8"))
    return found


def _wanted(truth: dict[str, Any]) -> dict[str, int]:
    def count(*names: str) -> int:
        return sum(truth.get(name, 0) for name in names)

    return {
        "prompts": len(truth["steps"]),
        "requests": count("normal"),
        "overflow": count("overflow_errors"),
        "underflow": count("underflow_errors"),
        "transient": count("transient_errors", "drops", "malformed"),
        "nameless": 0,
        "refused": 0,
        "aborted": len(truth.get("aborted_steps", [])),
        "length": count("length_stops"),
        "empty": count("length_empty"),
        "summaries": count("summary_ok"),
        "without summary": count("summary_empty_or_cut", "summary_errors"),
    }


def _shown(events: list[Event]) -> dict[str, int]:
    replies = [row for row in events if row.kind == "reply"]
    sent = [row for row in replies if row.requests != 0 and row.stop != "aborted"]
    faults = Counter(row.fault for row in sent if row.stop == "error")
    ends = Counter(row.outcome for row in events if row.kind == "compacted")
    return {
        "prompts": sum(row.kind == "prompt" and row.origin == "human" for row in events),
        "requests": len(sent),
        "overflow": faults["overflow"],
        "underflow": faults["output-budget"],
        "transient": faults["rate-limit"] + faults["overloaded"] + faults["transport"],
        "nameless": faults["unknown"],
        "refused": sum(row.requests == 0 for row in replies),
        "aborted": sum(row.stop == "aborted" for row in replies),
        "length": sum(row.stop == "length" for row in replies),
        "empty": sum(row.stop == "empty" for row in replies),
        "summaries": ends["summary"],
        "without summary": ends["no-summary"] + ends["failed"],
    }


def _explained(run: str, wanted: dict[str, int], table: dict[tuple[str, str], tuple[int, str]]) -> dict[str, int]:
    changed = {name: value for (name_of_run, name), (value, _) in table.items() if name_of_run == run}
    assert all(wanted[name] != value for name, value in changed.items()), "an explanation that is not needed"
    return wanted | changed


def test_the_tables_speak_of_runs_that_exist(corpus: Path) -> None:
    assert corpus.is_dir()
    assert {run for run, _ in (*CHAT, *LOG)} <= set(RUNS)


@pytest.mark.parametrize("run", RUNS)
def test_a_transcript_shows_what_happened(run: str, corpus: Path) -> None:
    (path,) = (corpus / "recorded" / run).rglob("chats/*.jsonl")
    source = Source(path)
    assert recognise(path).name == "pilotdeck-chat"
    assert _shown(list(read(source))) == _explained(run, _wanted(_truth(run)), CHAT)
    assert (source.malformed, dict(source.unknown), source.failures) == ([], {}, "no")


@pytest.mark.parametrize("run", RUNS)
def test_a_log_shows_the_compactions_that_happened(run: str, corpus: Path) -> None:
    path = corpus / "recorded" / run / "runtime.log"
    source = Source(path)
    events = list(read(source))
    wanted = _explained(run, _wanted(_truth(run)), LOG)
    shown = _shown(events)
    of_log = {"summaries", "without summary"}
    assert {name: shown[name] for name in of_log} == {name: wanted[name] for name in of_log}
    assert not any(count for name, count in shown.items() if name not in of_log), IN_NO_LOG
    assert (source.malformed, dict(source.unknown)) == ([], {})
    assert source.failures == ("no" if run.startswith(JULY) else None)


@pytest.mark.parametrize("run", [run for run in RUNS if not run.startswith(JULY)])
def test_a_log_s_model_calls_lie_around_the_truth(run: str, corpus: Path) -> None:
    """These logs have no times, so that a repeat in the cooldown cannot always be told from another call."""
    ends = [row for row in read(Source(corpus / "recorded" / run / "runtime.log")) if row.kind == "compacted"]
    calls = _truth(run).get("summary_requests", 0)
    sure = sum(end.requests or 0 for end in ends)
    assert sure <= calls <= sure + sum(end.requests is None for end in ends)
    if run.endswith(("a_healthy", "b_overflow_loop", "h_oversized_message", "c2_truncated_summary")):
        assert sure == calls


@pytest.mark.parametrize("run", RUNS)
def test_both_files_of_a_run_agree_on_the_size_of_every_request(run: str, corpus: Path) -> None:
    """The log checks the budget before a compaction too; what the transcript keeps is the size that was sent."""
    (chat,) = (corpus / "recorded" / run).rglob("chats/*.jsonl")
    sizes = [
        [row.context for row in read(Source(path)) if row.kind in {"budget", "compacted", "note"} and row.context]
        for path in (chat, corpus / "recorded" / run / "runtime.log")
    ]
    assert set(sizes[0]) <= set(sizes[1])


@pytest.mark.parametrize("run", [run for run in RUNS if "no_summary" in run or "dropped" in run or "gone" in run])
def test_growth_without_a_bound_shows_in_both_files(run: str, corpus: Path) -> None:
    (chat,) = (corpus / "recorded" / run).rglob("chats/*.jsonl")
    for path in (chat, corpus / "recorded" / run / "runtime.log"):
        chosen = recognise(path)
        (session,) = File(path.name, chosen.name, chosen.agent, log=chosen.log).build(read(Source(path))).sessions
        assert session.cap == 13000
        assert session.peak is not None
        assert session.peak > 3.5 * session.cap
        if chosen.log:
            assert len(attempts(session.events)) in {31, 32}
