"""Before and after: what became better, what worse, and how sure one can be of it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from forensics.checking.baseline import entry_of, pair
from forensics.checking.difference import Change, Diff, Figure, Group, Judgement, Part, Structure
from forensics.checking.lock import Difference
from forensics.checking.sides import Case, Side
from forensics.checking.tries import TRIES, apart
from forensics.checking.worse import shifts, words
from forensics.detect import Finding
from forensics.rates import FEWEST, Interval, Rate, chance, change, mean, mean_change, rate
from forensics.summary import Verdict

Count = Callable[[Case], tuple[int, int] | None]


def no_summary(case: Case) -> tuple[int, int] | None:
    """Count compaction attempts that made no summary, of those that wanted one."""
    gone = case.total("compactions.no_summary", "compactions.failed")
    rest = case.total("compactions.summaries", "compactions.unknown")
    return None if gone is None or rest is None else (gone, gone + rest)


def continues(case: Case) -> tuple[int, int] | None:
    """Count manual continues, of a person's prompts."""
    hits, tries = case.total("manual_continues"), case.total("prompts")
    return None if hits is None or tries is None else (hits, max(hits, tries))


def loops(case: Case) -> tuple[int, int]:
    """Count sessions with a compaction loop."""
    return _has(case, "compaction-loop"), 1


def _has(case: Case, detector: str) -> int:
    return int(any(one.detector == detector for one in case.findings))


def waited(case: Case) -> float | None:
    """Give the seconds that work waited for a person."""
    if "waiting_seconds" in case.figures:
        return case.figures["waiting_seconds"]
    return 0.0 if case.total("manual_continues") == 0 else None


_RATES: tuple[tuple[str, str, Count], ...] = (
    ("no summary", TRIES, no_summary),
    ("manual continues", "prompts", continues),
    ("compaction loops", "sessions", loops),
)


TOLD = frozenset({"compaction-loop", "manual-continue", "no-summary"})
"""Detectors of which a figure tells more."""


def compare(
    before: Side, after: Side, structures: Iterable[tuple[str, Difference]] = (), told: Iterable[str] = ()
) -> Diff:
    """Compare two sides; `structures` holds the differences of recordings that belong together.

    `told`: what there is to say of which recordings were held against each other.
    """
    early, late = before.cases(), after.cases()
    ran = sorted(set(before.detectors) & set(after.detectors))
    skipped = sorted(set(before.detectors) ^ set(after.detectors))
    figures = _figures(early, late, ran)
    detectors = [_detector(name, early, late) for name in ran]
    detectors = [one for one in detectors if one.before.hits or one.after.hits]
    changes, common = _changes(early, late, set(ran))
    notes = [*before.notes, *after.notes]
    notes += [f"not compared, for they ran on one side only: {', '.join(skipped)}"] if skipped else []
    if common and common == len(early) == len(late):
        notes.append("both sides hold the same sessions: what differs is how they were recorded or read, not a release")
    return Diff(
        before=before.name,
        after=after.name,
        files=(before.files, after.files),
        sessions=(len(early), len(late)),
        result=_result(before, after, [*figures, *detectors]),
        figures=figures,
        detectors=detectors,
        groups=_groups(early, late, ran),
        common=common,
        changes=changes,
        structures=[
            Structure(file=file, change=one.change, name=one.name, message=one.message) for file, one in structures
        ],
        notes=[*notes, *told, *_left_out(early, late, figures), *_doubts(early, late, len(figures) + len(detectors))],
    )


def _figures(early: Sequence[Case], late: Sequence[Case], ran: Sequence[str]) -> list[Figure]:
    needs = {"compaction loops": "compaction-loop"}
    found = [_rate(name, of, early, late, count) for name, of, count in _RATES if needs.get(name) in {None, *ran}]
    return [*found, _waiting(early, late)]


def _detector(name: str, early: Sequence[Case], late: Sequence[Case]) -> Figure:
    return _rate(name, "sessions", early, late, lambda case: (_has(case, name), 1))


