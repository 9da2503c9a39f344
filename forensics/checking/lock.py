"""What a recording is held to: its structure, written beside it by `forensics lock` and compared by `check`."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from forensics.checking.shape import SessionShape, Shape, expanded, in_runs
from forensics.config import UsageError
from forensics.detect import SEVERITIES
from forensics.inputs import LOCK
from forensics.remark import Change

VERSION = 1
_HEAD = (
    "# What `forensics check` holds {name} to: counts and bounds, no ids, lines or times.\n"
    "# Accept another state of it with: forensics lock {name}\n"
)
HARMLESS: frozenset[Change] = frozenset({"better", "gone"})
"""Differences that are told and do not fail."""
_SLACK = 0.75
"""A peak under this part of its bound is told as better: less is the noise of a second recording."""


class Difference(NamedTuple):
    """Where a recording departs from its lock. Whatever is neither better nor gone fails."""

    change: Change
    name: str
    message: str

    @property
    def fails(self) -> bool:
        """Whether the check fails on it."""
        return self.change not in HARMLESS


def place(path: Path) -> Path:
    """Give the lock's place beside a recording."""
    return path.with_name(path.name + LOCK)


def dump(shape: Shape, name: str) -> str:
    """Write a lock as TOML: sorted, without what is empty."""
    content = msgspec.to_builtins(shape)
    sessions = content.pop("session", [])
    lines = [_HEAD.format(name=json.dumps(name)[1:-1]) + f"version = {VERSION}"]
    lines += [f"{key} = {_value(value)}" for key, value in content.items()]
    for one in sessions:
        lines += ["", "[[session]]", *(f"{key} = {_value(value)}" for key, value in one.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list):
        parts = [json.dumps(one) for one in value]
        text = f"[{', '.join(parts)}]"
        return text if len(text) <= 90 else "[\n" + "".join(f"    {one},\n" for one in parts) + "]"
    return json.dumps(value)


def load(path: Path) -> Shape:
    """Read a lock. Raises `UsageError`."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        version = content.pop("version", None)
        shape = msgspec.convert(content, Shape)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: not a lock: {error}; correct it, or make a new one with forensics lock") from error
    if version != VERSION:
        raise UsageError(f"{path}: version {version} of locks is not known; make a new one with forensics lock")
    return shape


def compare(lock: Shape, now: Shape) -> list[Difference]:
    """Give every difference, the recording's first, then session by session."""
    found: list[Difference] = []
    if lock.parser != now.parser:
        found.append(Difference("changed", "parser", f"{lock.parser} -> {now.parser}"))
    found += _count("malformed lines", lock.malformed, now.malformed)
    found += _count("process exits with an error", lock.crashes, now.crashes)
    found += _findings("", lock.findings, now.findings, fewer=False)
    if len(lock.session) != len(now.session):
        found.append(Difference("changed", "sessions", f"{len(lock.session)} -> {len(now.session)}"))
    many = len(lock.session) > 1
    for number, (one, other) in enumerate(zip(lock.session, now.session, strict=False), 1):
        found += _session(f"session {number}, " if many else "", one, other)
    return found


def _session(where: str, lock: SessionShape, now: SessionShape) -> Iterator[Difference]:
    if lock.prompts is not None and lock.prompts != now.prompts:
        yield Difference("changed", f"{where}prompts", f"{_known(lock.prompts)} -> {_known(now.prompts)}")
    yield from _count(f"{where}manual continues", lock.manual_continues, now.manual_continues)
    yield from _compactions(where, expanded(lock.compactions), expanded(now.compactions))
    yield from _count(f"{where}longest streak", lock.longest_streak, now.longest_streak)
    yield from _failures(where, expanded(lock.failures), expanded(now.failures))
    yield from _peak(f"{where}peak ratio", lock.peak_ratio, now.peak_ratio)
    fewer = len(expanded(now.compactions)) < len(expanded(lock.compactions))
    yield from _findings(where, lock.findings, now.findings, fewer=fewer)
    yield from _policies(f"{where}conforms to", lock.conforms_to, now.conforms_to)


def _known(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _count(name: str, was: float | None, now: float | None) -> Iterator[Difference]:
    """More is worse, less is better. What the lock does not say is not held; what is not known now is not judged."""
    if was is None or was == now:
        return
    change: Change = "unjudged" if now is None else "worse" if now > was else "better"
    yield Difference(change, name, f"{_known(was)} -> {_known(now)}")


def _peak(name: str, most: float | None, now: float | None) -> Iterator[Difference]:
    if most is None or now is None:
        yield from _count(name, most, now)
    elif now > most:
        yield Difference("worse", name, f"at most {most:g} -> {now:g}")
    elif now < most * _SLACK:
        yield Difference("better", name, f"at most {most:g} -> {now:g}")


def _compactions(where: str, lock: list[str], now: list[str]) -> Iterator[Difference]:
    """Judge how many there are and how many of them made no summary; else tell another order or trigger."""
    was, is_ = Counter(map(_outcome, lock)), Counter(map(_outcome, now))
    found = list(_count(f"{where}compactions", len(lock), len(now)))
    for outcome in sorted((was | is_).keys() - {"summary"}):
        found += _count(f"{where}{outcome} compactions", was[outcome], is_[outcome])
    if not found and lock != now:
        first = next(at for at, (one, other) in enumerate(zip(lock, now, strict=True)) if one != other)
        found.append(Difference("changed", f"{where}compaction {first + 1}", f"{lock[first]} -> {now[first]}"))
    yield from found


def _failures(where: str, lock: list[str], now: list[str]) -> Iterator[Difference]:
    """Judge how many there are of each class; where none has more, tell another order of those that are left."""
    was, is_ = Counter(lock), Counter(now)
    for name in sorted(was | is_):
        yield from _count(f"{where}{name} replies", was[name], is_[name])
    if is_ <= was:
        rest = iter(lock)
        first = next((at for at, one in enumerate(now) if one not in rest), None)
        if first is not None:
            yield Difference("changed", f"{where}failure {first + 1}", f"{_listed(lock)} -> {_listed(now)}")


def _listed(words: list[str]) -> str:
    return ", ".join(in_runs(words))


def _outcome(words: str) -> str:
    return words.rpartition(": ")[2]


class _Place(NamedTuple):
    detector: str
    severity: str
    prompt: str
    compaction: str


def _place(words: str) -> _Place:
    what, _, where = words.partition(" at ")
    severity, _, detector = what.partition(" ")
    parts = where.split(", ")
    return _Place(
        detector,
        severity,
        next((one for one in parts if one.startswith("prompt ")), ""),
        next((one for one in parts if one.startswith("compaction ")), ""),
    )


def _findings(where: str, lock: list[str], now: list[str], *, fewer: bool) -> Iterator[Difference]:
    """Pair what is no more with what is new: of the same place, then of the same prompt; the rest is gone or new.

    `fewer`: there are fewer compactions, so one that comes later may be the same.
    """
    was, is_ = Counter(expanded(lock)), Counter(expanded(now))
    gone = [_place(one) for one in sorted((was - is_).elements())]
    new = [_place(one) for one in sorted((is_ - was).elements())]
    for blank in ({"severity": ""}, {"severity": "", "compaction": ""}):
        for one in list(gone):
            other = next((two for two in new if two._replace(**blank) == one._replace(**blank)), None)
            if other is None:
                continue
            gone.remove(one)
            new.remove(other)
            yield Difference(_moved(one, other, fewer=fewer), f"{where}{one.detector}", f"{_at(one)} -> {_at(other)}")
    for one in gone:
        yield Difference("gone", f"{where}{one.detector}", _at(one))
    for one in new:
        yield Difference("new", f"{where}{one.detector}", _at(one))


def _moved(one: _Place, other: _Place, *, fewer: bool) -> Change:
    rise = _rank(one.severity) - _rank(other.severity)
    if rise:
        return "worse" if rise > 0 else "better"
    return "better" if fewer else "changed"


def _rank(severity: str) -> int:
    known: tuple[str, ...] = SEVERITIES
    return known.index(severity) if severity in known else len(known)


def _at(one: _Place) -> str:
    where = ", ".join(part for part in (one.prompt, one.compaction) if part)
    return f"{one.severity} at {where}" if where else one.severity


def _policies(name: str, was: list[str] | None, now: list[str] | None) -> Iterator[Difference]:
    """Tell of policies lost: worse, unless others came in their place, for another version of the agent does that."""
    if was is None or was == now:
        return
    if now is None:
        yield Difference("unjudged", name, f"{', '.join(was) or 'no policy'} -> unknown")
        return
    won, lost = sorted(set(now) - set(was)), sorted(set(was) - set(now))
    if lost:
        yield Difference("gone" if won else "worse", name, f"no longer {', '.join(lost)}")
    if won:
        yield Difference("better", name, f"now {', '.join(won)}")
