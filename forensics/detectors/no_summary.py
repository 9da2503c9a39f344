"""The no-summary detector."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from forensics.attempts import TRIES, Attempt
from forensics.detect import Claim, Confidence, Measure, Severity, Within, detector
from forensics.detectors._cut import suspects
from forensics.detectors._rates import densest
from forensics.detectors._units import Unit, shortened, units
from forensics.rates import wilson
from forensics.timeline import File

_MINUTE = 60_000
_GONE = {"no-summary", "failed"}


class _Count(NamedTuple):
    tries: list[Attempt]
    """Attempts that wanted a summary, were not cancelled, and whose end, where there is one, says how it went."""
    without: list[Attempt]
    unfinished: list[Attempt]
    cancelled: int
    undetermined: int

    @property
    def rate(self) -> float | None:
        return round(len(self.without) / len(self.tries), 4) if self.tries else None

    def faults(self, *names: str) -> int:
        return sum(one.end is not None and one.end.fault in names for one in self.without)


@detector("error", per="file")
def no_summary(
    file: File, *, rate: Annotated[float, Within(0, 1)] = 0.5, attempts: Annotated[int, Within(1)] = 3
) -> Iterator[Claim]:
    """Find compaction attempts that produced no summary: failed, truncated, empty, or headings without content.

    An agent that cannot summarise either loses what it cut away or keeps a context that no longer fits, and often
    pays for the same attempt again and again.

    Every attempt that wanted a summary counts: an attempt cut by design without one (`dropped`), one with nothing to
    do and one that a person cancelled do not. A "success" whose text is blank, headings alone or a stand-in counts as
    none. Attempts that were started and never ended are counted apart, and the rate is given both ways. A log's
    sessions are taken together; other files are told session by session. Files that cannot show failed attempts
    give none here, and the coverage says so. It is an error from `attempts` attempts on when at least `rate` of them
    made no summary, a note for a single one among more, else a warning; silent when every attempt that ended made one.

    A summary that was kept but seems cut off in mid-sentence is told apart, as a suspicion (`suspect_truncated`,
    `suspect_rate`): it is in no other figure.

    What to do: read the recorded reasons. Give the summary request a budget that its answer fits in and no reasoning,
    try it once more at most, then cut the context without a summary and say so.

    Measures: attempts; no_summary; truncated, empty, skeleton and failed (of those, by the recorded reason: they
    add up to it; `failed` broke in another way); cancelled;
    unfinished (never ended); undetermined (the record does not say how they ended, not in `attempts`);
    rate (0 to 1, with its Wilson 95 % interval); rate_if_unfinished_failed (0 to 1); model_calls (requests that the
    attempts made: none for a repeat inside a cooldown; where some attempts do not say, unknown, with the interval
    that it lies in); peak_per_minute (most attempts started within any 60 s).
    """
    for unit in units(file):
        counted = _counted(unit)
        if counted.without:
            yield _claim(unit, counted, rate, attempts)
        yield from _suspicion(unit, counted)


def _counted(unit: Unit) -> _Count:
    found = [one for session in unit.sessions for one in session.attempts]
    known = [one for one in found if one.unfinished or one.outcome != "unknown"]
    tries = [one for one in known if one.outcome in TRIES]
    without = [one for one in tries if one.outcome in _GONE]
    unfinished = [one for one in tries if one.unfinished]
    cancelled = sum(one.outcome == "aborted" for one in found)
    return _Count(tries, without, unfinished, cancelled, len(found) - len(known))


def _claim(unit: Unit, counted: _Count, rate: float, least: int) -> Claim:
    tries, without = len(counted.tries), len(counted.without)
    both = without + len(counted.unfinished)
    rows = sorted((one.first for one in counted.tries), key=lambda row: row.line or row.seq)
    most = densest([row.ts for row in rows if row.ts is not None], _MINUTE)
    truncated, blank = counted.faults("truncated-summary"), _hollow(counted, blank=True)
    empty, skeleton = counted.faults("empty-summary") + blank, _hollow(counted, blank=False)
    measures = {
        "attempts": Measure(tries, "observed"),
        "no_summary": Measure(without, "observed"),
        "truncated": Measure(truncated, "observed"),
        "empty": Measure(empty, "observed"),
        "skeleton": Measure(skeleton, "derived"),
        "failed": Measure(without - truncated - empty - skeleton, "derived"),
        "cancelled": Measure(counted.cancelled, "observed"),
        "unfinished": Measure(len(counted.unfinished), "observed"),
        "undetermined": Measure(counted.undetermined, "observed"),
        "rate": Measure(counted.rate, "derived", wilson(without, tries)),
        "rate_if_unfinished_failed": Measure(round(both / tries, 4), "derived", wilson(both, tries)),
        "model_calls": _model_calls(counted.tries),
        "peak_per_minute": Measure(most, "derived"),
    }
    return Claim(
        message=(
            f"{without} of {tries} compaction attempts made no summary ({without / tries:.0%}) {unit.where}"
            + (f", at most {most} attempt{'s' if most > 1 else ''} in any 60 s" if most else "")
        ),
        evidence=shortened([one.last for one in counted.without]),
        measures=measures,
        severity=_severity(without, tries, rate, least),
        session=unit.session,
        key="no-summary",
    )


def _severity(without: int, tries: int, rate: float, least: int) -> Severity:
    if without >= rate * tries:
        return "error" if tries >= least else "warning"
    return "note" if without == 1 else "warning"


def _hollow(counted: _Count, *, blank: bool) -> int:
    """Count the summaries that say nothing and that no fault explains: blank ones, or headings alone."""
    ends = [one.end for one in counted.without if one.end and one.end.fault is None and one.end.outcome == "summary"]
    return sum((not (end.text or "").strip()) == blank for end in ends)


def _model_calls(tries: list[Attempt]) -> Measure:
    """Sum the requests on record; where some attempts do not say, their own number bounds the sum from above."""
    ends = [one.end for one in tries if one.end is not None]
    known = [end.requests for end in ends if end.requests is not None]
    if len(known) == len(ends):
        return Measure(sum(known) if ends else None, "observed")
    bounds = (float(sum(known)), float(sum(known) + len(ends) - len(known))) if known else None
    return Measure(None, "derived", bounds)


def _suspicion(unit: Unit, counted: _Count) -> Iterator[Claim]:
    cut = [one for session in unit.sessions for one in suspects(session.attempts)]
    if not cut:
        return
    share = len(cut) / len(counted.tries)
    sure: Confidence = "medium" if len(cut) < len(counted.tries) else "low"
    yield Claim(
        message=(
            f"{len(cut)} of {len(counted.tries)} summaries kept {unit.where} seem cut off: they end in mid-sentence and"
            " lack sections; the file does not say how the summary request ended"
        ),
        evidence=shortened([one.last for one in cut]),
        measures={
            "attempts": Measure(len(counted.tries), "observed"),
            "no_summary": Measure(len(counted.without), "observed"),
            "suspect_truncated": Measure(len(cut), "inferred"),
            "suspect_rate": Measure(round(share, 4), "inferred", wilson(len(cut), len(counted.tries))),
        },
        severity="warning",
        confidence=sure,
        session=unit.session,
        key="suspect-truncated",
    )