def _rate(name: str, of: str, early: Sequence[Case], late: Sequence[Case], count: Count) -> Figure:
    first, last = [count(one) for one in early], [count(one) for one in late]
    before = rate([one for one in first if one is not None])
    after = rate([one for one in last if one is not None])
    moved = change(before, after)
    fell = before.value is not None and after.value is not None and after.value < before.value
    luck = chance(before, after) if fell else None
    judgement = _judged(moved)
    return Figure(
        name=name,
        unit="rate",
        of=of,
        before=_part(before, first.count(None)),
        after=_part(after, last.count(None)),
        change=moved,
        chance=None if luck is None else round(luck, 4),
        judgement=judgement,
        answer=_answer(before, after, judgement, luck),
    )


def _part(one: Rate, unknown: int) -> Part:
    value = None if one.value is None else round(one.value, 4)
    return Part(
        value=value, hits=one.hits, tries=one.tries, sessions=one.sessions, unknown=unknown, interval=one.interval
    )


def _judged(moved: Interval | None) -> Judgement:
    if moved is None:
        return "unknown"
    return "better" if moved[1] < 0 else "worse" if moved[0] > 0 else "unclear"


def _answer(before: Rate, after: Rate, judgement: Judgement, luck: float | None) -> str:
    """Answer whether a problem is fixed, in words that claim no more than the counts bear."""
    if before.value is None or after.value is None or after.interval is None:
        side = "before" if before.value is None else "after"
        return f"cannot be told: {side}, there was nothing to count"
    if not before.hits and not after.hits:
        return "seen on neither side"
    often = "" if luck is None else "less than 0.1%" if luck < 0.001 else f"{luck:.1%}"
    odds = f"; chance alone does this {often} of the time" if often else ""
    most = f"as much as {after.interval[1]:.0%} is still possible"
    if judgement == "better":
        return f"better, not gone{odds}" if after.hits else f"not seen any more; {most}{odds}"
    if judgement == "worse":
        return "worse"
    if not after.hits:
        return f"not seen any more, but that may be chance: {_count(after.sessions)} after; {most}{odds}"
    fewer = "fewer" if after.value < before.value else "more" if after.value > before.value else "as many"
    return f"{fewer}, which may be chance{odds}"


def _count(sessions: int) -> str:
    return f"{sessions:,} session{'' if sessions == 1 else 's'}"


def _waiting(early: Sequence[Case], late: Sequence[Case]) -> Figure:
    first, last = [waited(one) for one in early], [waited(one) for one in late]
    old, new = [one for one in first if one is not None], [one for one in last if one is not None]
    moved = mean_change(old, new)
    judgement = _judged(moved)
    parts = []
    for values, dark in ((old, first.count(None)), (new, last.count(None))):
        found = mean(values)
        value = None if found.value is None else round(found.value, 3)
        parts.append(
            Part(
                value=value, hits=round(found.total, 3), tries=len(values), sessions=len(values), unknown=dark,
                interval=found.interval,
            )
        )  # fmt: skip
    told = {
        "better": "shorter",
        "worse": "longer",
        "unclear": "no clear change",
        "unknown": f"cannot be told: it takes {FEWEST} sessions on each side",
    }
    answer = "nobody waited on either side" if parts[0].hits == parts[1].hits == 0 and old and new else told[judgement]
    return Figure(
        name="waiting for a person",
        unit="seconds",
        of="sessions",
        before=parts[0],
        after=parts[1],
        change=moved,
        chance=None,
        judgement=judgement,
        answer=answer,
    )


def _groups(early: Sequence[Case], late: Sequence[Case], ran: Sequence[str]) -> list[Group]:
    """Put the sessions together by version, where any file says one."""
    if not any(one.version for one in (*early, *late)):
        return []
    names = sorted({(one.agent, one.version or "") for one in (*early, *late)})
    found = []
    for agent, version in names:
        old, new = (
            [one for one in side if (one.agent, one.version or "") == (agent, version)] for side in (early, late)
        )
        found.append(
            Group(
                agent=agent,
                version=version or None,
                sessions=(len(old), len(new)),
                figures=_figures(old, new, ran),
            )
        )
    return found


