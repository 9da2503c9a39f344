"""Where the project's samples are, and the corpus of real recordings where it stands beside the checkout."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.events import Event
from forensics.parse import Source, read, recognise
from forensics.timeline import File

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "samples"
CORPUS = ROOT.parent / "shared" / "corpus"


@pytest.fixture(scope="session")
def samples() -> Path:
    return SAMPLES


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The corpus; a test that asks for it is skipped where there is none."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of recordings is not beside this checkout")
    return CORPUS


@pytest.fixture
def events_of() -> Callable[[Path], list[Event]]:
    """Read a file into its events."""
    return lambda path: list(read(Source(path)))


@pytest.fixture
def file_of() -> Callable[[Path], File]:
    """Read a file into its sessions, as `scan` does."""

    def build(path: Path) -> File:
        chosen = recognise(path)
        return File(path.name, chosen.name, chosen.agent, log=chosen.log).build(read(Source(path), chosen))

    return build
