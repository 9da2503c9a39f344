"""The context-blowup detector."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from forensics.detect import Claim, Measure, Severity, Within, detector
from forensics.detectors._units import Unit, units
from forensics.events import GOOD_STOPS, CapSource, Event
from forensics.timeline import File, Session
from forensics.usage import Measured

_NAMES: dict[Measured, str] = {"context": "whole prompt", "messages": "messages only"}
_GRAVE = 1.5
_HARDLY = 1.05
"""Below this ratio a message would say "1.0 times"."""


class _Size(NamedTuple):
    size: int
    cap: int
    row: Event

    @property
    def ratio(self) -> float:
        return self.size / self.cap


class _Over(NamedTuple):
    """How a measure of one session stands over the context window."""

    first: _Size
    start: _Size
    peak: _Size
    rows: int
    kept: int
    """Compactions that left it over the window."""
    source: CapSource | None


@detector("error", per="file")
def context_blowup(file: File, *, ratio: Annotated[float, Within(1)] = 1.05) -> Iterator[Claim]:
    """Find context that grew over the context window in force.

    Every request of that size is refused or cut, so the agent pays for retries and compactions that cannot succeed.

    The size of the whole prompt (system prompt, tools and messages) and that of the messages alone are different
    measures of different rows: each has its own finding and its own peak, and the two are never mixed. Figures that
    cannot be one request's (see usage-outlier) are left out first. The window is the one in force at the row: `--cap`,
    else the row's own, else that of the last row that named one (a change of model or window, a budget, an overflow
    error where nothing records it), else the first one named after it, unless that is a change. Without one there is
    no finding. A refused request counts with the size that its error names. It is an error when the peak is 1.5
    times the window or more, or over `ratio` times it and a compaction left the context over its window; else a short
    overshoot is a warning, one of up to `ratio` times a note. A log's sessions are taken together.

    What to do: check the size before each request against the window of the model in force, keep what a compaction cut
    away out of the next request even when its summary fails, and do not send a context again that was refused.

    Measures: peak (tokens); cap (tokens); ratio (peak / cap); measure ("whole prompt" or "messages only"); growth
    (tokens from the first known size to the peak); rows_over (measured rows over their window); compactions_over
    (compactions that left the context over it: the next
    request was over it or refused again); cap_source ("recorded", "error text" or "option").
    """
    for unit in units(file):
        for measure in _NAMES:
            found = [over for session in unit.sessions if (over := _over(session, measure))]
            if found:
                yield _claim(unit, measure, found, ratio)


def _claim(unit: Unit, measure: Measured, found: list[_Over], ratio: float) -> Claim:
    worst = max(found, key=lambda over: over.peak.ratio)
    first, peak, rows = found[0].start, worst.peak, sum(over.rows for over in found)
    kept = sum(over.kept for over in found)
    name = _NAMES[measure]
    return Claim(
        message=(
            f"context over its window {unit.where}: {peak.size:,} of {peak.cap:,} tokens,"
            f" {f'{peak.ratio:.1f} times' if peak.ratio >= _HARDLY else 'just over it'} ({name})"
        ),
        evidence=(first.row,) if first.row is peak.row else (first.row, peak.row),
        measures={
            "peak": Measure(peak.size, "observed"),
            "cap": Measure(peak.cap, "observed" if worst.source != "option" else "derived"),
            "ratio": Measure(round(peak.ratio, 4), "derived"),
            "measure": Measure(name, "observed"),
            "growth": Measure(peak.size - worst.first.size, "derived"),
            "rows_over": Measure(rows, "observed"),
            "compactions_over": Measure(kept, "derived"),
            "cap_source": Measure(worst.source, "observed"),
        },
        severity=_severity(peak.ratio, kept, ratio),
        session=unit.session,
        key=name,
    )


def _severity(peak: float, kept: int, ratio: float) -> Severity:
    if peak >= _GRAVE or (peak > ratio and kept):
        return "error"
    return "warning" if peak > ratio else "note"


def _over(session: Session, measure: Measured) -> _Over | None:
    if not session.cap:
        return None
    found = [over for over in (_measured(session, measure), _stated(session, measure)) if over]
    if not found:
        return None
    worst = max(found, key=lambda over: over.peak.ratio)
    start = min(found, key=lambda over: over.start.row.line or over.start.row.seq).start
    rows, kept = sum(over.rows for over in found), max(over.kept for over in found)
    return _Over(found[0].first, start, worst.peak, rows, kept, session.cap_source)


def _measured(session: Session, measure: Measured) -> _Over | None:
    """Look at the measured rows; a window that only an error names says nothing of the requests that went through."""
    if session.cap_source == "error text":
        return None
    odd = {at for at, one in session.outliers.items() if one.column == measure}
    fixed = session.cap_source == "option"
    found = session.samples.excess(measure, session.cap or 0, fixed=fixed, without=odd)
    if found is None:
        return None
    first, start, peak = (
        _at(session, position, measure, found.cap) for position in (found.first, found.start, found.peak)
    )
    return _Over(first, start, peak, found.over, found.kept, session.cap_source)


def _at(session: Session, position: int, measure: Measured, cap: int) -> _Size:
    sample = session.samples.at(position)
    row = Event(kind="budget", session=session.id, line=sample.line, record=sample.record, ts=sample.ts, seq=position)
    return _Size((sample.context if measure == "context" else sample.messages) or 0, cap, row)


def _stated(session: Session, measure: Measured) -> _Over | None:
    """Look at the sizes that compactions state, and at those that the errors of refused requests name.

    A window that only an error names holds for the model that refused: it is not used where a request of the session
    that went through was larger.
    """
    if session.cap_source == "error text" and (session.peak or 0) > (session.cap or 0):
        return None
    sizes = [one for row in session.events if (one := _size(session, row, measure))]
    over = [one for one in sizes if one.size > one.cap]
    if not over:
        return None
    unmade = sum(one.row.kind == "compacted" and one.row.outcome not in {"summary", "dropped"} for one in over)
    compactions = max(unmade, _refused_again(session.events) if measure == "context" else 0)
    return _Over(sizes[0], over[0], max(over, key=lambda one: one.ratio), len(over), compactions, session.cap_source)


def _refused_again(events: list[Event]) -> int:
    """Count the compactions between two requests that overflowed, with no good reply between."""
    found, since, refused = 0, 0, False
    for row in events:
        if row.kind == "compacted" and row.outcome not in {"skipped", "aborted"}:
            since += 1
        elif row.kind == "reply":
            if row.fault == "overflow" and refused:
                found += since
            refused = row.fault == "overflow" or (refused and row.stop not in GOOD_STOPS)
            since = 0 if row.fault == "overflow" or not refused else since
    return found


def _size(session: Session, row: Event, measure: Measured) -> _Size | None:
    size = None
    if row.kind in {"compact", "compacted"}:
        size = row.messages if measure == "messages" else _whole(row)
    elif row.kind == "reply" and row.fault == "overflow" and measure == "context":
        size = row.estimate
    cap = None if size is None else session.window(row)
    return None if size is None or not cap else _Size(size, cap, row)


def _whole(event: Event) -> int | None:
    """Give the whole prompt's size at a compaction row; `before` is that, unless the row says messages alone."""
    return event.context if event.context is not None or event.messages is not None else event.before
