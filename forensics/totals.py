"""Add sessions up, each once, though several files may hold it."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from forensics.scan import SessionTotals

Figures = dict[str, float]
"""Figures by name, inner ones as `compactions.failed`; one that is unknown is not in it."""

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
        stretches = {parser: _stretches(entries) for parser, entries in by_parser.items()}
        total.append(_greatest(_sum(map(_figures_of, one)) for one in stretches.values()))
        if len(stretches) > 1 or any(len(entries) > 1 for one in stretches.values() for entries in one):
            files = [entry for one in stretches.values() for entries in one for entry in entries]
            first = min(files, key=lambda one: (-one.rows, len(one.file), one.file)).file
            others = sorted({one.file for one in files} - {first})
            copies.append(Copies(session=session, agent=agent, file=first, others=others))
    return _sum(total), copies


def _stretches(entries: list[SessionTotals]) -> list[list[SessionTotals]]:
    """Group the entries that overlap in time; an entry without times may overlap with anything."""
    groups: list[list[SessionTotals]] = []
    end = 0
    for one in sorted(entries, key=lambda entry: entry.start or 0):
        if groups and (one.start is None or one.end is None or one.start < end or groups[-1][0].start is None):
            groups[-1].append(one)
        else:
            groups.append([one])
        end = max(end, one.end or 0)
    return groups


def _figures_of(copies: list[SessionTotals]) -> Figures:
    return _greatest(map(_figures, copies))


def _figures(one: SessionTotals) -> Figures:
    known: dict[str, float | None] = {name: getattr(one, name) for name in _SUMS}
    known |= {f"errors.{fault}": count for fault, count in one.errors.items()}
    known |= {f"compactions.{name}": count for name, count in msgspec.structs.asdict(one.compactions).items()}
    return {name: figure for name, figure in known.items() if figure is not None}


def _sum(parts: Iterable[Figures]) -> Figures:
    total: Figures = {}
    for part in parts:
        for name, figure in part.items():
            total[name] = total.get(name, 0) + figure
    return total


def _greatest(parts: Iterable[Figures]) -> Figures:
    most: Figures = {}
    for part in parts:
        for name, figure in part.items():
            most[name] = max(most.get(name, figure), figure)
    return most
