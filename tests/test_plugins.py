"""A plug-in that cannot be imported is named, with its line and its error, by every command that needs it."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from forensics import plugins

PROGRAM = """
import sys
import forensics.{folder} as folder
folder.__path__.append({there!r})
from forensics.cli import run
sys.exit(run({arguments!r}))
"""


def run(folder: str, there: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(folder=folder, there=str(there), arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "made_up_plugins"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [one for one in sys.modules if one.startswith("made_up_plugins")]:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    return folder


def test_a_folder_of_sound_plugins_is_imported(package: Path) -> None:
    (package / "sound.py").write_text("VALUE = 3\n")
    folder = importlib.import_module("made_up_plugins")
    plugins.load(folder)
    assert sys.modules["made_up_plugins.sound"].VALUE == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nx = missing\n", "broken.py, line 2: NameError: name 'missing' is not defined; this plug-in"),
        ("def x(:\n", "broken.py, line 1: SyntaxError: invalid syntax; this plug-in"),
        ("import no_such_module\n", "broken.py, line 1: ModuleNotFoundError: No module named 'no_such_module'; this"),
        ("raise ValueError('a\\nb')\n", "broken.py, line 1: ValueError: a b; this plug-in"),
        ("import sys\nsys.exit(0)\n", "broken.py, line 2: SystemExit: 0; this plug-in"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_named(package: Path, text: str, told: str) -> None:
    (package / "broken.py").write_text(text)
    with pytest.raises(plugins.PluginError) as caught:
        plugins.load(importlib.import_module("made_up_plugins"))
    assert str(caught.value).startswith(f"{package / told}")
    assert str(caught.value).endswith("cannot be imported: mend or remove the file")
    assert "\n" not in str(caught.value)


def test_the_helper_that_breaks_a_plugin_is_named_not_the_plugin(package: Path) -> None:
    (package / "_helper.py").write_text("x = missing\n")
    (package / "user.py").write_text("from made_up_plugins import _helper\n")
    with pytest.raises(plugins.PluginError) as caught:
        plugins.load_one(importlib.import_module("made_up_plugins"), "user")
    assert str(caught.value).startswith(f"{package / '_helper.py'}, line 1: NameError")


@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        ("detectors", ("scan", "{here}")),
        ("detectors", ("list",)),
        ("parsers", ("scan", "{here}")),
        ("parsers", ("timeline", "{here}")),
        ("policies", ("prove",)),
        ("policies", ("explain", "pi")),
        ("reports", ("scan", "{here}", "--format", "broken")),
    ],
)
def test_every_command_names_the_broken_plugin_in_one_line(
    folder: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "broken.py").write_text("x = missing\n")
    here = tmp_path / "here.jsonl"
    here.write_text('{"kind": "session", "session": "s"}\n')
    done = run(folder, there, *(one.format(here=here) for one in arguments))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"forensics: error: {there / 'broken.py'}, line 1: NameError: name 'missing' is not defined;"
        " this plug-in cannot be imported: mend or remove the file\n"
    )
