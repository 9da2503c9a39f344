"""Sessions that begin with a copy of another's rows: what was copied counts once, where it happened."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from forensics.detect import Finding
from forensics.parse import NotRecognised, Unreadable
from forensics.scan import Compactions, Result, SessionTotals, history
from forensics.seen import shared
from forensics.times import iso

Key = tuple[str, str]
"""Agent and session."""

_FIGURES = (
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


def trace(results: Iterable[Result]) -> None:
    """Find what forks copied from sessions that were read too, by reading their files again up to where they began.

    Where the parent was not read nothing is counted twice, and nothing is read twice.
    """
    results = list(results)
    here = {(one.agent, one.session) for result in results for one in result.sessions}
    for result in results:
        forks = [one for one in result.sessions if one.began is not None and (one.agent, one.parent or "") in here]
        if not forks or result.path is None:
            continue
        try:
            found = history(result.path, {one.session: one.began or 0 for one in forks})
        except (NotRecognised, Unreadable, OSError):  # it is gone or has changed since: it counts whole
            continue
        for one in forks:
            one.copied = found.get(one.session)


def own(sessions: Sequence[SessionTotals]) -> list[SessionTotals]:
    """Give the sessions without what they copied from one that is among them."""
    here = _by_key(sessions)
    return [one if (copied := _held(one, here)) is None else _without(one, copied) for one in sessions]


def notes(sessions: Sequence[SessionTotals]) -> Iterator[tuple[str, str]]:
    """Give for each file what the reader should know of copied rows in it."""
    here = _by_key(sessions)
    for one in sessions:
        if one.copied is None:
            if one.began is not None:
                yield (
                    one.file,
                    f"session {one.session}: the rows from before {iso(one.began)} are copied from session"
                    f" {one.parent}, which was not read: the totals count them here",
                )
            continue
        until = f"session {one.session}: the rows up to {iso(one.copied.end)} are copied from session {one.parent}"
        if _held(one, here) is not None:
            yield one.file, f"{until}: the totals count them there alone"
        else:
            yield one.file, f"{until}, where they were not found: the totals count them here"


def once(findings: Iterable[Finding], sessions: Sequence[SessionTotals]) -> list[Finding]:
    """Show a finding about copied rows once, in the session where it happened."""
    here = _by_key(sessions)
    until = {key: one.copied.end or 0 for key, all_ in here.items() for one in all_ if one.copied and _held(one, here)}
    found = list(findings)
    first = {(one.agent, one.session or "", *_place(one)): one for one in found}
    kept: list[Finding] = []
    for one in found:
        key = one.agent, one.session or ""
        origin: Finding | None = None
        while key in until and one.end is not None and one.end <= until[key]:
            key = key[0], here[key][0].parent or ""
            origin = first.get((*key, *_place(one)), origin)
        if origin is None:
            kept.append(one)
        else:
            origin.also = sorted({*origin.also, one.file, *one.also} - {origin.file})
    return kept


def _place(one: Finding) -> tuple[str, int | None, int | None]:
    return one.detector, one.start, one.end


def _by_key(sessions: Iterable[SessionTotals]) -> dict[Key, list[SessionTotals]]:
    found: dict[Key, list[SessionTotals]] = {}
    for one in sessions:
        found.setdefault((one.agent, one.session), []).append(one)
    return found


def _held(one: SessionTotals, here: dict[Key, list[SessionTotals]]) -> SessionTotals | None:
    """Give what a session copied from its parent, where that is here and holds it as far as its marks tell."""
    if one.copied is None or one.parent is None or one.parent == one.session:
        return None
    for other in here.get((one.agent, one.parent), ()):
        share = None if one.copied.seen is None or other.seen is None else shared(one.copied.seen, other.seen)
        if share is None or share[0] > 0:
            return one.copied
    return None


def _without(one: SessionTotals, copied: SessionTotals) -> SessionTotals:
    left = {name: _less(getattr(one, name), getattr(copied, name)) for name in _FIGURES}
    errors = None if one.errors is None else _fewer(one.errors, copied.errors or {})
    names = [field.name for field in msgspec.structs.fields(Compactions)]
    tries = {name: _less(getattr(one.compactions, name), getattr(copied.compactions, name)) for name in names}
    compactions = Compactions(**tries)  # type: ignore[arg-type]
    return msgspec.structs.replace(one, errors=errors, compactions=compactions, began=None, copied=None, **left)


def _less(whole: float | None, part: float | None) -> float | None:
    return whole if whole is None or part is None else max(0, round(whole - part, 9))


def _fewer(whole: dict[str, int], part: dict[str, int]) -> dict[str, int]:
    left = {name: count - part.get(name, 0) for name, count in whole.items()}
    return {name: count for name, count in left.items() if count > 0}
