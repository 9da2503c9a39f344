"""What a comparison of before and after consists of."""

from typing import Literal

import msgspec

from forensics.rates import Interval
from forensics.summary import Verdict

SCHEMA_VERSION = 1
Judgement = Literal["better", "worse", "unclear", "unknown"]
"""`unclear`: the difference may be chance. `unknown`: one side has nothing to count."""


class Part(msgspec.Struct, kw_only=True):
    """One side of a figure. A mean has a total and no hits."""

    value: float | None
    hits: float
    tries: int
    sessions: int
    unknown: int
    """Sessions whose files do not show it, and are in no other number here."""
    interval: Interval | None


class Figure(msgspec.Struct, kw_only=True):
    """A rate or a mean, before and after."""

    name: str
    unit: Literal["rate", "seconds"]
    of: str
    """What is counted by: the denominator in words."""
    before: Part
    after: Part
    change: Interval | None
    """95 % interval of after - before."""
    chance: float | None
    """Of a fall at least this great if nothing had changed, for rates that fell."""
    judgement: Judgement
    answer: str
    """Whether it is fixed, and how sure that is, in words."""


class Group(msgspec.Struct, kw_only=True):
    """The figures of the sessions of one version of an agent; either side may have none."""

    agent: str
    version: str | None
    sessions: tuple[int, int]
    figures: list[Figure]


class Change(msgspec.Struct, kw_only=True):
    """A finding that is new, gone, worse or better in a session that both sides have."""

    change: Literal["new", "gone", "worse", "better"]
    detector: str
    severity: str
    session: str | None
    message: str


class Structure(msgspec.Struct, kw_only=True):
    """How a recording differs from the one of the same name before, in the words of locks."""

    file: str
    change: str
    name: str
    message: str


class Diff(msgspec.Struct, kw_only=True):
    """All that a comparison says."""

    schema_version: int = SCHEMA_VERSION
    before: str
    after: str
    files: tuple[int, int]
    sessions: tuple[int, int]
    result: Verdict
    figures: list[Figure]
    detectors: list[Figure]
    groups: list[Group]
    common: int
    """Sessions that both sides have: their findings are compared one by one."""
    changes: list[Change]
    structures: list[Structure]
    notes: list[str]
