"""The length-stop detector."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from forensics import faults
from forensics.detect import Claim, Measure, detector
from forensics.events import Event
from forensics.failures import Failure, failures
from forensics.timeline import Session


@detector("warning", per="session")
def length_stop(session: Session) -> Iterator[Claim]:
    """Find replies that were cut at the output limit, and says who went on after them.

    Why it is bad: a cut answer looks finished; where the agent does not go on by itself, the task stops in the
    middle of a sentence, and where it retries the same oversized output it is cut again.

    How it decides. Replies that ended with the stop reason for the output limit, one finding per run without a good
    reply between. A run after which the agent always went on by itself (a cut reply whose tool calls ran, an
    automatic continuation) is a note, not a dead end. The limit is named when two cut replies of the session
    generated the same number of tokens. A canned refusal that a provider marks as cut, without any usage, is no
    length stop, and the person's abort is none either.

    What to do: continue a cut reply directly, a bounded number of times, and start counting anew at each prompt
    (bastani-inc/atomic#1684); where the limit is the agent's own, raise it.

    Measures: `stops` in the run; `output_cap` in tokens (null: unknown; others of the run may have generated less);
    `by_agent`, `by_person` and `by_nothing`: how many of them were followed by the agent itself, by a person's prompt,
    by nothing to the end of the session.
    """
    cut = [one for one in failures(session) if one.reply.stop == "length" and not _is_refusal(one.reply)]
    sizes = Counter(one.reply.output for one in cut if one.reply.output)
    for _, run in groupby(cut, key=lambda one: one.reply.nth):
        yield _claim(list(run), sizes)


def _claim(run: list[Failure], sizes: Counter[int]) -> Claim:
    caps = [one.reply.output for one in run if one.reply.output and sizes[one.reply.output] > 1]
    cap = max(caps, default=None)
    followers: Counter[str] = Counter(one.followed for one in run)
    evidence = [row for one in run for row in (one.reply, one.next) if row is not None]
    return Claim(
        message=f"{_cut(run, cap)}: {_then(followers)}",
        evidence=tuple({row.seq: row for row in evidence}.values()),
        severity="note" if followers["agent"] == len(run) else None,
        key=run[0].reply.record,
        measures={
            "stops": Measure(len(run), "observed"),
            "output_cap": Measure(cap, "derived"),
            "by_agent": Measure(followers["agent"], "observed"),
            "by_person": Measure(followers["person"], "observed"),
            "by_nothing": Measure(followers["nothing"], "observed"),
        },
    )


def _cut(run: list[Failure], cap: int | None) -> str:
    """Say how many replies were cut, and at which limit those that generated as much."""
    what = "a reply was" if len(run) == 1 else f"{len(run)} replies in a row were"
    there = sum(one.reply.output == cap for one in run)
    if cap is None:
        return f"{what} cut at the output limit"
    if there == len(run):
        return f"{what} cut at the output limit of {cap:,} tokens"
    return f"{what} cut, {there} of them at the output limit of {cap:,} tokens"


def _then(followers: Counter[str]) -> str:
    parts = (
        ("agent", "the agent went on by itself"),
        ("person", "a person had to write"),
        ("nothing", "nothing followed"),
        ("unknown", "a prompt of unknown origin followed"),
    )
    return ", ".join(f"{text} after {followers[who]}" for who, text in parts if followers[who])


def _is_refusal(reply: Event) -> bool:
    unmeasured = reply.input is None and reply.output is None
    return unmeasured and reply.text is not None and faults.classify(reply.text) == "refusal"
