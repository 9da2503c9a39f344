"""Open an SQLite database so that nothing beside it changes."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

TORN: tuple[type[Exception], ...] = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What a damaged database raises; the second where SQLite's own message quotes bytes of a torn schema."""


@contextmanager
def open_sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database read-only, with its write-ahead log where there is one.

    SQLite writes a `-shm` file beside a database that has a log, even when it only reads: such a pair is read from
    a temporary copy. A database without a log is opened as immutable, which touches nothing.
    """
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        from tempfile import TemporaryDirectory  # noqa: PLC0415  (3 ms of every start)

        with TemporaryDirectory(prefix="forensics-") as folder:
            copy = Path(folder) / "copy.db"
            shutil.copyfile(path, copy)
            shutil.copyfile(log, copy.with_name("copy.db-wal"))
            with closing(sqlite3.connect(copy)) as database:
                yield database
    else:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            yield database
