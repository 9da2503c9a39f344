"""`forensics timeline`: one session as a table on the screen."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.cli import run

Show = Callable[..., tuple[int, str, str]]
LOG = Path("incidents") / "atomic-1690" / "session.jsonl"


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Show:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    def command(*arguments: object) -> tuple[int, str, str]:
        code = run(["timeline", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return command


def test_the_whole_session_is_shown_with_runs_folded(show: Show, samples: Path) -> None:
    code, out, _ = show(samples / LOG)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("atomic, session 5720446f-3417-4664-a086-fb913735c9d5")
    assert "context peak 271,999 tokens" in out
    assert " 387  08:58:25 ✖ reply failed (output-budget): OpenAI API error (400):" in out
    assert " 388  08:59:04 ◆ compaction ended: dropped, 271,999 to 133,280 tokens" in out
    assert "13 min 20 s later" in out
    assert " 389  09:12:24 ▶ prompt by a person: Continue\n" in out
    assert "26 more good replies" in out
    assert max(map(len, lines)) <= 100


def test_folded_and_shown_replies_are_all_of_them(show: Show, samples: Path) -> None:
    _, out, _ = show(samples / LOG)
    folded = sum(int(line.split()[0].replace(",", "")) for line in out.splitlines() if "more good repl" in line)
    assert folded + out.count("· reply ended") == 552


def test_only_some_kinds(show: Show, samples: Path) -> None:
    _, out, _ = show(samples / LOG, "--only", "compactions,prompts")
    rows = [line for line in out.splitlines() if ":" in line and " ended" in line]
    assert sum("◆" in line for line in out.splitlines()) == 5
    assert sum("▶" in line for line in out.splitlines()) == 12
    assert "✖" not in out
    assert all("compaction" in row for row in rows)


def test_around_a_line(show: Show, samples: Path) -> None:
    code, out, _ = show(samples / LOG, "--around", 387)
    assert code == 0
    assert [at for at in (387, 389, 1085) if f"\n{at}  " in out] == [387, 389]


def test_around_a_line_shows_only_the_session_that_holds_it(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    rows = [{"kind": "prompt", "session": "ab"[at % 2], "origin": "human", "text": f"No. {at}"} for at in range(40)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = show(path, "--around", 10)
    assert code == 0
    assert "session b (" in out
    assert "session a (" not in out
    assert f"\n10 {'':10}▶ prompt by a person: No. 9\n" in out


def test_around_a_record_where_lines_do_not_tell(show: Show, samples: Path, tmp_path: Path) -> None:
    """In a document of one line, and in a database, evidence is given as record ids."""
    path = samples / "parsers" / "opencode_db.db"
    whole = show(path)[1]
    records = [line.split()[0] for line in whole.splitlines() if " ended" in line]
    code, out, _ = show(path, "--around", records[0])
    assert code == 0
    assert f"\n{records[0]}  " in out
    code, out, err = show(path, "--around", "nobody")
    assert (code, out) == (2, "")
    assert err.endswith("has no row whose record's id ends in 'nobody'\n")
    assert "'' does not fit" in show(path, "--around", "")[2]
    rows = [{"kind": "prompt", "session": "s", "record": f"r{at}x", "origin": "human"} for at in range(40)]
    lines = tmp_path / "r.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = show(lines, "--around", "r20x")[1]
    assert [at for at in (10, 11, 31, 32) if f"\n{at}  " in out] == [11, 31]


def test_runs_of_identical_failures_are_folded(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "loop.jsonl"
    failed = {"kind": "reply", "session": "s", "stop": "error", "fault": "overflow", "error": "too long"}
    check = {"kind": "budget", "session": "s", "context": 900, "cap": 500}
    rows = [{"kind": "session", "session": "s"}, *[failed, check] * 6, {**failed, "error": "other"}, failed]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = show(path)[1]
    assert out.count("too long") == 3
    assert "4 more of the same, and 5 budget checks\n" in out
    assert [at for at in (2, 6, 12, 14, 15) if f"\n{at:>2}  " in out] == [2, 12, 14, 15]
    near = show(path, "--around", 6)[1]
    assert "\n 6  " in near


def test_a_line_that_no_row_is_near_is_told(show: Show, samples: Path) -> None:
    code, out, err = show(samples / LOG, "--around", 99_999)
    assert (code, out) == (2, "")
    assert "has no row at line 99999" in err


def test_an_unknown_kind_is_told(show: Show, samples: Path) -> None:
    code, _, err = show(samples / LOG, "--only", "compaction")
    assert code == 2
    assert "did you mean compactions?" in err


def test_one_session_of_several(show: Show, samples: Path) -> None:
    log = samples / "incidents" / "pilotdeck" / "runtime.log"
    _, out, _ = show(log, "--session", "web:s_a266")
    assert out.count("session web:s_") == 1
    assert "host process" not in out
    assert show(log, "--session", "nobody")[0] == 2


def test_the_host_process_has_a_table_of_its_own(show: Show, samples: Path) -> None:
    _, out, _ = show(samples / "incidents" / "pilotdeck" / "runtime.log", "--only", "exits")
    assert out.count("■ gateway exited with code 1") == 14
    assert out.count("■ gateway started") == 15


def test_rows_of_a_database_go_by_their_record(show: Show, samples: Path) -> None:
    code, out, _ = show(samples / "parsers" / "opencode_db.db")
    assert code == 0
    assert "session ses_" in out


def test_a_folder_is_not_one_session(show: Show, samples: Path) -> None:
    code, _, err = show(samples / "incidents")
    assert code == 2
    assert "name one" in err


def test_an_unknown_file_is_exit_3(show: Show, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words\n")
    assert show(tmp_path / "a.txt")[0] == 3


def test_hostile_text_does_nothing_to_the_screen(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    text = "\x1b[31mred\x1b]0;title\x07 \u202eevil [bold]x[/bold]\r\n fake 99  row"
    rows = [
        {"kind": "session", "session": text, "agent": text},
        {"kind": "prompt", "session": text, "origin": "human", "text": text, "record": text},
        {"kind": "reply", "session": text, "stop": "error", "error": text},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    _, out, _ = show(path)
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[bold]x[/bold]" in out.replace("\n", "")


def test_redacting_leaves_the_persons_words_out(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [
        {"kind": "session", "session": "s1", "agent": "demo"},
        {"kind": "prompt", "session": "s1", "origin": "human", "text": "tell nobody about the merger", "line": 2},
        {"kind": "reply", "session": "s1", "stop": "error", "error": "no file /home/zephyrine/plan.md"},
        {"kind": "reply", "session": "s1", "stop": "error", "error": "zephyrine has no access"},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    _, out, _ = show(path, "--redact")
    assert "merger" not in out
    assert "zephyrine" not in out
    assert "/home/user-1/plan.md" in out
    assert "user-1 has no access" in out
    assert "merger" in show(path)[1]


def test_colour_and_ascii(show: Show, samples: Path) -> None:
    _, out, _ = show(samples / LOG, "--color", "always")
    assert "\x1b[" in out
