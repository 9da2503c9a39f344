"""The crash-loop detector."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from forensics.detect import Claim, Measure, Within, detector
from forensics.detectors._rates import hours
from forensics.detectors._units import shortened
from forensics.events import Event
from forensics.timeline import File

_AT_ONCE_MS = 1000
_SHUTDOWN = "shutdown snapshot"


class _Crash(NamedTuple):
    spawn: Event | None
    exit: Event
    handled: bool
    """Whether the process announced its shutdown: it died of an error that it caught."""

    @property
    def at_once(self) -> bool | None:
        """Whether it died within a second of its start: it never came up; `None` where the times do not say."""
        if self.spawn is None:
            return False
        spawned, exited = self.spawn.ts, self.exit.ts
        if spawned is None or exited is None or exited < spawned:
            return None
        return exited - spawned < _AT_ONCE_MS


@detector("error", per="file")
def crash_loop(file: File, *, exits: Annotated[int, Within(1)] = 2, window: float = 60.0) -> Iterator[Claim]:
    """Find a host process that exits with an error again and again and is started anew.

    Each restart throws away what the process had learned (cooldowns, truncated histories), so the next one can run
    into the same end.

    It fires from `exits` exits with a code other than 0 on; a clean shutdown and an exit without a code (ended by a
    signal) do not count. An exit less than a second after its own start is an immediate respawn failure. Any other
    exit lies in a compaction window when a compaction attempt of the same process's life is still open, or when one
    started or ended at most `window` seconds before it. That is a correlation: the log does not say why it died.

    What to do: look at what the process printed just before each exit, and keep on disk what a new process needs to
    know (how often it tried, the cooldown), so that it does not begin at the same point again.

    Measures: exits (with an error); in_compaction_window (of those, apart from immediate respawn failures);
    immediate_respawn; elsewhere (the others); compaction_in_flight (of those in the window, with an attempt open);
    handled (exits whose shutdown the process announced itself: a caught fatal error, not a sudden death);
    clean_exits; hours (first to last exit). Where a log has no times, or its clock went back, what needs them is
    unknown.
    """
    crashes = [crash for crash in _ends(file.host) if crash.exit.code not in {0, None}]
    if len(crashes) < exits:
        return
    rows = _Compactions(file)
    others = [crash for crash in crashes if not crash.at_once]
    near = [rows.near(crash, window) for crash in others]
    timed = None not in near and all(crash.at_once is not None for crash in crashes)
    inside, at_once = (near.count(True), len(crashes) - len(others)) if timed else (None, None)
    elsewhere = near.count(False) if timed else None
    yield Claim(
        message=_sentence(len(crashes), inside, at_once, elsewhere),
        evidence=shortened([row for crash in crashes for row in _rows(crash)]),
        measures={
            "exits": Measure(len(crashes), "observed"),
            "in_compaction_window": Measure(inside, "derived"),
            "immediate_respawn": Measure(at_once, "derived"),
            "elsewhere": Measure(elsewhere, "derived"),
            "compaction_in_flight": Measure(sum(rows.open_at(crash) for crash in others), "derived"),
            "handled": Measure(sum(crash.handled for crash in crashes), "observed"),
            "clean_exits": Measure(sum(row.kind == "exit" and row.code == 0 for row in file.host), "observed"),
            "hours": Measure(_hours(crashes), "derived"),
        },
        key="crash-loop",
    )


def _sentence(exits: int, inside: int | None, at_once: int | None, elsewhere: int | None) -> str:
    if inside is None:
        return (
            f"{exits} exits with an error; how many in a compaction window or at once after a start is unknown, for a"
            " time is missing or the clock went back"
        )
    return (
        f"{exits} exits with an error: {inside} in a compaction window (correlated, not caused),"
        f" {at_once} immediate respawn failures, {elsewhere} elsewhere"
    )


def _ends(host: list[Event]) -> Iterator[_Crash]:
    """Give every exit with the start it ends, process by process (a host can run several)."""
    running: dict[str | None, Event] = {}
    handled: dict[str | None, bool] = {}
    for row in host:
        if row.kind == "spawn":
            running[row.tool] = row
            handled[row.tool] = False
        elif row.kind == "exit":
            yield _Crash(running.pop(row.tool, None), row, handled.pop(row.tool, False))
        elif _SHUTDOWN in (row.text or ""):
            handled[row.tool] = True


def _rows(crash: _Crash) -> list[Event]:
    return [crash.spawn, crash.exit] if crash.spawn and crash.at_once else [crash.exit]


def _hours(crashes: list[_Crash]) -> float | None:
    times = [crash.exit.ts for crash in crashes]
    return None if times[0] is None or times[-1] is None else hours(times)


class _Compactions:
    """The rows of the file's compaction attempts, to be asked what lies before an exit in the same process's life."""

    def __init__(self, file: File) -> None:
        found = [one for session in file.sessions for one in session.attempts]
        self._rows = sorted(((_place(row), row.ts) for one in found for row in one.events), key=lambda row: row[0])
        self._open = sorted(_place(one.first) for one in found if one.unfinished)

    def open_at(self, crash: _Crash) -> bool:
        """Whether an attempt of the same process was started before the exit and never ended."""
        at = bisect_right(self._open, _place(crash.exit))
        return at > 0 and self._open[at - 1] >= _since(crash)

    def near(self, crash: _Crash, window: float) -> bool | None:
        """Whether one is open, or a row of one stands at most `window` seconds before; `None` where no time says."""
        if self.open_at(crash):
            return True
        at = bisect_right(self._rows, _place(crash.exit), key=lambda row: row[0])
        last = self._rows[at - 1] if at else None
        if last is None or last[0] < _since(crash):
            return False
        if last[1] is None or crash.exit.ts is None or crash.exit.ts < last[1]:
            return None
        return crash.exit.ts - last[1] <= window * 1000


def _place(row: Event) -> int:
    return row.line or row.seq


def _since(crash: _Crash) -> int:
    return _place(crash.spawn) if crash.spawn else 0
