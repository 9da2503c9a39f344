"""The committed incident samples are what the builder makes, and hold the numbers that the reports name."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
INCIDENTS = ROOT / "samples" / "incidents"


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("incidents")
    subprocess.run([sys.executable, str(ROOT / "samples" / "builder"), str(folder)], check=True, capture_output=True)
    return folder


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _dump(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        return "\n".join(database.iterdump())


def test_the_committed_samples_are_what_the_builder_makes(rebuilt: Path) -> None:
    assert _files(rebuilt) == _files(INCIDENTS)
    for name in _files(rebuilt):
        if name.endswith(".db"):  # SQLite writes its own version into the file
            assert _dump(rebuilt / name) == _dump(INCIDENTS / name)
        else:
            assert (rebuilt / name).read_bytes() == (INCIDENTS / name).read_bytes()


def test_together_they_stay_under_eight_megabytes() -> None:
    assert sum((INCIDENTS / name).stat().st_size for name in _files(INCIDENTS)) < 8_000_000


def test_the_runtime_log_holds_the_rows_of_the_report() -> None:
    log = (INCIDENTS / "pilotdeck" / "runtime.log").read_bytes()
    lines = log.split(b"\r\n")[:-1]
    assert len(lines) >= 3_545
    assert log.count(b"full_compaction_started") == 67
    assert log.count(b"full_compaction_no_summary") == 59
    assert log.count(b"Summary model output was truncated at the token limit") == 46
    assert log.count(b"Summary model returned empty content") == 8
    assert log.count(b"exited code=1") == 14
    assert max(map(int, re.findall(rb'"preTokens":(\d+)', log))) == 665_361
    assert max(map(int, re.findall(rb'"tokens":(\d+)', log))) == 799_094


def test_the_replay_loop_cost_what_the_report_says() -> None:
    with closing(sqlite3.connect(INCIDENTS / "opencode-replo" / "opencode.db")) as database:
        rows = database.execute(
            "select count(*), sum(json_extract(data, '$.cost')), min(time_created), max(time_created)"
            " from message where json_extract(data, '$.summary')"
        ).fetchone()
    assert rows[0] == 2_145
    assert round(rows[1], 2) == 296.00


@pytest.mark.parametrize("first", [387, 694, 886, 1085])
def test_the_stall_stands_at_the_lines_of_the_report(first: int) -> None:
    lines = (INCIDENTS / "atomic-1690" / "session.jsonl").read_text(encoding="utf-8").split("\n")
    error, compaction, prompt, resumed = lines[first - 1 : first + 3]
    assert '"stopReason":"error"' in error
    assert '"type":"context_compaction"' in compaction
    assert re.search(r'"role":"user".*"text":"[Cc]ontinue"', prompt)
    assert '"stopReason":"toolUse"' in resumed
