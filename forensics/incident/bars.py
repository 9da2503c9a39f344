"""Counts by stretch of time: compactions by outcome over the whole report, a log's attempts per minute."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from forensics.attempts import attempts
from forensics.incident.model import OUTCOMES, Bars
from forensics.incident.tracks import Draft
from forensics.timeline import File

_HOUR = 3_600_000
_MINUTE = 60_000
_STEPS = (_MINUTE, 5 * _MINUTE, 15 * _MINUTE, _HOUR, 3 * _HOUR, 12 * _HOUR, 24 * _HOUR, 7 * 24 * _HOUR)
_MOST_BARS = 60


def bars(drafts: Iterable[Draft], files: Iterable[File]) -> list[Bars]:
    """Count compactions by outcome per hour (or a longer stretch that suits), and a log's attempts per minute."""
    ends = [(x, mark) for one in drafts if one.timed for x, lane, mark, _ in one.spots if lane == "compactions"]
    outcomes = _bars(ends, "Compactions by outcome") if ends else None
    charts = [outcomes] if outcomes and outcomes.steps > 1 else []
    minutes = _minutes(file for file in files if file.log)
    if len(minutes) > 1:
        charts.append(_per_minute(minutes))
    return charts


def _minutes(files: Iterable[File]) -> Counter[int]:
    """Count the attempts of each clock minute, those of a session that several logs show once."""
    sessions: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for file in files:
        for session in file.sessions:
            starts = (one.first.ts for one in attempts(session.events))
            sessions[session.agent, session.id] |= Counter(ts // _MINUTE for ts in starts if ts is not None)
    return sum(sessions.values(), Counter())


def _bars(found: Sequence[tuple[int, str]], title: str) -> Bars:
    first, last = min(ts for ts, _ in found), max(ts for ts, _ in found)
    step = next((one for one in _STEPS[3:] if (last - first) // one < _MOST_BARS), _STEPS[-1])
    start = first - first % step
    rows: dict[int, Counter[str]] = {}
    for ts, mark in found:
        rows.setdefault(start + (ts - start) // step * step, Counter())[mark] += 1
    unit = {_HOUR: "hour", 24 * _HOUR: "day", 7 * 24 * _HOUR: "week"}.get(step, f"{step // _HOUR} hours")
    ordered: list[tuple[int, dict[str, int]]] = [
        (at, {mark: rows[at][mark] for mark in OUTCOMES if rows[at][mark]}) for at in sorted(rows)
    ]
    return Bars(
        anchor="", title=f"{title}, per {unit}", start=start, step=step, steps=(last - start) // step + 1, rows=ordered
    )


def _per_minute(minutes: Counter[int]) -> Bars:
    """Give the greatest number of attempts in any clock minute of each stretch."""
    first, last = min(minutes) * _MINUTE, max(minutes) * _MINUTE
    step = next((one for one in _STEPS if (last - first) // one < 3 * _MOST_BARS), _STEPS[-1])
    start = first - first % step
    rows: dict[int, int] = {}
    for minute, count in minutes.items():
        at = start + (minute * _MINUTE - start) // step * step
        rows[at] = max(rows.get(at, 0), count)
    within = "" if step == _MINUTE else f", the most in any minute of {step // _MINUTE}"
    return Bars(
        anchor="",
        title=f"Compaction attempts per minute{within}",
        start=start,
        step=step,
        steps=(last - start) // step + 1,
        rows=[(at, {"attempt": rows[at]}) for at in sorted(rows)],
    )
