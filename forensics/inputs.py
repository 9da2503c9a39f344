"""From what the user points at to the files to read: files, folders, globs, standard input; in a stable order."""

import contextlib
import glob
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from forensics.parse import NotRecognised, recognise
from forensics.scan import SkipKind, Skipped

STDIN = "-"
EXCLUDED = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})
"""Folders that are not looked into unless they are named: they hold thousands of files and no sessions."""
LOCK = ".forensics-lock.toml"
"""What the name of a lock ends in: the recording's own name stands before it."""
BASELINE = ".forensics-baseline.json"
_SIDES = ("-wal", "-shm", "-journal")


Identity = tuple[int, int | str]


class NoSuchInput(Exception):  # noqa: N818  (what the user typed is wrong, not the program)
    """A path that does not exist, or a glob that matches nothing. The message says what to do."""


class WouldOverwrite(NoSuchInput):
    """What is to be written is one of the inputs, or a link to one. The message says which and what to do."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{printable(path)}: is one of the inputs, and would be overwritten; write to another place")


class Found(NamedTuple):
    """A file to read: where it is, its name for the reader (printable, `/` between folders), its size in bytes."""

    path: Path
    name: str
    bytes: int


class Inputs:
    """What was found: `files` to read, `skipped` what is not read and why. Both sorted by name."""

    def __init__(self, without: Iterable[Path] = ()) -> None:
        self.files: list[Found] = []
        self.skipped: list[Skipped] = []
        self._without = _identities(without)
        self._files: list[Found] = []
        self._seen: dict[Identity, str] = {}
        self._found: dict[Identity, Found] = {}
        self._named: set[Identity] = set()

    def add(self, path: Path, *, named: bool = True) -> None:
        """Take a path: a file, or a folder with all that is in it. Opens nothing but folders.

        `named`: the user wrote it out, so that it is an input whatever it holds.
        """
        if named:
            self._named |= _identities([path])
        waiting = [path]
        while waiting:
            one = waiting.pop()
            if one is not path and one.name in EXCLUDED and one.is_dir():
                self._skip(one, "excluded", "a folder that is not looked into; name it to read it")
                continue
            waiting.extend(reversed(self._take(one)))

    def _take(self, path: Path) -> list[Path]:
        """Take one path; give what lies in it."""
        try:
            status = path.stat()
        except OSError as error:
            self._skip(path, "unreadable", _why_gone(path, error))
            return []
        identity = _identity(path, status)
        if stat.S_ISDIR(status.st_mode):
            return self._folder(path, identity)
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, "unreadable", f"{_kind(status.st_mode)}: pipe it to standard input and name it -")
        elif _is_lock(path) or path.name == BASELINE:
            self._skip(path, "excluded", "what recordings are held to, not a recording")
        elif identity not in self._without and self._is_new(path, identity, "file"):
            found = self._found[identity] = Found(path, printable(path), status.st_size)
            self._files.append(found)
        return []

    def _folder(self, path: Path, identity: Identity) -> list[Path]:
        if not self._is_new(path, identity, "folder"):
            return []
        try:
            with os.scandir(path) as entries:
                return [path / name for name in sorted(entry.name for entry in entries)]
        except OSError as error:
            self._skip(path, "unreadable", error.strerror or str(error))
            return []

    def _is_new(self, path: Path, identity: Identity, kind: str) -> bool:
        name = printable(path)
        known = self._seen.get(identity)
        if known is None:
            self._seen[identity] = name
        elif known != name:
            self._skip(path, "same", f"the same {kind} as {known}")
        return known is None

    def _skip(self, path: Path, kind: SkipKind, reason: str) -> None:
        self.skipped.append(Skipped(path=printable(path), bytes=0, kind=kind, reason=reason))

    def leave_out(self, outputs: Iterable[Path]) -> None:
        """Pass over what this run writes: reports of an earlier run that lie in a folder.

        Raises `WouldOverwrite` where one of them was named, holds what is read, or belongs to a database or a lock.
        """
        for output in outputs:
            there = bool(_identities([output]))
            if there and (self.holds(output) or _is_lock(Path(os.path.realpath(output)))):
                raise WouldOverwrite(output)
        own = {self._found.get(identity) for identity in _identities(outputs)}
        self.files = [one for one in self.files if one not in own]

    def holds(self, path: Path) -> bool:
        """Whether a path leads to an input, or to what lies beside a database among them.

        A file that was found in a folder, and that nothing recognises, is none.
        """
        sides = (one.path.with_name(one.path.name + side) for one in self.files for side in _SIDES)
        return any(
            identity in self._named
            or (identity in self._found and _is_read(self._found[identity].path))
            or identity in _identities(sides)
            for identity in _identities([path])
        )

    def close(self) -> "Inputs":
        """Sort, and leave out the side files of SQLite databases: they are read with their database."""
        paths = {found.path for found in self._files}
        for found in self._files:
            base = _database_of(found.path)
            if base is None:
                self.files.append(found)
            elif base not in paths:
                self._skip(found.path, "unrecognised", f"a side file of {printable(base)}: name that to read both")
        self.files.sort(key=lambda found: found.name)
        self.skipped.sort(key=lambda one: (one.path, one.reason))
        return self


def expand(
    given: Sequence[str],
    spool: Path,
    stdin: BinaryIO | None,
    without: Iterable[Path] = (),
    outputs: Sequence[Path] = (),
) -> Inputs:
    """Find the files behind the given paths, globs and `-` (standard input, copied into the folder `spool`).

    Files in `without` are passed over, and so are `outputs`, which this run writes. Raises `NoSuchInput`, and
    `WouldOverwrite` where an output is an input.
    """
    inputs = Inputs(without)
    for one in given:
        if one == STDIN:
            inputs.files.append(_spooled(stdin, spool / "stdin", outputs))
            continue
        for path, named in _matches(one):
            inputs.add(path, named=named)
    inputs.close()
    inputs.leave_out(outputs)
    return inputs


def _matches(given: str) -> Iterator[tuple[Path, bool]]:
    """Give the paths, and whether each was written out."""
    path = Path(given)
    if os.path.lexists(path):
        yield path, True
        return
    matched: list[str] = []
    trouble = "no such file or folder"
    if glob.has_magic(given):
        trouble = "nothing matches this pattern"
        matched = glob.glob(given, recursive=True, include_hidden=True)  # noqa: PTH207  (Path.glob takes no absolute ones)
    if not matched:
        raise NoSuchInput(f"{printable(path)}: {trouble}; give a file, a folder, a glob or - for standard input")
    yield from ((Path(one), False) for one in sorted(matched))


def _spooled(stdin: BinaryIO | None, path: Path, outputs: Iterable[Path]) -> Found:
    if stdin is None:
        raise NoSuchInput("-: there is no standard input to read; give a file or pipe one in")
    for output in outputs:
        if _is_open_as(stdin, output):
            raise WouldOverwrite(output)
    with path.open("wb") as copy:
        shutil.copyfileobj(stdin, copy)
    return Found(path, STDIN, path.stat().st_size)


def printable(path: Path) -> str:
    """Give a path as text that any encoding holds: bytes that are not UTF-8 are shown by their number."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def _identity(path: Path, status: os.stat_result) -> Identity:
    """Tell a file from every other, by its number where the file system gives one."""
    return status.st_dev, status.st_ino or path.resolve().as_posix()


def _identities(paths: Iterable[Path]) -> set[Identity]:
    """Tell the files behind paths from all others; a path with nothing behind it is left out."""
    found: set[Identity] = set()
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            found.add(_identity(path, path.stat()))
    return found


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file that is there."""
    return not _identities([one]).isdisjoint(_identities([other]))


def _is_open_as(stream: BinaryIO, path: Path) -> bool:
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a stream without a file behind it
        return False
    return stat.S_ISREG(status.st_mode) and _identity(path, status) in _identities([path])


def _is_lock(path: Path) -> bool:
    return path.name.endswith(LOCK)


def _is_read(path: Path) -> bool:
    try:
        recognise(path)
    except NotRecognised:
        return False
    except Exception:  # noqa: BLE001  (what cannot be looked at is not written over)
        return True
    return True


def _database_of(path: Path) -> Path | None:
    for side in _SIDES:
        if path.name.endswith(side) and path.name != side:
            base = path.with_name(path.name.removesuffix(side))
            return base if base.is_file() else None
    return None


def _why_gone(path: Path, error: OSError) -> str:
    if path.is_symlink():
        return f"broken link: {error.strerror or error}"
    return error.strerror or str(error)


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
