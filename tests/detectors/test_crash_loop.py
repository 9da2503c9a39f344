from collections.abc import Callable
from pathlib import Path
from typing import Any

from forensics.detect import detect
from forensics.events import Event, Kind
from forensics.timeline import File
from tests.rows import end, start, written

EXITS: list[tuple[int, Kind, int | None]] = [(1, "spawn", None), (2, "exit", 1), (3, "spawn", None), (4, "exit", 1)]


def test_a_clean_shutdown_stays_quiet(samples: Path, file_of: Callable[[Path], File]) -> None:
    assert detect(file_of(samples / "detectors" / "crash_loop.jsonl"), ["crash-loop"]) == []


def test_exits_are_told_apart(samples: Path, file_of: Callable[[Path], File]) -> None:
    (finding,) = detect(file_of(samples / "detectors" / "crash_loop_fires.jsonl"), ["crash-loop"])
    assert finding.severity == "error"
    assert "correlated, not caused" in finding.message
    assert finding.measures == {
        "exits": 4,
        "in_compaction_window": 2,
        "immediate_respawn": 1,
        "elsewhere": 1,
        "compaction_in_flight": 1,
        "handled": 1,
        "clean_exits": 2,
        "hours": 2.1017,
    }
    assert finding.lines == [6, 7, 8, 11, 13]


def test_a_log_without_times_leaves_open_what_needs_them() -> None:
    rows = [Event(kind=kind, line=line, code=code) for line, kind, code in EXITS]
    (finding,) = detect(File("f", "p", "demo", log=True).build(rows), ["crash-loop"])
    figures = finding.measures
    assert (figures["exits"], figures["in_compaction_window"], figures["immediate_respawn"]) == (2, None, None)
    assert "how many in a compaction window or at once after a start is unknown" in finding.message


def test_the_window_and_the_number_are_options(samples: Path, file_of: Callable[[Path], File]) -> None:
    file = file_of(samples / "detectors" / "crash_loop_fires.jsonl")
    (finding,) = detect(file, ["crash-loop"], {"crash-loop": {"window": 5}})
    assert (finding.measures["in_compaction_window"], finding.measures["elsewhere"]) == (1, 2)
    assert detect(file, ["crash-loop"], {"crash-loop": {"exits": 5}}) == []


def _host(kind: str, ts: int, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "session": None, "ts": ts, "tool": "gateway", **more}


def test_a_clock_that_went_back_leaves_open_what_needs_times(tmp_path: Path) -> None:
    rows = [_host("spawn", 10_000), _host("exit", 10_600, code=1), _host("spawn", 10_601), _host("exit", 3000, code=1)]
    rows += [_host("spawn", 3001), _host("exit", 3700, code=1)]
    (finding,) = written("crash-loop", tmp_path / "crash_back.jsonl", *rows)
    names = ("exits", "in_compaction_window", "immediate_respawn", "elsewhere", "hours")
    assert [finding.measures[name] for name in names] == [3, None, None, None, None]


def test_a_compaction_after_the_exit_by_its_time_lies_in_no_window(tmp_path: Path) -> None:
    """The clock went back between the compaction and the exit, not between the start and the exit."""
    life = [_host("spawn", 100), start(ts=9000), end("failed", ts=9001), _host("exit", 200, code=1)]
    later = [_host("spawn", 201), _host("exit", 300, code=1)]
    (finding,) = written("crash-loop", tmp_path / "back.jsonl", *life, *later)
    names = ("exits", "in_compaction_window", "immediate_respawn", "hours")
    assert [finding.measures[name] for name in names] == [2, None, None, 0.0278]


def test_an_exit_at_the_time_of_its_start_is_an_immediate_one(tmp_path: Path) -> None:
    rows = [_host("spawn", 100), _host("exit", 100, code=1), _host("spawn", 101), _host("exit", 102, code=1)]
    (finding,) = written("crash-loop", tmp_path / "at_once.jsonl", *rows)
    assert (finding.measures["immediate_respawn"], finding.measures["elsewhere"]) == (1, 1)


def test_an_exit_at_the_time_of_a_compactions_end_lies_in_its_window(tmp_path: Path) -> None:
    life = [_host("spawn", 100), start(ts=140), end("failed", ts=150), _host("exit", 150, code=1)]
    rows = [*life, _host("spawn", 151), _host("exit", 300, code=1)]
    (finding,) = written("crash-loop", tmp_path / "same.jsonl", *rows)
    assert (finding.measures["in_compaction_window"], finding.measures["elsewhere"]) == (1, 1)
