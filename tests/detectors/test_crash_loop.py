from collections.abc import Callable
from pathlib import Path

from forensics.detect import detect
from forensics.timeline import File


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


def test_the_window_and_the_number_are_options(samples: Path, file_of: Callable[[Path], File]) -> None:
    file = file_of(samples / "detectors" / "crash_loop_fires.jsonl")
    (finding,) = detect(file, ["crash-loop"], {"crash-loop": {"window": 5}})
    assert (finding.measures["in_compaction_window"], finding.measures["elsewhere"]) == (1, 2)
    assert detect(file, ["crash-loop"], {"crash-loop": {"exits": 5}}) == []
