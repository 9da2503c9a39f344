"""Findings that are accepted: a baseline file of them. Marked, never removed; a measure that got worse is told."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

import forensics
from forensics.checking.worse import Shift, judged, shifts, words
from forensics.config import UsageError
from forensics.detect import Finding, Value
from forensics.inputs import BASELINE
from forensics.remark import Change, Remark
from forensics.summary import HELD_BY_BASELINE, Marked
from forensics.times import day, expired

NAME = BASELINE
VERSION = 1


class Entry(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One accepted finding. `expires` is a day (UTC); the entry holds through that day."""

    fingerprint: str
    detector: str
    session: str | None
    reason: str | None = None
    expires: str | None = None
    measures: dict[str, Value] = {}
    """The measures that can get better or worse, as they were accepted."""


class Baseline(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A baseline file. Entries are sorted; several of one fingerprint accept as many findings."""

    version: int
    tool_version: str
    entries: list[Entry]


def load(path: Path) -> Baseline:
    """Read a baseline. Raises `UsageError`."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Baseline)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; make one: forensics baseline create") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a baseline: {error}; correct it, or make a new one") from error
    if found.version != VERSION:
        raise UsageError(f"{path}: version {found.version} of baselines is not known; this program writes {VERSION}")
    for one in found.entries:
        if one.expires is not None:
            try:
                day(one.expires)
            except ValueError as error:
                raise UsageError(
                    f"{path}: {one.fingerprint}: expires: {one.expires!r} does not fit; {error}"
                ) from error
    return found


def dump(baseline: Baseline) -> bytes:
    """Write a baseline: sorted, indented, the same bytes for the same content."""
    entries = sorted(baseline.entries, key=_order)
    content = msgspec.structs.replace(baseline, tool_version=forensics.__version__, entries=entries)
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def _order(one: Entry) -> tuple[str, str, str, bytes]:
    return one.detector, one.session or "", one.fingerprint, msgspec.json.encode(one)


def entry_of(finding: Finding, reason: str | None = None, expires: str | None = None) -> Entry:
    """Accept a finding as it is."""
    return Entry(
        fingerprint=finding.id,
        detector=finding.detector,
        session=finding.session,
        reason=reason,
        expires=expires,
        measures=judged(finding.measures),
    )


class Pairs(NamedTuple):
    """Findings held against entries: each entry accepts one finding of its fingerprint at most."""

    matched: list[tuple[Finding, Entry]]
    new: list[Finding]
    unused: list[Entry]


def pair(findings: Sequence[Finding], entries: Iterable[Entry]) -> Pairs:
    """Match findings with entries by fingerprint; where several share one, those of the same measures first."""
    waiting: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=_order):
        waiting[entry.fingerprint].append(entry)
    partner: dict[int, Entry] = {}
    for most in (0, None):
        for at, one in enumerate(findings):
            left = waiting[one.id]
            if at in partner or not left:
                continue
            cost, best = min((_distance(entry, one), place) for place, entry in enumerate(left))
            if most is None or cost[1] <= most:
                partner[at] = left.pop(best)
    matched = [(one, partner[at]) for at, one in enumerate(findings) if at in partner]
    new = [one for at, one in enumerate(findings) if at not in partner]
    return Pairs(matched, new, sorted((one for left in waiting.values() for one in left), key=_order))


def _distance(entry: Entry, finding: Finding) -> tuple[int, int]:
    moved = list(shifts(entry.measures, finding.measures))
    return sum(one.change == "worse" for one in moved), len(moved)


class Seen(NamedTuple):
    """What a run could have found: the detectors that ran, the sessions that were read."""

    detectors: Collection[str]
    sessions: Collection[str]

    def covers(self, entry: Entry) -> bool:
        """Whether the entry's finding would have been found, had it still been there.

        A finding about a host process carries no session, so nobody can say whether its file was read.
        """
        return entry.detector in self.detectors and entry.session in self.sessions


