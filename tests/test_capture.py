"""A capture gives the same finding, from few records, without a word of the source."""

import errno
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from forensics.capture import CannotCapture, Capture, Subject, writers
from forensics.capturing.distil import Distiller
from forensics.cli import run
from forensics.replaying.replays import Asked, replay_file
from forensics.scan import Options, scan_file
from forensics.totals import totals
from forensics.writing import Piece

NOW = 1_900_000_000_000
SECRET = "ZANZIBAR"


def _captures(path: Path, detectors: tuple[str, ...] | None = None, **options: Any) -> list[Capture]:
    subject = Subject(path, path.name, Options(now=NOW, detectors=detectors), **options)
    return [subject.capture(one, f"small{subject.writer.suffix}") for one in subject.findings]


def _saved(made: Capture, folder: Path) -> Path:
    for name, data in made.files.items():
        (folder / name).write_bytes(data)
    return folder / next(iter(made.files))


def _pi(*records: dict[str, Any]) -> str:
    header = {"type": "session", "version": 3, "id": SECRET, "timestamp": "2026-05-01T08:00:00.000Z", "cwd": "/x"}
    lines = [header]
    for number, record in enumerate(records, 1):
        above = {"id": f"e{number}", "parentId": f"e{number - 1}" if number > 1 else None}
        lines.append({"type": "message", "timestamp": f"2026-05-01T08:{number:02}:00.000Z", **above, **record})
    return "".join(json.dumps(line) + "\n" for line in lines)


def _user(text: str) -> dict[str, Any]:
    return {"message": {"role": "user", "content": text}}


