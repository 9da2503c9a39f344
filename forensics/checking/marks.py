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
from forensics.times import iso

RENEWED_DAYS = 90
"""For so long a command that renews expired entries accepts them."""
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
    renew: str = ""
    """The command that also renews the entries whose day is over."""


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
        renew=_command(asked, paths, "update", _renewing(asked, options.now or 0)) if wanted else "",
    )


def suppressions(asked: Settings) -> tuple[Ignore, ...]:
    """Read the suppressions of the settings. Raises `UsageError`."""
    place, given = asked.get("suppress", ("", ()))
    return tuple(ignores.rules_of(given, place, detectors()))


def _command(asked: Settings, paths: Sequence[str], what: str, more: Sequence[str] = ()) -> str:
    """Give the command that accepts what was found, as it can be pasted into a shell; it finds the same."""
    where = ["--baseline", Path(asked["baseline"]).as_posix()] if "baseline" in asked else []
    where += ["--cap", str(asked["cap"])] if "cap" in asked else []
    for name, options in sorted(asked.get("set", {}).items()):
        where += [part for key, value in sorted(options.items()) for part in ("--set", f"{name}.{key}={_word(value)}")]
    return shlex.join(["forensics", "baseline", what, *where, *more, *paths])


def _word(value: object) -> str:
    if isinstance(value, (tuple, list, frozenset)):
        return ",".join(sorted(map(str, value)))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _renewing(asked: Settings, now: int) -> list[str]:
    """Give the options that renew what is over at that time, until a day to look at it again."""
    held = ["--now", iso(asked["now"]) or ""] if "now" in asked else []
    return [*held, "--expires", (iso(now + RENEWED_DAYS * 86_400_000) or "9999-12-31")[:10]]


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
        over = False
        if rules.baseline is not None:
            seen = Seen(rules.detectors, {one.session for one in sessions})
            found = baseline.mark(kept, _without(rules.baseline, left), seen, rules.now, rules.accept)
            kept = found.findings
            remarks += found.remarks
            over = any(one.change == "expired" for one in found.remarks)
        kept = [_held(one) if one.state == "new" and (one.file, key(one)) in known else one for one in kept]
        return Marked(kept, left.suppressed, [*remarks, *_new(kept, rules, over=over)])

    return mark


def _held(one: Finding) -> Finding:
    return msgspec.structs.replace(one, state="baselined", reason=HELD_BY_LOCK)


def _new(findings: list[Finding], rules: Rules, *, over: bool) -> list[Remark]:
    """Say how many findings nothing accepts, and how to accept them; `over`: entries among them have expired."""
    new = sum(one.state == "new" for one in findings)
    if not new or not rules.accept:
        return []
    where = "not in the baseline" if rules.baseline else "not in a baseline, for there is none"
    message = f"{where}: {new:,} finding{'' if new == 1 else 's'}"
    command = rules.renew if over else rules.accept
    return [Remark(topic="baseline", change="new", fails=False, name="new", message=message, accept=command)]


def _without(accepted: Baseline, left: Marked) -> Baseline:
    """Leave out the entries whose findings are suppressed: they are still there, so nothing is to be told of them."""
    used = baseline.pair(left.suppressed, accepted.entries)
    return msgspec.structs.replace(accepted, entries=[*used.unused]) if left.suppressed else accepted
