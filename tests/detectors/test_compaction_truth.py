"""Compaction findings against what really happened in the recordings, from each kind of file that can show it.

The truth counts requests. Where a kind of file shows another number, the tables below say which, and why.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import Finding, detect
from forensics.parse import NotRecognised, Source, read, recognise
from forensics.timeline import File

RECORDED = Path(__file__).parents[3] / "shared" / "corpus" / "recorded"
AGENTS = ("atomic", "openclaw", "opencode", "pi-", "pilotdeck")
RUNS = sorted(
    path.parent.relative_to(RECORDED).as_posix()
    for path in RECORDED.glob("*/*/truth.json")
    if path.parts[-3].startswith(AGENTS)
)
NOT_THE_AGENTS = {
    "gateway.jsonl",
    "mock_requests.jsonl",
    "rpc_stdin.jsonl",
    "scenario.json",
    "steps.jsonl",
    "truth.json",
}
MINE = [
    "compaction-loop",
    "context-blowup",
    "crash-loop",
    "ineffective-compaction",
    "no-summary",
    "starved-summary",
    "usage-outlier",
]

pytestmark = pytest.mark.usefixtures("corpus")


@cache
def _truth(run: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((RECORDED / run / "truth.json").read_text(encoding="utf-8"))
    return truth


def _files(run: str) -> Iterator[Path]:
    """Give the files that the agent wrote: whole ones, without the backups of earlier states."""
    for path in sorted((RECORDED / run).rglob("*")):
        parts = path.relative_to(RECORDED).parts
        copy = path.suffix == ".bak" or "piped_truncated" in path.name
        if path.is_file() and path.name not in NOT_THE_AGENTS and "config" not in parts and not copy:
            yield path


@cache
def _findings(run: str) -> list[tuple[str, str, Finding]]:
    """Give (parser, file name, finding) for every file of a run that is recognised."""
    found = []
    for path in _files(run):
        try:
            chosen = recognise(path)
        except NotRecognised:
            continue
        file = File(path.name, chosen.name, chosen.agent, log=chosen.log).build(read(Source(path), chosen))
        found += [(chosen.name, path.name, finding) for finding in detect(file, MINE)]
    return found


def _measures(run: str, parser: str, detector: str, name: str = "") -> list[dict[str, Any]]:
    return [
        finding.measures
        for kind, file, finding in _findings(run)
        if kind == parser and finding.detector == detector and file.startswith(name)
    ]


@pytest.mark.parametrize("run", [run for run in RUNS if "/a_healthy" in run])
def test_a_healthy_run_has_no_error_in_any_of_its_files(run: str) -> None:
    assert [(name, finding.message) for _, name, finding in _findings(run) if finding.severity == "error"] == []


OPENCODE = ("opencode-1.2.27", "opencode-1.18.3", "opencode-1.18.33")
OPENCODE_LOOPS = [
    (f"{version}/{scenario}", parser, name, field, kind)
    for version in OPENCODE
    for scenario, field, kind in [
        ("b_overflow_loop", "summary_ok", "overflow"),
        ("b_overflow_loop_anthropic", "summary_ok", "overflow"),
        ("b_overflow_loop_responses", "summary_ok", "overflow"),
        ("b3_overflow_progress", "summary_ok", "refill"),
        ("b4_overflow_then_summary_overflow", "summary_requests", "overflow"),
        ("h2_oversized_all_limited", "summary_requests", "overflow"),
        ("c_empty_summary", "summary_empty_or_cut", "threshold"),
    ]
    for parser, name in [("opencode-db", ""), ("opencode-export", ""), ("opencode-run", ""), ("opencode-log", "step")]
    if f"{version}/{scenario}" in RUNS
]
ONE_PROMPT = {"b4_overflow_then_summary_overflow", "h2_oversized_all_limited"}
"""The loop runs over two prompts, each of which has its own output file: two of its three cycles are in the first."""


@pytest.mark.parametrize(("run", "parser", "name", "field", "kind"), OPENCODE_LOOPS)
def test_opencodes_loops_have_their_exact_cycles_in_every_kind_of_file(
    run: str, parser: str, name: str, field: str, kind: str
) -> None:
    (loop,) = _measures(run, parser, "compaction-loop", name)
    per_prompt = parser in {"opencode-run", "opencode-log"} and run.split("/")[1] in ONE_PROMPT
    assert loop["cycles"] == (2 if per_prompt else _truth(run)[field])
    sizes_unknown = parser == "opencode-log" and kind == "threshold"
    assert loop["kind"] == ("refill" if sizes_unknown else kind)


@pytest.mark.parametrize("run", [run for run in RUNS if run.startswith("opencode") and "/b" in run])
def test_opencodes_own_log_file_never_shows_more_cycles_than_there_were(run: str) -> None:
    """A process that ends takes the last lines of `opencode.log` with it; its error output is whole."""
    found = _measures(run, "opencode-log", "compaction-loop", "opencode.log")
    assert all(loop["cycles"] <= _truth(run)["summary_requests"] for loop in found)


OTHER_LOOPS: list[tuple[str, str, str, str, int, str]] = [
    ("pi-1.6.0/b3_overflow_progress", "pi", "", "refill", 12, "overflow_errors"),
    ("pi-1.6.0/b3_overflow_progress", "pi-events", "step2", "refill", 12, "overflow_errors"),
    ("pi-1.6.0/c_empty_summary", "pi-events", "step4", "failed", 3, "the three attempts of this prompt"),
    ("pi-0.73.1/c_empty_summary", "pi", "", "failed", 5, "each asked twice, for the two parts of a split turn"),
    ("pi-0.73.1/b_overflow_loop", "pi", "", "overflow", 2, "one in each of two prompts, neither of which fits"),
    ("pi-0.73.1/h_oversized_message", "pi", "", "overflow", 2, "summary_requests"),
    ("atomic-6031a926-head/c_empty_summary", "pi", "", "failed", 3, "summary_requests"),
    ("atomic-7c87ed1d-pr1690/b_overflow_loop", "pi", "", "overflow", 3, "planners ask several times"),
    ("atomic-cf3c2059-pre1690/b_overflow_loop", "pi", "", "overflow", 3, "planners ask several times"),
    ("atomic-7c87ed1d-pr1690/b_overflow_loop", "pi-events", "step4", "overflow", 2, "the second prompt's two"),
    ("atomic-cf3c2059-pre1690/b_overflow_loop", "pi-events", "step4", "overflow", 2, "the second prompt's two"),
    ("atomic-7c87ed1d-pr1690/h_oversized_message", "pi-events", "step4", "overflow", 2, "planners ask several times"),
    ("openclaw-2026.9.6/h_oversized_message", "openclaw-db", "", "overflow", 2, "the first one answered no failure"),
    ("openclaw-2026.9.6/h_oversized_message", "openclaw-log", "", "overflow", 3, "a failed attempt leaves no row"),
    ("pilotdeck-v260806/c4_growth_no_summary", "pilotdeck-log", "", "failed", 31, "29 repeats asked no model"),
    ("pilotdeck-v260806/c5_growth_summary_dropped", "pilotdeck-log", "", "failed", 32, "31 repeats asked no model"),
    ("pilotdeck-v260806/c6_client_gone_in_compaction", "pilotdeck-log", "", "failed", 32, "31 repeats asked no model"),
    ("pilotdeck-v260806/h_oversized_message", "pilotdeck-log", "", "threshold", 2, "one of them asked twice"),
    ("pilotdeck-1104fd9e-head/h_oversized_message", "pilotdeck-log", "", "threshold", 2, "one of them asked twice"),
    *(
        (f"{version}/h_oversized_message", parser, "", "overflow", 2, "summary_ok")
        for version in ("opencode-1.2.27", "opencode-1.18.33")
        for parser in ("opencode-db", "opencode-export", "opencode-run")
    ),
]


@pytest.mark.parametrize("case", OTHER_LOOPS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_other_loops(case: tuple[str, str, str, str, int, str]) -> None:
    run, parser, name, kind, cycles, why = case
    (loop,) = _measures(run, parser, "compaction-loop", name)
    assert (loop["cycles"], loop["kind"]) == (cycles, kind)
    if why in _truth(run):
        assert cycles == _truth(run)[why]


LOOPING = {run for run, *_ in OPENCODE_LOOPS} | {run for run, *_ in OTHER_LOOPS}


@pytest.mark.parametrize("run", [run for run in RUNS if run not in LOOPING])
def test_no_other_run_has_a_loop(run: str) -> None:
    """Progress, an answered prompt, a recovery that stopped by itself: none of them is a loop."""
    assert [(name, one.message) for _, name, one in _findings(run) if one.detector == "compaction-loop"] == []


SPLIT = "a compaction of a split turn asks twice"
NO_RECORD = "a failed compaction leaves no record in this kind of file"
PLANNER = "Atomic's planner asks several times in one attempt"
UNUSABLE = "the planner's answers were whole, but none was usable"
CUT_OFF = "print mode ends before the compaction's end is written"
ECHO = "repeats of the error in the cooldown ask no model"
UNTOLD = "the log says what became of a summary request only where it failed with an error"
KEPT = "a cut summary was kept: the file does not say how the request ended (told as a suspicion)"
JULY = "this build writes no compaction lines to the log, and no boundary"
BOUNDARIES = "transcripts hold the boundaries that were made"
EXPLAINED: dict[tuple[str, str], tuple[int, str]] = {
    ("atomic-6031a926-head/h_oversized_message", "atomic-diagnostic"): (6, UNUSABLE),
    ("atomic-6031a926-head/h_oversized_message", "pi"): (1, UNUSABLE),
    ("atomic-6031a926-head/h_oversized_message", "pi-events"): (1, UNUSABLE),
    ("atomic-7c87ed1d-pr1690/c_empty_summary", "pi"): (0, NO_RECORD),
    ("atomic-7c87ed1d-pr1690/c_empty_summary", "pi-events"): (9, PLANNER),
    ("atomic-7c87ed1d-pr1690/d2_length_at_limit", "pi-events"): (2, UNUSABLE),
    ("atomic-7c87ed1d-pr1690/h_oversized_message", "pi-events"): (3, UNUSABLE),
    ("atomic-cf3c2059-pre1690/c2_truncated_summary", "pi"): (0, NO_RECORD),
    ("atomic-cf3c2059-pre1690/c2_truncated_summary", "pi-events"): (2, PLANNER),
    ("atomic-cf3c2059-pre1690/c_empty_summary", "pi"): (0, NO_RECORD),
    ("atomic-cf3c2059-pre1690/c_empty_summary", "pi-events"): (9, PLANNER),
    ("atomic-cf3c2059-pre1690/h_oversized_message", "pi-events"): (2, UNUSABLE),
    ("openclaw-2026.9.6/h_oversized_message", "openclaw-log"): (1, "an attempt that found nothing to cut asked nobody"),
    ("opencode-1.18.3/c_empty_summary", "opencode-log"): (0, UNTOLD),
    ("opencode-1.18.33/c_empty_summary", "opencode-log"): (0, UNTOLD),
    ("opencode-1.18.33/c2_truncated_summary", "opencode-log"): (0, UNTOLD),
    ("pi-0.73.1/c2_truncated_summary", "pi"): (0, KEPT),
    ("pi-0.73.1/c2_truncated_summary", "pi-events"): (0, CUT_OFF),
    ("pi-0.73.1/c3_summary_error", "pi"): (0, NO_RECORD),
    ("pi-0.73.1/c3_summary_error", "pi-events"): (3, f"{SPLIT}; {CUT_OFF}"),
    ("pi-0.73.1/c_empty_summary", "pi"): (5, SPLIT),
    ("pi-0.73.1/c_empty_summary", "pi-events"): (0, CUT_OFF),
    ("pi-1.6.0/c2_truncated_summary", "pi"): (0, NO_RECORD),
    ("pi-1.6.0/c_empty_summary", "pi"): (0, NO_RECORD),
    ("pilotdeck-1104fd9e-head/c_empty_summary", "pilotdeck-chat"): (0, BOUNDARIES),
    ("pilotdeck-1104fd9e-head/c_empty_summary", "pilotdeck-log"): (2, ECHO),
    ("pilotdeck-974404a1-2026-07-07/c_empty_summary", "pilotdeck-chat"): (0, BOUNDARIES),
    ("pilotdeck-974404a1-2026-07-07/c_empty_summary", "pilotdeck-log"): (0, JULY),
    ("pilotdeck-v260806/c4_growth_no_summary", "pilotdeck-chat"): (0, BOUNDARIES),
    ("pilotdeck-v260806/c4_growth_no_summary", "pilotdeck-log"): (31, ECHO),
    ("pilotdeck-v260806/c5_growth_summary_dropped", "pilotdeck-chat"): (0, BOUNDARIES),
    ("pilotdeck-v260806/c5_growth_summary_dropped", "pilotdeck-log"): (32, ECHO),
    ("pilotdeck-v260806/c6_client_gone_in_compaction", "pilotdeck-chat"): (0, BOUNDARIES),
    ("pilotdeck-v260806/c6_client_gone_in_compaction", "pilotdeck-log"): (32, ECHO),
    ("pilotdeck-v260806/c_empty_summary", "pilotdeck-chat"): (0, BOUNDARIES),
    ("pilotdeck-v260806/c_empty_summary", "pilotdeck-log"): (2, ECHO),
}
"""Attempts without a summary that a kind of file shows, where the truth counts another number of requests."""
KINDS = {
    "atomic": ("pi", "pi-events"),
    "openclaw": ("openclaw-db", "openclaw-log"),
    "opencode": ("opencode-db", "opencode-export", "opencode-run", "opencode-log"),
    "pi": ("pi", "pi-events"),
    "pilotdeck": ("pilotdeck-log", "pilotdeck-chat"),
}


@pytest.mark.parametrize(
    ("run", "parser"), [(run, parser) for run in RUNS for parser in KINDS[run.split("-", maxsplit=1)[0]]]
)
def test_attempts_without_a_summary_equal_the_truth_or_the_table(run: str, parser: str) -> None:
    truth = _truth(run)
    failed = truth["summary_empty_or_cut"] + truth["summary_errors"]
    name = "step" if parser == "opencode-log" else ""
    found = sum(one["no_summary"] for one in _measures(run, parser, "no-summary", name))
    told = EXPLAINED.get((run, parser))
    assert found == (failed if told is None else told[0])
    assert told is None or told[0] != failed, "the table explains a difference that is none"


@pytest.mark.parametrize("run", [run for run in RUNS if run.startswith("pilotdeck")])
def test_pilotdecks_model_calls_are_told_apart_from_its_repeats(run: str) -> None:
    found = [f for kind, _, f in _findings(run) if kind == "pilotdeck-log" and f.detector == "no-summary"]
    for finding in found:
        low, high = finding.intervals.get("model_calls", (finding.measures["model_calls"],) * 2)
        assert float(str(low)) <= _truth(run)["summary_requests"] <= float(str(high))


def test_atomics_planner_calls_equal_the_truth() -> None:
    run = "atomic-6031a926-head/h_oversized_message"
    (figures,) = _measures(run, "pi", "no-summary")
    assert figures["model_calls"] == _truth(run)["summary_requests"] == 6


@pytest.mark.parametrize(
    ("run", "parser", "truncated", "empty"),
    [
        ("opencode-1.18.33/c2_truncated_summary", "opencode-db", 1, 0),
        ("opencode-1.18.33/c_empty_summary", "opencode-db", 0, 28),
        ("opencode-1.18.33/c_empty_summary", "opencode-export", 0, 28),
        ("opencode-1.18.3/c_empty_summary", "opencode-run", 0, 28),
        ("pi-1.6.0/c2_truncated_summary", "pi-events", 2, 0),
        ("pi-0.73.1/c_empty_summary", "pi", 0, 5),
        ("atomic-6031a926-head/c_empty_summary", "pi", 0, 3),
        ("pilotdeck-v260806/c4_growth_no_summary", "pilotdeck-log", 0, 31),
    ],
)
def test_starved_summaries(run: str, parser: str, truncated: int, empty: int) -> None:
    found = _measures(run, parser, "starved-summary")
    assert sum(one["truncated"] for one in found) == truncated
    assert sum(one["empty"] for one in found) == empty


def test_reasoning_that_ate_the_summary_is_seen_in_its_tokens() -> None:
    (figures,) = _measures("opencode-1.18.33/c_empty_summary", "opencode-db", "starved-summary")
    assert (figures["output_tokens"], figures["reasoning_share"]) == (2000, 1.0)


def _sizes(run: str) -> dict[str, tuple[int, int]]:
    return {one["measure"]: (one["peak"], one["cap"]) for one in _measures(run, "pilotdeck-log", "context-blowup")}


def test_pilotdecks_growth_without_summaries() -> None:
    """48,924 and 58,685 tokens against a window of 13,000, as the recordings' own notes say."""
    assert _sizes("pilotdeck-v260806/c4_growth_no_summary")["whole prompt"] == (48_924, 13_000)
    assert _sizes("pilotdeck-v260806/c5_growth_summary_dropped")["whole prompt"] == (58_685, 13_000)


@pytest.mark.parametrize("run", RUNS)
def test_no_recording_has_an_odd_usage_or_a_crash(run: str) -> None:
    """The scripted usage is odd only against the texts' sizes, and no gateway crashed in any run."""
    assert [f.message for *_, f in _findings(run) if f.detector in {"usage-outlier", "crash-loop"}] == []
