"""What stretches of a record cost: compactions, paid summaries, model calls, tokens, dollars and time."""

from collections.abc import Iterable
from typing import Any

import msgspec

from forensics.events import Event
from forensics.replaying.decisions import Point

HOUR_MS = 3_600_000


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over a stretch; negative where one stretch is taken from another. Times are hours.

    Tokens and dollars are sums of what the record says; `uncounted` and `unpriced` are model calls of which it does
    not say them. A refused request reports nothing, and counts as nothing.
    """

    manual_continues: int = 0
    compactions: int = 0
    paid_summaries: int = 0
    model_calls: int = 0
    tokens: int = 0
    uncounted: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    doubtful: int = 0
    """Compactions that may have called the model once, or not at all."""
    looping: float | None = 0.0
    waiting: float | None = 0.0

    def plus(self, other: "Cost", times: int = 1) -> "Cost":
        """Add another stretch, `times` over."""
        found: dict[str, Any] = {}
        for name in self.__struct_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            found[name] = None if mine is None or theirs is None else mine + times * theirs
        return Cost(**found)

    def less(self, other: "Cost") -> "Cost":
        """Take another stretch away."""
        return self.plus(other, -1)

    def figure(self, name: str) -> float | None:
        """Give a figure; `None` where the record does not say any of it."""
        if name == "hours":
            return None if self.looping is None or self.waiting is None else self.looping + self.waiting
        value: float | None = getattr(self, name)
        silent = {"tokens": self.uncounted, "dollars": self.unpriced}.get(name, 0)
        return None if silent and not value else value


def spent(points: Iterable[Point]) -> Cost:
    """Sum up what the agent did by itself over these points."""
    total = Cost()
    for point in points:
        if point.kind in {"compacted", "echo"}:
            total = total.plus(compaction(point))
        elif point.kind in {"reply", "other"}:
            total = total.plus(request(point.row)).plus(_UNSEEN, point.repeat)
    return total


_UNSEEN = Cost(model_calls=1, uncounted=1, unpriced=1)


def calls_of(point: Point) -> int:
    """Count the model calls of a compaction: as recorded, else one if it ran, and none where that is not known."""
    if point.unasked:
        return 0
    if point.row.requests is not None:
        return point.row.requests
    return 0 if point.kind == "echo" or all(one.outcome == "nothing" for one in point.signals) else 1


def compaction(point: Point) -> Cost:
    """Give the cost of a compaction."""
    calls = calls_of(point)
    if not calls:
        return Cost(compactions=1, doubtful=int(point.unasked))
    tokens, dollars = _tokens(point.row), point.row.cost
    return Cost(
        compactions=1,
        paid_summaries=calls,
        model_calls=calls,
        tokens=tokens or 0,
        uncounted=0 if tokens else calls,
        dollars=dollars or 0.0,
        unpriced=0 if dollars else calls,
    )


def request(row: Event) -> Cost:
    """Give the cost of a request from its reply."""
    tokens = _tokens(row)
    if row.stop == "error" and tokens is None:
        return Cost(model_calls=1, dollars=row.cost or 0.0)
    return Cost(
        model_calls=1,
        tokens=tokens or 0,
        uncounted=int(tokens is None),
        dollars=row.cost or 0.0,
        unpriced=int(row.cost is None),
    )


def _tokens(row: Event) -> int | None:
    known = [figure for figure in (row.input, row.cached, row.output) if figure is not None]
    return sum(known) if known else None


def usual_compaction(points: Iterable[Point]) -> Cost:
    """Give the mean cost of the session's own paid compactions."""
    made = [compaction(one) for one in points if one.kind == "compacted" and calls_of(one)]
    tokens = [one.tokens for one in made if not one.uncounted]
    dollars = [one.dollars for one in made if not one.unpriced]
    return Cost(
        compactions=1,
        paid_summaries=1,
        model_calls=1,
        tokens=round(sum(tokens) / len(tokens)) if tokens else 0,
        uncounted=0 if tokens else 1,
        dollars=sum(dollars) / len(dollars) if dollars else 0.0,
        unpriced=0 if dollars else 1,
    )


def hours(first: Event, last: Event | None) -> float | None:
    """Give the time between two rows; `None` where one of them has no time, or the clock went back."""
    if last is None or first.ts is None or last.ts is None or last.ts < first.ts:
        return None
    return (last.ts - first.ts) / HOUR_MS
