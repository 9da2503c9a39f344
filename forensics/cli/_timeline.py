"""A session as text for the screen: a heading, its context as a line of blocks, and a row for each thing."""

import io
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from forensics.events import GOOD_STOPS, Event
from forensics.incident.evidence import words
from forensics.reports._words import duration, span, sparkline
from forensics.safe import plain
from forensics.timeline import File, Session
from forensics.times import moment

Clean = Callable[[str], str]
Around = int | str | None
"""The row asked for: a line, or the end of a record's id."""
_AROUND = 10
_FIRST_WORDS = 60
_ID = 12
"""Characters of a record's id that are shown: its end, which tells it from its neighbours."""
_FEWEST_ALIKE = 3
_COLORS = {"compactions": "cyan", "failures": "red", "prompts": "magenta", "exits": "bold red"}
_SIGNS = {
    "compactions": "◆", "failures": "✖", "prompts": "▶", "exits": "■", "budgets": "·", "tools": "·", "replies": "·",
    "notes": "·",
}  # fmt: skip
_ASCII = {"compactions": "C", "failures": "x", "prompts": ">", "exits": "!"}


def topic(event: Event) -> str:
    """Give the kind of row that `--only` knows it by."""
    if event.kind in {"compact", "compacted"}:
        return "compactions"
    if event.kind == "reply":
        return "replies" if event.stop in GOOD_STOPS or event.stop is None else "failures"
    names = {"prompt": "prompts", "spawn": "exits", "exit": "exits", "budget": "budgets", "tool": "tools"}
    return names.get(event.kind, "failures" if event.kind == "retry" else "notes")


