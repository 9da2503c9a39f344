"""When a finding in a capture is the finding of its source: place, structure, evidence, and names renamed alike."""

from itertools import combinations
from typing import Any

from forensics.capturing.anonymise import Anonymiser
from forensics.detect import Finding, fingerprint


def same_place(one: Finding, other: Finding) -> bool:
    """Whether two findings are the same one: by id, or by session where the id counts rows that may be gone."""
    return one.id == other.id or (not other.records and one.session == other.session)


def same_structure(one: Finding, other: Finding) -> bool:
    """Whether two findings say the same: words, what is known and how; figures may differ."""
    return _structure(one) == _structure(other)


def _structure(one: Finding) -> tuple[Any, ...]:
    words = {name: _kind(value) for name, value in one.measures.items()}
    return one.detector, one.severity, one.confidence, one.agent, words, one.bases, sorted(one.intervals)


def distorted(one: Finding, other: Finding) -> bool:
    """Whether a finding's counts say something else than another's: one that grew, or two no longer the same."""
    before = {name: count for name, count in other.measures.items() if isinstance(count, int)}
    after = {name: count for name, count in one.measures.items() if isinstance(count, int)}
    if any(count > before.get(name, count) for name, count in after.items()):
        return True
    same = [(a, b) for a, b in combinations(before, 2) if before[a] == before[b] and before[a] > 1]
    return any(after.get(a) != after.get(b) for a, b in same)


def _kind(value: Any) -> Any:
    """Give what of a measure is structure: a word, whether a figure is known, whether it is 0."""
    return value if value is None or isinstance(value, str) else value != 0


def renamed(before: Finding, after: Finding, anonymiser: Anonymiser) -> bool:
    """Whether session, evidence and id are those of before under their new names."""
    session = None if before.session is None else anonymiser.id(before.session)
    records = [anonymiser.id(record) for record in before.records]
    if len(before.lines) != len(after.lines) or len(records) != len(after.records):
        return False
    if session is not None and anonymiser.known(before.session or "") and session != after.session:
        return False  # a session that no record names is called after its file
    names = zip(before.records, records, after.records, strict=True)
    if any(new not in {old, name} for old, new, name in names):  # a file beside the session is named by its own time
        return False
    for key, name in zip(before.records, after.records, strict=True):
        if before.id == fingerprint(before.detector, before.agent, before.session, key):
            return after.id == fingerprint(after.detector, after.agent, after.session, name)
    return True


def difference(small: Finding, found: list[Finding]) -> str:
    """Say how what was found differs from what should have been."""
    if not found:
        return "it is gone when the words are"
    names = [name for name, value in small.measures.items() if found[0].measures.get(name) != value]
    return f"without its words it differs in {', '.join(names) or 'its structure'}"
