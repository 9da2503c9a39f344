import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forensics import __version__
from forensics.cli import _common, _run, help_pages, run
from forensics.cli._main import _VERBOSE, COMMANDS
from forensics.cli._places import look, places
from forensics.detect import Claim, Detector, Measure, detectors
from forensics.parse import Parser, recognise
from forensics.scan import scan_file
from forensics.timeline import Session

FORMATS = ("table", "json", "jsonl", "csv", "markdown", "sarif", "junit", "github")
Command = Callable[..., tuple[int, str, str]]

CALM = (
    '{"kind":"session","session":"calm","agent":"demo","ts":"2026-07-09T10:00:00Z"}\n'
    '{"kind":"prompt","session":"calm","origin":"human","ts":"2026-07-09T10:00:01Z","text":"Sort the table."}\n'
    '{"kind":"reply","session":"calm","stop":"done","ts":"2026-07-09T10:00:05Z","context":1200}\n'
)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration, no environment, no terminal of the machine that runs the tests."""
    for name in (*(one for one in os.environ if one.startswith("FORENSICS_")), "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command and give its exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def calm(tmp_path: Path) -> Path:
    path = tmp_path / "calm.jsonl"
    path.write_text(CALM)
    return path


@pytest.fixture
def stormy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file on which a detector of our own fires: what others find today does not matter here."""

    def storm(session: Session, *, at_least: int = 1) -> Iterator[Claim]:
        found = [event for event in session.events if event.fault == "overflow"]
        if len(found) >= at_least:
            yield Claim(
                message="it stormed", evidence=tuple(found), measures={"count": Measure(len(found), "observed")}
            )

    known = detectors()
    monkeypatch.setitem(
        known, "storm", Detector("storm", "error", "session", storm, {"at-least": 1}, "Fires on storms.")
    )
    path = tmp_path / "stormy.jsonl"
    path.write_text(
        CALM.replace("calm", "stormy")
        + '{"kind":"reply","session":"stormy","stop":"error","fault":"overflow","ts":"2026-07-09T10:00:06Z"}\n'
        + '{"kind":"reply","session":"stormy","stop":"error","fault":"overflow","ts":"2026-07-09T10:00:07Z"}\n'
        + '{"kind":"reply","session":"stormy","stop":"done","ts":"2026-07-09T10:00:08Z"}\n'
    )
    return path


def test_a_calm_file_is_exit_0_and_says_what_was_read(command: Command, calm: Path) -> None:
    code, out, err = command("scan", calm)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "read 1 file, 3 records, nothing found (exit 0)"


def test_an_empty_folder_is_exit_3(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("scan", tmp_path)
    assert code == 3
    assert out.splitlines()[-1] == "nothing was read: there are no files there (exit 3)"


def test_a_folder_with_nothing_readable_says_so(command: Command, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    code, out, _ = command("scan", tmp_path)
    assert code == 3
    assert "notes.txt: not a format that is read" in " ".join(out.split())
    assert out.splitlines()[-1] == "nothing was read: 1 input looked at, none recognised (exit 3)"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 0),
        (["--fail-on", "error"], 1),
        (["--fail-on", "never"], 0),
        (["--fail-on", "error", "--exit-zero"], 0),
        (["--fail-on", "error", "--set", "storm.at-least=3"], 0),
        (["--fail-on", "error", "--ignore", "storm"], 0),
        (["--fail-on", "error", "--until", "2026-07-09T10:00:05Z"], 0),
        (["--fail-on", "error", "--since", "2026-07-09T12:00:07+02:00"], 1),
        (["--fail-on", "error", "--since", "2026-07-10"], 0),
        (["--strict"], 0),
    ],
)
@pytest.mark.parametrize("format_", FORMATS)
def test_no_format_changes_the_exit_code(
    command: Command, stormy: Path, arguments: list[str], code: int, format_: str
) -> None:
    assert command("scan", stormy, "--select", "storm", "-f", format_, *arguments)[0] == code


