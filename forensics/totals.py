"""Add sessions up, each once, though several files may hold it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

import msgspec

from forensics.scan import SessionTotals
from forensics.seen import shared

Figures = dict[str, float]
"""Figures by name, inner ones as `compactions.failed`; one that is unknown is not in it."""

_INNER = "compactions."
_ERRORS = "errors."
_ENDS = ("length_stops", "aborted")
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens")
SUMS = ("prompts", "replies", *_ENDS, "manual_continues", *_TOKENS, "cost", "waiting_seconds")
"""A session's figures that add up, beside its errors and its compactions."""


class Copies(msgspec.Struct, kw_only=True):
    """A session that several files hold: the totals count it once, by the fullest of them (`file`)."""

    session: str
    agent: str
    file: str
    others: list[str]


class _Group(NamedTuple):
    """Entries that belong together: when the last was added, until when they reach, which they are."""

    at: int
    end: float
    entries: list[SessionTotals]


def totals(sessions: Iterable[SessionTotals], parsers: dict[str, str]) -> tuple[Figures, list[Copies]]:
    """Add the sessions up, each once.

    Files of one format that hold the same records of a session count together, each record once. Stretches that
    follow one another (a log per run) are added. Files of different formats see the same session differently: figures
    that belong together are of one view, the one that shows most.
    """
    by_session: defaultdict[tuple[str, str], list[list[list[SessionTotals]]]] = defaultdict(list)
    for (agent, session, _), entries in views(sessions, parsers).items():
        by_session[agent, session].append(stretches(entries))
    total: list[Figures] = []
    copies: list[Copies] = []
    for (agent, session), found in sorted(by_session.items(), key=lambda item: item[0]):
        total.append(_seen_by([_sum(map(_union, one)) for one in found]))
        if len(found) > 1 or any(len(entries) > 1 for one in found for entries in one):
            files = [entry for one in found for entries in one for entry in entries]
            first = min(files, key=fuller_first).file
            others = sorted({one.file for one in files} - {first})
            copies.append(Copies(session=session, agent=agent, file=first, others=others))
    return _sum(total), copies


def views(
    sessions: Iterable[SessionTotals], parsers: Mapping[str, str]
) -> dict[tuple[str, str, str], list[SessionTotals]]:
    """Give the entries of each session in each format, by agent, session and parser; `parsers` maps files to theirs."""
    found: defaultdict[tuple[str, str, str], list[SessionTotals]] = defaultdict(list)
    for one in sessions:
        found[one.agent, one.session, parsers.get(one.file, "")].append(one)
    return found


def fuller_first(one: SessionTotals) -> tuple[int, int, str]:
    """Sort entries of a session: the one with most rows first."""
    return -one.rows, len(one.file), one.file


def stretches(entries: Iterable[SessionTotals]) -> list[list[SessionTotals]]:
    """Group the entries that hold the same records, or may; those that lie apart in time are not compared."""
    apart: list[_Group] = []
    near: list[_Group] = []
    for at, one in enumerate(sorted(entries, key=lambda entry: (entry.active_from or 0, entry.file))):
        timed = one.active_from is not None and one.end is not None
        if timed:
            apart += [group for group in near if group.end < (one.active_from or 0)]
            near = [group for group in near if group.end >= (one.active_from or 0)]
        else:  # it may hold records of any
            apart, near = [], sorted((*apart, *near))
        joined = [group for group in near if any(same_records(one, other) for other in group.entries)]
        near = [group for group in near if group not in joined]
        end = max((*(group.end for group in joined), (one.end or 0) if timed else inf))
        near.append(_Group(at, end, [*(entry for group in joined for entry in group.entries), one]))
    return [group.entries for group in sorted((*apart, *near))]


def same_records(one: SessionTotals, other: SessionTotals) -> bool:
    """Whether two files of one format show a session's same records, or may: then they are not to be added.

    They overlap in time; an entry without times may overlap with anything.
    """
    if one.active_from is None or one.end is None or other.active_from is None or other.end is None:
        return True
    begin, end = max(one.active_from, other.active_from), min(one.end, other.end)
    if begin > end:
        return False
    if one.seen is None or other.seen is None or begin == end:
        return True  # where one begins as the other ends, a row without marks may be in both
    share = shared(one.seen, other.seen)
    return share is None or share[0] > 0


def alike(one: SessionTotals, other: SessionTotals) -> bool:
    """Whether two entries of a session say the same throughout: copies of which none needs a second look."""
    same = one.seen is not None and (one.rows, one.start, one.active_from, one.end, one.began, one.seen) == (
        *(other.rows, other.start, other.active_from, other.end, other.began, other.seen),
    )
    return same and _figures(one) == _figures(other)


def overlaps(sessions: Iterable[SessionTotals], parsers: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Give for each file that holds some records of others, and others of its own, what is to say of it."""
    shared_by = (entries for entries in views(sessions, parsers).values() if len(entries) > 1)
    for copies in (found for entries in shared_by for found in stretches(entries)):
        fullest = min(copies, key=fuller_first)
        for one in copies:
            if one.bound and one is fullest and len(copies) > 1:
                yield (
                    one.file,
                    f"session {one.session}: other files hold some of its records too, and may hold others; they were"
                    " not read again, as they are too large or have changed: the totals are a lower bound",
                )
            elif one.joined is not None and 0 < one.added < one.rows:
                rows = f"{one.added:,} of its rows are" if one.added > 1 else "1 of its rows is"
                yield (
                    one.file,
                    f"session {one.session}: {rows} in no fuller file, others are in {fullest.file}: the totals count"
                    " each record once, by reading both again",
                )


def _union(copies: Sequence[SessionTotals]) -> Figures:
    """Count what entries that share records hold together, each record once."""
    whole = copies[0].joined if len(copies) > 1 else None
    return _figures(whole) if whole is not None else _sum(map(_figures, _fullest(copies)))


def _fullest(copies: Sequence[SessionTotals]) -> list[SessionTotals]:
    """Choose entries of which no two share records and that together have most rows: one log, or one of each run."""
    orders = (
        sorted(copies, key=fuller_first),
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
    known: dict[str, float | None] = {name: getattr(one, name) for name in SUMS}
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
    if len(views) == 1:
        return views[0]
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
