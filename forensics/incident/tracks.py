"""Turn a file's sessions into tracks: what a timeline figure shows, thinned out so that 100,000 rows draw at once."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from forensics.attempts import Attempt, attempts
from forensics.events import GOOD_STOPS, Event
from forensics.incident.evidence import Place, place_of
from forensics.incident.model import LANES, MARK_WORDS, Clock, Gap, Lane, Mark, Pin, Track
from forensics.incident.names import display
from forensics.incident.thin import steps, thinned
from forensics.incident.watch import Trace, Watch
from forensics.timeline import File, Session

WIDTH = 240
"""Stretches of the time axis of which the figure keeps first, least, greatest and last point."""
PLACES = 72
"""Places of a lane: marks of one kind that fall on one of them are one pin with a count."""
MOST_GAPS = 200
_NONE = -1
_NANO = 1_000_000_000

Spot = tuple[int, Lane, Mark, str]
"""A mark before thinning: its x, its lane, what it is, and words for it."""


class Draft(NamedTuple):
    """A session as one file shows it, before it is joined with others and thinned out."""

    title: str
    agent: str
    session: str | None
    files: list[str]
    timed: bool
    seen: tuple[int, int]
    """The first and the last row's time, those that are not drawn included."""
    spots: list[Spot]
    points: list[tuple[int, int]]
    refused: int | None
    cap: int | None
    caps: list[tuple[int, int]]
    begins: int | None
    spent: list[tuple[int, float]]
    silences: list[tuple[int, int, str]]
    clocks: list[Clock]


def draft(file: File, session: Session | None, watch: Watch, continues: set[Place]) -> Draft | None:
    """Draw up a session, or with `None` the host process alone; `None` when there is nothing to show.

    `continues` are the places of the file's prompts that were to go on.
    """
    trace = watch.traces.get(session.id if session else None) or Trace()
    events = session.events if session else file.host
    timed = _timed(events, trace)
    spots = list(_spots(session, events, continues, timed=timed))
    if session is not None and timed:
        spots.extend(_spots(None, [one for one in file.host if _inside(one, session)], set(), timed=True))
    points = list(_points(session, trace, timed=timed))
    if not spots and not points:
        return None
    return Draft(
        title=f"{display(session.agent)}, session {session.id}" if session else f"{display(file.agent)}, host process",
        agent=session.agent if session else file.agent,
        session=session.id if session else None,
        files=[file.name],
        timed=timed,
        seen=_seen(trace, spots, points),
        spots=spots,
        points=points,
        refused=_refused(events),
        cap=session.cap if session else None,
        caps=_caps(session, trace, timed=timed),
        begins=_begins(session),
        spent=_spent(trace, timed=timed),
        silences=trace.silences if timed else [],
        clocks=[],
    )


def track(one: Draft) -> Track:
    """Thin a draft out for drawing."""
    xs = [x for x, *_ in one.spots] + [x for x, _ in one.points]
    start, end = min(xs), max(xs)
    longest = sorted(one.silences, key=lambda gap: gap[0] - gap[1])[:MOST_GAPS]
    return Track(
        anchor="",
        title=one.title,
        agent=one.agent,
        session=one.session,
        files=one.files,
        timed=one.timed,
        start=start,
        end=end,
        points=thinned(one.points, WIDTH),
        measured=len(one.points),
        peak=(peak := max(one.points, key=lambda point: point[1], default=None)),
        refused=one.refused,
        cap=_cap_at(one, peak),
        caps=one.caps,
        begins=one.begins,
        spent=one.spent,
        pins=pinned(one.spots, start, end),
        counts=dict(Counter(mark for _, _, mark, _ in one.spots)),
        gaps=[Gap(start=a, end=b, then=kind) for a, b, kind in sorted(longest)],
        gaps_in_all=len(one.silences),
        clocks=one.clocks,
        refs=[],
    )


def _timed(events: Iterable[Event], trace: Trace) -> bool:
    shown = [event for event in events if event.kind not in {"note", "model", "session"}]
    without = sum(event.ts is None for event in shown) + trace.untimed
    return without * 10 <= len(shown) + len(trace.ts) and len(shown) + len(trace.ts) > 0


def _refused(events: Iterable[Event]) -> int | None:
    """Give the greatest request that was refused as too large, where an error names its size."""
    sizes = (event.estimate for event in events if event.kind == "reply" and event.fault == "overflow")
    return max((size for size in sizes if size is not None), default=None)


def _seen(trace: Trace, spots: list[Spot], points: list[tuple[int, int]]) -> tuple[int, int]:
    xs = [x for x, *_ in spots] + [x for x, _ in points]
    xs += [ts for ts in (trace.first, trace.last) if ts is not None]
    return min(xs), max(xs)


def _inside(event: Event, session: Session) -> bool:
    if event.ts is None or session.start is None or session.end is None:
        return False
    return session.start <= event.ts <= session.end


def _x(event: Event, *, timed: bool) -> int | None:
    return event.ts if timed else event.seq


