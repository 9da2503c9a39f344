import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from forensics.inputs import LOCK

pytest_plugins = ["pytester"]

INSTALLED = any(one.name == "forensics" for one in entry_points(group="pytest11"))
ARGUMENTS = ("-p", "no:cacheprovider", *(() if INSTALLED else ("-p", "forensics.pytest_plugin")))


@pytest.fixture
def project(pytester: pytest.Pytester, samples: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with two recordings, one of them with its lock."""
    monkeypatch.delenv("FORENSICS_FAIL_ON", raising=False)
    folder = pytester.path / "captures"
    folder.mkdir()
    for name in ("length.jsonl", "underflow.jsonl", f"underflow.jsonl{LOCK}"):
        (folder / name).write_bytes((samples / "captures" / name).read_bytes())
    pytester.makefile(".ini", pytest="[pytest]\naddopts = --strict-markers")
    return pytester


def ran(project: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    project.makepyfile(f"import pytest\n\n\n{test}\n")
    return project.runpytest(*ARGUMENTS, *arguments)


def test_a_recording_is_an_item_and_fails_in_the_programs_words(project: pytest.Pytester) -> None:
    result = ran(project, '@pytest.mark.transcripts("captures/*.jsonl")\ndef test_it(transcript):\n    pass', "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*::test_it[[]captures/length.jsonl[]] FAILED*",
            "*::test_it[[]captures/underflow.jsonl[]] PASSED*",
            "read 1 file, 33 lines, 33 records, *",
            "  ERROR manual-continue x 2",
            "to accept this: forensics baseline create captures/length.jsonl",
            "2 errors, 2 warnings; fails on error (--fail-on) (exit 1)",
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str()


def test_a_test_need_not_take_the_recording(project: pytest.Pytester) -> None:
    result = ran(project, '@pytest.mark.transcripts("captures/*.jsonl")\ndef test_it():\n    pass')
    result.assert_outcomes(passed=1, failed=1)


def test_a_kind_of_test_that_cannot_take_recordings_never_passes(project: pytest.Pytester) -> None:
    test = (
        "import unittest\n\n\n"
        'class TestIt(unittest.TestCase):\n    @pytest.mark.transcripts("captures/*.jsonl")\n'
        "    def test_it(self):\n        pass"
    )
    result = ran(project, test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*transcripts: this kind of test cannot be given recordings; mark a function"])


def test_a_method_and_a_whole_class_can_be_marked(project: pytest.Pytester) -> None:
    test = (
        '@pytest.mark.transcripts("captures/*.jsonl")\n'
        "class TestIt:\n    def test_one(self):\n        pass\n    def test_two(self, transcript):\n        pass"
    )
    ran(project, test).assert_outcomes(passed=2, failed=2)


def test_a_policy_and_bounds_are_held(project: pytest.Pytester) -> None:
    mark = '@pytest.mark.transcripts("captures/under*.jsonl", policy="{}", max_manual_continues={})'
    test = "\ndef test_it(transcript):\n    pass"
    ran(project, mark.format("atomic-before", 2) + test).assert_outcomes(passed=1)
    result = ran(project, mark.format("atomic-1690", 1) + test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "expectation max-manual-continues, broken: 2 in 1 session, at most 1",
            "expectation conforms-to, broken: line 20: recorded: nothing until a person wrote; *",
        ]
    )


def test_the_recording_can_be_looked_into(project: pytest.Pytester) -> None:
    test = (
        '@pytest.mark.transcripts("captures/under*.jsonl", fail_on="never", cap=300_000)\n'
        "def test_it(transcript):\n"
        "    assert [one.manual_continues for one in transcript.sessions] == [2]\n"
        "    assert transcript.sessions[0].peak_ratio == 0.9067\n"
        "    assert {one.state for one in transcript.findings} == {'baselined'}\n"
        "    assert transcript.path.name == 'underflow.jsonl'\n"
        "    transcript.check()"
    )
    ran(project, test).assert_outcomes(passed=1)


def test_the_settings_of_the_root_folder_count(project: pytest.Pytester) -> None:
    test = '@pytest.mark.transcripts("captures/length.jsonl")\ndef test_it(transcript):\n    pass'
    (project.path / "forensics.toml").write_text('[[ignore]]\npath = "captures/length*"\nreason = "an example"\n')
    ran(project, test).assert_outcomes(passed=1)
    (project.path / "forensics.toml").write_text('fial-on = "note"\n')
    result = ran(project, test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["transcripts: *forensics.toml: unknown key 'fial-on'; did you mean fail-on?"])


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ('("captures/*.json")', "transcripts: nothing matches 'captures/?.json' in *"),
        ("()", 'transcripts: name the recordings: @pytest.mark.transcripts("captures/?.jsonl")'),
    ],
)
def test_a_mark_that_names_nothing_is_an_error(project: pytest.Pytester, mark: str, message: str) -> None:
    result = ran(project, f"@pytest.mark.transcripts{mark}\ndef test_it(transcript):\n    pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ('policy="atomic-1609"', "transcripts: conforms-to: no policy 'atomic-1609'; did you mean 'atomic-1690'?"),
        ("max_continues=1", "transcripts: unknown key 'max-continues'; did you mean *"),
        ('fail_on="fatal"', "transcripts: fail_on: 'fatal' does not fit; give one of error, warning, note, never"),
    ],
)
def test_a_mark_that_asks_nonsense_fails_and_says_so(project: pytest.Pytester, mark: str, message: str) -> None:
    result = ran(project, f'@pytest.mark.transcripts("captures/*.jsonl", {mark})\ndef test_it(transcript):\n    pass')
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines([f"*{message}"])


def test_the_fixture_without_the_mark_says_what_is_missing(project: pytest.Pytester) -> None:
    result = ran(project, "def test_it(transcript):\n    pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['transcript: name the recordings: @pytest.mark.transcripts("captures/?.jsonl")'])


def test_the_fixture_can_be_given_recordings_by_hand(project: pytest.Pytester) -> None:
    test = (
        '@pytest.mark.parametrize("transcript", ["captures/length.jsonl"], indirect=True)\n'
        "def test_it(transcript):\n"
        "    assert transcript.report.summary.result.exit_code == 1"
    )
    ran(project, test).assert_outcomes(passed=1)


def test_an_unreadable_recording_fails(project: pytest.Pytester) -> None:
    (project.path / "captures" / "notes.txt").write_text("hello")
    result = ran(project, '@pytest.mark.transcripts("captures/*.txt")\ndef test_it(transcript):\n    pass')
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["nothing was read: 1 input looked at, none recognised (exit 3)"])


def test_a_run_without_the_mark_imports_nothing_of_the_program(project: pytest.Pytester) -> None:
    test = (
        "import sys\ndef test_it():\n"
        "    ours = {one for one in sys.modules if one.startswith('forensics')}\n"
        "    assert ours == {'forensics', 'forensics.pytest_plugin'}\n"
        "    assert not {'msgspec', 'polars', 'rich', 'typer'} & set(sys.modules)"
    )
    project.makepyfile(test)
    project.runpytest_subprocess(*ARGUMENTS).assert_outcomes(passed=1)


def test_the_plug_in_is_told_of_in_the_list_of_marks(project: pytest.Pytester) -> None:
    project.runpytest(*ARGUMENTS, "--markers").stdout.fnmatch_lines(["@pytest.mark.transcripts(*patterns, *"])


def test_importing_the_plug_in_is_quick() -> None:
    code = (
        "import pytest, time; t = time.perf_counter(); import forensics.pytest_plugin; print(time.perf_counter() - t)"
    )
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3)]
    assert min(times) < 0.05