def _reply(stop: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": f"{SECRET} said"}]
    return {"message": {"role": "assistant", "content": content, "stopReason": stop, **more}}


BROKEN = _pi(
    _user("Paint the shelves."),
    _reply("toolUse"),
    _reply("toolUse"),
    _reply("error", errorMessage=f"529 overloaded {SECRET}"),
    _user("continue"),
    _reply("stop"),
)


def test_a_session_without_findings_has_nothing_to_capture(tmp_path: Path) -> None:
    path = tmp_path / "fine.jsonl"
    path.write_text(_pi(_user("Paint."), _reply("stop")), encoding="utf-8")
    assert _captures(path) == []
    assert run(["capture", str(path), "--finding", "0123", "-o", str(tmp_path / "small.jsonl")]) == 2
    assert not (tmp_path / "small.jsonl").exists()


def test_a_manual_continue_is_the_failure_the_prompt_and_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    (made,) = _captures(path)
    lines = [json.loads(line) for line in made.files["small.jsonl"].splitlines()]
    assert [line["type"] for line in lines] == ["session", "message", "message", "message"]
    assert [line.get("parentId") for line in lines] == [None, None, f"id{made.mark}-2", f"id{made.mark}-3"]
    assert [line["timestamp"] for line in lines[1:]] == [
        "2020-01-01T00:04:00.000Z",
        "2020-01-01T00:05:00.000Z",
        "2020-01-01T00:06:00.000Z",
    ]
    assert lines[1]["message"]["errorMessage"] == "529 overloaded xxxxxxxx"
    assert lines[2]["message"]["content"] == "continue"
    assert made.changed == []
    assert made.complete
    assert (made.records, made.kept) == (7, 4)


def test_the_capture_read_by_scan_gives_the_finding_under_its_new_id(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    (made,) = _captures(path)
    saved = _saved(made, tmp_path)
    (found,) = scan_file(saved, "small.jsonl", Options(now=NOW)).findings
    assert found.id == made.after.id
    assert found.measures == made.finding.measures == made.after.measures
    assert found.id != made.finding.id


def test_the_decisions_of_policies_are_the_same_before_and_after(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    (made,) = _captures(path)
    assert made.decisions == 1
    replayed = replay_file(_saved(made, tmp_path), "small.jsonl", Asked(steps=True))
    assert [step.recorded for session in replayed.sessions for step in session.steps] == [
        "nothing until a person wrote"
    ]


def test_a_capture_under_which_policies_decide_otherwise_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    monkeypatch.setattr("forensics.capture._Maker._decisions", lambda _, path: [path.name])
    with pytest.raises(CannotCapture, match="policies decide otherwise"):
        _captures(path)


def test_a_secret_in_every_field_of_a_record_never_survives(samples: Path, tmp_path: Path) -> None:
    """The secret is appended to every text, put in as a field of every object, and named as a field."""
    path = tmp_path / "pi.jsonl"
    lines = [json.loads(line) for line in (samples / "parsers" / "pi.jsonl").read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps(_poisoned(line)) + "\n" for line in lines), encoding="utf-8")
    made = _captures(path)
    assert made
    for one in made:
        for data in one.files.values():
            assert SECRET.lower() not in data.decode().lower()


def _poisoned(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _poisoned(inner, name) for name, inner in value.items()} | {SECRET: SECRET, "note": SECRET}
    if isinstance(value, list):
        return [_poisoned(inner, key) for inner in value]
    if isinstance(value, str) and key not in {"type", "role", "stopReason", "timestamp", "id", "parentId"}:
        return value if value.strip() in {"", "continue", "again"} else f"{value} {SECRET}"
    return value


@pytest.mark.slow
@pytest.mark.parametrize("keep_errors", [True, False])
def test_every_finding_of_the_samples_of_every_writer_is_captured(samples: Path, keep_errors: bool) -> None:
    counted: dict[str, int] = {}
    for path in sorted([*(samples / "parsers").iterdir(), samples / "detectors" / "manual_continue.jsonl"]):
        if not path.is_file() or path.suffix in {".py", ".sql"}:
            continue
        subject = Subject(path, path.name, Options(now=NOW), keep_errors=keep_errors)
        if subject.parser.name not in writers():
            continue
        for one in subject.findings:
            made = subject.capture(one, f"small{subject.writer.suffix}")
            assert made.kept <= made.records
            counted[subject.parser.name] = counted.get(subject.parser.name, 0) + 1
    assert counted.keys() == writers().keys()


def test_counts_may_shrink_and_are_told_when_a_loop_is_long(tmp_path: Path) -> None:
    path = tmp_path / "loop.jsonl"
    rows = [_reply("error", errorMessage="overloaded") if at % 2 else _user("Paint it.") for at in range(4)]
    rows += [{"type": "compaction", "summary": "", "tokensBefore": 9000, "message": None}] * 70
    path.write_text(_pi(*rows), encoding="utf-8")
    (made,) = _captures(path, detectors=("no-summary",))
    assert made.finding.measures["attempts"] == 70
    assert made.after.measures["attempts"] == 3
    assert ("attempts", 70, 3) in made.changed
    assert made.after.severity == made.finding.severity == "error"
    (exact,) = _captures(path, detectors=("no-summary",), exact=True)
    assert exact.changed == []
    assert exact.kept == 71


def test_an_abandoned_branch_is_captured_with_the_branch_that_makes_it_one(samples: Path, tmp_path: Path) -> None:
    subject = Subject(samples / "parsers" / "pi.jsonl", "pi.jsonl", Options(now=NOW))
    (cut,) = (one for one in subject.findings if one.session is not None and "/" in one.session)
    made = subject.capture(cut, "small.jsonl")
    assert made.after.session is not None
    assert "/" in made.after.session
    (found,) = scan_file(_saved(made, tmp_path), "small.jsonl", Options(now=NOW)).findings
    assert found.session == made.after.session


def test_files_beside_a_session_are_captured_with_it(samples: Path, tmp_path: Path) -> None:
    (path,) = (samples / "parsers" / "atomic_diagnostic").glob("*.jsonl")
    made = {one.finding.detector: one for one in _captures(path)}["no-summary"]
    names = list(made.files)
    assert names[0] == "small.jsonl"
    assert len(names) > 1
    assert all(name.startswith("small-compaction-diagnostic-15778") for name in names[1:])
    found = scan_file(_saved(made, tmp_path), "small.jsonl", Options(now=NOW)).findings
    assert made.after.id in {one.id for one in found}


def test_an_agent_that_only_its_folder_tells_is_told_by_the_capture(tmp_path: Path) -> None:
    path = tmp_path / ".atomic" / "broken.jsonl"
    path.parent.mkdir()
    path.write_text(BROKEN, encoding="utf-8")
    (made,) = _captures(path)
    assert made.finding.agent == made.after.agent == "atomic"


def test_a_format_without_a_writer_says_which_have_one(samples: Path) -> None:
    subject = Subject(samples / "parsers" / "opencode_log.log", "x.log", Options(now=NOW))
    with pytest.raises(CannotCapture, match=r"opencode-log.*pi"):
        _ = subject.writer


def test_a_capture_that_lost_its_finding_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    monkeypatch.setattr("forensics.capturing.filler.Filler.text", lambda _, text: "Paint the lawn now"[: len(text)])
    out = tmp_path / "small.jsonl"
    assert run(["capture", str(path), "--all", "-o", str(tmp_path / "all")]) == 1
    assert not out.exists()
    assert list((tmp_path / "all").iterdir()) == []


def test_the_command_says_what_it_kept_and_never_writes_over_a_file(tmp_path: Path) -> None:
    path, out = tmp_path / "broken.jsonl", tmp_path / "small.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    (finding,) = scan_file(path, path.name, Options(now=NOW)).findings
    from forensics.cli import app  # noqa: PLC0415

    asked = ["capture", str(path), "--finding", finding.id[:8], "-o", str(out)]
    told = CliRunner().invoke(app(), asked)
    assert told.exit_code == 0, told.output
    assert "kept     4 of 7 records, in order; none of them can be left out" in told.stdout
    assert "figures  all as in the source" in told.stdout
    before = out.read_bytes()
    out.write_bytes(b"mine")
    assert run(asked) == 2
    assert out.read_bytes() == b"mine"
    assert run([*asked, "--force", "--quiet"]) == 0
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ([], 2),
        (["--all", "--finding", "abcd"], 2),
        (["--finding", "ab"], 2),
        (["--finding", "abcdef"], 2),
        (["--all", "--keep-text", "some"], 2),
        (["--all"], 0),
    ],
)
def test_exit_codes(asked: list[str], code: int, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    assert run(["capture", str(path), "-o", str(tmp_path / "out"), "--quiet", *asked]) == code


def test_a_folder_of_nothing_that_is_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("hello", encoding="utf-8")
    assert run(["capture", str(tmp_path), "--all", "-o", str(tmp_path / "out")]) == 3


def test_a_capture_is_the_same_whenever_it_is_made(tmp_path: Path, events_of: Callable[[Path], Any]) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    assert [one.files for one in _captures(path)] == [one.files for one in _captures(path)]
    (made,) = _captures(path)
    assert len(events_of(_saved(made, tmp_path))) == 4


def test_captures_of_different_findings_share_no_id_so_that_a_folder_of_them_counts_every_one(
    samples: Path, tmp_path: Path
) -> None:
    source = samples / "incidents" / "atomic-1690" / "session.jsonl"
    out = tmp_path / "out"
    assert run(["capture", str(source), "--all", "-o", str(out), "--quiet"]) == 0
    results = [scan_file(one, one.name, Options(now=NOW)) for one in sorted(out.iterdir())]
    total, copies = totals([one for result in results for one in result.sessions], {})
    assert copies == []
    assert (len(results), total["prompts"], total["manual_continues"]) == (8, 8, 8)
    assert len({one.session for result in results for one in result.sessions}) == 8
    assert len({one.id for result in results for one in result.findings}) == 16


def test_findings_that_the_same_records_show_are_captured_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "twice.jsonl", tmp_path / "out"
    path.write_text(_stuck("s1") + _stuck("s2"), encoding="utf-8")
    assert run(["capture", str(path), "--all", "-o", str(out)]) == 0
    (only,) = out.iterdir()
    told = capsys.readouterr().out
    assert told.count("proved   ") == 1
    assert f"written  not again: {only.name} holds the same records" in told


def _piped(path: Path, monkeypatch: pytest.MonkeyPatch, *asked: str) -> int:
    with path.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream, closed=False, isatty=lambda: False))
        return run(["capture", "-", *asked])


