from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forensics.cli import run
from forensics.config import (
    UsageError,
    assignments,
    chosen,
    from_environment,
    from_file,
    nearest,
    option,
    read_key,
    settings,
)
from forensics.detect import Claim, Detector, detectors
from forensics.timeline import Session
from forensics.times import instant


def _run(_session: Session) -> Iterator[Claim]:
    yield from ()


KNOWN = {
    "no-summary": Detector(
        "no-summary",
        "error",
        "session",
        _run,
        {"rate": 0.5, "attempts": 3, "strict": False, "words": ("a",), "mode": "x", "cap": None},
        "page",
    )
}


def known() -> dict[str, Detector]:
    return KNOWN


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        inner = tmp_path / "a" / "b"
        inner.mkdir(parents=True, exist_ok=True)
        return inner

    return write


def test_no_file_is_no_setting(tmp_path: Path) -> None:
    assert from_file(tmp_path, known) == {}


def test_the_nearest_pyproject_with_a_table_counts(project: Callable[[str], Path], tmp_path: Path) -> None:
    inner = project(
        '[tool.forensics]\nfail-on = "warning"\ncap = 200000\nselect = ["no-summary"]\nsince = 2026-07-09\n'
    )
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert from_file(inner, known) == {
        "fail-on": "warning",
        "cap": 200000,
        "select": ("no-summary",),
        "since": 1783555200000,
    }


def test_forensics_toml_comes_before_pyproject(project: Callable[[str], Path], tmp_path: Path) -> None:
    inner = project('[tool.forensics]\nfail-on = "warning"\n')
    (tmp_path / "forensics.toml").write_text('fail-on = "note"\n')
    assert from_file(inner, known) == {"fail-on": "note"}


def test_a_detectors_table_sets_its_options(project: Callable[[str], Path]) -> None:
    inner = project("[tool.forensics.no-summary]\nrate = 1\nattempts = 5\nstrict = true\nwords = ['b', 'c']\ncap = 7\n")
    assert from_file(inner, known)["set"] == {
        "no-summary": {"rate": 1.0, "attempts": 5, "strict": True, "words": ("b", "c"), "cap": 7}
    }


def test_a_table_of_another_command_is_left_to_it(project: Callable[[str], Path], tmp_path: Path) -> None:
    place = f"{tmp_path / 'pyproject.toml'}: expect"
    found = from_file(project("[tool.forensics.expect]\nmax-manual-continues = 0\n"), known)
    assert found == {"expect": (place, {"max-manual-continues": 0})}


RULE = {"detector": "no-summary", "reason": "known"}


@pytest.mark.parametrize(
    ("text", "names", "rules"),
    [
        ('ignore = ["a", "b"]', ("a", "b"), None),
        ('ignore = "a, b"', ("a", "b"), None),
        ('ignore = ["a", { detector = "no-summary", reason = "known" }]', ("a",), [RULE]),
        ('[[tool.forensics.ignore]]\ndetector = "no-summary"\nreason = "known"', None, [RULE]),
        ('[tool.forensics.ignore.no-summary]\nreason = "known"', None, [RULE]),
        ('[[tool.forensics.ignore.no-summary]]\nreason = "known"', None, [RULE]),
        ("ignore = [5]", None, [5]),
    ],
)
def test_names_to_ignore_and_suppressions_are_told_apart(
    project: Callable[[str], Path], tmp_path: Path, text: str, names: tuple[str, ...] | None, rules: list[Any] | None
) -> None:
    found = from_file(project(f"[tool.forensics]\n{text}\n"), known)
    assert found.get("ignore") == names
    assert found.get("suppress") == (None if rules is None else (f"{tmp_path / 'pyproject.toml'}: ignore", rules))


