"""The program's standard streams may be closed, full or gone: a tester's `scan x >&-` was an internal error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes the streams")

COMMANDS = {
    "scan": "scan session.jsonl -q",
    "scan as json": "scan session.jsonl -q -f json",
    "check": "check session.jsonl -q",
    "read": "read session.jsonl -q",
    "report": "report session.jsonl -q",
    "timeline": "timeline session.jsonl",
    "doctor": "doctor session.jsonl",
    "list": "list",
    "version": "--version",
    "prove": "prove atomic-1690",
}
SESSION = (
    '{"kind":"session","session":"s","agent":"demo","ts":"2026-07-09T10:00:00Z"}\n'
    '{"kind":"prompt","session":"s","origin":"human","ts":"2026-07-09T10:00:01Z","text":"Sort the table."}\n'
    '{"kind":"reply","session":"s","stop":"done","ts":"2026-07-09T10:00:05Z","context":1200}\n'
)


@pytest.fixture(autouse=True)
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text(SESSION)
    return path


def _shell(command: str, streams: str, folder: Path) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parent.parent
    return subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m forensics {command} {streams}'],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_closed_standard_output_is_told_in_one_line(command: str, tmp_path: Path) -> None:
    done = _shell(command, ">&-", tmp_path)
    words = "forensics: error: standard output is closed; leave it open, or send it to a file\n"
    assert (done.returncode, done.stderr) == (2, words)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("command", ["scan session.jsonl -q", "list", "--help", "scan --help"])
def test_a_full_standard_output_is_told_in_one_line(command: str, tmp_path: Path) -> None:
    done = _shell(command, ">/dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("forensics: error: standard output cannot be written: No space left")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "code"), [("scan session.jsonl", 0), ("scan nowhere", 2), ("", 2), ("scan . --strict -f json", 0)]
)
def test_without_standard_error_the_exit_code_and_the_data_are_the_same(
    command: str, code: int, tmp_path: Path
) -> None:
    done, closed = _shell(command, "", tmp_path), _shell(command, "2>&-", tmp_path)
    assert closed.returncode == done.returncode == code
    assert closed.stdout == done.stdout


def test_with_every_stream_closed_a_report_holds_nothing_but_itself(tmp_path: Path) -> None:
    """A file that is opened while a standard stream is closed takes its number, and what is written to that."""
    done = _shell("scan session.jsonl -o json=report.json", "<&- >&- 2>&-", tmp_path)
    assert done.returncode == 2
    assert (tmp_path / "report.json").read_text().startswith('{\n  "schema_version"')
    assert (tmp_path / "session.jsonl").read_text() == SESSION


def test_a_screen_without_our_signs_gets_words_for_them(tmp_path: Path) -> None:
    done = _shell("prove opencode-before", "", tmp_path)
    plain = subprocess.run(
        [sys.executable, "-m", "forensics", "prove", "opencode-before"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "PYTHONIOENCODING": "ascii"},
    )
    assert "\u2192" in done.stdout
    assert "\\u" not in plain.stdout
    assert plain.stdout == done.stdout.replace("\u2192", "->")
