"""Perturbations of a recording: each edit gives the rows with one event changed, added or taken out."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from forensics.attempts import hollow
from forensics.events import GOOD_STOPS, Event
from forensics.timeline import File


class Rows(list[Event]):
    """A recording's rows, with what edits need to know of the whole."""

    @cached_property
    def _copies(self) -> list[Event]:
        return [replace(one) for one in self]

    @cached_property
    def _file(self) -> File:
        return File("", "", "").build(self._copies)

    @cached_property
    def peaks(self) -> dict[str, tuple[int, int]]:
        """The greatest context and the window by session, where both are known."""
        return {one.id: (one.peak, one.cap) for one in self._file.sessions if one.peak is not None and one.cap}

    @cached_property
    def triggers(self) -> frozenset[int]:
        """The positions of the rows that say why a compaction ran, of those that had something to do."""
        place = {id(one): at for at, one in enumerate(self._copies)}
        tries = (one for session in self._file.sessions for one in session.attempts if one.outcome != "skipped")
        said = (next((row for row in one.events if row.trigger), None) for one in tries)
        return frozenset(place[id(row)] for row in said if row is not None)

    @cached_property
    def lasts(self) -> dict[str | None, int]:
        """The position of each session's last row."""
        return {one.session: at for at, one in enumerate(self)}

    @cached_property
    def conversations(self) -> frozenset[str | None]:
        """The sessions in which a person writes."""
        return frozenset(one.session for one in self if _asked(one))


Edit = Callable[[Rows, int], list[Event] | None]
"""Gives the rows with the mutation at that position; `None` where the mutation means nothing there."""


class Mutation(NamedTuple):
    """A kind of mutation: its name, what it does to a recording, and whether the check must fail on it."""

    name: str
    harmful: bool
    """It makes the recording worse or another one; any other mends it, and need only be told."""
    edit: Edit


def _with(rows: list[Event], at: int, *new: Event) -> list[Event]:
    """Put other rows in the place of one."""
    return [*rows[:at], *new, *rows[at + 1 :]]


def _outcome(one: Event) -> str | None:
    if one.kind != "compacted":
        return None
    return "no-summary" if one.outcome == "summary" and hollow(one.text) else one.outcome or "unknown"


def _good(one: Event) -> bool:
    return one.kind == "reply" and one.stop in GOOD_STOPS


def _bad(one: Event) -> bool:
    return one.kind == "reply" and one.stop in {"error", "length", "empty", "filtered"}


def _asked(one: Event) -> bool:
    return one.kind == "prompt" and one.origin == "human"


def drop_summary(rows: Rows, at: int) -> list[Event] | None:
    """Let a compaction that made a summary make none."""
    if _outcome(rows[at]) != "summary":
        return None
    return _with(rows, at, replace(rows[at], outcome="no-summary", fault="empty-summary", text=None))


def fail_compaction(rows: Rows, at: int) -> list[Event] | None:
    """Let a compaction that cut the context fail."""
    if _outcome(rows[at]) not in {"summary", "dropped"}:
        return None
    return _with(rows, at, replace(rows[at], outcome="failed", fault="transport", text=None, after=None))


def mend_compaction(rows: Rows, at: int) -> list[Event] | None:
    """Let a compaction that made no summary make one."""
    if _outcome(rows[at]) not in {"no-summary", "failed"}:
        return None
    return _with(rows, at, replace(rows[at], outcome="summary", fault=None, error=None, text=None))


def swap_outcomes(rows: Rows, at: int) -> list[Event] | None:
    """Exchange the outcomes of a compaction and the next one of its session, where they differ."""
    if _outcome(rows[at]) is None:
        return None
    after = next((i for i in range(at + 1, len(rows)) if _outcome(rows[i]) and rows[i].session == rows[at].session), at)
    one, other = rows[at], rows[after]
    if _outcome(one) == _outcome(other) or "skipped" in {one.outcome, other.outcome}:
        return None
    first = replace(one, outcome=other.outcome, fault=other.fault, text=other.text)
    second = replace(other, outcome=one.outcome, fault=one.fault, text=one.text)
    return _with(_with(rows, at, first), after, second)


def double_cycle(rows: Rows, at: int) -> list[Event] | None:
    """Repeat a compaction, with the failed reply before it."""
    if _outcome(rows[at]) in {None, "skipped"}:
        return None
    first = at
    while (
        first
        and rows[first - 1].session == rows[at].session
        and (rows[first - 1].kind in {"compact", "budget", "retry", "note"} or _bad(rows[first - 1]))
    ):
        first -= 1
    return [*rows[: at + 1], *(replace(one, record=None) for one in rows[first : at + 1]), *rows[at + 1 :]]


def lose_compaction(rows: Rows, at: int) -> list[Event] | None:
    """Take a compaction out, its start included."""
    if _outcome(rows[at]) in {None, "skipped"}:
        return None
    start = next((i for i in range(at - 1, -1, -1) if rows[i].session == rows[at].session and _opens(rows[i])), None)
    opened = start is not None and rows[start].kind == "compact"
    return [one for i, one in enumerate(rows) if i != at and not (opened and i == start)]


def _opens(one: Event) -> bool:
    return one.kind in {"compact", "compacted"}