def test_standard_input_is_captured_as_the_file_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    assert run(["capture", str(path), "--all", "-o", str(tmp_path / "named"), "-q"]) == 0
    assert _piped(path, monkeypatch, "--all", "-o", str(tmp_path / "piped"), "-q") == 0
    made = [{one.name: one.read_bytes() for one in (tmp_path / name).iterdir()} for name in ("named", "piped")]
    assert made[0] == made[1]
    assert len(made[0]) == 1
    assert _piped(path, monkeypatch, "--finding", "0123", "-o", str(path), "--force") == 2
    assert "--output: " in (told := capsys.readouterr().err)
    assert "is one of the inputs, and would be overwritten" in told
    monkeypatch.setattr("sys.stdin", None)
    assert run(["capture", "-", "--all", "-o", str(tmp_path / "none")]) == 2
    assert "-: there is no standard input to read; give a file or pipe one in" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_told_in_the_words_of_the_other_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "broken.jsonl", tmp_path / "out"
    path.write_text(BROKEN, encoding="utf-8")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(out))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert run(["capture", str(path), "--all", "-o", str(out)]) == 2
    told = f"forensics: error: --output: {out}: cannot be written: Read-only file system; choose another place\n"
    assert capsys.readouterr().err == told
    monkeypatch.undo()
    monkeypatch.setattr("forensics.cli.capture.save", refuse)
    assert run(["capture", str(path), "--all", "-o", str(out)]) == 2
    assert "cannot be written: Read-only file system; choose another place\n" in capsys.readouterr().err