def test_a_baseline_is_looked_for_beside_the_configuration(project: Callable[[str], Path], tmp_path: Path) -> None:
    found = from_file(project('[tool.forensics]\nbaseline = "ci/known.json"\n'), known)
    assert found == {"baseline": str(tmp_path / "ci" / "known.json")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.forensics]\nfailon = 'error'\n", r"pyproject\.toml: unknown key 'failon'; did you mean fail-on\?"),
        ("[tool.forensics.no-sumary]\nrate = 1\n", r"unknown key 'no-sumary'; did you mean no-summary\?"),
        (
            "[tool.forensics.no-summary]\nrat = 1\n",
            r"no-summary\.rat: no-summary has no option 'rat'; did you mean rate\?",
        ),
        (
            "[tool.forensics.no-summary]\nattempts = 1.5\n",
            r"no-summary\.attempts: 1\.5 does not fit; give a whole number",
        ),
        ("[tool.forensics]\ncap = 0\n", r"cap: 0 does not fit; give a whole number from 1"),
        ("[tool.forensics]\nfail-on = 'bad'\n", r"'bad' does not fit; give one of error, warning, note, never"),
        ("[tool.forensics]\nselect = 'a'\nselect = 'b'\n", r"pyproject\.toml: not valid TOML"),
        ("tool.forensics = 3\n", r"tool\.forensics is not a table"),
        ("[tool.forensics]\nsince = 'tomorrow'\n", r"give a time as 2026-07-09 or 2026-07-09T10:00:00Z"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_in_one_line(project: Callable[[str], Path], text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        from_file(project(text), known)
    assert "\n" not in str(error.value).replace("(at line", "")


def test_the_environment_is_read() -> None:
    assert from_environment(
        {"FORENSICS_FAIL_ON": "error", "FORENSICS_STRICT": "1", "FORENSICS_CAP": "", "HOME": "/x"}, known
    ) == {"fail-on": "error", "strict": True}
    assert from_environment({"FORENSICS_SET": "no-summary.rate=0.3,no-summary.attempts=4"}, known) == {
        "set": {"no-summary": {"rate": 0.3, "attempts": 4}}
    }


def test_an_unknown_variable_names_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"FORENSICS_FAILON: unknown environment variable; did you mean FORENSICS_FAIL_ON\?"
    ):
        from_environment({"FORENSICS_FAILON": "error"}, known)


def test_the_command_line_wins_over_environment_and_file(
    project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = project(
        '[tool.forensics]\nfail-on = "note"\ncap = 1\nstrict = true\n'
        "[tool.forensics.no-summary]\nrate = 0.1\nattempts = 9\n"
    )
    monkeypatch.setenv("FORENSICS_FAIL_ON", "warning")
    monkeypatch.setenv("FORENSICS_SET", "no-summary.rate=0.2")
    found = settings({"fail-on": "error", "set": {"no-summary": {"strict": True}}}, inner, known)
    assert found == {
        "fail-on": "error",
        "cap": 1,
        "strict": True,
        "set": {"no-summary": {"rate": 0.2, "attempts": 9, "strict": True}},
    }


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("no-summary.rate", r"is not detector\.option=value"),
        ("rate=1", r"is not detector\.option=value"),
        ("no-sumary.rate=1", r"unknown detector 'no-sumary'; did you mean no-summary\?"),
        ("no-summary.rates=1", r"no option 'rates'; did you mean rate\?"),
        ("no-summary.attempts=many", r"'many' does not fit; give a whole number"),
        ("no-summary.rate=nan", r"'nan' does not fit; give a number"),
        ("no-summary.strict=perhaps", r"give true or false"),
    ],
)
def test_a_wrong_assignment_is_told(word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        assignments([word], KNOWN, "--set")


def test_values_take_the_type_of_the_default() -> None:
    words = ["rate=1", "attempts=2", "strict=no", "words=x, y", "mode=7", "cap=12"]
    found = assignments([f"no-summary.{word}" for word in words], KNOWN, "--set")["no-summary"]
    assert found == {"rate": 1.0, "attempts": 2, "strict": False, "words": ("x", "y"), "mode": "7", "cap": 12}
    assert isinstance(found["rate"], float)


def test_a_detector_without_options_says_so() -> None:
    bare = Detector("bare", "note", "file", _run, {}, "")
    with pytest.raises(UsageError, match="bare has no option 'x'; there are none"):
        option(bare, "x", 1, "--set")


def test_detectors_are_selected_and_ignored() -> None:
    names = ["a", "b", "c"]
    assert chosen(None, None, names) == ["a", "b", "c"]
    assert chosen(["c", "a"], ["a"], names) == ["c"]
    assert chosen([], ["b"], names) == ["a", "c"]
    with pytest.raises(
        UsageError, match=r"--select: unknown detector 'manual-continu'; did you mean manual-continue\?"
    ):
        chosen(["manual-continu"], None, ["manual-continue", "no-summary"])
    with pytest.raises(UsageError, match="--ignore: unknown detector"):
        chosen(None, ["x"], names)


def test_every_real_option_takes_its_own_default() -> None:
    for one in detectors().values():
        for name, default in one.options.items():
            assert option(one, name, default, "test") == default


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-07-09T10:00:00Z", 1783591200000),
        ("2026-07-09T10:00:00", 1783591200000),
        ("2026-07-09T12:00:00+02:00", 1783591200000),
        ("2026-07-09 10:00:00.250", 1783591200250),
        ("2026-07-09", 1783555200000),
    ],
)
def test_times_are_utc_unless_they_name_a_zone(text: str, expected: int) -> None:
    assert instant(text) == expected


