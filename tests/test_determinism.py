"""Two runs over the same input write the same bytes, in every format: a tester's two JUnit files differed."""

from pathlib import Path

import pytest

from forensics.cli import run
from forensics.reports import formats


@pytest.mark.parametrize("format_", formats())
def test_two_runs_write_the_same_bytes(format_: str, samples: Path, tmp_path: Path) -> None:
    made = [tmp_path / "first", tmp_path / "second"]
    for path in made:
        arguments = ["--now", "2026-12-01", "-q", "-o", f"{format_}={path}"]
        assert run(["scan", str(samples / "parsers" / "pi.jsonl"), str(samples / "detectors"), *arguments]) == 0
    assert made[0].read_bytes() == made[1].read_bytes()


@pytest.mark.parametrize("name", ["events.jsonl", "events.csv", "events.parquet"])
def test_two_tables_are_the_same_bytes(name: str, samples: Path, tmp_path: Path) -> None:
    made = [tmp_path / "a" / name, tmp_path / "b" / name]
    for path in made:
        path.parent.mkdir()
        assert run(["read", str(samples / "parsers" / "pi.jsonl"), "-q", "-o", str(path)]) == 0
    assert made[0].read_bytes() == made[1].read_bytes()