def mark(findings: Sequence[Finding], baseline: Baseline, seen: Seen, now: int, accept: str) -> Marked:
    """Set the findings' states by the baseline; `accept` is the command that accepts what is new or worse."""
    pairs = pair(findings, baseline.entries)
    states: dict[int, Finding] = {id(one): one for one in findings}
    remarks: list[Remark] = []
    for one, entry in pairs.matched:
        moved = list(shifts(entry.measures, one.measures))
        if expired(entry.expires, now):
            remarks.append(_remark(entry, "expired", f"accepted until {entry.expires}: counts as new", one.file))
            continue
        worse = [shift for shift in moved if shift.change == "worse"]
        reason = "; ".join(filter(None, [*map(words, worse), entry.reason])) or HELD_BY_BASELINE
        states[id(one)] = msgspec.structs.replace(one, state="worse" if worse else "baselined", reason=reason)
        remarks.extend(_shift(shift, entry, one, accept) for shift in moved)
    remarks += [_unused(entry, seen) for entry in pairs.unused]
    return Marked([states[id(one)] for one in findings], [], remarks)


def _shift(shift: Shift, entry: Entry, finding: Finding, accept: str) -> Remark:
    """Tell of a measure; a worse one fails with its finding, by the rule for findings."""
    why = " (it was known when it was accepted)" if shift.change == "unjudged" else ""
    message = f"{entry.detector}: {words(shift)}{why}"
    return Remark(
        topic="baseline",
        change=shift.change,
        fails=False,
        name=entry.fingerprint,
        message=message,
        file=finding.file,
        session=entry.session,
        accept=accept,
    )


def _unused(entry: Entry, seen: Seen) -> Remark:
    if seen.covers(entry):
        return _remark(entry, "gone", f"{entry.detector}: no longer found; forensics baseline prune takes it out")
    return _remark(
        entry, "unseen", f"{entry.detector}: its file or detector was, as far as one can tell, not part of this run"
    )


def _remark(entry: Entry, change: Change, message: str, file: str | None = None) -> Remark:
    text = message if message.startswith(f"{entry.detector}:") else f"{entry.detector}: {message}"
    return Remark(
        topic="baseline",
        change=change,
        fails=False,
        name=entry.fingerprint,
        message=text,
        file=file,
        session=entry.session,
    )


class Changed(NamedTuple):
    """A baseline after a change, and what the change did, in words."""

    baseline: Baseline
    told: list[str]


def updated(
    old: Baseline, findings: Sequence[Finding], now: int, reason: str | None = None, expires: str | None = None
) -> Changed:
    """Take in new findings and the measures as they are; reasons and days stay, and nothing is taken out.

    An entry whose day is over is given the new day `expires`, and stays as it is where there is none.
    """
    pairs = pair(findings, old.entries)
    entries = [*pairs.unused, *(entry_of(one, reason, expires) for one in pairs.new)]
    told = {"taken in": len(pairs.new), "with other measures": 0, "renewed": 0, "expired": 0, "not found now": 0}
    told["not found now"] = len(pairs.unused)
    for one, entry in pairs.matched:
        over = expired(entry.expires, now)
        if over and expires is None:
            told["expired"] += 1
            entries.append(entry)
            continue
        fresh = entry_of(one, reason if over and reason else entry.reason, expires if over else entry.expires)
        told["renewed" if over else "with other measures"] += fresh.measures != entry.measures or over
        entries.append(fresh)
    return Changed(msgspec.structs.replace(old, entries=entries), [f"{n:,} {what}" for what, n in told.items() if n])


def pruned(old: Baseline, findings: Sequence[Finding], seen: Seen, *, unread: bool = False) -> Changed:
    """Take out the entries that match no finding; those of what was not read only with `unread`."""
    gone = [one for one in pair(findings, old.entries).unused if unread or seen.covers(one)]
    left = list(old.entries)
    for one in gone:
        left.remove(one)
    return Changed(msgspec.structs.replace(old, entries=left), [f"{len(gone):,} taken out"])


def empty() -> Baseline:
    """Give a baseline that accepts nothing."""
    return Baseline(version=VERSION, tool_version=forensics.__version__, entries=[])
