"""The runaway-cost detector."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from forensics.detect import Claim, Measure, Within, detector
from forensics.events import Event
from forensics.failures import is_failed
from forensics.timeline import Session


@detector("warning", per="session")
def runaway_cost(
    session: Session,
    *,
    dollars: float = 50.0,
    share: Annotated[float, Within(0, 1)] = 0.5,
    least: float = 1.0,
    tokens: int = 2_000_000,
) -> Iterator[Claim]:
    """Find sessions that paid more for recovery than for work.

    Why it is bad: summaries and refused requests are paid for and bring nothing by themselves; a loop of compactions
    that each succeed trips no error, but its cost has no end.

    How it decides. The recorded cost of compactions and failed replies (an error, nothing or a filter came back, as in
    failure-loop), against that of the whole session: it fires at `dollars` in all, or at `share` of the session's cost
    once that is `least` dollars. Where no cost is recorded for them the tokens of the same rows are held against the
    session's: it fires at `share` of them and `tokens` in all. Prices are never guessed: a row without a recorded cost
    counts as unknown, not as free, and a session whose costs are all 0, which is what agents write when they know no
    price, is judged by its tokens.

    It stays quiet in a long session whose compactions cost little beside its work, and where nothing is recorded.

    What to do: give recovery a budget of its own, in dollars or requests, that only progress refills, and tell the
    person when it is spent.

    Measures: `cost` of recovery and `total_cost` of the session in US dollars (null: not recorded); `share` of
    recovery, 0 to 1; `recovery_tokens` and `total_tokens`; `compactions` and `failed_replies` counted; `unpriced`,
    how many of those rows carry no cost.
    """
    rows = [row for row in session.events if _is_recovery(row)]
    compactions = [row for row in rows if row.kind == "compacted"]
    prices = [row.cost for row in rows if row.cost is not None]
    cost = round(sum(prices), 6) or None
    used = _sum([_used(row) for row in rows])
    all_used = _sum([session.input_tokens, session.cached_tokens, session.output_tokens])
    if cost and session.cost:
        part = cost / session.cost
        fires = cost >= dollars or (part >= share and cost >= least)
        what = f"cost ${cost:,.2f}, {part:.0%} of the session's ${session.cost:,.2f}"
    elif used is not None and all_used:
        part = used / all_used
        fires = used >= tokens and part >= share
        whose = " for them" if session.cost else ""
        what = f"took {used:,} tokens, {part:.0%} of the session's; no cost is recorded{whose}"
    else:
        return
    if fires:
        failed = len(rows) - len(compactions)
        yield Claim(
            message=(
                f"{len(compactions):,} compaction{'' if len(compactions) == 1 else 's'} and {failed:,} failed"
                f" repl{'y' if failed == 1 else 'ies'} {what}"
            ),
            evidence=_ends(rows),
            key="runaway-cost",
            measures={
                "cost": Measure(cost, "observed"),
                "total_cost": Measure(round(session.cost or 0.0, 6) or None, "derived"),
                "share": Measure(round(part, 4), "derived"),
                "recovery_tokens": Measure(used, "observed"),
                "total_tokens": Measure(all_used, "derived"),
                "compactions": Measure(len(compactions), "observed"),
                "failed_replies": Measure(failed, "observed"),
                "unpriced": Measure(len(rows) - len(prices), "observed"),
            },
        )


def _is_recovery(row: Event) -> bool:
    return (row.kind == "compacted" and row.outcome != "skipped") or is_failed(row)


def _used(row: Event) -> int | None:
    return _sum([row.input, row.cached, row.output])


def _sum(figures: Sequence[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None


def _ends(rows: Sequence[Event]) -> tuple[Event, ...]:
    shown = (rows[0], rows[-1])
    return tuple({row.seq: row for row in shown}.values())
