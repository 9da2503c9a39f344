"""The README's generated blocks are what the program says, and its commands are the ones CI runs."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def readme() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readme", ROOT / "tests" / "readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_blocks_are_up_to_date(readme: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.render(text) == text, "run: python tests/readme.py"


def test_every_block_that_can_be_generated_stands_in_the_readme(readme: ModuleType) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in readme.BLOCKS if f"<!-- generated: {name} -->" not in text] == []


def test_the_two_commands_are_as_the_reader_is_promised() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    set_up = "python3 -m venv .venv && .venv/bin/pip install -q "
    assert f"{set_up}. && .venv/bin/forensics scan samples/incidents" in lines
    assert f"{set_up}'.[test]' && .venv/bin/python -m pytest" in lines