def show(
    file: File,
    *,
    around: Around,
    only: frozenset[str] | None,
    clean: Clean | None,
    width: int,
    color: bool,
    ascii_only: bool,
) -> str | None:
    """Draw every session of the file, and its process; `None` when no row stands at the line asked for."""
    out = io.StringIO()
    console = Console(
        file=out, width=max(width, 40), force_terminal=color, color_system="standard" if color else None,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    screen = _Screen(console, clean, ascii_only=ascii_only)
    shown = 0
    for session in _holding(file, around):
        events = session.events if session else file.host
        chosen = _chosen(events, around, only)
        if not chosen:
            continue
        shown += len(chosen)
        screen.heading(file, session)
        screen.rows(chosen, session, around)
    if around is not None and not shown:
        return None
    if not shown:
        screen.line("no rows of this kind", "dim")
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _is_at(row: Event, around: Around) -> bool:
    return row.line == around if isinstance(around, int) else bool(around and (row.record or "").endswith(around))


def _holding(file: File, around: Around) -> list[Session | None]:
    """Give the session, or the process, that has the row; where none has, those that have folded rows at its line.

    Where neither tells, all are given.
    """
    tracks: list[Session | None] = [*file.sessions, None]
    if around is None:
        return tracks
    held = [one for one in tracks if any(_is_at(row, around) for row in (one.events if one else file.host))]
    if held or isinstance(around, str):
        return held
    return [one for one in file.sessions if _folds(one.events, around)] or tracks


def _folds(events: list[Event], line: int) -> bool:
    """Whether good replies are folded between the rows on either side of the line."""
    lined = [one for one in events if one.line is not None]
    at = bisect_left(lined, line, key=lambda one: one.line or 0)
    return 0 < at < len(lined) and _folded(lined[at - 1], lined[at]) > 0


class _Alike(NamedTuple):
    """Rows that are left out, for they are like those on either side: so many failed replies and budget checks."""

    failed: int
    checks: int
    last: Event


def _shortened(events: list[Event], keep: Around) -> Iterator[Event | _Alike]:
    """Fold what lies between the first and the last of identical failed replies with nothing but budget checks between.

    The row asked for, `keep`, is never folded.
    """
    at = 0
    while at < len(events):
        same = _alike(events, at)
        inner = events[at + 1 : same[-1]] if len(same) >= _FEWEST_ALIKE else []
        yield events[at]
        if inner and not any(keep is not None and _is_at(one, keep) for one in inner):
            yield _Alike(len(same) - 2, len(inner) - len(same) + 2, inner[-1])
            at = same[-1]
        else:
            at += 1


def _alike(events: list[Event], first: int) -> list[int]:
    """Give the places of the failed replies from `first` on that say the same, one after another."""
    said = words(events[first])
    found = [first]
    if topic(events[first]) != "failures":
        return found
    for at in range(first + 1, len(events)):
        if topic(events[at]) == "failures" and words(events[at]) == said:
            found.append(at)
        elif events[at].kind != "budget" or events[at].text:
            break
    return found


def _chosen(events: list[Event], around: Around, only: frozenset[str] | None) -> list[Event]:
    found = [one for one in events if only is None or topic(one) in only]
    if around is None:
        return found
    if isinstance(around, str):
        places = [at for at, one in enumerate(found) if _is_at(one, around)]
        return found[max(0, places[0] - _AROUND) : places[-1] + _AROUND + 1] if places else []
    lines = [at for at, one in enumerate(found) if one.line is not None and one.line <= around]
    after = [at for at, one in enumerate(found) if one.line is not None and one.line >= around]
    if not lines or not after:
        return []
    middle = lines[-1]
    return found[max(0, middle - _AROUND) : middle + _AROUND + 1]


class _Screen:
    def __init__(self, console: Console, clean: Clean | None, *, ascii_only: bool) -> None:
        self._console = console
        self._clean = clean
        self._ascii = ascii_only
        self._first = True
        self._shared: frozenset[int] = frozenset()
        """The lines that hold several records."""

    def line(self, words_: str, style: str = "") -> None:
        self._console.print(Text(plain(self._cleaned(words_)), style=style))

    def _cleaned(self, text: str) -> str:
        return self._clean(text) if self._clean else text

    def heading(self, file: File, session: Session | None) -> None:
        if not self._first:
            self._console.print()
        self._first = False
        if session is None:
            self.line(f"{file.agent}, host process ({file.name})", "bold underline")
            return
        version = f" {session.version}" if session.version else ""
        self.line(f"{session.agent}{version}, session {session.id} ({file.name})", "bold underline")
        when = span(session.start, session.end)
        replies = f"{session.good:,} good {'reply' if session.good == 1 else 'replies'}"
        self.line(f"{f'{when} UTC' if when else 'no times on record'}, {replies}", "dim")
        if session.peak is not None:
            drawn = sparkline(session.contexts(60), session.cap, width=60, ascii_only=self._ascii)
            cap = f" of {session.cap:,}" if session.cap else ""
            self.line(f"{drawn} context peak {session.peak:,}{cap} tokens", "blue")

    def rows(self, chosen: list[Event], session: Session | None, around: Around) -> None:
        self._shared = _shared(chosen)
        width = max((len(self._place(one)) for one in chosen), default=1)
        before: Event | None = None
        day = ""
        for event in _shortened(chosen, around):
            if isinstance(event, _Alike):
                checks = (
                    f", and {event.checks:,} budget check{'' if event.checks == 1 else 's'}" if event.checks else ""
                )
                self.line(f"{'':{width}}           {event.failed:,} more of the same{checks}", "dim")
                before = event.last
                continue
            for words_ in _between(before, event, session):
                self.line(f"{'':{width}}           {words_}", "dim")
            time = moment(event.ts)
            if time is not None and time.strftime("%Y-%m-%d") != day:
                day = time.strftime("%Y-%m-%d")
                self.line(f"{'':{width}}  {day}", "dim")
            self._row(event, width, time.strftime("%H:%M:%S") if time else "        ")
            before = event

    def _place(self, event: Event) -> str:
        record = plain(self._cleaned(event.record or "")).strip()[-_ID:]
        if event.line is None or event.line in self._shared:
            return record if event.line is None else f"{event.line} {record:>{_ID}}"
        return f"{event.line}"

    def _row(self, event: Event, width: int, time: str) -> None:
        kind = topic(event)
        sign = _ASCII.get(kind, ".") if self._ascii else _SIGNS[kind]
        text = words(event)
        if event.text and event.kind in {"prompt", "note"} and self._clean is None:
            first = " ".join(event.text.split())
            text += f": {first[:_FIRST_WORDS]}{'…' if len(first) > _FIRST_WORDS else ''}"
        elif event.text and event.kind == "budget" and self._clean is None:
            text += f" ({event.text[:_FIRST_WORDS]})"
        head = f"{self._place(event):>{width}}  {time} {sign} "
        room = max(self._console.width - len(head), 20)
        style = _COLORS.get(kind, "")
        lines = Text(plain(self._cleaned(text)), style=style).wrap(self._console, room)
        for at, line in enumerate(lines):
            start = head if at == 0 else " " * len(head)
            self._console.print(Text(start, style="dim" if at else style) + line)


def _shared(events: list[Event]) -> frozenset[int]:
    """Give the lines that do not tell their rows apart: those with several records."""
    pairs = {(one.line, one.record) for one in events if one.line is not None and one.record is not None}
    return frozenset(line for line, times in Counter(line for line, _ in pairs).items() if times > 1)


def _folded(before: Event, event: Event) -> int:
    return event.nth - before.nth - (before.kind == "reply" and before.stop in GOOD_STOPS)


def _between(before: Event | None, event: Event, session: Session | None) -> Iterator[str]:
    """Say what lies folded between two rows: good replies, and a silence."""
    if before is None:
        return
    folded = _folded(before, event) if session else 0
    parts: list[str] = []
    if folded > 0:
        parts.append(f"{folded:,} more good {'reply' if folded == 1 else 'replies'}")
    if before.ts is not None and event.ts is not None and event.ts - before.ts >= 60_000 and not folded:
        parts.append(f"{duration((event.ts - before.ts) / 1000)} later")
    if parts:
        yield ", ".join(parts)
