"""Files read a second time: where several hold the same records in part, each record is counted once, exactly.

That is rare, so it may cost: a session of which two files differ, a fork beside a session that holds its rows too.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from forensics.events import Event
from forensics.parse import NotRecognised, Unreadable, parsers
from forensics.scan import Loaded, Result, SessionTotals, figured, load
from forensics.totals import alike, fuller_first, stretches, views

MOST_BYTES = 256 << 20
"""Files that are together larger than this are not read a second time: the totals are a bound then."""

Unit = list[SessionTotals]
"""The entries of one session, of files of one format that hold the same records, or may."""
Place = tuple[str, str]
"""File and session."""


def trace(results: Sequence[Result]) -> None:
    """Set on the entries that share records what they hold together, and what of it others hold too."""
    paths = {one.input.path: one.path for one in results if one.input and one.path}
    jobs: defaultdict[tuple[str, ...], list[list[Unit]]] = defaultdict(list)
    for job in _jobs(results):
        jobs[tuple(sorted({one.file for unit in job for one in distinct(unit)}))].append(job)
    for files, together in jobs.items():
        wanted: defaultdict[str, set[str]] = defaultdict(set)
        for one in (entry for job in together for unit in job for entry in distinct(unit)):
            wanted[one.file].add(one.session)
        loaded = _loaded({file: paths[file] for file in files if file in paths}, wanted)
        for job in together:
            if loaded is None:
                _bounded(job)
            else:
                _counted(job, loaded)


def distinct(unit: Iterable[SessionTotals]) -> list[SessionTotals]:
    """Give the entries without those that say the same as another, the fullest first."""
    found: list[SessionTotals] = []
    for one in sorted(unit, key=fuller_first):
        if not any(alike(one, other) for other in found):
            found.append(one)
    return found


def _jobs(results: Sequence[Result]) -> Iterator[list[Unit]]:
    """Give what must be read again: families of forks, and single sessions whose files differ."""
    parser_of = {one.input.path: one.input.parser for one in results if one.input}
    entries = (one for result in results for one in result.sessions)
    units = [unit for view in views(entries, parser_of).values() for unit in stretches(view)]
    logs = {path for path, name in parser_of.items() if (own := parsers().get(name)) and own.log}
    related = [_without_logs(family, logs) for family in _families(units)]
    yield from related
    taken = {id(unit) for family in related for unit in family}
    yield from ([unit] for unit in units if len(unit) > 1 and id(unit) not in taken and len(distinct(unit)) > 1)


def _families(units: Sequence[Unit]) -> list[list[Unit]]:
    """Group sessions of which one at least is a fork: by the parents that they name, and by the rows they share."""
    forks = [unit for unit in units if any(one.began is not None for one in unit)]
    above: dict[Hashable, Hashable] = {}

    def top(name: Hashable) -> Hashable:
        found = name
        while found in above:
            found = above[found]
        while name != found:  # so that no way is long the next time
            above[name], name = found, above[name]
        return found

    def join(one: Hashable, other: Hashable) -> None:
        if top(one) != top(other):
            above[top(one)] = top(other)

    marks = {mark for unit in forks for mark in _marks(unit)}
    for unit in units if forks else ():
        here = unit[0].session  # whichever agent it is: one of the two may not show it
        for one in unit:
            if one.began is not None and one.parent is not None:
                join(here, one.parent)
        for mark in marks & _marks(unit):
            join(here, mark)
    groups: defaultdict[Hashable, list[Unit]] = defaultdict(list)
    for unit in units if forks else ():
        groups[top(unit[0].session)].append(unit)
    names = {id(unit) for unit in forks}
    return [
        group
        for group in groups.values()
        if len({unit[0].session for unit in group}) > 1 and any(id(unit) in names for unit in group)
    ]


def _without_logs(family: Sequence[Unit], logs: Container[str]) -> list[Unit]:
    """Leave out logs of sessions that have a file of their own here: a log of a process is long, and dates its way."""
    filed = {unit[0].session for unit in family if unit[0].file not in logs}
    return [unit for unit in family if unit[0].session not in filed or unit[0].file not in logs]


def _marks(unit: Unit) -> set[int]:
    return {mark for one in unit if one.seen is not None for mark in (*one.seen.least, *one.seen.ends)}


def _loaded(paths: Mapping[str, Path], wanted: Mapping[str, set[str]]) -> dict[Place, Loaded] | None:
    """Read files wholly; `None` where that is too much, or where one is gone or has changed since."""
    found: dict[Place, Loaded] = {}
    try:
        if sum(path.stat().st_size for path in paths.values()) > MOST_BYTES:
            return None
        for file, path in paths.items():
            for session, one in load(path, file, wanted[file]).items():
                found[file, session] = one
    except (NotRecognised, Unreadable, OSError):
        return None
    return found


def _counted(units: Sequence[Unit], loaded: Mapping[Place, Loaded]) -> None:
    held: dict[str, Counter[Hashable]] = {}
    for unit in _ordered(units):
        files = [one for one in distinct(unit) if (one.file, one.session) in loaded]
        if not files:
            continue
        parts = [loaded[one.file, one.session] for one in files]
        # What one file shows in part another may show whole.
        first = parts[0]._replace(part=frozenset.intersection(*(one.part for one in parts)))
        events = joined([one.events for one in parts], files)
        if len(files) > 1:
            together = figured(first, events)
            for one in unit:
                one.joined = together
        name = unit[0].session
        if any(one.began is not None for one in unit):
            _leave_out(unit, events, first, {kin: keys for kin, keys in held.items() if kin != name})
        held[name] = held.get(name, Counter[Hashable]()) | Counter[Hashable](map(_moment, events))


def joined(parts: Sequence[Sequence[Event]], entries: Sequence[SessionTotals] = ()) -> list[Event]:
    """Give the rows of a session's files, the fullest first, each once and in order of time.

    Equal rows of one file are several. The entries are told how many rows their files add to those before.
    """
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    rows: list[tuple[int, Event]] = []
    for at, part in enumerate(parts):
        used: Counter[Hashable] = Counter()
        last, before = 0, len(rows)
        for event in part:
            last = last if event.ts is None else event.ts
            key = _key(event)
            if used[key] == len(places[key]):
                places[key].append(len(rows))
                rows.append((last, event))
            elif event.stop is not None and rows[same := places[key][used[key]]][1].stop is None:
                rows[same] = last, event  # the other file ends before the reply does
            used[key] += 1
        if at and entries:
            entries[at].added = sum(event.kind != "session" for _, event in rows[before:])
    return [event for _, event in (rows if len(parts) == 1 else sorted(rows, key=lambda one: one[0]))]


def _leave_out(unit: Unit, events: Sequence[Event], first: Loaded, held: Mapping[str, Counter[Hashable]]) -> None:
    """Set on a fork's entries what rows from before it began other sessions hold too, and which those are."""
    began = max(one.began for one in unit if one.began is not None)
    older = [one for one in events if one.kind != "session" and (one.ts is None or one.ts < began)]
    left: Counter[Hashable] = Counter()
    for keys in held.values():
        left |= keys
    rows: list[Event] = []
    for one in older:
        key = _moment(one)
        if one.ts is not None and left[key] > 0:
            left[key] -= 1
            rows.append(one)
    if not rows:
        return
    moments = set(map(_moment, rows))
    kin = [name for name, theirs in held.items() if not moments.isdisjoint(theirs)]
    copied = figured(first, rows)
    for entry in unit:
        entry.copied, entry.kin, entry.older = copied, kin, len(older)