def _changes(early: Sequence[Case], late: Sequence[Case], ran: set[str]) -> tuple[list[Change], int]:
    """Compare the findings of the sessions that both sides have, one by one."""
    old = {(one.agent, one.session): one for one in early}
    new = {(one.agent, one.session): one for one in late}
    both = sorted(old.keys() & new.keys())
    found: list[Change] = []
    for key in both:
        was = [one for one in old[key].findings if one.detector in ran]
        now = [one for one in new[key].findings if one.detector in ran]
        pairs = pair(now, map(entry_of, was))
        found += [_change("new", one) for one in pairs.new]
        left = [one.fingerprint for one in pairs.unused]
        for one in was:
            if one.id in left:
                left.remove(one.id)
                found.append(_change("gone", one))
        for one, entry in pairs.matched:
            moved = [shift for shift in shifts(entry.measures, one.measures) if shift.change != "unjudged"]
            for kind in ("worse", "better"):
                told = "; ".join(words(shift) for shift in moved if shift.change == kind)
                if told:
                    found.append(_change(kind, one, told))
    order = {"new": 0, "worse": 1, "better": 2, "gone": 3}
    return sorted(found, key=lambda one: (order[one.change], one.session or "", one.detector, one.message)), len(both)


def _change(kind: Literal["new", "gone", "worse", "better"], one: Finding, message: str | None = None) -> Change:
    return Change(
        change=kind, detector=one.detector, severity=one.severity, session=one.session, message=message or one.message
    )


def _left_out(early: Sequence[Case], late: Sequence[Case], figures: Sequence[Figure]) -> Iterable[str]:
    """Say what is in no number of a rate: attempts that are not of its kind, sessions that do not show it."""
    for when, side in (("before", early), ("after", late)):
        if told := apart(one.figures for one in side):
            yield f"no summary, {when}: of {TRIES}{told}"
    for one in figures:
        for when, part in (("before", one.before), ("after", one.after)):
            if part.unknown:
                yield f"{one.name}, {when}: unknown in {_count(part.unknown)}, in no number there"


def _doubts(early: Sequence[Case], late: Sequence[Case], looks: int) -> list[str]:
    """Say what the numbers cannot bear; `looks` is how many comparisons were made."""
    found = []
    small = [name for name, side in (("before", early), ("after", late)) if len(side) < 10]
    if small:
        found.append(f"fewer than ten sessions {' and '.join(small)}: only great differences can be told from chance")
    if looks > 5:
        found.append(f"{looks} comparisons at 95 %: where nothing changed, one in twenty still looks as if it had")
    found.append(
        "intervals take sessions for a fair sample of what users do, and count a session's tries for no more than"
        " they tell; another mix of tasks or models is no effect of the release"
    )
    return found


def _result(before: Side, after: Side, figures: Sequence[Figure]) -> Verdict:
    """Pass on how reading went where it went wrong on a side; else answer whether the release fixed it."""
    for code in (2, 3, 4):
        for when, side in (("before", before), ("after", after)):
            if side.result.exit_code == code:
                reason = f"{when}: {side.result.reason}"
                return Verdict(exit_code=code, status=side.result.status, reason=reason)
    return Verdict(exit_code=0, status="clean", reason=f"did the release fix it? {_tally(figures)}")


def _tally(figures: Sequence[Figure]) -> str:
    """Name what got better and worse; a detector whose rate stands among the figures is not told twice."""
    seen = {one.name: one for one in figures if (one.before.hits or one.after.hits) and one.name not in TOLD}
    if not seen:
        return "nothing was wrong on either side"
    counts = {name: sorted(key for key, one in seen.items() if one.judgement == name) for name in ("better", "worse")}
    rest = len(seen) - len(counts["better"]) - len(counts["worse"])
    parts = [f"{kind}: {', '.join(names)}" for kind, names in counts.items() if names]
    if rest:
        parts.append(f"no clear change: {rest:,} of {len(seen):,}")
    return "; ".join(parts)
