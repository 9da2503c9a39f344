from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import Finding, detect
from forensics.events import Event
from forensics.parse import Source, read, recognise
from forensics.timeline import File
from tests.rows import end, failed, prompt, reply, scanned, start


@pytest.fixture
def found(samples: Path, file_of: Callable[[Path], File]) -> dict[tuple[str | None, object], Finding]:
    file = file_of(samples / "detectors" / "context_blowup.jsonl")
    return {(one.session, one.measures["measure"]): one for one in detect(file, ["context-blowup"])}


def test_small_unknown_and_cumulative_sizes_stay_quiet(found: dict[tuple[str | None, object], Finding]) -> None:
    assert {session for session, _ in found} == {"grows", "just-over", "a-compaction-says-it"}


def test_whole_prompt_and_messages_are_two_findings(found: dict[tuple[str | None, object], Finding]) -> None:
    whole, messages = found["grows", "whole prompt"], found["grows", "messages only"]
    assert whole.measures == {
        "peak": 799_094,
        "cap": 95_232,
        "ratio": 8.391,
        "measure": "whole prompt",
        "growth": 739_094,
        "rows_over": 3,
        "compactions_over": 0,
        "cap_source": "recorded",
    }
    assert (whole.severity, whole.lines) == ("error", [19, 21])
    assert (messages.measures["peak"], messages.measures["ratio"]) == (665_361, 6.9867)
    assert (messages.measures["growth"], messages.measures["rows_over"]) == (615_361, 2)


def test_a_small_overshoot_is_a_note(found: dict[tuple[str | None, object], Finding]) -> None:
    assert found["just-over", "whole prompt"].severity == "note"


def test_the_size_that_a_compaction_row_states_counts(found: dict[tuple[str | None, object], Finding]) -> None:
    finding = found["a-compaction-says-it", "whole prompt"]
    assert (finding.measures["peak"], finding.measures["cap_source"], finding.lines) == (400_000, "error text", [28])


def _severity(*rows: Event) -> list[str]:
    file = File("f", "p", "demo").build(rows)
    return [finding.severity for finding in detect(file, ["context-blowup"])]


def _budget(size: int) -> Event:
    return Event(kind="budget", session="s", line=1, context=size, cap=95_232)


def test_an_overshoot_that_the_next_compaction_cures_is_no_error() -> None:
    """A large tool result is seen over the window by several rows before the compaction that it triggers."""
    over = [_budget(101_509)] * 3
    done = Event(kind="compacted", session="s", line=2, outcome="summary", before=92_168, after=30_000, messages=92_168)
    assert _severity(_budget(60_000), *over, done, _budget(40_000), *over, done, _budget(40_000)) == ["warning"]
    assert _severity(_budget(60_000), *over, done, _budget(101_600)) == ["error"]


def test_a_window_that_an_error_names_is_not_held_against_requests_that_went_through() -> None:
    """Another model of the session, with a larger window, took what the first one refused."""
    refused = Event(
        kind="reply", session="s", line=1, stop="error", fault="overflow", cap=131_072, cap_source="error text"
    )
    large = Event(kind="reply", session="s", line=2, stop="done", context=600_000)
    said = Event(kind="compacted", session="s", line=3, outcome="summary", before=610_000)
    assert _severity(refused, large, said) == []
    assert _severity(refused, said) == ["error"]


def test_a_refused_request_counts_with_the_size_that_its_error_names() -> None:
    refused = Event(
        kind="reply",
        session="s",
        line=1,
        stop="error",
        fault="overflow",
        estimate=580_000,
        cap=200_000,
        cap_source="error text",
    )
    (finding,) = detect(File("f", "p", "demo").build([refused]), ["context-blowup"])
    assert (finding.measures["peak"], finding.measures["ratio"], finding.severity) == (580_000, 2.9, "error")


def test_the_users_cap_wins(samples: Path) -> None:
    path = samples / "detectors" / "context_blowup.jsonl"
    file = File(path.name, "plain", "demo").build(read(Source(path), recognise(path)), cap=1_000_000)
    assert detect(file, ["context-blowup"]) == []


def test_a_log_has_one_finding_for_all_its_sessions() -> None:
    sizes = [("a", 50_000), ("b", 210_000), ("a", 300_000), ("b", 90_000)]
    rows = [Event(kind="budget", session=s, line=at, context=c, cap=100_000) for at, (s, c) in enumerate(sizes, 1)]
    (finding,) = detect(File("f", "p", "demo", log=True).build(rows), ["context-blowup"])
    assert (finding.session, finding.measures["peak"], finding.measures["rows_over"]) == (None, 300_000, 2)