def test_a_day_alone_as_an_end_is_the_whole_day() -> None:
    assert instant("2026-07-09", end=True) == 1783641599999
    assert instant("2026-07-09T10:00:00Z", end=True) == 1783591200000


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "10:00"])
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="give a time as"):
        instant(text)


@pytest.mark.parametrize(
    ("word", "options", "told"),
    [
        ("tabel", ["json", "table"], "did you mean table?"),
        ("x", [], "there are none"),
        ("pdf", ["table", "json"], "there are json, table"),
    ],
)
def test_a_name_is_suggested_only_where_it_is_near(word: str, options: list[str], told: str) -> None:
    assert nearest(word, options) == told


RANGES = [
    ("no-summary.rate=-1", "give a number from 0 to 1"),
    ("no-summary.rate=1.01", "give a number from 0 to 1"),
    ("ineffective-compaction.share=2", "give a number from 0 to 1"),
    ("runaway-cost.share=-0.1", "give a number from 0 to 1"),
    ("runaway-cost.dollars=-1", "give a number from 0"),
    ("no-summary.attempts=0", "give a whole number from 1"),
    ("silent-stall.idle=-1", "give a whole number from 0"),
    ("crash-loop.exits=0", "give a whole number from 1"),
    ("context-blowup.ratio=0.99", "give a number from 1"),
    ("context-blowup.ratio=1e300", "give a number"),
    (f"silent-stall.idle={'9' * 400}", "give a whole number"),
]


@pytest.mark.parametrize(("word", "message"), RANGES)
def test_a_number_out_of_its_range_is_told(word: str, message: str) -> None:
    """A tester's `--set no-summary.rate=-1` was taken, and made every session a finding."""
    with pytest.raises(UsageError, match=f"does not fit; {message}$"):
        assignments([word], detectors(), "--set")


def test_the_ends_of_a_range_are_in_it() -> None:
    words = ["no-summary.rate=0", "no-summary.rate=1", "no-summary.attempts=1", "crash-loop.exits=1"]
    for word in words:
        assert assignments([word], detectors(), "--set")


def test_every_default_is_in_its_range_and_every_share_and_rate_has_one() -> None:
    for one in detectors().values():
        assert set(one.ranges) <= set(one.options)
        assert {name for name in one.options if name in {"rate", "share"}} <= set(one.ranges)
        for name, within in one.ranges.items():
            assert within.least <= one.options[name] <= within.most


def test_a_policys_number_may_not_be_negative() -> None:
    assert run(["prove", "atomic-1690", "--set", "atomic-1690.budget-limit=-1"]) == 2


@pytest.mark.parametrize("text", ["tool = 3\n", "tool = [1]\n", 'tool = "x"\n'])
def test_a_pyproject_whose_tool_is_no_table_is_told(project: Callable[[str], Path], text: str) -> None:
    with pytest.raises(UsageError, match=r"pyproject\.toml: tool is not a table; write \[tool\.forensics\]"):
        from_file(project(text), known)


def test_a_time_span_that_ends_before_it_begins_is_told(project: Callable[[str], Path], tmp_path: Path) -> None:
    span = {"since": instant("2026-02-01"), "until": instant("2026-01-31", end=True)}
    with pytest.raises(UsageError, match=r"--since: 2026-02-01T.* is later than --until: 2026-01-31T23:59:59\.999Z"):
        settings(span, tmp_path, known)
    inner = project("[tool.forensics]\nsince = 2026-02-01\n")
    with pytest.raises(UsageError, match="--since"):
        settings({"until": span["until"]}, inner, known)
    day = {"since": instant("2026-02-01"), "until": instant("2026-02-01", end=True)}
    assert settings(day, tmp_path, known) == {**day, "set": {}}


@pytest.mark.parametrize("value", ["9" * 400, "9" * 5000, "9007199254740992", 1 << 80])
def test_a_window_beyond_what_json_holds_is_told(value: object) -> None:
    with pytest.raises(UsageError, match=r"--cap: .* does not fit; give"):
        read_key("cap", value, "--cap")
