"""Add sessions up, each once, though several files may hold it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from forensics.scan import SessionTotals
from forensics.seen import shared

Figures = dict[str, float]
"""Figures by name, inner ones as `compactions.failed`; one that is unknown is not in it."""

_INNER = "compactions."
_ERRORS = "errors."
_ENDS = ("length_stops", "aborted")
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens")
_SUMS = ("prompts", "replies", *_ENDS, "manual_continues", *_TOKENS, "cost", "waiting_seconds")
_SAME = 0.95
"""A file that shares this much with others is a copy."""
_LIKELY = 0.8
"""So is one that shares this much by its marks, of which so few are kept, and lies within the others' time."""


class Copies(msgspec.Struct, kw_only=True):
    """A session that several files hold: the totals count it once, by the fullest of them (`file`)."""

    session: str
    agent: str
    file: str
    others: list[str]


def totals(sessions: Iterable[SessionTotals], parsers: dict[str, str]) -> tuple[Figures, list[Copies]]:
    """Add the sessions up, each once.

    Files of one format that hold the same records of a session are copies: those that together hold most of it, each
    record once, count. Stretches that follow one another (a log per run) are added. Files of different formats see
    the same session differently: figures that belong together are of one view, the one that shows most.
    """
    views: defaultdict[tuple[str, str], defaultdict[str, list[SessionTotals]]] = defaultdict(lambda: defaultdict(list))
    for one in sessions:
        views[one.agent, one.session][parsers.get(one.file, "")].append(one)
    total: list[Figures] = []
    copies: list[Copies] = []
    for (agent, session), by_parser in sorted(views.items()):
        found = {parser: stretches(entries) for parser, entries in by_parser.items()}
        total.append(_seen_by([_sum(map(_union, one)) for one in found.values()]))
        if len(found) > 1 or any(len(entries) > 1 for one in found.values() for entries in one):
            files = [entry for one in found.values() for entries in one for entry in entries]
            first = min(files, key=lambda one: (-one.rows, len(one.file), one.file)).file
            others = sorted({one.file for one in files} - {first})
            copies.append(Copies(session=session, agent=agent, file=first, others=others))
    return _sum(total), copies


def stretches(entries: Iterable[SessionTotals]) -> list[list[SessionTotals]]:
    """Group the entries that hold the same records, or may."""
    groups: list[list[SessionTotals]] = []
    for one in sorted(entries, key=lambda entry: (entry.active_from or 0, entry.file)):
        joined = [group for group in groups if any(same_records(one, other) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(entry for group in joined for entry in group), one])
    return groups


def same_records(one: SessionTotals, other: SessionTotals) -> bool:
    """Whether two files of one format show a session's same records, or may: then they are not to be added.

    They overlap in time; an entry without times may overlap with anything. Where nothing that was marked tells, the
    one must lie within the other.
    """
    if one.active_from is None or one.end is None or other.active_from is None or other.end is None:
        return True
    first, last = sorted((one, other), key=lambda entry: entry.active_from or 0)
    if (last.active_from or 0) >= (first.end or 0):
        return False
    if one.seen is None or other.seen is None:
        return True
    share = shared(one.seen, other.seen)
    return (last.end or 0) <= (first.end or 0) if share is None else share[0] > 0


