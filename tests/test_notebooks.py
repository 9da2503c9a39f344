"""The notebooks are what their program writes, and run through the public interface from load to report."""

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "notebooks"
BUILDER = runpy.run_path(str(FOLDER / "__main__.py"), run_name="builder")
INCIDENTS = {one.file: one for one in BUILDER["INCIDENTS"]}
TOLD = {
    "atomic-1690": [
        "(1131, 40)",
        "[387, 388, 389, 390], 838.5",
        "hands-free   atomic-1690        lost: output-budget → stop",
    ],
    "atomic-1684": ["atomic-1684", "length", "Atomic stopped working 3 times"],
    "opencode-replo": ["[(2145, 12.", "bounded      opencode-before    lost", "bounded      opencode-replo     holds"],
    "opencode-37584": ["[(35, 1.", "bounded      opencode-37584     holds", "$10.85"],
    "pilotdeck": ["[(67, 59, (0.", "bounded      pilotdeck-before   lost", "14 exits with an error"],
}
"""What must stand in the outputs."""


def test_there_is_one_for_each_incident(samples: Path) -> None:
    assert sorted(INCIDENTS) == sorted(path.name for path in (samples / "incidents").iterdir() if path.is_dir())


@pytest.mark.parametrize("name", INCIDENTS)
def test_a_notebook_is_what_its_program_writes(name: str) -> None:
    assert (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8") == BUILDER["text"](INCIDENTS[name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", INCIDENTS)
def test_a_notebook_runs(name: str) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    notebook: Any = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    client(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "\n".join(_text(output) for output in outputs)
    for words in TOLD[name]:
        assert words in text
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)


def _text(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))
