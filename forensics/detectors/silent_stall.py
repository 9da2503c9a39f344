"""The silent-stall detector."""

import sys
from collections.abc import Iterator

from forensics.detect import Claim, Measure, Severity, detector
from forensics.detectors._messages import judge
from forensics.detectors._rates import told
from forensics.events import Event
from forensics.failures import Break, breaks
from forensics.timeline import File, Session

_OWN_FAULTS = frozenset({"overflow", "output-budget", "truncated-summary", "empty-summary"})


@detector("error", per="file")
def silent_stall(file: File, *, idle: int = 1800) -> Iterator[Claim]:
    """Find work that broke off and was followed by nothing: no retry, no reply, no word that it is over.

    Why it is bad: the agent looks as if it were working or done, and the work is lost unless somebody looks.

    How it decides. A reply failed or was cut, or a compaction in mid-work was followed by no reply, and then either
    nothing happened for `idle` seconds until a person came back with new work, or the session ends there and its last
    row is at least `idle` seconds older than the time of the scan. A stall that a person ended by asking to go on is a
    manual-continue, not this.

    The time of the scan is `--now`. Without it, `scan` and `report` take the clock's. `check`, `baseline`, `diff`,
    `capture`, the pytest plug-in and the library never judge the end of a session unless `--now` is given, and a lock
    never holds one: what passes today must not fail tomorrow.

    It stays quiet when the recovery itself said that it ended (the provider's error text alone does not), when the
    person aborted, when the session that this one is a branch or child of went on, and when a prompt of unknown
    origin or lines that cannot be read follow. A file that does not keep the recovery's own announcements cannot
    show that one was made: the confidence is never above medium. A record that ends inside a compaction, or where the
    agent said that it would go on, shows that the process ended or stopped writing, not that the work lay still: low.
    Its severity is a warning where the provider failed (rate limit, quota, network) and no compaction came of it,
    for an answer that was cut at the output limit, and where the record ends in the midst of the recovery.

    What to do: end every recovery with an event: it goes on, or it gave up and why. A check that returns early must say
    so too.

    Measures: `idle_seconds` of nothing; `class`, as in manual-continue; `compacted`; `ended`, `new work` or `nothing`.
    """
    sessions = {session.id: session for session in file.sessions}
    for session in file.sessions:
        for one in breaks(session):
            seconds = _idle(one, session, file, sessions.get(session.parent or ""))
            if seconds is not None and seconds >= idle and not one.announced and judge(one) is None:
                yield _claim(one, session, seconds)


def _idle(one: Break, session: Session, file: File, parent: Session | None) -> float | None:
    since = one.last.ts
    if one.prompt is not None:
        return None if since is None or one.prompt.ts is None else (one.prompt.ts - since) / 1000
    if parent is not None and _went_on(parent, session, one.last):
        return None
    if file.lost is not None and file.lost > max((row.line or 0 for row in session.events), default=0):
        return None
    since = session.end if session.end is not None else file.touched
    return None if since is None or file.now is None else (file.now - since) / 1000


def _went_on(parent: Session, child: Session, last: Event) -> bool:
    """Say whether a session went on after its child's last row; a branch's by the file's order too: clocks are set."""
    if parent.end is not None and last.ts is not None and parent.end > last.ts:
        return True
    below = any(row.line is not None and row.line > (last.line or sys.maxsize) for row in parent.events)
    return below and child.id.startswith(f"{parent.id}/")


def _claim(one: Break, session: Session, seconds: float) -> Claim:
    hours = told(seconds / 3600)
    until = f"for {hours} until a person came with new work" if one.prompt else f"until the scan ({hours} later)"
    what = "no reply came after a compaction in mid-work" if one.kind == "idle" else f"a reply broke off ({one.cause})"
    rows = (*one.compactions, one.row, *((one.prompt,) if one.prompt else ()))
    end = _open_end(one)
    return Claim(
        message=f"{what}, and nothing followed {until}{end and f': {end}'}",
        evidence=tuple(sorted(rows, key=lambda row: row.seq)),
        confidence="low" if one.kind == "length" or end else "medium",
        severity=_severity(one),
        session=session,
        key=one.row.record,
        measures={
            "idle_seconds": Measure(seconds, "derived"),
            "class": Measure(one.cause, "observed"),
            "compacted": Measure("yes" if one.compacted else "no", "observed"),
            "ended": Measure("new work" if one.prompt else "nothing", "observed"),
        },
    )


def _open_end(one: Break) -> str:
    """Say where the record ends in the midst of the recovery; nothing where it does not."""
    last = max((*one.compactions, one.row), key=lambda row: row.seq)
    if one.prompt is not None:
        return ""
    if last.kind == "compact" or (last.kind == "compacted" and last.outcome == "unknown"):
        return "the record ends inside a compaction"
    return "the record ends where the agent said that it would go on" if last.will_retry else ""


def _severity(one: Break) -> Severity:
    if _open_end(one):
        return "warning"
    return "error" if one.kind == "idle" or one.compacted or one.cause in _OWN_FAULTS else "warning"
