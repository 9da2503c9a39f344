"""The report's replay section: each session with findings against the policies of its agent.

The one place where reports meet the replay engine.
"""

from collections.abc import Iterable

from forensics.detect import Finding
from forensics.incident.model import Other, Replay
from forensics.inputs import Found
from forensics.replaying.measures import Given
from forensics.replaying.replay_report import PolicyReplay, SessionReplay
from forensics.replaying.replays import Asked, replay_file
from forensics.reports._words import count, duration, money

MOST = 6
"""Sessions that are replayed: the ones with the worst findings."""
_FIGURES = {
    "manual_continues_avoided": "messages of a person",
    "compactions_avoided": "compactions",
    "paid_summaries_avoided": "paid summaries",
    "model_calls_avoided": "model calls",
    "dollars_avoided": "dollars",
    "hours_avoided": "time",
}


def replays(files: Iterable[Found], findings: Iterable[Finding], cap: int | None) -> tuple[list[Replay], int]:
    """Replay the sessions that the findings (worst first) are about; give how many more were left out.

    Sessions in which the agent had nothing to decide are passed over, and files that do not know whose session they
    hold: other agents' policies say nothing of it.
    """
    agents = {(one.file, one.session): one.agent for one in findings if one.session is not None}
    by_name = {one.name: one for one in files}
    asked = Asked(given=Given(cap=cap))
    found: dict[tuple[str, str | None], SessionReplay] = {}
    for name in dict.fromkeys(name for name, _ in list(agents)[: 4 * MOST]):
        if name in by_name:
            made = replay_file(by_name[name].path, name, asked)
            found |= {(name, one.session): one for one in made.sessions}
    replayed = ((key, found[key]) for key in agents if key in found)
    known = [one for key, one in replayed if one.decisions and one.agent == agents[key]]
    shown = [_replay(one, number) for number, one in enumerate(known[:MOST], 1)]
    return shown, len(known) - len(shown)


def _replay(one: SessionReplay, number: int) -> Replay:
    streak = one.streak
    where = ""
    if streak.lines and (streak.lines[0] != streak.lines[-1] or not streak.records):
        where = f", lines {streak.lines[0]} to {streak.lines[-1]}"
    elif streak.records:
        where = f", from {streak.records[0]} to {streak.records[-1]}"
    recoveries = "recovery" if streak.recoveries == 1 else "recoveries"
    return Replay(
        anchor=f"replay-{number}",
        session=one.session,
        agent=one.agent,
        file=one.file,
        ran=one.ran,
        recoveries=f"{streak.recoveries:,} {recoveries} in a row without progress{where}",
        others=[_other(policy) for policy in one.policies if policy.decisions],
        notes=one.notes,
    )


def _other(one: PolicyReplay) -> Other:
    decisions = f"{one.equal:,} of {count(one.decisions, 'decision')} on record"
    if one.undetermined:
        decisions += f", {one.undetermined:,} undetermined"
    if one.departs is not None:
        place = f"line {one.departs.line}" if one.departs.line is not None else one.departs.record
        decisions += f"; differs first at {place}: recorded {one.departs.recorded}, the policy: {one.departs.policy}"
    return Other(
        policy=one.policy,
        agrees=one.agrees,
        decisions=decisions,
        bounded=one.verdict.bounded,
        verdict=_verdict(one),
        avoided=list(_avoided(one)),
        notes=one.notes,
    )


def _verdict(one: PolicyReplay) -> str:
    words = {True: "bounded", False: "unbounded", None: "undetermined"}[one.verdict.bounded]
    return f"{words}: {one.verdict.words}" if one.verdict.words else words


def _avoided(one: PolicyReplay) -> Iterable[tuple[str, str]]:
    for name, words in _FIGURES.items():
        low, high = one.counterfactual.get(name, [0, 0])
        if low == 0 and high == 0:
            continue
        yield words, _interval(name, low, high)


def _interval(name: str, low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "unknown"
    first, last = _figure(name, low), _figure(name, high)
    return first if first == last else f"{first} to {last}"


def _figure(name: str, value: float | None) -> str:
    """Say a figure that would have been avoided; one below 0 would have been spent on top."""
    if value is None:
        return "an unknown number"
    if value < 0:
        return f"{_figure(name, -value)} more instead"
    if name.startswith("dollars"):
        return money(value)
    if name.startswith("hours"):
        return f"{value:,.1f} h" if value >= 1 else duration(value * 3600)
    return f"{value:,.0f}"