def test_a_finding_that_is_not_there_is_told_with_the_command_that_shows_ids(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    assert run(["capture", str(path), "--finding", "zzzz", "-o", str(tmp_path / "small.jsonl")]) == 2
    assert capsys.readouterr().err.endswith(f"no finding zzzz in {path}; forensics scan -v shows them\n")
    (finding,) = scan_file(path, path.name, Options(now=NOW)).findings
    assert run(["scan", "-v", str(path)]) == 0
    assert finding.id in capsys.readouterr().out


def test_records_without_the_evidence_and_records_tried_before_are_not_written(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A capture took half a minute: it wrote and read what could not be the finding, and parts of left-out messages."""
    written: list[list[Piece]] = []
    write = Distiller.written

    def seen(self: Distiller, pieces: list[Piece], name: str) -> Path:
        written.append(pieces)
        return write(self, pieces, name)

    monkeypatch.setattr(Distiller, "written", seen)
    path = tmp_path / "broken.jsonl"
    path.write_text(BROKEN, encoding="utf-8")
    (made,) = _captures(path)
    tried = written[: -len(("before", "after", "empty"))]
    assert made.finding.lines == [5, 6, 7]
    assert all({5, 6, 7} <= {one.line for one in some} for some in tried)
    assert (len(tried), made.tries) == (2, 6)
    written.clear()
    subject = Subject(samples / "parsers" / "opencode_db.db", "o.db", Options(now=NOW))
    chosen = next(one for one in subject.findings if one.detector == "no-summary")
    made = subject.capture(chosen, "small.db")
    sets = [tuple((one.table, one.record) for one in some) for some in written[:-3]]
    assert (len(sets), len(set(sets)), made.tries) == (66, 65, 91)


def _stuck(session: str) -> str:
    at = [f"2026-07-09T10:00:{second:02}Z" for second in (0, 10, 50, 55)]
    rows: list[dict[str, Any]] = [
        {"kind": "prompt", "origin": "human", "ts": at[0], "text": "Sort it."},
        {"kind": "reply", "stop": "error", "fault": "overloaded", "ts": at[1]},
        {"kind": "prompt", "origin": "human", "ts": at[2], "text": "continue"},
        {"kind": "reply", "stop": "done", "ts": at[3]},
    ]
    return "".join(json.dumps({"session": session, **row}) + "\n" for row in rows)


def test_an_id_begun_alike_in_two_files_is_not_taken_from_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = tmp_path / "every.jsonl"
    every.write_text("".join(_stuck(f"s{number}") for number in range(900)))
    options = Options(now=NOW, detectors=("manual-continue",))
    found = scan_file(every, "every.jsonl", options).findings
    seen = {one.id[:4]: one for one in found}
    first, last = next((one, seen[one.id[:4]]) for one in found if seen[one.id[:4]] is not one)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl").write_text(_stuck(first.session or ""))
    (folder / "b.jsonl").write_text(_stuck(last.session or ""))
    target = tmp_path / "small.jsonl"
    assert run(["capture", str(folder), "--finding", first.id[:4], "-o", str(target)]) == 2
    told = capsys.readouterr().err
    assert f"--finding: {first.id[:4]} begins 2 ids, in " in told
    assert "a.jsonl, " in told
    assert "b.jsonl; give more of it" in told
    assert not target.exists()
    assert run(["capture", str(folder), "--finding", last.id, "-o", str(target), "--quiet"]) == 0
    assert target.exists()


def test_a_folder_that_holds_the_input_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"session":"s","kind":"session","agent":"demo"}\n', encoding="utf-8")
    assert run(["capture", str(path), "--all", "-o", str(tmp_path)]) == 2
    assert "holds s.jsonl, which is read; give a folder of its own" in capsys.readouterr().err
