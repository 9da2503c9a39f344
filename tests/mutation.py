"""Do the detectors' tests notice when a detector is wrong? `python -m tests.mutation` changes them one place at a time.

A mutant (`tests/mutants.py`) is a detector with one change of meaning. The tests of its detector are run against each,
in a process of its own with a time limit, the same examples each time and without the recordings; a mutant that they
all pass has survived, and something is not tested. `--write` keeps the table in `tests/mutation.json`. Mutants that
mean the same as the original stand in `EQUIVALENT`, each with its reason; one of them that a test notices is told too.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

import pytest

from tests.mutants import FOLDER, fingerprint, modules, mutants, original
from tests.mutation_equivalents import EQUIVALENT

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "tests" / "mutation.json"
SECONDS = 20
"""Of the processor, not of the clock: a busy machine must not make a mutant noticed."""
_BYTES = 4 << 30
_OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
_SHARED = {
    "_cut": ("no_summary",),
    "_loops": ("compaction_loop",),
    "_messages": ("messages", "manual_continue", "silent_stall"),
    "_rates": ("no_summary",),
    "_units": ("no_summary", "usage_outlier", "crash_loop"),
    "compaction_loop": ("compaction_loop", "loops"),
}
"""Helper to the detectors whose tests are its own."""
OTHERS = [
    "tests/detectors/test_kill_registry.py",
    "tests/detectors/test_compaction_incidents.py",
    "tests/test_incident_samples.py",
    "tests/test_scorecard.py::test_no_detector_is_worse_on_the_samples_than_the_committed_figures",
]
"""What tests all detectors at once: asked only where a module's own tests saw nothing."""


def own_tests(module: str) -> list[str]:
    """Give the test files that are a module's own."""
    names = _SHARED.get(module, (module,))
    wanted = [f"tests/detectors/test_{kind}{name}.py" for name in names for kind in ("kill_", "")]
    wanted.append(f"tests/detectors/test_kill_{module.removeprefix('_')}.py")
    return [name for name in dict.fromkeys(wanted) if (ROOT / name).is_file()]


class _Loader(importlib.abc.Loader):
    def __init__(self, code: CodeType) -> None:
        self._code = code

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        del spec
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the mutant where the program looks for the module."""

    def __init__(self, name: str, code: CodeType, path: str) -> None:
        self._name = name
        self._code = code
        self._path = path

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, _Loader(self._code), origin=self._path)


class _Plugin:
    """Puts the finder before pytest's own, which reads every module of a package with a pytest plug-in itself."""

    def __init__(self, finder: _Finder) -> None:
        self._finder = finder

    def pytest_sessionstart(self) -> None:
        # A module that is loaded already would never be asked for: the tests would see the original.
        if any(name.startswith("forensics.detectors") for name in sys.modules):
            raise AssertionError("a detector is loaded before the tests")
        sys.meta_path.insert(0, self._finder)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        # What only the recordings notice is not tested where they are absent.
        items[:] = [item for item in items if "corpus" not in getattr(item, "fixturenames", ())]


def passes(module: str, tree: ast.Module, tests: Sequence[str]) -> bool | None:
    """Whether all tests pass with that module; `None`: they did not end in time."""
    path = str(FOLDER / f"{module}.py")
    finder = _Finder(f"forensics.detectors.{module}", compile(tree, path, "exec"), path)
    child = os.fork()
    if child == 0:
        os._exit(_run(finder, tests))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED}:
        raise AssertionError(f"{module}: the tests could not be run ({code})")
    return None if code == -signal.SIGPROF else code == 0


def _run(finder: _Finder, tests: Sequence[str]) -> int:
    import resource  # noqa: PLC0415  (not on Windows, which cannot fork either)

    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(ROOT)
    os.environ["CI"] = "1"  # the profile that draws the same examples each time
    try:
        return int(pytest.main([*_OPTIONS, *tests], plugins=[_Plugin(finder)]))
    except BaseException:  # noqa: BLE001  (a mutant that ends the whole run was noticed)
        return 1


class Score(NamedTuple):
    """How a module's tests did: mutants made, those equivalent, and the names of those that call for a look."""

    mutants: int
    equivalent: int
    survivors: list[str]
    hung: list[str]
    """Noticed only because the tests did not end in time."""
    wrong: list[str]
    """Called equivalent, and noticed."""


def score(module: str, say: Callable[[str], None]) -> Score:
    """Try every mutant of a module: its own tests first, then all that test detectors."""
    _check(module)
    found = Score(
        sum(1 for _ in mutants(module)), sum(name.startswith(f"{module}.") for name in EQUIVALENT), [], [], []
    )
    for one in mutants(module):
        tree = one.tree()
        passed = passes(module, tree, own_tests(module)) and passes(module, tree, OTHERS)
        where = None
        if passed is None:
            where = "hung"
        elif passed is (one.name in EQUIVALENT):
            continue
        where = where or ("survivors" if passed else "wrong")
        getattr(found, where).append(one.name)
        say(f"{where}: {one.name}\n")
    _check(module)  # again: had the tests begun to fail meanwhile, every mutant would seem noticed
    return found


def _check(module: str) -> None:
    every = [*own_tests(module), *OTHERS]
    if not passes(module, original(module), every):
        raise AssertionError(f"{module}: its tests fail as it is")
    for tests in (own_tests(module), OTHERS):
        if passes(module, ast.Module(original(module).body[:1], []), tests):
            raise AssertionError(f"{module}: {tests} do not see the mutants")


def _prepare() -> None:
    """Load what every fork needs, but no detector."""
    for name in ("hypothesis", "forensics.parse", "forensics.scan", "forensics.incident.build", "jsonschema"):
        importlib.import_module(name)
    sys.modules["forensics.parse"].parsers()


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Try the modules named, or all; print the table. It fails where a mutant survived or is no equivalent."""
    wanted = [one for one in arguments if not one.startswith("--")] or modules()
    _prepare()
    bad = False
    for module in wanted:
        code = fingerprint(module)
        found = score(module, _say)
        bad = bad or bool(found.survivors or found.wrong)
        noticed = found.mutants - found.equivalent - len(found.survivors)
        line = f"{module}: {found.mutants} mutants, {noticed} noticed, {found.equivalent} equivalent"
        _say(f"{line}, {len(found.survivors)} survived\n")
        if "--write" in arguments:
            table = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
            table[module] = {"code": code, **found._asdict()}
            text = json.dumps(dict(sorted(table.items())), indent=2, ensure_ascii=False)
            KEPT.write_text(text + "\n", encoding="utf-8", newline="\n")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
