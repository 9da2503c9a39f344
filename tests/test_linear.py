"""Cost grows no faster than the input: a tester's file of 20,000 continues took 1.7 GB, one of 40,000 sessions 30 s.

Work is counted in calls and sizes in bytes, both of which are the same on every machine; no time is measured.
"""

import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.cli import run
from forensics.detect import detectors
from forensics.detectors._messages import wording
from forensics.scan import Options, scan_file
from forensics.summary import summarise

ROWS = 300
TWICE = 2.2
"""What twice the input may cost, in times."""
Make = Callable[[int], list[dict[str, object]]]


def _prompt(session: str, second: int, text: str) -> dict[str, object]:
    return {"kind": "prompt", "origin": "human", "session": session, "text": text, "ts": _time(second)}


def _failed(session: str, second: int) -> dict[str, object]:
    return {"kind": "reply", "stop": "error", "fault": "overloaded", "session": session, "ts": _time(second)}


def _time(second: int) -> str:
    return f"2026-07-{1 + second // 86400:02}T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def continues(count: int) -> list[dict[str, object]]:
    """A person who asks to go on again and again, and a reply that fails each time."""
    return [row for at in range(count) for row in (_prompt("s", 2 * at, "continue"), _failed("s", 2 * at + 1))]


def requests(count: int) -> list[dict[str, object]]:
    """A person who writes something else each time, and a reply that fails each time."""
    return [row for at in range(count) for row in (_prompt("s", 2 * at, f"Read {at}."), _failed("s", 2 * at + 1))]


def sessions(count: int) -> list[dict[str, object]]:
    """Many sessions in a file, each with a finding."""
    texts = ("Read.", "continue")
    return [
        row
        for at in range(count)
        for turn, text in enumerate(texts)
        for row in (_prompt(f"s{at}", 4 * at + 2 * turn, text), _failed(f"s{at}", 4 * at + 2 * turn + 1))
    ]


def compactions(count: int) -> list[dict[str, object]]:
    """A loop of overflows and compactions that make no summary."""
    rows: list[dict[str, object]] = []
    for at in range(count):
        reply: dict[str, object] = {**_failed("s", 3 * at), "fault": "overflow"}
        compact: dict[str, object] = {"kind": "compact", "trigger": "overflow", "session": "s", "ts": _time(3 * at + 1)}
        ended: dict[str, object] = {
            "kind": "compacted",
            "outcome": "no-summary",
            "session": "s",
            "ts": _time(3 * at + 2),
        }
        rows += [reply, compact, ended]
    return rows


MAKERS: list[Make] = [continues, requests, sessions, compactions]


def _path(folder: Path, make: Make, count: int) -> Path:
    path = folder / f"{make.__name__}-{count}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in make(count)))
    return path


def _calls(work: Callable[[], object]) -> int:
    """Count the calls of functions, those in C and the steps of generators included."""
    count = 0

    def counting(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    wording.cache_clear()  # what one file's messages were found to say is work for the next one too
    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def _peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("measure", [_calls, _peak])
def test_twice_the_rows_are_twice_the_work_and_the_memory(
    make: Make, measure: Callable[[Callable[[], object]], int], tmp_path: Path
) -> None:
    options = Options(now=1_800_000_000_000)
    small, large = _path(tmp_path, make, 2 * ROWS), _path(tmp_path, make, 4 * ROWS)
    scan_file(small, "a", options)  # what is imported and compiled once is not counted
    counts = [measure(lambda path=path: summarise([scan_file(path, "a", options)])) for path in (small, large)]  # type: ignore[misc]
    assert counts[1] <= TWICE * counts[0]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", sorted(detectors()))
def test_no_detector_alone_costs_more_than_its_share(make: Make, name: str, tmp_path: Path) -> None:
    options = Options(now=1_800_000_000_000, detectors=(name,))
    paths = [_path(tmp_path, make, count) for count in (ROWS // 2, ROWS)]
    scan_file(paths[0], "a", options)
    counts = [_calls(lambda path=path: scan_file(path, "a", options)) for path in paths]  # type: ignore[misc]
    assert counts[1] <= TWICE * counts[0]


@pytest.mark.parametrize("arguments", [["report", "-q"], ["scan", "-q"], ["timeline"]], ids=lambda one: one[0])
@pytest.mark.parametrize("make", [continues, sessions])
def test_reports_too_cost_twice_for_twice(
    make: Make, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small, large = _path(tmp_path, make, ROWS // 3), _path(tmp_path, make, 2 * ROWS // 3)
    run([*arguments, str(small)])
    counts = [_calls(lambda path=path: run([*arguments, str(path)])) for path in (small, large)]  # type: ignore[misc]
    assert capsys.readouterr().out
    assert counts[1] <= TWICE * counts[0]
