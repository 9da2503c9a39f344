import runpy
import sqlite3
from contextlib import closing
from pathlib import Path


def _rows(path: Path) -> list[str]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        return list(database.iterdump())


def test_the_samples_are_what_their_program_writes(samples: Path, tmp_path: Path) -> None:
    folder = samples / "parsers"
    runpy.run_path(str(folder / "opencode_samples.py"))["write"](tmp_path)
    written = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*") if path.is_file()}
    assert len(written) == 9
    for name, path in written.items():
        if path.suffix == ".db":
            assert _rows(path) == _rows(folder / name)
        else:
            assert path.read_bytes() == (folder / name).read_bytes()