def test_strict_is_exit_4_on_skipped_and_on_malformed_input(command: Command, calm: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert command("scan", tmp_path)[0] == 0
    assert command("scan", tmp_path, "--strict")[0] == 4
    calm.write_text(CALM + "{torn\n")
    assert command("scan", calm)[0] == 0
    assert command("scan", calm, "--strict")[0] == 4


def test_standard_output_is_data_alone(command: Command, stormy: Path) -> None:
    code, out, err = command("scan", stormy, "--select", "storm", "--format", "json")
    found = json.loads(out)
    assert (code, err) == (0, "forensics: result: 1 error (exit 0)\n")
    assert found["findings"][0]["lines"] == [4, 5]
    assert found["findings"][0]["measures"] == {"count": 2}
    assert command("scan", stormy, "--select", "storm", "--format", "json", "--quiet")[2] == ""


def test_several_reports_in_one_run(command: Command, stormy: Path, tmp_path: Path) -> None:
    outputs = [f"--output={name}={tmp_path / name}" for name in FORMATS]
    code, out, _ = command("scan", stormy, "--select", "storm", *outputs)
    assert code == 0
    assert "it stormed" in out
    for name in FORMATS:
        assert "storm" in (tmp_path / name).read_text(encoding="utf-8")
        assert (tmp_path / name).read_bytes().endswith(b"\n")
    assert not list(tmp_path.glob("*.part"))


def test_a_report_to_standard_output_replaces_the_table(command: Command, stormy: Path) -> None:
    _, out, _ = command("scan", stormy, "--select", "storm", "-o", "jsonl=-")
    assert json.loads(out)["detector"] == "storm"


@pytest.mark.usefixtures("stormy")
def test_two_runs_over_a_folder_are_equal(command: Command, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ("scan", tmp_path, "--select", "storm", "-q", "-o", f"json={report}")
    first = command(*arguments), report.read_bytes()
    assert (command(*arguments), report.read_bytes()) == first
    assert json.loads(report.read_bytes())["coverage"]["files"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scan"], "Missing argument 'PATH'; see 'forensics scan --help'"),
        (["scan", "nope.jsonl"], "nope.jsonl: no such file or folder; give a file, a folder, a glob or - for"),
        (["scan", "*.nope"], "*.nope: nothing matches this pattern; give a file, a folder, a glob or -"),
        (["scan", ".", "--format", "yaml"], "--format: 'yaml' does not fit; give one of"),
        (["scan", ".", "--output", "report.json"], "--output: 'report.json' is not FORMAT=PATH; for example json="),
        (["scan", ".", "--output", "jsn=x"], "--output: unknown format 'jsn'; did you mean json?"),
        (["scan", ".", "--output", "json=no/such/x"], "--output: no/such/x: there is no such folder; make it first"),
        (["scan", ".", "--output", "json=."], "--output: .: is a folder; give a file's name"),
        (["scan", ".", "-o", "json=-", "-f", "csv"], "--output: only one report can go to standard output"),
        (["scan", ".", "--select", "crash-lop"], "--select: unknown detector 'crash-lop'; did you mean crash-loop?"),
        (["scan", ".", "--set", "crash-lop.x=1"], "--set: unknown detector 'crash-lop'; did you mean crash-loop?"),
        (["scan", ".", "--set", "x"], "--set: 'x' is not detector.option=value"),
        (["scan", ".", "--since", "yesterday"], "--since: 'yesterday' does not fit; give a time as 2026-07-09"),
        (["scan", ".", "--cap", "many"], "--cap: 'many' does not fit; give a whole number from 1"),
        (["scan", ".", "--jobs", "0"], "--jobs: '0' does not fit; give a whole number from 1"),
        (["scan", ".", "--min-severity", "fatal"], "--min-severity: 'fatal' does not fit; give one of error, w"),
        (["scan", ".", "--frobnicate"], "No such option: --frobnicate"),
        (["scna", "."], "No such command 'scna'"),
        (["explain", "manual-contine"], "explain: there is no 'manual-contine'; did you mean manual-continue?"),
        (["list", "detector"], "list: unknown kind 'detector'; did you mean detectors?"),
        (["schema", "event"], "schema: there is no 'event'; did you mean events?"),
        (["doctor", "nope"], "nope: no such file or folder"),
        (["read", ".", "-o", "x.xlsx"], "--output: x.xlsx: not a format of the event table; name it .parquet,"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_exit_2(command: Command, arguments: list[str], message: str) -> None:
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"forensics: error: {message}")
    assert err.count("\n") == 1


def test_configuration_is_read_and_loses_to_the_command_line(command: Command, stormy: Path, tmp_path: Path) -> None:
    (tmp_path / "forensics.toml").write_text('select = ["storm"]\nfail-on = "error"\n[storm]\nat-least = 3\n')
    assert command("scan", stormy)[0] == 0
    assert command("scan", stormy, "--set", "storm.at-least=1")[0] == 1
    assert command("scan", stormy, "--set", "storm.at-least=1", "--fail-on", "never")[0] == 0
    (tmp_path / "forensics.toml").write_text('fial-on = "error"\n')
    code, _, err = command("scan", stormy)
    assert code == 2
    assert "unknown key 'fial-on'; did you mean fail-on?" in err


def test_a_flag_of_the_configuration_can_be_taken_back(command: Command, calm: Path, tmp_path: Path) -> None:
    (tmp_path / "forensics.toml").write_text("strict = true\n")
    calm.write_text(CALM + "{torn\n")
    assert command("scan", calm)[0] == 4
    assert command("scan", calm, "--no-strict")[0] == 0


def test_the_users_cap_is_used(command: Command, calm: Path) -> None:
    _, out, _ = command("scan", calm, "--cap", "2400", "-f", "json")
    (session,) = json.loads(out)["sessions"]
    assert (session["cap"], session["cap_source"], session["peak_ratio"]) == (2400, "option", 0.5)


def test_continues_are_counted_whatever_is_selected(command: Command, samples: Path) -> None:
    path = samples / "detectors" / "manual_continue.jsonl"
    everything = json.loads(command("scan", path, "-f", "json")[1])
    selected = json.loads(command("scan", path, "-f", "json", "--select", "length-stop")[1])
    counts = [one["manual_continues"] for one in everything["sessions"]]
    assert [one["manual_continues"] for one in selected["sessions"]] == counts
    assert sum(counts) == everything["summary"]["manual_continues"] > 0
    assert {one["detector"] for one in selected["findings"]} <= {"length-stop"}


def test_shareable_formats_are_redacted_and_others_only_when_asked(
    command: Command, stormy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home" / "ann"
    home.mkdir(parents=True)
    stormy.write_text(stormy.read_text().replace("stormy", "ann@example.org"))
    (home / "s.jsonl").write_bytes(stormy.read_bytes())
    monkeypatch.chdir(home)
    for name in FORMATS:
        _, shown, _ = command("scan", home, "--select", "storm", "-f", name, "-q")
        _, hidden, _ = command("scan", home, "--select", "storm", "-f", name, "-q", "--redact")
        _, told, _ = command("scan", home, "--select", "storm", "-f", name, "-q", "--no-redact")
        secret = "ann&#64;example" if name == "markdown" else "ann@example"
        assert (secret in shown) == (name not in {"github", "junit", "markdown", "sarif"})
        assert secret not in hidden
        assert home.as_posix() not in hidden
        assert secret in told


def test_an_internal_error_costs_one_file_and_is_exit_2(
    command: Command, calm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.jsonl").write_text(CALM.replace("calm", "other"))

    def broken(path: Path, name: str, options: Any) -> Any:
        if path.name == "calm.jsonl":
            raise KeyError("oops\x1b[31m")
        return scan_file(path, name, options)

    monkeypatch.setattr(_run, "scan_file", broken)
    code, out, err = command("scan", tmp_path, "-f", "json", "-q")
    found = json.loads(out)
    assert code == found["summary"]["result"]["exit_code"] == 2
    assert [one["session"] for one in found["sessions"]] == ["other"]
    assert found["coverage"]["skipped"][0]["kind"] == "broken"
    assert err.count("\n") == 1
    assert "internal error: KeyError" in err
    assert "please report it" in err
    assert "\x1b" not in err
    assert "Traceback" in command("scan", calm, "-q", "-v")[2]


def test_a_file_that_a_parser_breaks_on_costs_a_table_that_file_alone(
    command: Command, calm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.jsonl").write_text(CALM.replace("calm", "other"))

    def broken(path: Path) -> Parser:
        if path == calm:
            raise TypeError("unhashable type: 'list'\x1b[31m")
        return recognise(path)

    monkeypatch.setattr(importlib.import_module("forensics.cli.read"), "recognise", broken)
    code, out, err = command("read", tmp_path, "-f", "jsonl", "-q")
    assert {json.loads(line)["session"] for line in out.splitlines()} == {"other"}
    assert code == 2
    assert f"{calm.name}: internal error: TypeError: unhashable type: 'list'" in err
    assert "\x1b" not in err


def test_an_error_of_the_program_itself_is_one_line(
    command: Command, calm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("disk on fire")

    monkeypatch.setattr("forensics.summary.summarise", fails)
    code, _, err = command("scan", calm)
    assert code == 2
    assert err.startswith("forensics: error: internal error: RuntimeError: disk on fire; please report it")
    assert err.count("\n") == 1
    assert "Traceback" in command("scan", calm, "-v")[2]


def test_interruption_is_exit_130(command: Command, calm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupts(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_run, "scan_file", interrupts)
    code, out, err = command("scan", calm)
    assert (code, out, err.splitlines()[-1]) == (130, "", "forensics: note: interrupted")


def test_files_can_be_read_in_several_processes(command: Command, tmp_path: Path) -> None:
    for at in range(7):
        (tmp_path / f"{at}.jsonl").write_text(CALM.replace("calm", f"s{at}"))
    alone, pooled = (command("scan", tmp_path, "-f", "json", "--jobs", n, "--now", "2026-07-09") for n in (1, 3))
    assert alone == pooled
    assert len(json.loads(pooled[1])["sessions"]) == 7


def test_read_writes_tables(command: Command, calm: Path, tmp_path: Path) -> None:
    code, out, err = command("read", calm)
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["session", "prompt", "reply"]
    assert (code, err) == (0, "forensics: result: read 1 file, 3 lines, 3 records, 275 bytes (exit 0)\n")
    for name in ("out.parquet", "out.csv", "out.jsonl"):
        assert command("read", calm, "-o", tmp_path / name, "-q") == (0, "", "")
        assert (tmp_path / name).stat().st_size
    assert command("read", tmp_path / "out.csv")[0] == 3
    assert command("read", tmp_path, "--strict", "-q")[0] == 4


def test_list_and_explain_cover_every_plug_in(command: Command) -> None:
    _, out, _ = command("list")
    _, listed, _ = command("list", "-f", "json")
    found = json.loads(listed)
    assert list(found) == ["parsers", "detectors", "policies"]
    for group in found.values():
        for one in group:
            assert f"  {one['name']} " in out
            assert one["summary"]
            code, page, _ = command("explain", one["name"])
            assert code == 0
            assert page.startswith(f"{one['name']} (")


def test_explain_tells_options_with_their_defaults(command: Command, stormy: Path) -> None:
    assert stormy.exists()
    _, page, _ = command("explain", "storm")
    assert page == (
        "storm (detector)\nseverity: error\nlooks at: each session\n\nFires on storms.\n\n"
        "Options (--set storm.OPTION=VALUE, or [tool.forensics.storm])\n  at-least = 1\n"
    )


def test_doctor_names_the_agent_as_scan_does(command: Command, samples: Path) -> None:
    _, out, _ = command("doctor", samples / "parsers" / "pi_openclaw.jsonl")
    assert "read as pi (agent openclaw): " in out


def test_doctor_tells_how_files_are_read(command: Command, calm: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    calm.write_text(CALM + "{torn\n")
    code, out, _ = command("doctor", tmp_path)
    assert code == 0
    assert f"{calm.as_posix()}: read as plain (agent demo): 4 lines, 3 records, 1 session" in out
    assert "  shows failed compactions: yes" in out
    assert "  line 4 (byte 275): torn or broken JSON" in out
    assert f"{tmp_path.as_posix()}/notes.txt: unrecognised: not a format that is read" in out
    _, out, _ = command("doctor", tmp_path, "-f", "json")
    assert json.loads(out)["coverage"]["inputs"][0]["malformed"][0]["offset"] == 275


def test_schemas_are_printed(command: Command) -> None:
    assert json.loads(command("schema")[1]) == json.loads(command("schema", "scan")[1])
    assert json.loads(command("schema", "events")[1])["columns"][0] == {
        "name": "file",
        "dtype": "String",
        "unit": "",
        "meaning": "path as given",
    }


def test_discover_finds_what_is_there(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "APPDATA", "PI_CODING_AGENT_DIR", "OPENCODE_DB", "PILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert "no sessions found in 12 places" in command("discover")[1]
    sessions = tmp_path / ".pi" / "agent" / "sessions" / "--work--"
    sessions.mkdir(parents=True)
    (sessions / "a.jsonl").write_text("12345")
    os.utime(sessions / "a.jsonl", (1783591200, 1783591200))
    _, out, _ = command("discover")
    assert "pi sessions: 1 file, 5 bytes, last 2026-07-09 10:00:00 UTC" in out
    found = {(one["agent"], one["what"]): one for one in json.loads(command("discover", "-f", "json")[1])["places"]}
    assert found["pi", "sessions"]["files"] == 1
    assert found["pi", "sessions"]["newest"] == "2026-07-09T10:00:00.000Z"
    assert found["atomic", "sessions"]["exists"] is False


@pytest.mark.parametrize(
    ("system", "environment", "expected"),
    [
        ("linux", {}, ".config/pilotdeck-desktop/logs"),
        ("linux", {"XDG_CONFIG_HOME": "/x"}, "/x/pilotdeck-desktop/logs"),
        ("darwin", {}, "Library/Application Support/pilotdeck-desktop/logs"),
        ("win32", {}, "AppData/Roaming/pilotdeck-desktop/logs"),
        ("win32", {"APPDATA": "/r"}, "/r/pilotdeck-desktop/logs"),
    ],
)
def test_places_follow_the_system(system: str, environment: dict[str, str], expected: str) -> None:
    found = [one for one in places(environment, Path("/home/u"), system) if one.what == "runtime log"]
    assert found[0].root == Path("/home/u") / expected


def test_places_follow_the_agents_own_variables(tmp_path: Path) -> None:
    environment = {
        "PI_CODING_AGENT_DIR": "/pi",
        "ATOMIC_CODING_AGENT_SESSION_DIR": "/at",
        "OPENCLAW_STATE_DIR": "/oc",
        "OPENCODE_DB": "/db/x.db",
        "PILOT_HOME": "/pd",
    }
    roots = {one.root for one in places(environment, Path("/h"), "linux")}
    assert {Path("/pi/sessions"), Path("/at"), Path("/oc/agents"), Path("/db"), Path("/pd/projects")} <= roots
    assert look(places({}, tmp_path, "linux")[0]) is None


@pytest.mark.parametrize(
    ("when", "environment", "terminal", "expected"),
    [
        (None, {}, True, True),
        (None, {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        (None, {"NO_COLOR": ""}, True, True),
        (None, {"FORCE_COLOR": "1"}, False, True),
        (None, {"FORCE_COLOR": "0"}, False, False),
        (None, {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_is_decided_in_order(
    when: str | None, environment: dict[str, str], terminal: bool, expected: bool
) -> None:
    class Stream:
        closed = False

        def isatty(self) -> bool:
            return terminal

    assert _common.color_wanted(when, Stream(), environment) is expected


def test_help_is_the_same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    first = help_pages()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert help_pages() == first
    assert sorted(first) == sorted(
        [
            "",
            "scan",
            "check",
            "baseline",
            "baseline create",
            "baseline update",
            "baseline prune",
            "diff",
            "lock",
            "report",
            "timeline",
            "capture",
            "replay",
            "prove",
            "read",
            "list",
            "explain",
            "discover",
            "doctor",
            "schema",
        ]
    )
    assert first["scan"].startswith("Usage: forensics scan [OPTIONS] PATH...\n\n  Find what went wrong")
    assert max(len(line) for page in first.values() for line in page.splitlines()) <= 100
    assert all(line == line.rstrip() for page in first.values() for line in page.splitlines())


def test_no_arguments_print_the_help_and_are_exit_2(command: Command) -> None:
    code, out, err = command()
    assert (code, out) == (2, "")
    assert err == help_pages()[""]


def test_the_version_is_told(command: Command) -> None:
    assert command("--version") == (0, f"forensics {__version__}\n", "")


PROGRAM = [sys.executable, "-m", "forensics"]


def test_the_program_runs_reads_standard_input_and_ends_with_its_code(tmp_path: Path) -> None:
    done = subprocess.run([*PROGRAM, "scan", "-", "-f", "json"], input=CALM.encode(), capture_output=True, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)["coverage"]["inputs"][0]["path"] == "-"
    done = subprocess.run([*PROGRAM, "scan", str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == 3


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("".join(f'{{"kind":"note","session":"s{at}"}}\n' for at in range(30_000)))
    with subprocess.Popen(
        [*PROGRAM, "read", str(path), "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_a_waiting_program_with_130() -> None:
    with subprocess.Popen([*PROGRAM, "scan", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read().splitlines()[-1] == b"forensics: note: interrupted"
        assert process.wait() == 130
        with contextlib.suppress(BrokenPipeError):
            process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("place", ["forensics.cli._main", "typer", "forensics.cli.prove", "forensics.prove"])
def test_an_interrupt_while_modules_are_imported_ends_with_130(place: str) -> None:
    code = (
        "import os, signal, sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {place!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "from forensics.cli import main\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "sys.argv = ['forensics', 'prove', 'reference']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "forensics: note: interrupted\n")


def test_starting_imports_no_heavy_library() -> None:
    code = "import sys, forensics.cli._main; print(sorted({'polars', 'rich', 'numpy', 'jinja2'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize(
    "asked",
    [
        ("read", "nothing.jsonl"),
        ("lock", "nothing.jsonl"),
        ("baseline", "create", "nothing.jsonl"),
        ("capture", "nothing.jsonl", "--all", "-o", "small"),
        ("diff", "nothing.jsonl", "nothing.jsonl"),
    ],
)
def test_what_is_not_read_is_told_with_its_reason_by_every_command(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nothing.jsonl").write_bytes(b"")
    code, _, err = command(*asked)
    assert (code, err.splitlines()[0]) == (3, "forensics: not read: nothing.jsonl: empty file")


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_a_named_pipe_is_not_opened_and_told(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "fine.jsonl").write_text(CALM)
    told = "forensics: not read: pipe: a named pipe: pipe it to standard input and name it -"
    code, _, err = command("read", "pipe")
    assert (code, err.splitlines()[0]) == (3, told)
    assert command("read", "pipe", "fine.jsonl", "-o", "out.csv")[::2] == (
        0,
        f"{told}\nforensics: result: read 1 file, 3 lines, 3 records, 275 bytes, 1 not readable (exit 0)\n",
    )


def test_of_many_files_that_are_not_read_the_first_are_told(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for at in range(7):
        (tmp_path / f"{at}.jsonl").write_bytes(b"")
    lines = command("read", ".")[2].splitlines()
    assert lines[4:6] == [
        "forensics: not read: 4.jsonl: empty file",
        "forensics: not read: and 2 more (forensics doctor tells all)",
    ]


@pytest.mark.parametrize("asked", [("--select", ""), ("--select", " , "), ("--select=",)])
def test_a_selection_of_no_detector_is_told_and_runs_nothing(
    command: Command, calm: Path, asked: tuple[str, ...]
) -> None:
    for name in ("scan", "check"):
        assert command(name, calm, *asked) == (
            2,
            "",
            "forensics: error: --select: names no detector; leave it out to run all of them\n",
        )


def test_a_format_that_read_does_not_know_is_told_with_all_there_are(command: Command, calm: Path) -> None:
    told = "--format: 'xml': not a format of the event table; there are csv, jsonl, parquet, timesketch"
    assert command("read", calm, "-f", "xml") == (2, "", f"forensics: error: {told}\n")


def test_the_commands_that_show_a_traceback_are_those_that_say_so() -> None:
    assert {name for name in COMMANDS if "--verbose" in help_pages()[name]} == _VERBOSE