def test_compactions_after_which_the_request_is_refused_again_left_it_over(
    corpus: Path, file_of: Callable[[Path], File]
) -> None:
    path = corpus / "recorded" / "opencode-1.18.33" / "b_overflow_loop" / "log" / "opencode.log"
    (finding,) = detect(file_of(path), ["context-blowup"])
    assert (finding.severity, finding.measures["rows_over"], finding.measures["compactions_over"]) == ("error", 15, 14)


def _window(cap: int) -> dict[str, Any]:
    return {"kind": "model", "cap": cap, "cap_source": "recorded"}


def test_a_context_is_held_against_the_window_in_force_at_it(tmp_path: Path) -> None:
    """A window that is made smaller after a compaction says nothing of the requests before it."""
    rows = [prompt(), _window(1_000_000), reply(context=600_100), start(), end("dropped"), _window(200_000)]
    made = scanned(tmp_path / "window_changes.jsonl", *rows, reply(context=22_000))
    (one,) = made.sessions
    assert (made.findings, one.peak_context, one.cap, one.peak_ratio) == ([], 600_100, 1_000_000, 0.6001)
    made = scanned(tmp_path / "window_changes.jsonl", *rows, reply(context=250_000))
    (one,), (finding,) = made.sessions, made.findings
    assert (one.peak_context, one.cap, one.peak_ratio) == (600_100, 200_000, 1.25)
    assert (finding.measures["peak"], finding.measures["cap"], finding.measures["ratio"]) == (250_000, 200_000, 1.25)
    assert (finding.measures["rows_over"], finding.lines) == (1, [8])


def test_the_size_that_a_compaction_states_is_held_against_the_window_in_force_at_it(tmp_path: Path) -> None:
    said = end(before=600_000, after=20_000)
    made = scanned(tmp_path / "stated.jsonl", prompt(), _window(1_000_000), reply(), said, _window(200_000), reply())
    assert made.findings == []
    made = scanned(tmp_path / "stated.jsonl", prompt(), _window(1_000_000), reply(), _window(200_000), said, reply())
    (finding,) = made.findings
    assert (finding.measures["peak"], finding.measures["cap"], finding.lines) == (600_000, 200_000, [6])


def test_a_window_that_is_named_late_held_before_unless_it_says_that_it_changed(tmp_path: Path) -> None:
    budget = {"kind": "budget", "cap": 100_000, "cap_source": "recorded"}
    made = scanned(tmp_path / "late.jsonl", prompt(), reply(context=150_000), budget, reply(context=20_000))
    assert [(one.measures["peak"], one.measures["cap"]) for one in made.findings] == [(150_000, 100_000)]
    made = scanned(tmp_path / "late.jsonl", prompt(), reply(context=150_000), _window(100_000), reply(context=20_000))
    assert (made.findings, made.sessions[0].peak_ratio, made.sessions[0].cap) == ([], 0.2, 100_000)
    made = scanned(tmp_path / "late.jsonl", prompt(), reply(context=150_000), end(before=150_000), _window(100_000))
    assert (made.findings, made.sessions[0].peak_ratio, made.sessions[0].cap) == ([], None, 100_000)


def test_a_window_that_an_error_names_gives_way_to_a_recorded_one(tmp_path: Path) -> None:
    refused = failed(cap=50_000, cap_source="error text")
    made = scanned(tmp_path / "error.jsonl", prompt(), _window(200_000), refused, reply(context=150_000))
    assert (made.findings, made.sessions[0].peak_ratio, made.sessions[0].cap) == ([], 0.75, 200_000)
    made = scanned(tmp_path / "error.jsonl", prompt(), refused, reply(context=20_000))
    assert (made.sessions[0].peak_ratio, made.sessions[0].cap_source) == (0.4, "error text")


def test_the_users_window_holds_everywhere(tmp_path: Path) -> None:
    rows = [prompt(), _window(1_000_000), reply(context=600_000), _window(200_000), reply(context=100_000)]
    made = scanned(tmp_path / "users.jsonl", *rows, cap=300_000)
    (one,), (finding,) = made.sessions, made.findings
    assert (one.cap, one.cap_source, one.peak_ratio, finding.measures["ratio"]) == (300_000, "option", 2.0, 2.0)