def change_trigger(rows: Rows, at: int) -> list[Event] | None:
    """Let another cause call for a compaction: the threshold, or an overflow."""
    one = rows[at]
    if at not in rows.triggers or one.trigger not in {"threshold", "overflow"}:
        return None
    return _with(rows, at, replace(one, trigger="overflow" if one.trigger == "threshold" else "threshold"))


def add_continue(rows: Rows, at: int) -> list[Event] | None:
    """Let a reply fail where one ended well, and a person write to get it going again."""
    one = rows[at]
    if not (_good(one) and one.stop == "done" and one.session in rows.conversations):
        return None
    failed = Event(kind="reply", session=one.session, line=one.line, ts=one.ts, stop="error", fault="overloaded")
    asked = Event(
        kind="prompt", session=one.session, line=one.line, ts=one.ts, origin="human", text="continue", digest="continue"
    )
    return _with(rows, at, failed, asked, replace(one))


def _interrupts(rows: Rows, at: int) -> bool:
    """Whether a person wrote though the work before had not ended well."""
    before = (row for row in reversed(rows[:at]) if row.session == rows[at].session and row.kind in {"reply", "prompt"})
    last = next(before, None)
    return _asked(rows[at]) and last is not None and last.stop != "done"


def spare_continue(rows: Rows, at: int) -> list[Event] | None:
    """Let the agent write what a person wrote because work had broken off."""
    return _with(rows, at, replace(rows[at], origin="synthetic")) if _interrupts(rows, at) else None


def fail_reply(rows: Rows, at: int) -> list[Event] | None:
    """Let a reply fail that ended well."""
    return _with(rows, at, replace(rows[at], stop="error", fault="overloaded")) if _good(rows[at]) else None


def cut_reply(rows: Rows, at: int) -> list[Event] | None:
    """Let a reply be cut at the output limit that ended well."""
    return _with(rows, at, replace(rows[at], stop="length")) if _good(rows[at]) else None


def mend_reply(rows: Rows, at: int) -> list[Event] | None:
    """Let a reply end well that did not."""
    return _with(rows, at, replace(rows[at], stop="done", fault=None, error=None)) if _bad(rows[at]) else None


def swap_failures(rows: Rows, at: int) -> list[Event] | None:
    """Exchange a reply that did not end well and the next such one of its session, where they are of two classes."""
    one = rows[at]
    if not _bad(one):
        return None
    after = next((i for i in range(at + 1, len(rows)) if _bad(rows[i]) and rows[i].session == one.session), at)
    other = rows[after]
    if (one.stop, one.fault or "unknown") == (other.stop, other.fault or "unknown"):
        return None
    first = replace(one, stop=other.stop, fault=other.fault, error=other.error)
    second = replace(other, stop=one.stop, fault=one.fault, error=one.error)
    return _with(_with(rows, at, first), after, second)


def raise_peak(rows: Rows, at: int) -> list[Event] | None:
    """Let the greatest context of a session be larger by a quarter of its window or half of itself."""
    one = rows[at]
    peak, cap = rows.peaks.get(one.session or "", (None, 0))
    if one.kind not in {"reply", "budget"} or one.context is None or one.context != peak:
        return None
    return _with(rows, at, replace(one, context=one.context + max(one.context // 2, cap // 4), total=None))


def lose_prompt(rows: Rows, at: int) -> list[Event] | None:
    """Take a person's prompt out: one that asks for something, not one that takes broken work up again."""
    return _with(rows, at) if _asked(rows[at]) and not _interrupts(rows, at) else None


def add_prompt(rows: Rows, at: int) -> list[Event] | None:
    """Let a person ask for something more, and get a reply."""
    one = rows[at]
    if at != rows.lasts[one.session] or not _good(one) or one.session not in rows.conversations:
        return None
    asked = Event(
        kind="prompt", session=one.session, line=one.line, ts=one.ts, origin="human", text="Now sort the other table."
    )
    return _with(rows, at, one, asked, replace(one, stop="done"))


def lose_session(rows: Rows, at: int) -> list[Event] | None:
    """Take a whole session out."""
    name = rows[at].session
    first = next(i for i, one in enumerate(rows) if one.session == name)
    return [one for one in rows if one.session != name] if name is not None and at == first else None


def add_crash(rows: Rows, at: int) -> list[Event] | None:
    """Let the host process end with an error once more."""
    return _with(rows, at, rows[at], replace(rows[at], code=1)) if rows[at].kind == "exit" else None


MUTATIONS: tuple[Mutation, ...] = tuple(
    Mutation(edit.__name__.replace("_", "-"), harmful, edit)
    for edit, harmful in (
        (drop_summary, True),
        (fail_compaction, True),
        (mend_compaction, False),
        (swap_outcomes, True),
        (double_cycle, True),
        (lose_compaction, False),
        (change_trigger, True),
        (add_continue, True),
        (spare_continue, False),
        (fail_reply, True),
        (cut_reply, True),
        (mend_reply, False),
        (swap_failures, True),
        (raise_peak, True),
        (lose_prompt, True),
        (add_prompt, True),
        (lose_session, True),
        (add_crash, True),
    )
)
"""Every kind of mutation, in the order in which they are tried."""
