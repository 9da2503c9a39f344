"""Sessions that begin with a copy of another's rows: what was copied counts once, where it happened."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from forensics.detect import Finding
from forensics.scan import Compactions, SessionTotals
from forensics.times import iso
from forensics.totals import SUMS


def own(sessions: Sequence[SessionTotals]) -> list[SessionTotals]:
    """Give the sessions without what they copied from those that were read too."""
    return [one if one.copied is None else _without(one, one.copied) for one in sessions]


def notes(sessions: Sequence[SessionTotals]) -> Iterator[tuple[str, str]]:
    """Give for each file what the reader should know of copied rows in it."""
    here = {one.session for one in sessions}
    for one in sessions:
        if one.began is None:
            continue
        told = f"session {one.session}: the rows from before {iso(one.began)} are copied from session {one.parent}"
        if one.bound:
            yield (
                one.file,
                f"{told}; they were not held against it, as the files are too large or have changed: the totals count"
                " them here too and are an upper bound",
            )
        elif one.copied is not None:
            which = "all" if one.copied.rows >= one.older else f"{one.copied.rows:,}"
            yield (
                one.file,
                f"{told}: {which} of {one.older:,} are in session {', '.join(one.kin)} too: the totals count each"
                " record once, by reading both again",
            )
        elif one.parent in here:
            yield one.file, f"{told}, where they were not found: the totals count them here"
        else:
            yield one.file, f"{told}, which was not read: the totals count them here"


def once(findings: Iterable[Finding], sessions: Sequence[SessionTotals]) -> list[Finding]:
    """Show a finding about copied rows once, in the session that counts them."""
    copied = {(one.agent, one.session): one for one in sessions if one.copied is not None}
    found = list(findings)
    first = {(one.session or "", *_place(one)): one for one in found}
    kept: list[Finding] = []
    for one in found:
        fork = copied.get((one.agent, one.session or ""))
        origin: Finding | None = None
        if fork and fork.copied and one.end is not None and one.end <= (fork.copied.end or 0):
            kin = fork.kin or [fork.parent or ""]
            origin = next((other for k in kin if (other := first.get((k, *_place(one))))), None)
        if origin is None or origin is one:
            kept.append(one)
        else:
            origin.also = sorted({*origin.also, one.file, *one.also} - {origin.file})
    return kept


def _place(one: Finding) -> tuple[str, int | None, int | None]:
    return one.detector, one.start, one.end


def _without(one: SessionTotals, copied: SessionTotals) -> SessionTotals:
    left = {name: _less(getattr(one, name), getattr(copied, name)) for name in SUMS}
    errors = None if one.errors is None else _fewer(one.errors, copied.errors or {})
    names = [field.name for field in msgspec.structs.fields(Compactions)]
    tries = {name: _less(getattr(one.compactions, name), getattr(copied.compactions, name)) for name in names}
    compactions = Compactions(**tries)  # type: ignore[arg-type]
    whole = None if one.joined is None else _without(one.joined, copied)
    return msgspec.structs.replace(
        one, errors=errors, compactions=compactions, began=None, copied=None, joined=whole, **left
    )


def _less(whole: float | None, part: float | None) -> float | None:
    return whole if whole is None or part is None else max(0, round(whole - part, 9))


def _fewer(whole: dict[str, int], part: dict[str, int]) -> dict[str, int]:
    left = {name: count - part.get(name, 0) for name, count in whole.items()}
    return {name: count for name, count in left.items() if count > 0}