def _spots(session: Session | None, events: list[Event], continues: set[Place], *, timed: bool) -> Iterator[Spot]:
    for one in attempts(events) if session else ():
        x = _x(one.last, timed=timed)
        if x is not None:
            mark: Mark = one.outcome
            yield x, "compactions", mark, _attempt_words(one, mark)
    for event in events:
        x = _x(event, timed=timed)
        found = _spot(event, continues) if x is not None else None
        if found and x is not None:
            yield x, *found


def _attempt_words(one: Attempt, mark: Mark) -> str:
    sizes = [f"{one.before:,} tokens before" if one.before is not None else ""]
    sizes.append(f"{one.after:,} after" if one.after is not None else "")
    return ", ".join([MARK_WORDS[mark], *filter(None, sizes)])


def _spot(event: Event, continues: set[Place]) -> tuple[Lane, Mark, str] | None:
    if event.kind == "reply" and event.stop not in GOOD_STOPS and event.stop is not None:
        mark: Mark = {"error": "error", "aborted": "aborted-reply"}.get(event.stop, "cut")  # type: ignore[assignment]
        return "failures", mark, MARK_WORDS[mark] + (f" ({event.fault})" if event.fault else "")
    if event.kind == "prompt" and event.origin in {"human", "queued"}:
        other: Mark = "queued" if event.origin == "queued" else "prompt"
        mark = "continue" if place_of(event) in continues else other
        return "people", mark, MARK_WORDS[mark]
    if event.kind == "exit":
        mark = "crash" if event.code not in {0, None} else "stopped"
        return (
            "process",
            mark,
            f"{event.tool or 'process'} exited, code {'unknown' if event.code is None else event.code}",
        )
    if event.kind == "spawn":
        return "process", "start", f"{event.tool or 'process'} started"
    return None


def pinned(spots: Iterable[Spot], start: int, end: int) -> list[Pin]:
    """Put marks of one kind that fall on one place together."""
    span = max(end - start, 1)
    places: dict[tuple[int, int, str], list[Spot]] = {}
    for spot in spots:
        at = min((spot[0] - start) * PLACES // span, PLACES - 1)
        places.setdefault((LANES.index(spot[1]), at, spot[2]), []).append(spot)
    pins = []
    for (lane, _, _), found in sorted(places.items()):
        xs = [spot[0] for spot in found]
        kinds = Counter(spot[3] for spot in found)
        words = next(iter(kinds)) if len(kinds) == 1 else MARK_WORDS[found[0][2]]
        pins.append(Pin(lane=LANES[lane], mark=found[0][2], x=min(xs), last=max(xs), count=len(found), words=words))
    return pins


def _points(session: Session | None, trace: Trace, *, timed: bool) -> Iterator[tuple[int, int]]:
    """Give the context at each measured row in the order of x, figures that cannot be one request's left out.

    A compaction that tells its size before and after is a fall at its own place, if it measures what the rows do.
    """
    if session is None:
        return
    falls = deque(_falls(session, timed=timed))
    wrong = {
        (_NONE if one.sample.ts is None else one.sample.ts, one.value)
        for one in session.outliers.values()
        if one.column == "context"
    }
    last, size = _NONE, 0
    for at, context in enumerate(trace.contexts):
        x = trace.ts[at] if timed else trace.seq[at]
        if context < 0 or x < 0 or (trace.ts[at], context) in wrong:
            continue
        while falls and falls[0][0] <= x:
            fall, before, after = falls.popleft()
            if last <= fall and abs(before - size) * 10 <= size:
                yield from ((fall, size), (fall, after))
                last = fall
        last, size = max(x, last), context
        yield last, context


def _falls(session: Session, *, timed: bool) -> Iterator[tuple[int, int, int]]:
    for one in attempts(session.events):
        x = _x(one.last, timed=timed)
        if x is not None and one.made and one.before is not None and one.after is not None:
            yield x, one.before, one.after


def _cap_at(one: Draft, peak: tuple[int, int] | None) -> int | None:
    """Give the window in force at the peak: a later one says nothing of it."""
    held = [cap for at, cap in one.caps if peak is not None and at <= peak[0]]
    return held[-1] if held else one.cap


def _caps(session: Session | None, trace: Trace, *, timed: bool) -> list[tuple[int, int]]:
    if session is None or session.cap_source == "option":
        return []
    axis = trace.ts if timed else trace.seq
    return steps((axis[at], cap) for at, cap in enumerate(trace.caps) if cap > 0 and axis[at] >= 0)


def _begins(session: Session | None) -> int | None:
    if session is None:
        return None
    sizes = [
        size
        for one in attempts(session.events)
        if one.trigger == "threshold" and (size := one.first.context or one.first.before) is not None
    ]
    return min(sizes, default=None)


def _spent(trace: Trace, *, timed: bool) -> list[tuple[int, float]]:
    if not trace.priced:
        return []
    axis = trace.ts if timed else trace.seq
    total, last = 0.0, -1
    cents: list[tuple[int, int]] = []
    for at, cost in enumerate(trace.cost):
        total += cost
        last = max(last, axis[at])
        if last >= 0:
            cents.append((last, round(total * _NANO)))
    return [(x, value / _NANO) for x, value in thinned(steps(cents), WIDTH // 2)]
