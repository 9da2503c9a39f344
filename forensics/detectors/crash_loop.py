"""The crash-loop detector."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from forensics.attempts import attempts
from forensics.detect import Claim, Measure, detector
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
    def at_once(self) -> bool:
        """Whether it died within a second of its start: it never came up."""
        spawned, exited = self.spawn.ts if self.spawn else None, self.exit.ts
        return spawned is not None and exited is not None and exited - spawned < _AT_ONCE_MS


@detector("error", per="file")
def crash_loop(file: File, *, exits: int = 2, window: float = 60.0) -> Iterator[Claim]:
    """Find a host process that exits with an error again and again and is started anew.

    Each restart throws away what the process had learned (cooldowns, truncated histories), so the next one can run
    into the same end.

    It fires from `exits` exits with a code other than 0 on; a clean shutdown and an exit without a code (ended by a
    signal) do not count. An exit less than a second after its own start is an immediate respawn failure. Any other
    exit lies in a compaction window when a compaction attempt of the same process's life is still open, or when one
    started or ended at most `window` seconds before it. That is a correlation: the log does not say why it died.

    Measures: exits (with an error); in_compaction_window (of those, apart from immediate respawn failures);
    immediate_respawn; elsewhere (the others); compaction_in_flight (of those in the window, with an attempt open);
    handled (exits whose shutdown the process announced itself: a caught fatal error, not a sudden death);
    clean_exits; hours (first to last exit).
    """
    crashes = [crash for crash in _ends(file.host) if crash.exit.code not in {0, None}]
    if len(crashes) < exits:
        return
    at_once = [crash for crash in crashes if crash.at_once]
    rows = _Compactions(file)
    others = [crash for crash in crashes if not crash.at_once]
    inside = [crash for crash in others if rows.near(crash, window)]
    yield Claim(
        message=(
            f"{len(crashes)} exits with an error: {len(inside)} in a compaction window (correlated, not caused),"
            f" {len(at_once)} immediate respawn failures, {len(others) - len(inside)} elsewhere"
        ),
        evidence=shortened([row for crash in crashes for row in _rows(crash)]),
        measures={
            "exits": Measure(len(crashes), "observed"),
            "in_compaction_window": Measure(len(inside), "derived"),
            "immediate_respawn": Measure(len(at_once), "derived"),
            "elsewhere": Measure(len(others) - len(inside), "derived"),
            "compaction_in_flight": Measure(sum(rows.open_at(crash) for crash in inside), "derived"),
            "handled": Measure(sum(crash.handled for crash in crashes), "observed"),
            "clean_exits": Measure(sum(row.kind == "exit" and row.code == 0 for row in file.host), "observed"),
            "hours": Measure(_hours(crashes), "derived"),
        },
        key="crash-loop",
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
    first, last = crashes[0].exit.ts, crashes[-1].exit.ts
    return None if first is None or last is None else round((last - first) / 3_600_000, 4)


class _Compactions:
    """When compaction attempts of the file started and ended, to be asked by time."""

    def __init__(self, file: File) -> None:
        found = [one for session in file.sessions for one in attempts(session.events)]
        self.times = sorted(row.ts for one in found for row in one.events if row.ts is not None)
        self.open = sorted(one.first.ts for one in found if one.unfinished and one.first.ts is not None)

    def near(self, crash: _Crash, window: float) -> bool:
        """Whether a row of an attempt lies before the exit, in the same process's life and at most `window` seconds."""
        return self.open_at(crash) or self._last(self.times, crash, window)

    def open_at(self, crash: _Crash) -> bool:
        """Whether an attempt of the same process was started before the exit and never ended."""
        return self._last(self.open, crash, None)

    def _last(self, times: list[int], crash: _Crash, window: float | None) -> bool:
        now = crash.exit.ts
        if now is None:
            return False
        since = crash.spawn.ts if crash.spawn and crash.spawn.ts is not None else None
        at = bisect_right(times, now)
        last = times[at - 1] if at else None
        if last is None or (since is not None and last < since):
            return False
        return window is None or now - last <= window * 1000
