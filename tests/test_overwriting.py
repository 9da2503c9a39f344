"""Nothing that is read is ever written over: found by a tester whose session was replaced by its own event table."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.cli import run
from forensics.inputs import WouldOverwrite, expand
from forensics.saving import save

SESSION = (
    '{"type":"session","version":3,"id":"s","timestamp":"2026-07-09T10:00:00.000Z","cwd":"/x"}\n'
    '{"type":"message","id":"1","parentId":null,"timestamp":"2026-07-09T10:00:01.000Z",'
    '"message":{"role":"user","content":[{"type":"text","text":"Paint the fence."}]}}\n'
    '{"type":"message","id":"2","parentId":"1","timestamp":"2026-07-09T10:00:02.000Z",'
    '"message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"529 overloaded"}}\n'
    '{"type":"message","id":"3","parentId":"2","timestamp":"2026-07-09T10:01:02.000Z",'
    '"message":{"role":"user","content":[{"type":"text","text":"continue"}]}}\n'
    '{"type":"message","id":"4","parentId":"3","timestamp":"2026-07-09T10:01:04.000Z",'
    '"message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}\n'
)
WRITERS = {
    "read": lambda target: ["read", "-o", target],
    "read as parquet": lambda target: ["read", "-f", "parquet", "-o", target],
    "read as csv": lambda target: ["read", "-f", "csv", "-o", target],
    "read as timesketch": lambda target: ["read", "-f", "timesketch", "-o", target],
    "scan": lambda target: ["scan", "-o", f"json={target}"],
    "scan as timesketch": lambda target: ["scan", "-o", f"timesketch={target}"],
    "scan, the second report": lambda target: ["scan", "-o", "json=fine.json", "-o", f"csv={target}"],
    "check": lambda target: ["check", "-o", f"junit={target}"],
    "capture": lambda target: ["capture", "--finding", "0000", "--force", "-o", target],
    "baseline": lambda target: ["baseline", "create", "--baseline", target],
}
Arguments = Callable[[str], list[str]]
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")


@pytest.fixture(autouse=True)
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("in") / "session.jsonl"
    path.parent.mkdir()
    path.write_text(SESSION, encoding="utf-8")
    return path


def held(path: Path) -> bool:
    """Whether the session is as it was, and nothing else was written at all."""
    return path.read_text(encoding="utf-8") == SESSION and not list(Path().rglob("fine*")) + list(
        Path().rglob("*.part")
    )


@pytest.mark.parametrize("arguments", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("given", ["in/session.jsonl", "in", "in/*.jsonl"])
def test_an_output_that_is_an_input_is_wrong_usage_and_nothing_is_written(
    arguments: Arguments, given: str, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments("in/../in/session.jsonl"), given]) == 2
    assert held(session)
    assert "in/session.jsonl: is " in capsys.readouterr().err


@posix_only
@pytest.mark.parametrize("arguments", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("link", ["symbolic", "hard", "folder"])
def test_an_output_that_leads_to_an_input_by_a_link_is_wrong_usage(
    arguments: Arguments, link: str, session: Path
) -> None:
    target = Path("out.json")
    if link == "symbolic":
        target.symlink_to(session)
    elif link == "hard":
        target.hardlink_to(session)
    else:
        Path("other").symlink_to("in")
        target = Path("other/session.jsonl")
    assert run([*arguments(str(target)), "in"]) == 2
    assert held(session)
    assert target.is_symlink() == (link == "symbolic")


@pytest.mark.parametrize("name", ["report.html", "report.md", "report.json"])
def test_a_report_over_an_input_is_wrong_usage(name: str, session: Path) -> None:
    target = session.with_name(name)
    session.rename(target)
    assert run(["report", "in", "-o", "fine.json", "-o", str(target)]) == 2
    assert held(target)


@posix_only
@pytest.mark.parametrize(
    ("figure", "arguments"),
    [
        ("drawn/session-1.png", ["-o", "fine.md", "--charts", "drawn"]),
        ("fine-figures/session-1.svg", ["-o", "fine.md"]),
    ],
)
def test_a_figure_over_an_input_is_wrong_usage(figure: str, arguments: list[str], session: Path) -> None:
    Path(figure).parent.mkdir()
    Path(figure).symlink_to(session.absolute())
    assert run(["report", str(session), *arguments]) == 2
    assert session.read_text(encoding="utf-8") == SESSION
    assert not Path("fine.md").exists()


@posix_only
def test_a_lock_over_a_recording_is_wrong_usage(session: Path) -> None:
    other = session.with_name("a.jsonl")
    other.write_text(SESSION, encoding="utf-8")
    session.with_name("session.jsonl.forensics-lock.toml").symlink_to("session.jsonl")
    assert run(["lock", "in"]) == 2
    assert held(session)
    assert sorted(path.name for path in Path("in").iterdir()) == [
        "a.jsonl",
        "session.jsonl",
        "session.jsonl.forensics-lock.toml",
    ]


def test_a_report_over_a_lock_or_the_baseline_is_wrong_usage(session: Path) -> None:
    assert run(["lock", "-q", str(session)]) == 0
    assert run(["baseline", "create", "-q", str(session)]) == 0
    for path in ("in/session.jsonl.forensics-lock.toml", ".forensics-baseline.json"):
        before = Path(path).read_bytes()
        assert run(["check", str(session), "-o", f"json={path}"]) == 2
        assert Path(path).read_bytes() == before


def test_captures_never_go_over_what_they_are_made_from(session: Path) -> None:
    assert run(["capture", "in", "--all", "--force", "-q", "-o", "in"]) == 2
    assert run(["capture", "in", "--all", "-q", "-o", "made"]) == 0
    assert run(["capture", ".", "--all", "--force", "-q", "-o", "made"]) == 2
    assert held(session)


@posix_only
def test_the_log_of_a_database_and_files_read_along_count_as_inputs(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"SQLite format 3\0")
    for side in ("-wal", "-shm", "-journal"):
        (tmp_path / f"a.db{side}").write_bytes(b"x")
        with pytest.raises(WouldOverwrite):
            expand(["a.db"], Path(), None, outputs=[Path(f"a.db{side}")])
    part = next(path for path in (samples / "parsers").rglob("*.json") if "/part/" in path.as_posix())
    assert run(["scan", str(samples / "parsers" / "opencode_tree"), "-q", "-o", f"json={part}"]) == 2


@posix_only
def test_standard_input_is_not_written_over(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with session.open(encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert run(["read", "-", "-o", str(session)]) == 2
    assert held(session)


def test_a_witness_over_its_policy_is_wrong_usage(session: Path) -> None:
    policy = session.with_name("own.py")
    policy.write_text("raise SystemExit", encoding="utf-8")
    assert run(["prove", str(policy), "--witness", "in/../in/own.py"]) == 2
    assert policy.read_text(encoding="utf-8") == "raise SystemExit"


def test_two_reports_to_one_file_are_wrong_usage(session: Path) -> None:
    assert run(["scan", str(session), "-o", "json=fine", "-o", "csv=./fine"]) == 2
    assert run(["report", str(session), "-o", "fine.json", "-o", "./fine.json"]) == 2
    assert held(session)


def test_a_report_of_an_earlier_run_in_the_folder_is_replaced(session: Path) -> None:
    for _ in range(2):
        assert run(["scan", "in", "-q", "-o", "json=in/report.json"]) == 0
        assert json.loads(Path("in/report.json").read_bytes())["coverage"]["files"] == 1
        assert json.loads(Path("in/report.json").read_bytes())["coverage"]["skipped"] == []
    assert session.read_text(encoding="utf-8") == SESSION


def test_a_table_of_an_earlier_run_that_would_be_read_is_not_replaced_unasked(session: Path) -> None:
    assert run(["read", "in", "-q", "-o", "in/events.jsonl"]) == 0
    before = Path("in/events.jsonl").read_bytes()
    assert run(["read", "in", "-q", "-o", "in/events.jsonl"]) == 2
    assert run(["read", str(session), "-q", "-o", "in/events.jsonl"]) == 0
    assert Path("in/events.jsonl").read_bytes() == before


def test_a_table_that_cannot_be_finished_leaves_what_was_there(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("events.jsonl").write_text("before")

    def broken(*_: object) -> object:
        yield b"half"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("forensics.table.LineFile.blocks", broken)
    assert run(["read", str(session), "-o", "events.jsonl"]) == 2
    assert Path("events.jsonl").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir()) == ["events.jsonl", "in"]


@posix_only
def test_saving_follows_links_keeps_rights_and_writes_to_devices(tmp_path: Path) -> None:
    save(tmp_path / "real", "a")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    save(tmp_path / "link", b"b")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"b"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    save(Path(os.devnull), "x")
