from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.events import Event
from forensics.parse import Source, read, recognise
from forensics.timeline import File


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


def test_the_users_cap_wins(samples: Path) -> None:
    path = samples / "detectors" / "context_blowup.jsonl"
    file = File(path.name, "plain", "demo").build(read(Source(path), recognise(path)), cap=1_000_000)
    assert detect(file, ["context-blowup"]) == []


def test_a_log_has_one_finding_for_all_its_sessions() -> None:
    sizes = [("a", 50_000), ("b", 210_000), ("a", 300_000), ("b", 90_000)]
    rows = [Event(kind="budget", session=s, line=at, context=c, cap=100_000) for at, (s, c) in enumerate(sizes, 1)]
    (finding,) = detect(File("f", "p", "demo", log=True).build(rows), ["context-blowup"])
    assert (finding.session, finding.measures["peak"], finding.measures["rows_over"]) == (None, 300_000, 2)
