"""Mark findings as known: by suppressions, by the baseline, by the locks of recordings. What is left is new."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from forensics.checking import baseline, ignores
from forensics.checking.baseline import Baseline, Seen
from forensics.checking.ignores import Ignore
from forensics.config import Settings
from forensics.detect import Finding, detectors
from forensics.remark import Remark
from forensics.scan import Options, SessionTotals
from forensics.summary import HELD_BY_LOCK, Mark, Marked

Key = tuple[str, tuple[int, ...]]
"""What tells a finding from the others of its file: its id and lines."""


def key(one: Finding) -> Key:
    """Tell a finding from the others of its file."""
    return one.id, tuple(one.lines)


class Rules(msgspec.Struct, kw_only=True, frozen=True):
    """What findings are held against. `now` is UTC milliseconds; `accept` the command that takes them as they are."""

    now: int
    detectors: tuple[str, ...]
    suppressions: tuple[Ignore, ...] = ()
    baseline: Baseline | None = None
    accept: str = ""
    """Empty where nobody asked for a baseline."""


def baseline_file(asked: Settings, folder: Path = Path()) -> Path:
    """Give the baseline's place: as asked for, else in the folder."""
    return folder / str(asked.get("baseline", baseline.NAME))


def rules_for(
    asked: Settings, options: Options, paths: Sequence[str], *, check: bool = False, folder: Path = Path()
) -> Rules:
    """Read the baseline and the suppressions. `check` uses a baseline in the folder unasked.

    Raises `UsageError`.
    """
    file = baseline_file(asked, folder)
    wanted = "baseline" in asked or (check and file.is_file())
    return Rules(
        now=options.now or 0,
        detectors=options.detectors or (),
        suppressions=suppressions(asked),
        baseline=baseline.load(file) if wanted else None,
        accept=_command(asked, paths, "update" if wanted else "create") if wanted or check else "",
    )


def suppressions(asked: Settings) -> tuple[Ignore, ...]:
    """Read the suppressions of the settings. Raises `UsageError`."""
    place, given = asked.get("suppress", ("", ()))
    return tuple(ignores.rules_of(given, place, detectors()))


def _command(asked: Settings, paths: Sequence[str], what: str) -> str:
    """Give the command that accepts what was found, as it can be pasted into a shell."""
    where = ["--baseline", Path(asked["baseline"]).as_posix()] if "baseline" in asked else []
    return shlex.join(["forensics", "baseline", what, *where, *paths])


Judge = Callable[[list[SessionTotals]], Sequence[Remark]]
"""Says what there is to say about the sessions."""

Known = frozenset[tuple[str, Key]]
"""Findings that locks hold, by file, id and lines."""


def marker(rules: Rules, judge: Judge | None = None, known: Known = frozenset()) -> Mark:
    """Give what `summarise` marks the findings with: suppressions first, then the baseline, then what locks hold."""

    def mark(findings: list[Finding], sessions: list[SessionTotals]) -> Marked:
        left = ignores.suppress(findings, rules.suppressions, rules.now)
        remarks = [*left.remarks, *(judge(sessions) if judge else ())]
        kept = left.findings
        if rules.baseline is not None:
            seen = Seen(rules.detectors, {one.session for one in sessions})
            found = baseline.mark(kept, _without(rules.baseline, left), seen, rules.now, rules.accept)
            kept = found.findings
            remarks += found.remarks
        kept = [_held(one) if one.state == "new" and (one.file, key(one)) in known else one for one in kept]
        return Marked(kept, left.suppressed, [*remarks, *_new(kept, rules)])

    return mark


def _held(one: Finding) -> Finding:
    return msgspec.structs.replace(one, state="baselined", reason=HELD_BY_LOCK)


def _new(findings: list[Finding], rules: Rules) -> list[Remark]:
    """Say how many findings nothing accepts, and how to accept them."""
    new = sum(one.state == "new" for one in findings)
    if not new or not rules.accept:
        return []
    where = "not in the baseline" if rules.baseline else "not in a baseline, for there is none"
    message = f"{where}: {new:,} finding{'' if new == 1 else 's'}"
    return [Remark(topic="baseline", change="new", fails=False, name="new", message=message, accept=rules.accept)]


def _without(accepted: Baseline, left: Marked) -> Baseline:
    """Leave out the entries whose findings are suppressed: they are still there, so nothing is to be told of them."""
    used = baseline.pair(left.suppressed, accepted.entries)
    return msgspec.structs.replace(accepted, entries=[*used.unused]) if left.suppressed else accepted
