"""Hold what was found against what is accepted: suppressions, a baseline, and what else the caller has to say."""

from collections.abc import Callable, Sequence

import msgspec

from forensics import baseline, ignores
from forensics.baseline import Baseline, Seen
from forensics.detect import Finding
from forensics.ignores import Ignore
from forensics.remark import Remark
from forensics.scan import SessionTotals
from forensics.summary import Mark, Marked


class Rules(msgspec.Struct, kw_only=True, frozen=True):
    """What findings are held against. `now` is UTC milliseconds; `accept` the command that takes them as they are."""

    now: int
    detectors: tuple[str, ...]
    suppressions: tuple[Ignore, ...] = ()
    baseline: Baseline | None = None
    accept: str = ""
    """Empty where nobody asked for a baseline."""


Judge = Callable[[list[SessionTotals]], Sequence[Remark]]
"""Says what there is to say about the sessions."""


def marker(rules: Rules, judge: Judge | None = None) -> Mark:
    """Give what `summarise` marks the findings with: suppressions first, then the baseline, then what `judge` says."""

    def mark(findings: list[Finding], sessions: list[SessionTotals]) -> Marked:
        left = ignores.suppress(findings, rules.suppressions, rules.now)
        remarks = [*left.remarks, *(judge(sessions) if judge else ())]
        if rules.baseline is None:
            return Marked(left.findings, left.suppressed, [*remarks, *_new(left.findings, rules)])
        seen = Seen(rules.detectors, {one.session for one in sessions})
        found = baseline.mark(left.findings, _without(rules.baseline, left), seen, rules.now, rules.accept)
        remarks += [*found.remarks, *_new(found.findings, rules)]
        return Marked(found.findings, left.suppressed, remarks)

    return mark


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
