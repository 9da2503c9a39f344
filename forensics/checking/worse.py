"""Which way is worse: hold the measures of a finding against those that were accepted."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from forensics.detect import Value

NEUTRAL: frozenset[str] = frozenset(
    {
        "asked",
        "attempts",
        "before",
        "cancelled",
        "cap",
        "clean_exits",
        "handled",
        "idle_seconds",
        "maximum",
        "minimum",
        "of",
        "output_cap",
        "output_tokens",
        "paid",
        "period_seconds",
        "plausible",
        "prompts",
        "summaries",
        "total_cost",
        "total_tokens",
        "undetermined",
        "unpriced",
    }
)
"""Numbers that are neither good nor bad by themselves: denominators, limits, settings, how much is on record, and idle
time, which grows with the time of the scan. Of every other number more is worse: they count what went wrong, or say
how long, how much, how large."""

WORDS: dict[str, tuple[str, ...]] = {
    "ended": ("new work", "nothing"),
    "ended_by": ("progress", "a person", "nothing"),
    "followed": ("agent", "person", "nothing"),
    "resumed": ("yes", "no"),
}
"""Measures in words, from best to worst. Of every other word none is better than another."""

_NOISE = 1e-9


class Shift(NamedTuple):
    """A measure that is not what it was."""

    name: str
    was: Value
    now: Value
    change: Literal["worse", "better", "unjudged"]
    """`unjudged`: it was known and is not any more."""


def judged(measures: Mapping[str, Value]) -> dict[str, Value]:
    """Give the measures that can get better or worse and are known, sorted by name."""
    return {
        name: value
        for name, value in sorted(measures.items())
        if value is not None and (name in WORDS if isinstance(value, str) else name not in NEUTRAL)
    }


def shifts(was: Mapping[str, Value], now: Mapping[str, Value]) -> Iterator[Shift]:
    """Give the measures that got worse or better, or are no longer known, by name. What was unknown is not judged."""
    for name, before in judged(was).items():
        after = now.get(name)
        if after is None:
            yield Shift(name, before, None, "unjudged")
        elif (rise := _rise(name, before, after)) > 0:
            yield Shift(name, before, after, "worse")
        elif rise < 0:
            yield Shift(name, before, after, "better")


def _rise(name: str, before: Value, after: Value) -> float:
    if isinstance(before, str) or isinstance(after, str):
        scale = WORDS.get(name, ())
        return scale.index(after) - scale.index(before) if after in scale and before in scale else 0
    if before is None or after is None or abs(after - before) <= _NOISE * max(1.0, abs(before)):
        return 0
    return after - before


def words(shift: Shift) -> str:
    """Say what changed: `cycles 3 -> 5`."""
    return f"{shift.name} {_figure(shift.was)} -> {_figure(shift.now)}"


def _figure(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:,.6g}"
    return "unknown" if value is None else f"{value:,}" if isinstance(value, int) else value
