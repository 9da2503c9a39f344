"""The failure-loop detector."""

from collections import Counter
from collections.abc import Iterator
from math import fsum
from typing import Annotated

import msgspec

from forensics.detect import Claim, Measure, Within, detector
from forensics.detectors._rates import period, span
from forensics.events import Event
from forensics.failures import is_failed
from forensics.timeline import Session

_MINUTES_FROM = 120


class _Run(msgspec.Struct):
    """Failed replies in a row for one piece of work."""

    prompt: Event | None
    """The prompt that they answer; `None` where the file holds none."""
    failed: list[Event] = []
    streak: int = 0
    """Failures since the last compaction attempt."""
    longest: int = 0
    compactions: int = 0

    def fail(self, reply: Event) -> None:
        self.failed.append(reply)
        self.streak += 1
        self.longest = max(self.longest, self.streak)


@detector("error", per="session")
def failure_loop(session: Session, *, failures: Annotated[int, Within(1)] = 10) -> Iterator[Claim]:
    """Find many failed requests in a row for one prompt, with nothing changed between them.

    Why it is bad: the same request is refused again and again, often many times a second, and nothing but a limit of
    the provider or of the host ends it.

    How it decides. At least `failures` replies in a row that failed (an error, nothing, or a filter), with no other
    reply, no compaction and no new prompt between them. The default is above what the bounded retries of the agents
    make of one prompt (opencode 6, OpenClaw 9). A prompt that the agent sent itself (a continuation, a replay) starts
    no new work. A compaction that cut the context ends the run; one that failed does not, yet the failures in a row
    are counted anew after it; one that had nothing to do changes nothing. One run is one finding, however long.

    It stays quiet where the agent compacts every few failures: that is a compaction-loop. It cannot see retries that a
    provider's library makes below the record, nor tell two prompts apart in a file that holds none.

    What to do: bound the retries of one prompt whatever the error is, wait longer from one to the next, and do not
    repeat a request that was refused for its content or size.

    Measures: `failures`; `seconds` from the first to the last; `period_seconds`, the median from one to the next (both
    unknown where the clock went back); `faults`, their classes with counts; `error`, the words of the last that has
    some; `compactions` that failed inside; `cost` in US dollars and `tokens`, as recorded for the failed requests
    (null: none recorded); `ended_by`, what came next: "reply", "compaction", "prompt" or "nothing".
    """
    if len(session.failed) < failures:
        return
    skipped = {id(one.start) for one in session.attempts if one.outcome == "skipped"}
    for run, ended in _runs(session.events, skipped):
        if run.longest >= failures:
            yield _claim(run, ended)


def _runs(events: list[Event], skipped: set[int]) -> Iterator[tuple[_Run, str]]:
    """Give the runs, and what ended each; `skipped` are starts of compactions that then had nothing to do."""
    run = _Run(None)
    for event in events:
        if is_failed(event):
            run.fail(event)
        elif event.kind in {"compact", "compacted"} and event.outcome not in {"skipped", "summary", "dropped"}:
            if id(event) not in skipped:
                run.streak = 0
                run.compactions += event.kind == "compacted"
        elif ended := _end(event):
            if run.failed:
                yield run, ended
            if run.failed or run.compactions or event.kind == "prompt":
                run = _Run(event if event.kind == "prompt" else run.prompt)
    if run.failed:
        yield run, "nothing"


def _end(event: Event) -> str:
    """Say what of a run's end the row is; nothing where it is none."""
    if event.kind == "reply":
        return "reply"
    if event.kind == "prompt" and event.origin not in {"synthetic", "replay"}:
        return "prompt"
    return "compaction" if event.kind == "compacted" and event.outcome in {"summary", "dropped"} else ""


def _claim(run: _Run, ended: str) -> Claim:
    failed = run.failed
    times = [row.ts for row in failed]
    taken = span(times) if len(times) - times.count(None) > 1 else None
    seconds = None if taken is None else taken / 1000
    apart = period(times)
    costs = [row.cost for row in failed if row.cost is not None]
    cost = round(fsum(costs), 6) if costs else None
    tokens = [size for row in failed for size in (row.input, row.cached, row.output) if size is not None]
    faults: Counter[str] = Counter(row.fault or "unknown" for row in failed)
    error = next((row.error for row in reversed(failed) if row.error), None)
    lead = [run.prompt] if run.prompt is not None else []
    return Claim(
        message=_sentence(len(failed), faults, seconds, apart, cost),
        evidence=(*lead, failed[0], failed[-1]),
        confidence="medium" if run.prompt is None else "high",
        key=failed[0].record,
        measures={
            "failures": Measure(len(failed), "observed"),
            "seconds": Measure(seconds, "derived"),
            "period_seconds": Measure(apart, "derived"),
            "faults": Measure(", ".join(f"{name} {count}" for name, count in faults.most_common()), "observed"),
            "error": Measure(error, "observed"),
            "compactions": Measure(run.compactions, "observed"),
            "cost": Measure(cost, "derived"),
            "tokens": Measure(sum(tokens) if tokens else None, "derived"),
            "ended_by": Measure(ended, "observed"),
        },
    )


def _sentence(count: int, faults: Counter[str], seconds: float | None, apart: float | None, cost: float | None) -> str:
    parts = [f"{count:,} requests in a row failed ({', '.join(sorted(faults))}) and nothing changed between them"]
    if seconds is not None:
        parts.append(f"over {max(seconds, 0.1):,.1f} s" if seconds < _MINUTES_FROM else f"over {seconds / 60:,.1f} min")
    if apart is not None:
        parts.append(f"typically {apart:.0f} s apart" if apart >= 1 else "without a delay")
    if cost:
        parts.append(f"${cost:,.2f}")
    return ", ".join(parts)
