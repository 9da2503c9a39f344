"""The impact table: the figures that incident reports give, each with its basis and with what it rests on."""

from collections import defaultdict
from collections.abc import Iterator

from forensics.detect import Basis
from forensics.incident.cases import number
from forensics.incident.errors import Errors, told
from forensics.incident.model import Case, Group, Impact
from forensics.incident.once import tellings
from forensics.reports._words import count, duration, hours, minute, money, times_of, unpriced
from forensics.summary import Report

_RANK: tuple[Basis, ...] = ("observed", "derived", "inferred", "simulated")


def impact(report: Report, groups: list[Group], errors: Errors) -> list[Impact]:
    """Give the rows of the table; one whose figure is not known is left out."""
    found = _Findings(groups)
    rows = [
        *_compactions(report, found),
        *told(errors),
        *_exits(found),
        *_sizes(report, found),
        *_dense(errors.per_minute, found),
        *_people(report, found),
        *_loops(found),
        *_failures(report, found),
        *_money(report, found),
    ]
    return [row for row in rows if row.value]


class _Findings:
    """The cases by detector."""

    def __init__(self, groups: list[Group]) -> None:
        self.cases: defaultdict[str, list[Case]] = defaultdict(list)
        self.anchors: defaultdict[str, list[str]] = defaultdict(list)
        for group in groups:
            self.cases[group.detector].extend(group.cases)
            self.anchors[group.detector].append(group.anchor)
        self.told: defaultdict[str, list[list[list[Case]]]] = defaultdict(list)
        self.told |= {name: tellings(cases) for name, cases in self.cases.items()}

    def refs(self, *names: str) -> list[str]:
        """Give the anchors of what was found by these detectors; the coverage where nothing was."""
        return [anchor for name in names for anchor in self.anchors.get(name, ())] or ["coverage"]

    def total(self, detector: str, measure: str) -> float | None:
        """Add a measure up over what a detector found, each thing once; `None` when no file knows it.

        What several files show counts as the fullest of those that know the measure has it.
        """
        known = [value for files in self.told[detector] if (value := _known(files, measure)) is not None]
        return sum(known) if known else None

    def times(self, detector: str) -> int:
        """Count what a detector found, each thing once."""
        return sum(len(files[0]) for files in self.told[detector])

    def basis(self, detector: str, *measures: str) -> Basis:
        """Give the weakest basis of the measures."""
        bases = [case.finding.bases.get(name, "observed") for case in self.cases[detector] for name in measures]
        return max(bases, key=_RANK.index, default="observed")


def _known(files: list[list[Case]], measure: str) -> float | None:
    for cases in files:
        values = [value for case in cases if (value := number(case.finding, measure)) is not None]
        if values:
            return sum(values)
    return None


def _compactions(report: Report, found: _Findings) -> Iterator[Impact]:
    counts = report.summary.compactions
    if not counts.attempts:
        return
    refs = found.refs("no-summary", "compaction-loop")
    gone = None if counts.no_summary is None or counts.failed is None else counts.no_summary + counts.failed
    tries = counts.attempts - sum(one or 0 for one in (counts.dropped, counts.skipped, counts.aborted))
    if gone and tries > 0:
        value = f"{tries:,} / {gone:,} ({gone / tries * 100:.0f} %)"
        note = f"{counts.unknown:,} of them started without an end on record" if counts.unknown else ""
        yield _row("Compaction attempts / without a summary", value, "observed", note, refs)
    else:
        parts = [
            (counts.summaries, "with a summary"),
            (counts.dropped, "by dropping"),
            (counts.skipped, "with nothing to do"),
            (counts.aborted, "aborted"),
            (counts.unknown, "end unknown"),
        ]
        note = ", ".join(f"{n:,} {words}" for n, words in parts if n)
        if gone is None:
            note += "; failed ones are not recorded in this format"
        yield _row("Compaction attempts", f"{counts.attempts:,}", "observed", note, refs)


_REPLIES = ("output-budget-underflow", "compaction-loop", "manual-continue", "silent-stall")


def _exits(found: _Findings) -> Iterator[Impact]:
    exits = found.total("crash-loop", "exits")
    if not exits:
        return
    near, again, elsewhere = (
        found.total("crash-loop", name) for name in ("in_compaction_window", "immediate_respawn", "elsewhere")
    )
    parts = [(near, "in a compaction window"), (again, "immediate respawn failures"), (elsewhere, "elsewhere")]
    split = " + ".join(f"{n:,.0f} {words}" for n, words in parts if n)
    yield _row(
        "Process exits with an error",
        f"{exits:,.0f}" + (f" = {split}" if split else ""),
        found.basis("crash-loop", "exits", "in_compaction_window"),
        "the window is a correlation: the log does not say why the process died" if near else "",
        found.refs("crash-loop"),
    )


