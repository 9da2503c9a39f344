"""Scan many files in a pool of processes."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TypeVar

from forensics.cli._common import collect_seldom
from forensics.inputs import Found
from forensics.scan import Options

R = TypeVar("R")
ScanOne = Callable[[Path, str, Options], R]


def pooled(files: Sequence[Found], options: Options, jobs: int, scan_one: ScanOne[R]) -> Iterator[tuple[int, R]]:
    """Yield the position and the result of each file as it is done, the largest begun first."""
    with ProcessPoolExecutor(jobs, initializer=_die_quietly) as pool:
        try:
            yield from _results(pool, files, options, scan_one)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def _results(pool: Executor, files: Sequence[Found], options: Options, scan_one: ScanOne[R]) -> Iterator[tuple[int, R]]:
    largest_first = sorted(range(len(files)), key=lambda at: -files[at].bytes)
    waiting: dict[Future[R], int] = {
        pool.submit(scan_one, files[at].path, files[at].name, options): at for at in largest_first
    }
    for done in as_completed(waiting):
        yield waiting.pop(done), done.result()


def _die_quietly() -> None:
    collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
