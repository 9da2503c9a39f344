"""The mutants of the detectors: what they are, what the tests made of them, and that the kept table is of them."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import mutants as making
from tests.mutants import Mutant, fingerprint, modules, mutants
from tests.mutation import KEPT, own_tests
from tests.mutation_equivalents import EQUIVALENT

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks")
ROOT = Path(__file__).parent.parent


TABLE = json.loads(KEPT.read_text(encoding="utf-8"))


def _put(source: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "m.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(making, "FOLDER", folder)


def _made(source: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    _put(source, monkeypatch, folder)
    return [f"{one.before} -> {one.after}" for one in mutants("m")]


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("x = a < b", ["a < b -> a <= b"]),
        ("x = a is None", ["a is None -> a is not None"]),
        ("x = a in b", ["a in b -> a not in b"]),
        ("x = a and b", ["a and b -> a or b", "a and b -> b", "a and b -> a"]),
        ("x = not a", ["not a -> a"]),
        ("x = 3", ["3 -> 4", "3 -> 2"]),
        ("x = 0", ["0 -> 1"]),
        ("x = 0.5", ["0.5 -> 0.55", "0.5 -> 0.45"]),
        ("x = True", ["True -> False"]),
        ("x = 'high'", ["'high' -> 'low'"]),
        ("x = a + b", ["a + b -> a - b"]),
        ("x = [a for a in b if a]", ["for a in b if a -> for a in b if True"]),
        ("x += y", ["x += y -> x -= y"]),
        ("x = {a, b}", ["{a, b} -> {b}", "{a, b} -> {a}"]),
        ("x = any(a)", ["any(a) -> all(a)"]),
        ("x = min(a, b)", ["min(a, b) -> max(a, b)"]),
        ("while a: f()", ["while a -> while False"]),
        ("x = c if a else d", ["c if a else d -> c if True else d", "c if a else d -> c if False else d"]),
        ("def f(a: int = 3) -> int: ...", ["3 -> 4", "3 -> 2"]),
        ("def f():\n    if a:\n        return", ["if a -> if True", "if a -> if False"]),
        ("x = 3 + y - 3", ["3 + y - 3 -> 3 + y + 3", "3 + y -> 3 - y", "3 -> 4", "3 -> 2", "3 -> 4 #2", "3 -> 2 #2"]),
        (
            "x = 'no words' if a else ''",
            [f"'no words' if a else '' -> 'no words' if {now} else ''" for now in (True, False)],
        ),
    ],
)
def test_what_is_changed(source: str, made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _made(source, monkeypatch, tmp_path) == made


@pytest.mark.parametrize(
    "source",
    [
        '"""A page with 3 words."""',
        "import a",
        "x: Literal['high'] = y",
        "x = f'{3} {a + b}'",
        "x = Claim(message='3' if a else 'b c')",
        "x = 'no words' if a == 1 else f'{a}'",
        "x = 'no words' if a == 1 else 'a word'",
        "def _sentence(a):\n    return a + 3",
        "x = 'words'",
    ],
)
def test_what_is_said_to_people_is_no_meaning(source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _made(source, monkeypatch, tmp_path) == []


def test_the_decimals_of_a_rounded_figure_are_not_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _made("x = round(a * b, 4)", monkeypatch, tmp_path) == ["a * b -> a / b"]


def test_each_mutant_is_the_module_with_one_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _put("x = [a < 3]\nif a:\n    y = not b", monkeypatch, tmp_path)
    assert [ast.unparse(one.tree()) for one in mutants("m")] == [
        "x = [a <= 3]\nif a:\n    y = not b",
        "x = [a < 4]\nif a:\n    y = not b",
        "x = [a < 2]\nif a:\n    y = not b",
        "x = [a < 3]\nif True:\n    y = not b",
        "x = [a < 3]\nif False:\n    y = not b",
        "x = [a < 3]\nif a:\n    y = b",
    ]


@pytest.mark.parametrize("module", modules())
def test_no_two_mutants_have_one_name(module: str) -> None:
    names = [one.name for one in mutants(module)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("now", "same"),
    [
        ('"""Other."""\nx = Claim(message="one", rows=3)  # why', True),
        ('"""Page."""\nx = Claim(message=f"two {x}", rows=3)', True),
        ('"""Page."""\nx = Claim(message="one", rows=4)', False),
        ('"""Page."""\nx = Claim(message="one", lines=3)', False),
        ('"""Page."""\ny = Claim(message="one", rows=3)', False),
    ],
)
def test_a_module_that_means_the_same_keeps_its_fingerprint(
    now: str, same: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _put('"""Page."""\nx = Claim(message="one", rows=3)', monkeypatch, tmp_path)
    before = fingerprint("m")
    _put(now, monkeypatch, tmp_path)
    assert (fingerprint("m") == before) is same


def test_every_module_has_own_tests_its_own() -> None:
    assert all(own_tests(module) for module in modules())


def test_the_table_is_of_every_module() -> None:
    assert TABLE.keys() == set(modules())


@pytest.mark.parametrize("module", sorted(TABLE))
def test_the_table_is_of_the_module_as_it_is_and_leaves_no_survivor_unexplained(module: str) -> None:
    row = TABLE[module]
    again = f"{module} or its equivalents have changed: run `python -m tests.mutation {module} --write`"
    assert (row["code"], row["mutants"]) == (fingerprint(module), sum(1 for _ in mutants(module))), again
    assert row["equivalent"] == sum(name.startswith(f"{module}.") for name in EQUIVALENT), again
    assert (row["survivors"], row["wrong"]) == ([], [])


def test_each_equivalent_mutant_is_one_that_is_made_and_has_its_reason() -> None:
    made = {one.name for module in modules() for one in mutants(module)}
    assert EQUIVALENT.keys() - made == set()
    assert all(len(reason) > 20 for reason in EQUIVALENT.values())


@FORKS
@pytest.mark.slow
def test_the_tests_of_a_module_see_the_mutant_in_its_place() -> None:
    """In a program of its own: here every detector is loaded."""
    code = (
        "import ast; from tests import mutation as m; m._prepare(); tests = m.own_tests('length_stop');"
        "whole = m.original('length_stop'); loop = ast.parse('while True: pass'); m.SECONDS = 1;"
        "print(m.passes('length_stop', loop, tests)); m.SECONDS = 20;"
        "print(*(m.passes('length_stop', tree, tests) for tree in (whole, ast.Module(whole.body[:1], []))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "True", "False"]


@FORKS
@pytest.mark.mutation
@pytest.mark.parametrize("module", modules())
def test_no_mutant_survives_and_no_equivalent_is_noticed(module: str) -> None:
    """Long: `pytest -m mutation`."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutation", module], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_mutant_has_a_name_that_outlives_line_numbers() -> None:
    assert Mutant("m", "f", "a", "b", (), ast.Pass()).name == "m.f: a -> b"
