"""Scan many files: here when they are small, in a pool of processes when they are large; one bad file costs itself."""

import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from forensics.cli._common import REPORT_BUG, aside, complain, is_terminal
from forensics.inputs import Found
from forensics.parse import parsers
from forensics.scan import Options, Result, Skipped, scan_file

POOL_FROM = 2 << 30
"""Bytes of input from which a pool is faster: below, starting it and sending results costs more than it saves."""
_TICK = 0.2


class Scanned(NamedTuple):
    """A file's result, and the traceback when this program broke on it."""

    result: Result
    trace: str | None


def scan_all(files: Sequence[Found], options: Options, jobs: int | None, *, quiet: bool, verbose: bool) -> list[Result]:
    """Scan the files; the order of the results is that of the files."""
    parsers()  # a plug-in that cannot be imported ends the run here, not once per file
    total = sum(one.bytes for one in files)
    if jobs is None:
        jobs = (os.cpu_count() or 1) if total >= POOL_FROM else 1
    progress = _Progress(len(files), total, shown=not quiet and is_terminal(sys.stderr))
    results: list[Result | None] = [None] * len(files)
    try:
        for at, (result, trace) in _each(files, options, min(jobs, len(files))):
            results[at] = result
            progress.step(files[at].bytes)
            if trace is not None:
                progress.clear()
                _broken(result, trace, verbose=verbose)
    finally:
        progress.clear()
    return [one for one in results if one is not None]


def _each(files: Sequence[Found], options: Options, jobs: int) -> Iterator[tuple[int, Scanned]]:
    if jobs < 2:
        for at, one in enumerate(files):
            yield at, scan_one(one.path, one.name, options)
        return
    from forensics.cli._pool import pooled  # noqa: PLC0415  (only where there is much to scan)

    yield from pooled(files, options, jobs, scan_one)


def scan_one(path: Path, name: str, options: Options) -> Scanned:
    """Scan a file; an error of this program becomes the file's result instead of ending the run."""
    try:
        result = scan_file(path, name, options)
    except Exception as error:  # noqa: BLE001  (whatever a plug-in raises, the other files are still read)
        reason = f"internal error: {type(error).__name__}: {str(error)[:200]}"
        return Scanned(
            Result(skipped=Skipped(path=name, bytes=0, kind="broken", reason=reason)), traceback.format_exc()
        )
    return Scanned(result, None)


def _broken(result: Result, trace: str, *, verbose: bool) -> None:
    if result.skipped:
        complain(f"{result.skipped.path}: {result.skipped.reason}; {REPORT_BUG}")
    if verbose:
        aside(trace)


class _Progress:
    """One line on a terminal's standard error, rewritten at most five times a second."""

    def __init__(self, files: int, total: int, *, shown: bool) -> None:
        self._files, self._total, self._shown = files, total, shown
        self._done = self._bytes = 0
        self._next = time.monotonic() + _TICK
        self._width = 0

    def step(self, size: int) -> None:
        self._done += 1
        self._bytes += size
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _TICK
            share = f", {self._bytes / self._total:.0%}" if self._total else ""
            words = f"reading: {self._done:,} of {self._files:,} files{share}"
            sys.stderr.write("\r" + words.ljust(self._width))
            sys.stderr.flush()
            self._width = len(words)

    def clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0
