"""Where the project's samples are, and the corpus of real recordings where it stands beside the checkout."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from forensics.events import Event
from forensics.incident.build import incident
from forensics.incident.model import Incident
from forensics.inputs import expand
from forensics.parse import Source, read, recognise
from forensics.scan import Options
from forensics.timeline import File
from tests.chromium import Browser, program

# A busy machine must not fail a test, and CI must say the same of one commit twice; elsewhere examples are drawn anew.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "samples"
CORPUS = ROOT.parent / "shared" / "corpus"
NOW = 1_800_000_000_000


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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real browser; a test that asks for it is skipped where there is none."""
    path = program()
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    one = Browser(path)
    yield one
    one.close()


@pytest.fixture
def incident_of() -> Callable[..., Incident]:
    """Read files into an incident report, not redacted; the time of the scan is fixed."""

    def build(*paths: Path, excerpts: bool = False) -> Incident:
        found = expand([str(path) for path in paths], Path(), None)
        return incident(found.files, Options(now=NOW), skipped=found.skipped, excerpts=excerpts)

    return build
