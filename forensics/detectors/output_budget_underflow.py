"""The output-budget-underflow detector."""

import re
from collections.abc import Iterator
from itertools import groupby

from forensics.detect import Claim, Measure, detector
from forensics.events import Event
from forensics.failures import follower
from forensics.patterns import later
from forensics.timeline import Session

_ASKED = later(r"\bgot (-?\d+)|tokens\b.{0,20}? value of (-?\d+)", re.IGNORECASE | re.DOTALL)
_MINIMUM = later(r">=\s*(\d+)|(?:at least|minimum(?: value)?(?: of| is)?)\s*:?\s*(\d+)", re.IGNORECASE)
_RANGE = later(r"from (\d+)[^\d]{0,20} to (\d+)", re.IGNORECASE)
_DIGITS = 15
"""As in an overflow error: a number of more digits is no count of tokens, and need not even be readable as one."""
_THEN = {
    "agent": "the agent went on by itself",
    "person": "a person had to write",
    "nothing": "nothing followed",
    "unknown": "a prompt of unknown origin followed",
}


@detector("error", per="session")
def output_budget_underflow(session: Session) -> Iterator[Claim]:
    """Find requests that the provider refused because the output tokens asked for were out of range.

    Why it is bad: the agent worked out a budget from a context that is already full (`max_output_tokens` of 1) or
    from a wrong model limit; the same request fails again until the context is cut down and somebody asks again.

    How it decides. Failed replies and compactions whose error is about the output budget, one finding per run
    without a good reply between. The figures are read from the provider's own words. An overflow of the context
    window is another fault and does not fire it, and no budget error of one session is held against another.

    What to do: clamp the budget to the provider's minimum before sending, and compact before the window is so full that
    nothing is left for the answer (bastani-inc/atomic#1690).

    Measures: `occurrences` in the run; `asked`, the tokens that were asked for the first time, and `minimum` and
    `maximum` that the error names (null: not said, or no count of tokens); `followed`, who went on after the last one:
    agent, person or nothing.
    """
    rows = [
        (at, event)
        for at, event in enumerate(session.events)
        if event.fault == "output-budget" and event.kind in {"reply", "compacted"}
    ]
    for _, group in groupby(rows, key=lambda row: row[1].nth):
        run = list(group)
        yield _claim([event for _, event in run], follower(session, run[-1][0]))


def _claim(run: list[Event], followed: str) -> Claim:
    error = run[0].error or ""
    asked = _number(_ASKED, error)
    bounds = _RANGE.search(error)
    minimum = _figure(bounds[1]) if bounds else _number(_MINIMUM, error)
    maximum = _figure(bounds[2]) if bounds else None
    times = "once" if len(run) == 1 else f"{len(run)} times in a row"
    budget = "" if asked is None else f" of {asked:,} token{'' if asked == 1 else 's'}"
    limits = "".join(
        f", {name} {value:,}" for name, value in (("minimum", minimum), ("maximum", maximum)) if value is not None
    )
    return Claim(
        message=f"an output budget{budget} was refused {times}{limits}: {_THEN[followed]}",
        evidence=tuple(run),
        key=run[0].record,
        measures={
            "occurrences": Measure(len(run), "observed"),
            "asked": Measure(asked, "observed"),
            "minimum": Measure(minimum, "observed"),
            "maximum": Measure(maximum, "observed"),
            "followed": Measure(followed, "observed"),
        },
    )


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return None if match is None else _figure(next(group for group in match.groups() if group is not None))


def _figure(digits: str) -> int | None:
    """Read a number of tokens; one of more digits than any count has is unknown."""
    return int(digits) if len(digits.removeprefix("-")) <= _DIGITS else None
