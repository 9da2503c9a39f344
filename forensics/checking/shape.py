"""The structure of a recording that a second recording of the same thing shares: no ids, lines, times or sizes."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

import msgspec

from forensics.attempts import Attempt
from forensics.checking.conformity import consistent
from forensics.checking.marks import Key, key
from forensics.detect import Finding
from forensics.events import Event
from forensics.scan import Result, SessionTotals
from forensics.timeline import File, Session

_CONTINUES = "manual-continue"


class SessionShape(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="kebab"):
    """One session. `None` is unknown: the format does not show it."""

    prompts: int | None = None
    """Typed by a person; manual continues are not counted, so that a fix that makes them needless changes nothing."""
    manual_continues: int | None = None
    compactions: list[str] = []
    """Attempts in order, as `overflow: no-summary x3`; those that had nothing to do are left out."""
    longest_streak: int = 0
    """The most attempts in a row with no reply that ended well between them."""
    failures: list[str] = []
    """Replies that did not end well, in order, by class, as `overflow x3`; those a person aborted are left out."""
    peak_ratio: float | None = None
    """The greatest context by its window, rounded up to tenths: a bound."""
    findings: list[str] = []
    """As `error compaction-loop at prompt 1, compaction 2`, sorted."""
    conforms_to: list[str] | None = None
    """The policies that the session is consistent with, sorted; `None`: no decision in it tells."""


class Shape(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, rename="kebab"):
    """One recording. Sessions are in the order in which they begin in the file."""

    parser: str
    malformed: int = 0
    crashes: int = 0
    """Exits of the host process with an error."""
    findings: list[str] = []
    """Those that are about no session."""
    session: list[SessionShape] = []


Places = list[tuple[Key, str]]
"""Findings, with where they are in the words of a shape."""


def shape_of(result: Result, file: File, cap: int | None = None) -> Shape:
    """Give the structure of a file that was scanned with all detectors; `cap` is the user's own context window."""
    return shape_and_places(result, file, cap)[0]


def shape_and_places(result: Result, file: File, cap: int | None = None) -> tuple[Shape, list[Places]]:
    """Give the structure of a file, and the places of its findings: those about no session, then by session."""
    input_ = result.input
    assert input_ is not None
    totals = {one.session: one for one in result.sessions}
    loose = [(key(one), f"{one.severity} {one.detector}") for one in result.findings if one.session not in totals]
    places = [_places(one, [f for f in result.findings if f.session == one.id]) for one in file.sessions]
    shape = Shape(
        parser=input_.parser,
        malformed=len(input_.malformed),
        crashes=sum(one.kind == "exit" and one.code not in {0, None} for one in file.host),
        findings=_counted(words for _, words in loose),
        session=[
            _session(one, totals[one.id], where, consistent(one, input_, cap))
            for one, where in zip(file.sessions, places, strict=True)
        ],
    )
    return shape, [loose, *places]


def _session(session: Session, totals: SessionTotals, places: Places, policies: list[str] | None) -> SessionShape:
    tries = _tries(session)
    continues = totals.manual_continues
    return SessionShape(
        prompts=None if totals.prompts is None else totals.prompts - (continues or 0),
        manual_continues=continues,
        compactions=in_runs(map(_words, tries)),
        longest_streak=streak(tries),
        failures=in_runs(_class(one) for one in session.events if _failed(one)),
        peak_ratio=bound(totals.peak_ratio),
        findings=_counted(words for _, words in places),
        conforms_to=policies,
    )


def _tries(session: Session) -> list[Attempt]:
    return [one for one in session.attempts if one.outcome != "skipped"]


def _words(one: Attempt) -> str:
    return one.outcome if one.trigger == "unknown" else f"{one.trigger}: {one.outcome}"


def streak(tries: Sequence[Attempt]) -> int:
    """Give the most attempts in a row with no reply that ended well between them."""
    longest = length = min(len(tries), 1)
    for one, after in pairwise(tries):
        length = length + 1 if after.first.nth == one.last.nth else 1
        longest = max(longest, length)
    return longest


def bound(ratio: float | None) -> float | None:
    """Round up to tenths, so that a second recording, never equal to a token, stays within."""
    return None if ratio is None else math.ceil(ratio * 10 - 1e-9) / 10


def _failed(one: Event) -> bool:
    return one.kind == "reply" and one.stop in {"error", "length", "empty", "filtered"}


def _class(one: Event) -> str:
    return (one.fault or "unknown") if one.stop == "error" else str(one.stop)


def in_runs(words: Iterable[str]) -> list[str]:
    """Write equal words in a row once, with their number."""
    return [_times(word, len(list(same))) for word, same in groupby(words)]


def _counted(words: Iterable[str]) -> list[str]:
    """Write equal words once, sorted, with their number."""
    return [_times(word, count) for word, count in sorted(Counter(words).items())]


def _times(word: str, count: int) -> str:
    return word if count == 1 else f"{word} x{count}"


def expanded(words: Iterable[str]) -> list[str]:
    """Undo the counting of words. Raises `ValueError` where the number is none."""
    found: list[str] = []
    for one in words:
        word, times, count = one.rpartition(" x")
        found += [word] * int(count) if times and count.isdecimal() else [one]
    return found


def _places(session: Session, findings: Sequence[Finding]) -> Places:
    """Say where each finding is: after the person's nth prompt, and at the nth compaction where it shows one."""
    lines = {one.line: one for one in session.events if one.line is not None}
    records = {one.record: one for one in session.events if one.record is not None}
    evidence = {
        id(one): sorted(
            {
                row.seq: row
                for row in (*map(lines.get, one.lines), *map(records.get, one.records if not one.lines else ()))
                if row is not None
            }.items()
        )
        for one in findings
    }
    continued = {
        seq
        for one in findings
        if one.detector == _CONTINUES
        for seq, row in evidence[id(one)]
        if row.kind == "prompt" and row.origin == "human"
    }
    prompts = [
        one.seq for one in session.events if one.kind == "prompt" and one.origin == "human" and one.seq not in continued
    ]
    attempt = {row.seq: number for number, one in enumerate(_tries(session), 1) for row in one.events}
    found: Places = []
    for one in findings:
        rows = [seq for seq, _ in evidence[id(one)]]
        place = [f"prompt {bisect_right(prompts, rows[0])}"] if rows and prompts else []
        place += [f"compaction {attempt[seq]}" for seq in rows if seq in attempt][:1]
        words = f"{one.severity} {one.detector}" + (f" at {', '.join(place)}" if place else "")
        found.append((key(one), words))
    return found
