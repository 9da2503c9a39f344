"""Atomic's files beside a session that tell of failed compactions, which the session file itself leaves out.

`<session>-compaction-diagnostic-<ms>-<id>.json` is one failed planner request (`docs/compaction.md` of
bastani-inc/atomic). A planner whose request overflows is asked again on a smaller part, so one attempt can leave
several; any other failure ends the attempt.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import msgspec

from forensics.events import Event, Fault, Outcome
from forensics.parse import rescue
from forensics.parsers._pi import Usage, fault_of, milliseconds
from forensics.patterns import later
from forensics.sane import Count, Millis

NAME = later(r"^(?P<session>.+)-compaction-diagnostic-(?P<ms>\d{10,15})-(?P<id>[^/]*)\.json$")
_RETRIED = "context_overflow"
_SAME_ATTEMPT = 300_000
"""Milliseconds between a failed planner request and the boundary that its attempt may still end with."""


class _Model(msgspec.Struct, gc=False, rename="camel"):
    provider: str | None = None
    id: str | None = None
    api: str | None = None
    context_window: Count | None = None


class Diagnostic(msgspec.Struct, gc=False, rename="camel"):
    """One failed planner request."""

    failure_category: str
    failure_message: str | None = None
    timestamp: datetime | Millis | None = None
    raw_response: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    model: _Model | None = None


_DECODER = msgspec.json.Decoder(Diagnostic)


def decode(data: bytes) -> tuple[Diagnostic | None, str | None]:
    """Decode a side file as far as it fits; the second says what was wrong with it."""
    try:
        return _DECODER.decode(data), None
    except (msgspec.DecodeError, RecursionError):
        records, reason = rescue(data.replace(b"\n", b" "), Diagnostic)
        return next(iter(records), None), reason


def beside(session: Path) -> list[Path]:
    """Give the diagnostic files that belong to a session file, in the order of their times."""
    folder = session.parent
    return list(_by_session(str(folder), folder.stat().st_mtime_ns).get(session.name.removesuffix(".jsonl"), ()))


@lru_cache(maxsize=16)
def _by_session(folder: str, _changed: int) -> dict[str, list[Path]]:
    """List a folder once, however many sessions it holds."""
    found: dict[str, list[tuple[int, Path]]] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if (match := NAME.match(entry.name)) is not None:
                found.setdefault(match["session"], []).append((int(match["ms"]), Path(folder, entry.name)))
    return {session: [path for _, path in sorted(files)] for session, files in found.items()}


def event_of(one: Diagnostic, session: str, path: Path) -> Event:
    """Give the failed attempt that one side file tells of; its record is the file's name."""
    name = NAME.match(path.name)
    outcome, fault = _judged(one)
    usage = one.usage or Usage()
    model = one.model or _Model()
    spent = bool(usage.input or usage.output)
    return Event(
        kind="compacted",
        session=session,
        record=path.name,
        ts=milliseconds(one.timestamp) or (milliseconds(int(name["ms"])) if name else None),
        outcome=outcome,
        fault=fault,
        error=one.failure_message,
        requests=1,
        input=usage.input if spent else None,
        output=usage.output if spent else None,
        cached=(usage.cache_read or 0) + (usage.cache_write or 0) if spent else None,
        reasoning=usage.reasoning if spent else None,
        cost=usage.cost.total if spent and usage.cost else None,
        cap=model.context_window or None,
        cap_source="recorded" if model.context_window else None,
        provider=model.provider,
        model=model.id,
        api=model.api,
        size=None if one.raw_response is None else len(one.raw_response),
        text=one.failure_category,
    )


def _judged(one: Diagnostic) -> tuple[Outcome, Fault | None]:
    """Class a failure: an answer that chose nothing usable made no summary; any other broke the attempt."""
    category = one.failure_category
    if category == "starved" or one.stop_reason == "length":
        return "no-summary", "truncated-summary" if (one.raw_response or "").strip() else "empty-summary"
    if category in {"aborted", "cancelled"} or one.stop_reason == "aborted":
        return "aborted", "cancelled"
    if category == _RETRIED:
        return "failed", "overflow"
    if category.startswith("rate_limit"):
        return "failed", "rate-limit"
    if one.stop_reason in {"stop", "toolUse"}:
        return "no-summary", None
    return "failed", fault_of(one.failure_message or category)


class Attempts:
    """Failed attempts that wait for their place among a session's rows, earliest first."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._waiting = deque(sorted(events, key=lambda event: (event.ts or 0, event.record or "")))

    def before(self, row: Event) -> Iterator[Event]:
        """Yield the failed attempts that lie before the row.

        The last one is joined into the row where the row is the boundary that the same attempt ended with.
        """
        if row.ts is None or row.kind == "session":
            return
        due: list[Event] = []
        while self._waiting and (self._waiting[0].ts or 0) <= row.ts:
            due.append(self._waiting.popleft())
        if not due:
            return
        groups = _attempts(due)
        near = row.ts - (groups[-1][-1].ts or 0) <= _SAME_ATTEMPT
        if row.kind == "compacted" and row.outcome in {"summary", "no-summary"} and near:
            _join(row, groups.pop())
        yield from map(_merged, groups)

    def rest(self) -> Iterator[Event]:
        """Yield the failed attempts after the last row."""
        yield from map(_merged, _attempts(self._waiting))
        self._waiting.clear()


def _attempts(events: Iterable[Event]) -> list[list[Event]]:
    groups: list[list[Event]] = []
    for event in events:
        if groups and groups[-1][-1].text == _RETRIED:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _merged(group: list[Event]) -> Event:
    """Make one attempt of its requests: the last one's words, everyone's tokens."""
    last = group[-1]
    last.requests = len(group)
    _add(last, group[:-1])
    return last


def _join(row: Event, group: list[Event]) -> None:
    row.requests = len(group) + (row.outcome == "summary")
    _add(row, group)
    if row.outcome == "no-summary":
        last = group[-1]
        row.fault, row.error = last.fault, last.error


def _add(row: Event, others: list[Event]) -> None:
    for other in others:
        if other.input is not None:
            row.input = (row.input or 0) + other.input
        if other.cached is not None:
            row.cached = (row.cached or 0) + other.cached
        if other.output is not None:
            row.output = (row.output or 0) + other.output
        if other.cost is not None:
            row.cost = (row.cost or 0.0) + other.cost
