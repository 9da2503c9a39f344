"""Add sessions up, each once, though several files may hold it."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from forensics.scan import SessionTotals

Figures = dict[str, float]
"""Figures by name, inner ones as `compactions.failed`; one that is unknown is not in it."""

_INNER = "compactions."
_SUMS = (
    "prompts",
    "replies",
    "length_stops",
    "aborted",
    "manual_continues",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "cost",
    "waiting_seconds",
)


class Copies(msgspec.Struct, kw_only=True):
    """A session that several files hold: the totals count it once, by the fullest of them (`file`)."""

    session: str
    agent: str
    file: str
    others: list[str]


def totals(sessions: list[SessionTotals], parsers: dict[str, str]) -> tuple[Figures, list[Copies]]:
    """Add the sessions up, each once.

    Files of one format that hold the same stretch of a session are copies: the greatest figure counts. Stretches
    that follow one another (a log per run) are added. Files of different formats see the same session differently:
    again the greatest figure counts.
    """
    views: defaultdict[tuple[str, str], defaultdict[str, list[SessionTotals]]] = defaultdict(lambda: defaultdict(list))
    for one in sessions:
        views[one.agent, one.session][parsers.get(one.file, "")].append(one)
    total: list[Figures] = []
    copies: list[Copies] = []
    for (agent, session), by_parser in sorted(views.items()):
        found = {parser: stretches(entries) for parser, entries in by_parser.items()}
        total.append(_greatest(_sum(map(_figures_of, one)) for one in found.values()))
        if len(found) > 1 or any(len(entries) > 1 for one in found.values() for entries in one):
            files = [entry for one in found.values() for entries in one for entry in entries]
            first = min(files, key=lambda one: (-one.rows, len(one.file), one.file)).file
            others = sorted({one.file for one in files} - {first})
            copies.append(Copies(session=session, agent=agent, file=first, others=others))
    return _sum(total), copies


def stretches(entries: list[SessionTotals]) -> list[list[SessionTotals]]:
    """Group the entries that overlap in time; an entry without times may overlap with anything."""
    groups: list[list[SessionTotals]] = []
    end = 0
    for one in sorted(entries, key=lambda entry: (entry.active_from or 0, entry.file)):
        open_end = one.active_from is None or one.end is None
        if groups and (open_end or (one.active_from or 0) < end or groups[-1][0].active_from is None):
            groups[-1].append(one)
        else:
            groups.append([one])
        end = max(end, one.end or 0)
    return groups


def _figures_of(copies: list[SessionTotals]) -> Figures:
    return _greatest(map(_figures, copies))


def _figures(one: SessionTotals) -> Figures:
    known: dict[str, float | None] = {name: getattr(one, name) for name in _SUMS}
    known |= {f"errors.{fault}": count for fault, count in (one.errors or {}).items()}
    known |= {f"{_INNER}{name}": count for name, count in msgspec.structs.asdict(one.compactions).items()}
    return {name: figure for name, figure in known.items() if figure is not None}


def _sum(parts: Iterable[Figures]) -> Figures:
    total: Figures = {}
    for part in parts:
        for name, figure in part.items():
            total[name] = total.get(name, 0) + figure
    return total


def _greatest(views: Iterable[Figures]) -> Figures:
    """Give each figure's greatest value; compactions as a whole by the view that shows most of them."""
    seen = list(views)
    most: Figures = {}
    for view in seen:
        for name, figure in view.items():
            most[name] = max(most.get(name, figure), figure)
    best = max(seen, key=lambda view: (view.get(f"{_INNER}attempts", 0), -view.get(f"{_INNER}unknown", 0)))
    return {name: figure for name, figure in most.items() if not name.startswith(_INNER)} | {
        name: figure for name, figure in best.items() if name.startswith(_INNER)
    }