def _sizes(report: Report, found: _Findings) -> Iterator[Impact]:
    told = set()
    for measure in ("messages only", "whole prompt"):
        cases = [one for one in found.cases["context-blowup"] if one.finding.measures.get("measure") == measure]
        worst = max(cases, key=lambda one: number(one.finding, "ratio") or 0, default=None)
        if worst is None:
            continue
        told.add(measure)
        peak, ratio, cap = (number(worst.finding, name) for name in ("peak", "ratio", "cap"))
        where = "messages alone, at a compaction" if measure == "messages only" else "the whole prompt"
        yield _row(
            f"Peak context, {where}",
            f"{peak:,.0f} tokens ({times_of(ratio or 0)} × the cap)",
            "observed",
            f"cap {cap:,.0f} tokens, {worst.finding.measures.get('cap_source')}; ratio derived",
            [worst.anchor],
        )
    peak = report.summary.peak_context
    if "whole prompt" not in told and peak is not None:
        ratio = report.summary.peak_ratio
        value = f"{peak:,} tokens" + (f" ({times_of(ratio)} × the cap)" if ratio is not None else "")
        notes = [] if ratio is not None else ["the context window is not on record (--cap sets it)"]
        if (report.summary.errors or {}).get("overflow"):
            notes.insert(0, "of requests that went through; refused ones give no size here")
        note = "; ".join(notes)
        yield _row("Peak context", value, "observed", note, ["sessions"])


def _dense(minute: int | None, found: _Findings) -> Iterator[Impact]:
    if minute is not None and minute > 1:
        refs = found.refs("no-summary", "compaction-loop")
        yield _row("Peak compaction attempts per minute", f"{minute:,}", "derived", "within any 60 s", refs)


def _people(report: Report, found: _Findings) -> Iterator[Impact]:
    refs = found.refs("manual-continue")
    times = report.summary.manual_continues
    if times:
        yield _row("Messages a person had to type to get work going again", f"{times:,}", "derived", "", refs)
    waited = report.summary.waiting_seconds
    if waited:
        note = "from each break to the person's message, as recorded"
        yield _row("Time lost waiting for a person", duration(waited), "derived", note, refs)
    yield from _silence(report, found)


def _silence(report: Report, found: _Findings) -> Iterator[Impact]:
    """Give the silences that the record holds; how long one lasted that it ends with, nobody knows."""
    refs = found.refs("silent-stall")
    cases = [case for files in found.told["silent-stall"] for case in files[0]]
    over = [number(case.finding, "idle_seconds") for case in cases if case.finding.measures.get("ended") == "new work"]
    idle = sum(filter(None, over))
    if idle:
        yield _row("Time in silence after work broke off", duration(idle), "derived", "until a person came", refs)
    still = len(cases) - len(over)
    if still:
        note = f"the record goes until {minute(report.summary.end)} UTC" if report.summary.end is not None else ""
        yield _row("Times work broke off and the record ends", f"{still:,}", "derived", note, refs)


def _loops(found: _Findings) -> Iterator[Impact]:
    cases = found.cases["compaction-loop"]
    refs = found.refs("compaction-loop")
    cycles = found.total("compaction-loop", "cycles")
    if not cycles:
        return
    loops = found.times("compaction-loop")
    over = f" in {count(loops, 'loop')}" if loops > 1 else ""
    yield _row("Compaction cycles without progress", f"{cycles:,.0f}{over}", "derived", "", refs)
    spent = found.total("compaction-loop", "hours")
    if spent:
        longest = max(number(case.finding, "hours") or 0 for case in cases)
        note = "added up over the loops; they can overlap" if loops > 1 else "first to last row"
        value = hours(spent) + (f", the longest {hours(longest)}" if over else "")
        yield _row("Time in the loop", value, "derived", note, refs)
    cost = found.total("compaction-loop", "cost")
    if cost:
        basis = found.basis("compaction-loop", "cost")
        yield _row("Cost of the loop", money(cost), basis, "as recorded by the agent", refs)


def _failures(report: Report, found: _Findings) -> Iterator[Impact]:
    errors = report.summary.errors
    if errors:
        note = ", ".join(f"{n:,} {name}" for name, n in sorted(errors.items(), key=lambda item: (-item[1], item[0])))
        yield _row("Replies that failed", f"{sum(errors.values()):,}", "observed", note, found.refs(*_REPLIES))
    if report.summary.length_stops:
        refs = found.refs("length-stop", "manual-continue")
        yield _row("Replies cut at the output limit", f"{report.summary.length_stops:,}", "observed", "", refs)


def _money(report: Report, found: _Findings) -> Iterator[Impact]:
    cost = found.total("runaway-cost", "cost")
    total = report.summary.cost
    if cost and total:
        note = f"{cost / total:.0%} of all that these files record"
        yield _row("Cost of recovery", money(cost), found.basis("runaway-cost", "cost"), note,
                   found.refs("runaway-cost"))  # fmt: skip
    if total is not None:
        note = "; ".join(filter(None, ("as recorded by the agent", unpriced(report))))
        yield _row("Recorded cost in all", money(total), "observed", note, ["sessions"])


def _row(metric: str, value: str, basis: Basis, note: str, refs: list[str]) -> Impact:
    return Impact(metric=metric, value=value, basis=basis, note=note, refs=refs[:6])
