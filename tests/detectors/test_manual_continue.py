from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import Finding, detect
from forensics.timeline import File
from tests.rows import end, failed, prompt, reply, start, written

FileOf = Callable[[Path], File]


@pytest.fixture
def findings(samples: Path, file_of: FileOf) -> list[Finding]:
    return detect(file_of(samples / "detectors" / "manual_continue.jsonl"), ["manual-continue"])


def _of(findings: list[Finding], session: str) -> list[Finding]:
    return [finding for finding in findings if finding.session == session]


def test_nothing_fires_on_the_quiet_sessions(findings: list[Finding], samples: Path, file_of: FileOf) -> None:
    quiet = [
        s.id for s in file_of(samples / "detectors" / "manual_continue.jsonl").sessions if s.id.startswith("quiet")
    ]
    assert len(quiet) == 13
    assert {finding.session for finding in findings} & set(quiet) == set()


def test_a_refused_budget_a_compaction_a_continue_and_the_resumed_reply(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-budget-compacted")
    assert (finding.severity, finding.confidence, finding.lines) == ("error", "high", [81, 82, 83, 84])
    assert finding.measures == {
        "waiting_seconds": 810.0,
        "class": "output-budget",
        "compacted": "yes",
        "resumed": "yes",
        "streak": 1,
        "chain": 1,
    }
    assert finding.bases["waiting_seconds"] == "derived"


def test_retries_that_ended_notes_models_and_heartbeats_do_not_hide_it(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-rows-between")
    assert (finding.confidence, finding.lines) == ("high", [90, 95, 96])
    assert finding.measures["waiting_seconds"] == 1890.0


def test_every_message_of_a_chain_is_counted(findings: list[Finding]) -> None:
    first, second = _of(findings, "fires-chain-of-two")
    assert (first.lines, second.lines) == ([99, 100, 101], [101, 102, 103])
    assert [(f.measures["streak"], f.measures["chain"], f.measures["resumed"]) for f in (first, second)] == [
        (1, 2, "no"),
        (2, 2, "yes"),
    ]
    assert first.id != second.id


def test_the_same_message_again_after_an_empty_reply(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-empty-repeat")
    assert (finding.confidence, finding.measures["class"], finding.lines) == ("high", "empty", [106, 107, 108])


def test_after_an_idle_compaction_any_message_counts(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-idle-after-compaction")
    assert (finding.confidence, finding.lines) == ("medium", [113, 114, 115])
    assert (finding.measures["class"], finding.measures["waiting_seconds"]) == ("idle", 2400.0)


def test_a_message_that_did_not_help_is_counted_and_says_so(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-nudge-not-resumed")
    assert (finding.confidence, finding.measures["resumed"]) == ("medium", "no")
    assert finding.message.endswith("and it broke off again")


def test_a_clock_that_went_back_leaves_the_waiting_time_unknown(findings: list[Finding]) -> None:
    (finding,) = _of(findings, "fires-clock-went-back")
    assert (finding.measures["waiting_seconds"], finding.measures["resumed"]) == (None, None)


def test_a_compaction_that_the_person_ordered_makes_it_less_sure(tmp_path: Path, file_of: FileOf) -> None:
    path = tmp_path / "manual.jsonl"
    path.write_text(
        '{"kind":"prompt","session":"s","origin":"human","text":"Work on the issue."}\n'
        '{"kind":"reply","session":"s","stop":"tool"}\n'
        '{"kind":"compacted","session":"s","trigger":"manual","outcome":"summary"}\n'
        '{"kind":"prompt","session":"s","origin":"human","text":"continue"}\n'
        '{"kind":"reply","session":"s","stop":"done"}\n'
    )
    (finding,) = detect(file_of(path), ["manual-continue"])
    assert (finding.confidence, finding.lines) == ("medium", [3, 4, 5])


def test_a_message_whose_words_the_file_does_not_keep_is_not_judged(tmp_path: Path, file_of: FileOf) -> None:
    path = tmp_path / "wordless.jsonl"
    path.write_text(
        '{"kind":"prompt","session":"s","origin":"human"}\n'
        '{"kind":"reply","session":"s","stop":"error","fault":"transport"}\n'
        '{"kind":"prompt","session":"s","origin":"human"}\n'
        '{"kind":"reply","session":"s","stop":"done"}\n'
    )
    assert detect(file_of(path), ["manual-continue"]) == []


@pytest.mark.parametrize(
    ("incident", "lines"),
    [
        (
            "atomic-1690/session.jsonl",
            [[387, 388, 389, 390], [694, 695, 696, 697], [886, 887, 888, 889], [1085, 1086, 1087, 1088]],
        ),
        ("atomic-1684/session.jsonl", [[20, 21, 22], [32, 33, 34], [34, 35, 36]]),
        ("atomic-1684/counter-leak.jsonl", [[17, 18, 19], [19, 20, 22]]),
        ("atomic-1690/healthy.jsonl", []),
        ("atomic-1684/healthy.jsonl", []),
    ],
)
def test_the_incidents_of_atomic(samples: Path, file_of: FileOf, incident: str, lines: list[list[int]]) -> None:
    findings = detect(file_of(samples / "incidents" / incident), ["manual-continue"])
    assert [finding.lines for finding in findings] == lines


@pytest.mark.parametrize(("seconds", "found"), [(1, 0), (60, 1)])
def test_a_prompt_sent_again_right_after_its_own_compaction_is_the_agents_doing(
    tmp_path: Path, file_of: FileOf, seconds: int, found: int
) -> None:
    path = tmp_path / "resent.jsonl"
    path.write_text(
        '{"kind":"prompt","session":"s","origin":"human","text":"Sort the table by date.","digest":"d",'
        '"ts":1780000000000}\n'
        '{"kind":"reply","session":"s","stop":"error","fault":"overflow","ts":1780000001000}\n'
        '{"kind":"compacted","session":"s","trigger":"overflow","outcome":"summary","ts":1780000009000}\n'
        '{"kind":"prompt","session":"s","origin":"human","text":"Sort the table by date.","digest":"d",'
        f'"ts":{1_780_000_009_000 + 1000 * seconds}}}\n'
        '{"kind":"reply","session":"s","stop":"done"}\n'
    )
    assert len(detect(file_of(path), ["manual-continue"])) == found


@pytest.mark.parametrize(
    ("fault", "outcome", "found"),
    [("overflow", "summary", 1), ("overflow", "failed", 0), ("rate-limit", "summary", 0)],
)
def test_any_message_counts_only_where_the_compaction_was_to_bring_the_work_back(
    tmp_path: Path, file_of: FileOf, fault: str, outcome: str, found: int
) -> None:
    path = tmp_path / "after.jsonl"
    path.write_text(
        '{"kind":"prompt","session":"s","origin":"human","text":"Sort the table."}\n'
        f'{{"kind":"reply","session":"s","stop":"error","fault":"{fault}"}}\n'
        f'{{"kind":"compacted","session":"s","trigger":"overflow","outcome":"{outcome}"}}\n'
        '{"kind":"prompt","session":"s","origin":"human","text":"is the column of dates sorted now?"}\n'
        '{"kind":"reply","session":"s","stop":"done"}\n'
    )
    assert len(detect(file_of(path), ["manual-continue"])) == found


def test_the_first_words_of_a_long_message_do_not_make_it_a_continue(tmp_path: Path, file_of: FileOf) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_text(
        '{"kind":"prompt","session":"s","origin":"human","text":"Sort the table."}\n'
        '{"kind":"reply","session":"s","stop":"length"}\n'
        '{"kind":"prompt","session":"s","origin":"human","text":"continue","size":9000}\n'
        '{"kind":"reply","session":"s","stop":"done"}\n'
    )
    assert detect(file_of(path), ["manual-continue"]) == []


def _confidences(path: Path, *rows: dict[str, Any]) -> list[str]:
    return [one.confidence for one in written("manual-continue", path, *rows)]


def test_a_compaction_that_the_person_ordered_lowers_the_confidence(tmp_path: Path) -> None:
    """After a reply that overflowed as well as where the agent fell idle after it."""
    path = tmp_path / "manual_compaction.jsonl"
    asked = [prompt("continue", ts=100), reply()]
    by_hand = [start("manual"), end("summary", trigger="manual")]
    assert _confidences(path, prompt(), failed(), *by_hand, *asked) == ["medium"]
    assert _confidences(path, prompt(), failed(), start("overflow"), end(trigger="overflow"), *asked) == ["high"]
    assert _confidences(path, prompt(), failed(), *by_hand, prompt("hello?", ts=100), reply()) == ["low"]
    assert _confidences(path, prompt(), reply(), prompt(), *by_hand, failed(), *asked) == ["high"]
    assert _confidences(path, prompt(), reply("tool"), *by_hand, *asked) == ["medium"]


@pytest.mark.parametrize(
    ("text", "confidences"),
    [("restart the process", ["low"]), ("work done, thanks", []), ("What was the response message?", [])],
)
def test_a_message_that_says_it_is_over_or_asks_something_new_is_no_manual_continue(
    tmp_path: Path, text: str, confidences: list[str]
) -> None:
    rows = [prompt("Build the parser"), failed("overloaded"), prompt(text, ts=60), reply()]
    assert _confidences(tmp_path / "over.jsonl", *rows) == confidences
