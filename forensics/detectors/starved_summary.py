"""The starved-summary detector."""

from collections.abc import Iterator
from typing import Annotated

from forensics.attempts import TRIES, Attempt
from forensics.detect import Claim, Confidence, Measure, Within, detector
from forensics.detectors._units import Unit, shortened, units
from forensics.events import Event
from forensics.timeline import File

_REASONED_AWAY = 0.9


@detector("error", per="file")
def starved_summary(file: File, *, many: Annotated[int, Within(1)] = 3) -> Iterator[Claim]:
    """Find compaction summaries cut off at their output budget, or empty because reasoning ate all of it.

    The same summary request fails the same way until its budget grows or its reasoning is turned off, so retries
    are paid for nothing.

    An attempt counts when its recorded fault is a truncated or an empty summary, or its request ended for length.
    Both kinds are one family (a reasoning model that fills the budget leaves no text, and some agents test for
    empty before they test for length), but each has its own figure. Repeats inside a cooldown, which ask no model,
    are in the figures by text and told apart where the record shows them. An error from `many` on, a warning below. How
    sure: high when a cut at the budget or the reasoning's tokens are on record, low when all that is known is that
    the summaries came empty. A log's sessions are taken together.

    What to do: turn reasoning off for the summary request on every endpoint, and raise its output budget to several
    times the length of a usual summary.

    Measures: starved (truncated + empty); truncated; empty; attempts (that wanted a summary); echoes (of the
    starved, attempts that asked no model; unknown where that is not recorded); output_tokens (the greatest output
    on record among them, a lower bound of the budget), reasoning_share (0 to 1, of all their output).
    """
    for unit in units(file):
        tries = [
            one for s in unit.sessions for one in s.attempts if one.outcome in TRIES and (one.known or one.unfinished)
        ]
        kinds = [(one, _kind(one.end)) for one in tries if one.end]
        starved = [one for one, kind in kinds if kind]
        if starved:
            yield _claim(unit, len(tries), starved, sum(kind == "truncated" for _, kind in kinds), many)


def _kind(end: Event) -> str | None:
    if end.fault == "truncated-summary" or (end.fault is None and end.stop == "length"):
        return "truncated"
    return "empty" if end.fault == "empty-summary" else None


def _claim(unit: Unit, tries: int, starved: list[Attempt], truncated: int, many: int) -> Claim:
    ends = [one.end for one in starved if one.end is not None]
    outputs = [max(end.output, end.reasoning or 0) for end in ends if end.output is not None]
    share = _share(ends)
    calls = [end.requests for end in ends if end.requests is not None]
    empty = len(starved) - truncated
    return Claim(
        message=(
            f"{len(starved)} of {tries} summaries starved {unit.where}:"
            f" {truncated} cut at the output budget, {empty} empty{_calls(calls, len(ends))}"
        ),
        evidence=shortened([one.last for one in starved]),
        measures={
            "starved": Measure(len(starved), "observed"),
            "truncated": Measure(truncated, "observed"),
            "empty": Measure(empty, "observed"),
            "attempts": Measure(tries, "observed"),
            "echoes": Measure(calls.count(0) if len(calls) == len(ends) else None, "observed"),
            "output_tokens": Measure(max(outputs, default=None), "observed"),
            "reasoning_share": Measure(share, "derived"),
        },
        confidence=_confidence(truncated, ends, share),
        severity="error" if len(starved) >= many else "warning",
        session=unit.session,
        key="starved-summary",
    )


def _calls(known: list[int], attempts: int) -> str:
    """Say how many model calls the attempts made, where that is not one each; nothing where no attempt says."""
    if not known:
        return ""
    least, most = sum(known), sum(known) + attempts - len(known)
    if least == most == attempts:
        return ""
    return f" ({least:,}{'' if least == most else f' to {most:,}'} model call{'' if most == 1 else 's'})"


def _share(ends: list[Event]) -> float | None:
    """Give the part of the generated tokens that was reasoning; some sources count it inside `output`, some beside."""
    known = [(end.reasoning, end.output) for end in ends if end.reasoning is not None and end.output is not None]
    reasoned = sum(reasoning for reasoning, _ in known)
    made = sum(max(reasoning, output) for reasoning, output in known)
    return round(reasoned / made, 4) if made else None


def _confidence(truncated: int, ends: list[Event], share: float | None) -> Confidence:
    if truncated or (share is not None and share >= _REASONED_AWAY):
        return "high"
    return "medium" if any(end.stop == "length" for end in ends) else "low"
