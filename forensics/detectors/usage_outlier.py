"""The usage-outlier detector."""

from collections.abc import Iterator

from forensics.detect import Claim, Confidence, Measure, detector
from forensics.detectors._units import Unit, shortened, units
from forensics.events import Event
from forensics.timeline import File, Session
from forensics.usage import Outlier, Reason

_WORDS: dict[Reason, str] = {
    "running sum": "add up request after request instead of counting one",
    "disagrees with its components": "disagree with their own components",
    "far from its estimate": "are far from the agent's own estimate of the same request",
    "jump": "jump away from the requests before and after",
}
_SURE: dict[Reason, Confidence] = {
    "running sum": "high",
    "disagrees with its components": "medium",
    "far from its estimate": "high",
    "jump": "low",
}
Row = tuple[Session, Outlier]


@detector("warning", per="file")
def usage_outlier(file: File) -> Iterator[Claim]:
    """Find token counts reported for one request that cannot be one request's.

    Cumulative or absurd counts trigger compactions that nobody needs, and make every report of peaks and growth
    wrong. The figures found here are left out of peaks before context-blowup looks at them.

    A reported total counts when it is the total before it plus this request's own components (a running sum), when it
    is at least twice its own components, or when it is at least 10 times the agent's estimate of the same request. A
    context counts when it runs up in steps of about one request's size and falls back without a compaction, or when
    it is more than 10 times both its neighbours. Growth, a fall after a compaction, and totals that differ from
    their components by less (tool or reasoning tokens) stay quiet. Each reason has its own finding.

    What to do: take usage from the one request that it belongs to, and refuse to calibrate with a figure far from the
    agent's own estimate.

    Measures: value (tokens, of the row with the greatest ratio); plausible (tokens, what fits there); ratio (value /
    plausible); rows (affected); of (measured rows); reason.
    """
    for unit in units(file):
        grouped: dict[Reason, list[Row]] = {}
        for session in unit.sessions:
            for one in session.outliers.values():
                grouped.setdefault(one.reason, []).append((session, one))
        for reason, found in grouped.items():
            yield _claim(unit, reason, found)


def _claim(unit: Unit, reason: Reason, found: list[Row]) -> Claim:
    _, worst = max(found, key=lambda row: row[1].value / max(1, row[1].plausible))
    measured = sum(len(session.samples) for session in unit.sessions)
    ratio = worst.value / worst.plausible if worst.plausible else None
    return Claim(
        message=(
            f"{len(found)} of {measured} token counts {unit.where} {_WORDS[reason]}: up to {worst.value:,} where"
            f" {worst.plausible:,} would be plausible" + (f" ({ratio:.1f} times)" if ratio else "")
        ),
        evidence=shortened([_row(session, one) for session, one in found]),
        measures={
            "value": Measure(worst.value, "observed"),
            "plausible": Measure(worst.plausible, "derived"),
            "ratio": Measure(round(ratio, 4) if ratio else None, "derived"),
            "rows": Measure(len(found), "observed"),
            "of": Measure(measured, "observed"),
            "reason": Measure(reason, "derived"),
        },
        confidence="medium" if reason == "running sum" and worst.column == "context" else _SURE[reason],
        session=unit.session,
        key=f"{worst.column}: {reason}",
    )


def _row(session: Session, one: Outlier) -> Event:
    sample = one.sample
    return Event(kind="budget", session=session.id, line=sample.line, record=sample.record, ts=sample.ts)
