"""Bounds that people write by hand, `[tool.forensics.expect]`: what must hold of all that is checked, or of a path."""

from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import msgspec

from forensics.checking.named import there
from forensics.config import Settings, UsageError, nearest
from forensics.proof.properties import PROPERTIES
from forensics.replay import PolicyError, find
from forensics.scan import SessionTotals


class Expectations(
    msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True
):
    """What must hold. `None` and empty: nothing is asked."""

    max_compactions_per_prompt: int | None = None
    """In every session: automatic compaction attempts between two prompts of a person."""
    max_no_summary_rate: float | None = None
    """Over all sessions: of the compaction attempts that wanted a summary, those that made none."""
    max_manual_continues: int | None = None
    """Over all sessions."""
    max_context_ratio: float | None = None
    """In every session: the greatest context by its window."""
    conforms_to: str | None = None
    """In every session: no decision departs from this policy."""
    proved: tuple[str, ...] = ()
    """Properties that this policy has been proved to have, over all failures."""


KEYS = tuple(field.encode_name for field in msgspec.structs.fields(Expectations))


class Group(NamedTuple):
    """Expectations of the sessions in files that match a pattern; `None`: of all.

    A key that stands with a pattern replaces the one for all in its files; `waived` ones are not asked there.
    """

    pattern: str | None
    asked: Expectations
    waived: frozenset[str] = frozenset()

    def says(self, key: str) -> bool:
        """Whether the group has a word on that key."""
        value = getattr(self.asked, key.replace("-", "_"))
        return key in self.waived or not (value is None or value == ())

    def covers(self, one: SessionTotals) -> bool:
        """Whether the session is in a file that is meant."""
        return self.pattern is None or fnmatchcase(one.file, self.pattern)


def of_settings(asked: Settings) -> list[Group]:
    """Read the expectations of the settings. Raises `UsageError`."""
    if "expect" not in asked:
        return []
    place, given = asked["expect"]
    return groups(given, place)


def groups(given: Any, place: str) -> list[Group]:
    """Read the expectations found at `place`: bounds, and tables of bounds by path. Raises `UsageError`."""
    if not isinstance(given, dict):
        raise UsageError(f"{place}: is not a table; write [tool.forensics.expect]")
    own = {key: value for key, value in given.items() if not isinstance(value, dict)}
    found = [_group(None, own, place)] if own else []
    return found + [
        _group(pattern, inner, f"{place}.{pattern}")
        for pattern, inner in sorted(given.items())
        if isinstance(inner, dict)
    ]


def _group(pattern: str | None, given: dict[str, Any], place: str) -> Group:
    """Read one table; `false` waives a bound."""
    for key in given:
        if key not in KEYS:
            raise UsageError(f"{place}: unknown key {key!r}; {nearest(key, KEYS)}")
    waived = frozenset(key for key, value in given.items() if value is False)
    return Group(pattern, _read({key: value for key, value in given.items() if key not in waived}, place), waived)


def _read(given: dict[str, Any], place: str) -> Expectations:
    try:
        found = msgspec.convert(given, Expectations)
    except msgspec.ValidationError as error:
        raise UsageError(f"{place}: {error}; correct it") from error
    for key in KEYS:
        value = getattr(found, key.replace("-", "_"))
        if isinstance(value, (int, float)) and not 0 <= value < float("inf"):
            raise UsageError(f"{place}: {key}: {value} does not fit; give a number from 0")
    for name in found.proved:
        if name not in PROPERTIES:
            raise UsageError(f"{place}: proved: unknown property {name!r}; {nearest(name, PROPERTIES)}")
    if found.proved and found.conforms_to is None:
        raise UsageError(f"{place}: proved: of which policy? name it with conforms-to")
    if found.conforms_to is not None:
        try:
            there([found.conforms_to])
            find(found.conforms_to)
        except PolicyError as error:
            raise UsageError(f"{place}: conforms-to: {error}") from error
    return found