def _key(event: Event) -> Hashable:
    """Tell a record among those of its session: files of one format may date it differently."""
    return _moment(event)[:2] if event.record is not None else _moment(event)


def _moment(event: Event) -> tuple[Hashable, ...]:
    if event.record is not None:
        return event.kind, event.record, event.ts
    return event.kind, None, event.ts, event.context, event.total, event.output, event.digest, event.text


def _ordered(units: Sequence[Unit]) -> list[Unit]:
    """Sort parents before their forks, and those that began first before others."""
    parents = {unit[0].session: next((one.parent for one in unit if one.began is not None), None) for unit in units}

    def order(unit: Unit) -> tuple[int, int, str, str]:
        name: str | None = unit[0].session
        line: list[str] = []
        while name in parents and name not in line:
            line.append(name)
            name = parents[name]
        began = min((one.began for one in unit if one.began is not None), default=-1)
        return len(line), began, unit[0].session, unit[0].file

    return sorted(units, key=order)


def _bounded(units: Sequence[Unit]) -> None:
    """Count the fullest file alone, never more than there is; and forks whole, never less than there is."""
    for at, unit in enumerate(_ordered(units)):
        many = len(distinct(unit)) > 1
        for one in unit:
            one.bound = many or (at > 0 and one.began is not None)