def overlaps(sessions: Iterable[SessionTotals], parsers: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Give for each file that holds some records of others, and others of its own, what is to say of it."""
    views: defaultdict[tuple[str, str, str], list[SessionTotals]] = defaultdict(list)
    for one in sessions:
        views[one.agent, one.session, parsers.get(one.file, "")].append(one)
    for entries in views.values():
        for copies in stretches(entries) if len(entries) > 1 else ():
            kept = _fullest(copies)
            for one in copies:
                if one not in kept and (part := _own(one, kept)):
                    yield (
                        one.file,
                        f"session {one.session}: about {part:.0%} of its records are in no other file, the rest is in"
                        f" {', '.join(other.file for other in kept)}: the totals hold each once, as an estimate",
                    )


def _union(copies: Sequence[SessionTotals]) -> Figures:
    """Count what entries that share records hold together, each record once as well as that can be told."""
    kept = _fullest(copies)
    total = _sum(map(_figures, kept))
    for one in copies:
        part = 0.0 if one in kept else _own(one, kept)
        if part:
            counts = {name for name, figure in _figures(one).items() if isinstance(figure, int)}
            more = {name: part * figure for name, figure in _figures(one).items()}
            total = _sum([total, {name: round(figure) if name in counts else figure for name, figure in more.items()}])
    return total


def _own(one: SessionTotals, kept: Iterable[SessionTotals]) -> float:
    """Give the share of a file's records that is in none of the others; 0 where that cannot be told."""
    known = time = 0.0
    for other in kept:
        if one.seen is None or other.seen is None or not (share := (shared(one.seen, other.seen) or (0.0,))[0]):
            continue
        within = _within(one, other)
        time += within
        # Of more records than are marked, what lies outside of the other's time is in no case shared.
        exact = one.seen.below is None and other.seen.below is None
        known += share if exact else min(share, within + 1 / one.seen.rows)
    same = known >= _SAME or (known >= _LIKELY and time >= _SAME)
    return 0.0 if same or not known else 1 - known


def _within(one: SessionTotals, other: SessionTotals) -> float:
    """Give the part of a file's time that lies within the other's."""
    if one.active_from is None or one.end is None or other.active_from is None or other.end is None:
        return 1.0
    inside = min(one.end, other.end) - max(one.active_from, other.active_from)
    return max(0, inside) / (one.end - one.active_from) if one.end > one.active_from else 1.0


def _fullest(copies: Sequence[SessionTotals]) -> list[SessionTotals]:
    """Choose entries of which no two share records and that together have most rows: one log, or one of each run."""
    orders = (
        sorted(copies, key=lambda one: (-one.rows, len(one.file), one.file)),
        sorted(copies, key=lambda one: (one.end or 0, one.rows, one.file)),
    )
    return max(map(_apart, orders), key=lambda chosen: sum(one.rows for one in chosen))


def _apart(ordered: Iterable[SessionTotals]) -> list[SessionTotals]:
    chosen: list[SessionTotals] = []
    for one in ordered:
        if not any(same_records(one, other) for other in chosen):
            chosen.append(one)
    return chosen


def _figures(one: SessionTotals) -> Figures:
    known: dict[str, float | None] = {name: getattr(one, name) for name in _SUMS}
    known |= {f"{_ERRORS}{fault}": count for fault, count in (one.errors or {}).items()}
    known |= {f"{_INNER}{name}": count for name, count in msgspec.structs.asdict(one.compactions).items()}
    return {name: figure for name, figure in known.items() if figure is not None}


def _sum(parts: Iterable[Figures]) -> Figures:
    total: Figures = {}
    for part in parts:
        for name, figure in part.items():
            total[name] = total.get(name, 0) + figure
    return total


def _seen_by(views: Sequence[Figures]) -> Figures:
    """Put together what several formats show: what belongs together comes from one view, the one that shows most."""
    most: Figures = {}
    for view in views:
        for name, figure in view.items():
            most[name] = max(most.get(name, figure), figure)
    tokens = max(views, key=lambda view: sum(view.get(name, 0) for name in _TOKENS))
    compactions = max(views, key=lambda view: (view.get(f"{_INNER}attempts", -1), -view.get(f"{_INNER}unknown", 0)))
    whole: list[tuple[Figures, Callable[[str], bool]]] = [
        (_replies(views, most), lambda name: name == "replies" or name in _ENDS or name.startswith(_ERRORS)),
        (tokens, lambda name: name in _TOKENS),
        (compactions, lambda name: name.startswith(_INNER)),
    ]
    for view, belongs in whole:
        most = {name: figure for name, figure in most.items() if not belongs(name)} | {
            name: figure for name, figure in view.items() if belongs(name)
        }
    return most


def _replies(views: Sequence[Figures], most: Figures) -> Figures:
    """Give the replies and how they ended: the greatest of each figure where that can be, else those of one view."""
    good = max(view.get("replies", 0) - _bad(view) for view in views)
    if _bad(most) + good <= most.get("replies", 0):
        return most
    fullest = max(views, key=lambda view: (view.get("replies", 0), _bad(view)))
    return {name: most[name] for name in _ENDS if name in most} | fullest


def _bad(view: Figures) -> float:
    return sum(count for name, count in view.items() if name in _ENDS or name.startswith(_ERRORS))
