"""The README's generated blocks are what the program says, and its commands are the ones CI runs."""

import importlib.util
import re
import subprocess
import sys
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


def _recipe(function: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [text for text in blocks if f"def {function}(" in text]
    return str(block)


def _run(program: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_parser_s_recipe_reads_a_session(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    path.write_text('{"type":"my-session","id":"s"}\n{"type":"answer","id":"a","tokens":70}\n')
    program = _recipe("my_agent") + (
        "import sys\nfrom pathlib import Path\nfrom forensics.parse import REGISTRY\n"
        "print([(e.kind, e.session, e.line, e.context) for e in REGISTRY['my-agent'].read(Source(Path(sys.argv[1])))])"
    )
    assert _run(program, str(path)) == "[('session', 's', 1, None), ('reply', 's', 2, 70)]\n"


def test_the_detector_s_recipe_finds_a_pause(samples: Path) -> None:
    program = _recipe("long_pause") + (
        "import sys\nfrom pathlib import Path\nfrom forensics.scan import Options, look\n"
        "file = look(Path(sys.argv[1]), 'x', Options(detectors=()))[1]\n"
        "print([claim.measures['seconds'].value for claim in long_pause(file.sessions[0])])"
    )
    path = samples / "incidents" / "atomic-1690" / "session.jsonl"
    assert _run(program, str(path)) == "[5160.0]\n"


def test_the_policy_s_recipe_can_be_proved(tmp_path: Path) -> None:
    path = tmp_path / "my_policy.py"
    path.write_text(_recipe("my_policy"), encoding="utf-8")
    program = (
        "import sys\nfrom forensics.prove import prove\nprint(prove(sys.argv[1]).verdicts['bounded'].overall.holds)"
    )
    assert _run(program, str(path)) == "True\n"
