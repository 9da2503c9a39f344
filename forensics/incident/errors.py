"""What a report counts in the files themselves: errors by their words, and how dense compactions came."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from forensics.attempts import attempts
from forensics.events import Event
from forensics.incident.evidence import ERROR, inferred_words, whole_words, words_of
from forensics.incident.model import Impact
from forensics.reports._words import count, ranges
from forensics.timeline import File, Session

MOST_ERRORS = 4
_PLACES = 4
_MINUTE = 60_000
_NUMBER = re.compile(r"\d+")

Rows = list[tuple[str, Event]]
"""Rows with the name of their file."""
View = tuple[File, Session]
Found = dict[str, Rows]
"""Rows by the error's words, numbers left out: a request's size changes from one to the next."""


class Errors:
    """The errors of all sessions, each session once, and the most compactions of a minute."""

    def __init__(self, files: Iterable[File] = ()) -> None:
        self.rows: dict[str, defaultdict[str, Rows]] = {kind: defaultdict(list) for kind in _KINDS}
        self.per_minute: int | None = None
        views: defaultdict[tuple[str, str], list[View]] = defaultdict(list)
        for file in files:
            for session in file.sessions:
                views[session.agent, session.id].append((file, session))
            dense = per_minute(file)
            if dense is not None:
                self.per_minute = max(self.per_minute or 0, dense)
        for sessions in views.values():
            for kind, rows in self.rows.items():
                for words, found in _once(sessions, kind).items():
                    rows[words].extend(found)


_KINDS = {"Compaction": "compacted", "Reply": "reply"}


def _once(views: list[View], kind: str) -> Found:
    """Give a session's errors once, though several files hold it.

    Files of one format that follow one another (a log per run) are added, copies count as the one that has most.
    Formats write the same failure in different words: only the one that shows most of them counts.
    """
    best: Found = {}
    order = {view[0].parser: view[0].log for view in views}
    for parser in sorted(order, key=lambda name: (order[name], name)):
        total: defaultdict[str, Rows] = defaultdict(list)
        for stretch in _stretches([view for view in views if view[0].parser == parser]):
            for words, rows in _fullest(_found(view, kind) for view in stretch).items():
                total[words].extend(rows)
        best = _fullest([best, total])
    return best


def _fullest(found: Iterable[Found]) -> Found:
    return max(found, key=lambda one: sum(map(len, one.values())))


def _stretches(views: list[View]) -> list[list[View]]:
    groups: list[list[View]] = []
    end: int | None = None
    for view in sorted(views, key=lambda one: (one[1].start or 0, one[0].name)):
        start, last = view[1].start, view[1].end
        if groups and (start is None or end is None or start <= end):
            groups[-1].append(view)
        else:
            groups.append([view])
        end = last if end is None or last is None else max(end, last)
    return groups


def _found(view: View, kind: str) -> Found:
    file, session = view
    found: Found = {}
    for event in session.events:
        if (error := words_of(event)) and event.kind == _KINDS[kind] and event.stop != "aborted":
            words = _NUMBER.sub("0", whole_words(error, ERROR))
            found.setdefault(words, []).append((file.name, event))
    return found


def told(errors: Errors) -> Iterator[Impact]:
    """Give the errors' rows of the impact table, the most frequent first."""
    found = [(kind, words, rows) for kind, by_words in errors.rows.items() for words, rows in by_words.items()]
    found.sort(key=lambda one: (-len(one[2]), one[0], one[1]))
    for kind, _, rows in found[:MOST_ERRORS]:
        said = {whole_words(words_of(event) or "", ERROR) for _, event in rows}
        first = whole_words(words_of(rows[0][1]) or "", ERROR)
        inferred = inferred_words(first)
        yield Impact(
            metric=f"{kind} that failed: {first}" if inferred else f"{kind} error: “{first}”",
            value=f"{len(rows):,}",
            basis="inferred" if inferred else "observed",
            note="" if len(said) == 1 else "with other numbers from one to the next",
            where=_where(rows),
        )
    rest = [row for _, _, rows in found[MOST_ERRORS:] for row in rows]
    if rest:
        yield Impact(metric="Errors in other words", value=f"{len(rest):,}", basis="observed", where=_where(rest))


def _where(rows: Rows) -> str:
    """Give the places of rows: the first file's lines (or record ids), the others by number."""
    first = rows[0][0]
    own = [event for name, event in rows if name == first]
    lines = sorted({event.line for event in own if event.line is not None})
    spans = [str(a) if a == b else f"{a}-{b}" for a, b in ranges(lines)]
    spans = spans or [event.record for event in own if event.record is not None]
    shown = ",".join(spans[:_PLACES]) + (f",...({len(spans) - _PLACES} more)" if len(spans) > _PLACES else "")
    others = len({name for name, _ in rows}) - 1
    return f"{first}:{shown}" + (f" and in {count(others, 'more file')}" if others else "")


def per_minute(file: File) -> int | None:
    """Give the most compaction attempts that began within any 60 seconds; `None` without times."""
    starts = sorted(
        one.first.ts for session in file.sessions for one in attempts(session.events) if one.first.ts is not None
    )
    most: int | None = None
    first = 0
    for at, ts in enumerate(starts):
        while ts - starts[first] > _MINUTE:
            first += 1
        most = max(most or 0, at - first + 1)
    return most
