"""The numbers of the incident reports, found in the samples; and the public bug reports rebuilt in the corpus."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
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


@pytest.fixture
def incident(samples: Path, file_of: Callable[[Path], File]) -> Callable[[str], dict[str, list[Finding]]]:
    return lambda name: _grouped(file_of(samples / "incidents" / name))


@pytest.fixture
def report(corpus: Path, file_of: Callable[[Path], File]) -> Callable[[str], dict[str, list[Finding]]]:
    return lambda name: _grouped(file_of(corpus / "reproductions" / name))


def _grouped(file: File) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in detect(file, MINE):
        found.setdefault(finding.detector, []).append(finding)
    return found


Find = Callable[[str], dict[str, list[Finding]]]


@pytest.mark.parametrize(
    "name",
    [
        "atomic-1684/healthy.jsonl",
        "atomic-1690/healthy.jsonl",
        "opencode-37584/healthy.json",
        "opencode-replo/healthy.json",
        "pilotdeck/healthy.log",
    ],
)
def test_healthy_sessions_with_compactions_that_work_show_nothing(incident: Find, name: str) -> None:
    assert incident(name) == {}


def test_replo_is_one_loop(incident: Find) -> None:
    (loop,) = incident("opencode-replo/opencode.db")["compaction-loop"]
    assert (loop.measures["cycles"], loop.measures["cost"], loop.measures["kind"]) == (2145, 296.0, "overflow")
    assert round(float(str(loop.measures["hours"])), 1) == 12.8
    assert (loop.measures["overflows"], loop.measures["unfinished"]) == (2145, 0)
    assert "2145 compactions in a row without progress" in loop.message
    assert "over 12.8 h" in loop.message
    assert "$296.00" in loop.message


def test_37584_is_one_loop(incident: Find) -> None:
    (loop,) = incident("opencode-37584/export.json")["compaction-loop"]
    assert (loop.measures["cycles"], loop.measures["kind"]) == (35, "overflow")
    assert 1 < float(str(loop.measures["hours"])) < 1.5


def test_pilotdecks_day(incident: Find) -> None:
    found = incident("pilotdeck/runtime.log")
    (none,) = found["no-summary"]
    assert none.session is None
    assert [none.measures[name] for name in ("attempts", "no_summary", "truncated", "empty", "cancelled")] == [
        67,
        59,
        46,
        8,
        0,
    ]
    assert none.measures["rate"] == 0.8806
    assert none.intervals["rate"] == (0.7817, 0.9382)
    assert none.measures["unfinished"] == 8
    assert none.measures["peak_per_minute"] == 3
    assert none.message.startswith("59 of 67 compaction attempts made no summary (88%)")
    assert none.message.endswith("at most 3 attempts in any 60 s")
    assert len(none.lines) == 59
    (starved,) = found["starved-summary"]
    assert [starved.measures[name] for name in ("starved", "truncated", "empty")] == [54, 46, 8]
    (crash,) = found["crash-loop"]
    assert [crash.measures[name] for name in ("exits", "in_compaction_window", "immediate_respawn")] == [14, 8, 6]
    assert "correlated, not caused" in crash.message
    sizes = {one.measures["measure"]: (one.measures["peak"], one.measures["ratio"]) for one in found["context-blowup"]}
    assert sizes == {"whole prompt": (799_094, 8.391), "messages only": (665_361, 6.9867)}
    (odd,) = found["usage-outlier"]
    assert odd.measures["ratio"] == 689.0


@pytest.mark.parametrize("name", ["atomic-1690/session.jsonl", "atomic-1684/session.jsonl"])
def test_sessions_that_a_person_continued_hold_no_loop(incident: Find, name: str) -> None:
    assert incident(name) == {}


def test_a_manual_continue_after_each_compaction_is_no_loop(report: Find) -> None:
    assert report("atomic_underflow_manual_continue/session.jsonl") == {}


def test_cumulative_totals_are_no_growth(report: Find) -> None:
    found = report("pi_cumulative_totaltokens/session.jsonl")
    assert found.keys() == {"usage-outlier"}
    (odd,) = found["usage-outlier"]
    assert (odd.measures["rows"], odd.measures["of"]) == (7, 9)
    assert (odd.measures["value"], odd.measures["plausible"], odd.measures["ratio"]) == (410_800, 51_700, 7.9458)


def test_a_summary_that_ends_in_mid_word_is_a_suspicion(report: Find) -> None:
    (suspect,) = report("pi_truncated_summary/session.jsonl")["no-summary"]
    assert (suspect.measures["attempts"], suspect.measures["no_summary"]) == (3, 0)
    assert (suspect.measures["suspect_truncated"], suspect.lines, suspect.confidence) == (1, [7], "medium")


def test_no_summary_then_growth_then_a_crash(report: Find) -> None:
    found = report("pilotdeck_no_summary_crash/runtime.log")
    (none,) = found["no-summary"]
    assert (none.measures["attempts"], none.measures["no_summary"], none.measures["unfinished"]) == (7, 5, 1)
    assert (none.measures["rate"], none.measures["rate_if_unfinished_failed"]) == (0.7143, 0.8571)
    assert (none.measures["truncated"], none.measures["peak_per_minute"]) == (4, 2)
    assert none.lines == [8, 11, 14, 19, 23]
    (crash,) = found["crash-loop"]
    assert [crash.measures[name] for name in ("exits", "in_compaction_window", "immediate_respawn")] == [2, 1, 1]
    assert (crash.measures["compaction_in_flight"], crash.measures["handled"], crash.lines) == (1, 1, [27, 28, 29])
    sizes = {one.measures["measure"]: one.measures["peak"] for one in found["context-blowup"]}
    assert sizes == {"whole prompt": 665_361, "messages only": 492_000}


def test_empty_fallback_summaries_of_a_gateway(report: Find) -> None:
    (none,) = report("openclaw_safeguard_timeouts/openclaw-2026-05-06.log")["no-summary"]
    assert (none.measures["attempts"], none.measures["no_summary"], none.lines) == (4, 4, [1, 4, 7, 8])


@pytest.mark.parametrize(
    "name",
    [
        "pi_identical_tool_calls/session.jsonl",
        "pi_length_manual_continue/session.jsonl",
        "opencode_empty_stop/export.json",
    ],
)
def test_other_reports_show_no_compaction_finding(report: Find, name: str) -> None:
    assert report(name) == {}


def test_a_compaction_at_every_prompt_where_no_usage_is_reported(corpus: Path, file_of: Callable[[Path], File]) -> None:
    """A real session: 12 compactions between 20:54 and 21:53, each after a single prompt; no size is known."""
    found = _grouped(file_of(corpus / "real" / "openclaw-zero-usage-1.jsonl"))
    (loop,) = found["compaction-loop"]
    assert (loop.measures["cycles"], loop.measures["kind"], loop.lines[0], loop.lines[-1]) == (
        12,
        "every prompt",
        601,
        689,
    )
    assert "12 compactions, one for every prompt, over 57.9 min" in loop.message
    assert found.keys() == {"compaction-loop"}


@pytest.mark.parametrize("era", ["fix_port_emitted", "head_code_emitted", "v260806_code_emitted"])
def test_a_compaction_that_works_at_the_last_moment_is_no_error(
    corpus: Path, file_of: Callable[[Path], File], era: str
) -> None:
    """PilotDeck's own code: the context is 7 % over its window when the compaction comes, and under it after."""
    found = _grouped(file_of(corpus / "pilotdeck" / era / "success.log"))
    assert {name: [finding.severity for finding in some] for name, some in found.items()} == {
        "context-blowup": ["warning"]
    }


@pytest.mark.parametrize("pattern", ["openclaw-length*", "opencode-*", "pi-v1-*"])
def test_real_sessions_without_these_faults_stay_quiet(
    corpus: Path, file_of: Callable[[Path], File], pattern: str
) -> None:
    for path in sorted((corpus / "real").glob(pattern)):
        assert _grouped(file_of(path)) == {}, path.name
