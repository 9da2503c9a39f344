"""A pytest plug-in: a test item for each recording, which fails as `forensics check` does.

    @pytest.mark.transcripts("captures/*.jsonl", policy="atomic-1690", max_manual_continues=0)
    def test_recovery(transcript):
        ...  # the recording has been checked; look further into transcript.sessions and transcript.findings

Nothing of the program is imported before such a test runs: other people's test runs are left alone.
"""

import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from forensics.detect import Finding
    from forensics.scan import SessionTotals
    from forensics.summary import Report

_MARK = "transcripts"
_FIXTURE = "transcript"
_USAGE = f'@pytest.mark.{_MARK}("captures/*.jsonl")'


class Transcript:
    """One recording, read when it is first asked for. Times are UTC milliseconds, tokens are counts."""

    def __init__(self, path: Path, root: Path, asked: dict[str, Any] | None = None) -> None:
        self.path = path
        self.root = root
        self._asked = asked or {}

    @cached_property
    def report(self) -> "Report":
        """What `forensics check` says of it, with the settings of the root folder and what the mark asks."""
        return _report(self.path, self.root, self._asked)

    @property
    def sessions(self) -> "list[SessionTotals]":
        """Its sessions with their figures."""
        return self.report.sessions

    @property
    def findings(self) -> "list[Finding]":
        """What went wrong in it; `state` tells new and worse findings from known ones."""
        return self.report.findings

    def check(self) -> None:
        """Fail the test, in the program's own words, where `forensics check` would fail."""
        __tracebackhide__ = True
        if self.report.summary.result.exit_code:
            from forensics.reports import render  # noqa: PLC0415  (only where there is something to say)

            pytest.fail(render("table", self.report), pytrace=False)

    def __repr__(self) -> str:
        """Name it."""
        return f"<transcript {self.path.name}>"


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers",
        f'{_MARK}(*patterns, policy=None, fail_on="error", cap=None, **expectations): hold each recording that the'
        f" patterns name (from the root folder) against its lock, the baseline and the expectations of `forensics"
        f" check`; the test's fixture `{_FIXTURE}` is the recording",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make an item of each recording that the mark names."""
    mark = metafunc.definition.get_closest_marker(_MARK)
    if mark is None:
        return
    root = metafunc.config.rootpath
    paths = _named(mark.args, root)
    if _FIXTURE not in metafunc.fixturenames:
        metafunc.fixturenames.append(_FIXTURE)
    metafunc.parametrize(_FIXTURE, paths, indirect=True, ids=[path.relative_to(root).as_posix() for path in paths])


def _named(patterns: Sequence[Any], root: Path) -> list[Path]:
    """Find the files; a pattern that matches none is a mistake, not a test that passes."""
    if not patterns or not all(isinstance(one, str) for one in patterns):
        pytest.fail(f"{_MARK}: name the recordings: {_USAGE}", pytrace=False)
    found: set[Path] = set()
    for pattern in patterns:
        matches = {path for path in root.glob(pattern) if path.is_file() and not path.name.endswith("-lock.toml")}
        if not matches:
            pytest.fail(f"{_MARK}: nothing matches {pattern!r} in {root}", pytrace=False)
        found |= matches
    return sorted(found)


@pytest.fixture
def transcript(request: pytest.FixtureRequest) -> Transcript:
    """Give the recording that the item is about; the mark `transcripts` names them."""
    if not hasattr(request, "param"):
        pytest.fail(f"{_FIXTURE}: name the recordings: {_USAGE}", pytrace=False)
    return _transcript(request.node, request.param)


def _transcript(item: Any, path: Any) -> Transcript:
    mark = item.get_closest_marker(_MARK)
    root = item.config.rootpath
    return Transcript(root / path, root, dict(mark.kwargs) if mark else {})


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the recording before the test's own body, whether the test takes it or not."""
    __tracebackhide__ = True
    if item.get_closest_marker(_MARK) is None:
        return
    found = getattr(item, "funcargs", {}).get(_FIXTURE)
    if found is None:
        params = getattr(getattr(item, "callspec", None), "params", {})
        if _FIXTURE not in params:
            pytest.fail(f"{_MARK}: this kind of test cannot be given recordings; mark a function", pytrace=False)
        found = _transcript(item, params[_FIXTURE])
    found.check()


def _report(path: Path, root: Path, given: dict[str, Any]) -> "Report":
    """Check one recording as the command does in the root folder."""
    from forensics.check import checked  # noqa: PLC0415  (all of the program, and only now)
    from forensics.checking.expect import groups, of_settings  # noqa: PLC0415
    from forensics.checking.marks import rules_for  # noqa: PLC0415
    from forensics.checking.named import selected  # noqa: PLC0415
    from forensics.config import Settings, UsageError, read_key, settings  # noqa: PLC0415
    from forensics.detect import detectors  # noqa: PLC0415
    from forensics.inputs import Found, printable  # noqa: PLC0415
    from forensics.scan import Options, scan_file  # noqa: PLC0415
    from forensics.summary import Terms  # noqa: PLC0415

    known = {"fail_on": "fail-on", "cap": "cap"}
    bounds = {name: value for name, value in given.items() if name not in known}
    if "policy" in bounds:
        bounds["conforms_to"] = bounds.pop("policy")
    try:
        own = {key: read_key(key, given[name], f"{_MARK}: {name}") for name, key in known.items() if name in given}
        asked: Settings = {"fail-on": "error"} | settings(own, root, detectors)
        names = selected(asked)
        expected = of_settings(asked)
        if bounds:
            expected += groups({name.replace("_", "-"): value for name, value in bounds.items()}, _MARK)
        now = asked.get("now", round(time.time() * 1000))
        options = Options(
            detectors=tuple(names), options=asked["set"], cap=asked.get("cap"), now=now, ends="now" in asked
        )
        name = printable(path.relative_to(root)) if path.is_relative_to(root) else printable(path)
        found = Found(path, name, path.stat().st_size)
        rules = rules_for(asked, options, [name], check=True, folder=root)
        terms = Terms(fail_on=asked["fail-on"], strict=asked.get("strict", False))
        results = [scan_file(path, name, options)]
        return checked([found], results, [], options, terms=terms, rules=rules, expected=expected)
    except UsageError as error:
        pytest.fail(f"{_MARK}: {error}", pytrace=False)
