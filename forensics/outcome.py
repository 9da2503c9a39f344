"""How a run ends: one decision for the exit code and for the line that says it."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from forensics.detect import SEVERITIES, Finding, Severity
from forensics.remark import Remark, failing
from forensics.scan import Input, Skipped

FailOn = Literal["error", "warning", "note", "never"]
Status = Literal["clean", "findings", "failed", "internal-error", "nothing-recognised", "incomplete"]
_HARMLESS = frozenset({"same", "excluded"})
_COUNTING = frozenset({"new", "worse"})
"""States of findings that can fail a run."""


class Coverage(msgspec.Struct, kw_only=True):
    """What was read and what was not. `files` to `salvaged` are about the files that were read."""

    files: int
    bytes: int
    lines: int | None
    """Null when only databases were read."""
    records: int
    malformed: int
    duplicates: int
    salvaged: int
    unrecognised: int
    unreadable: int
    skipped: list[Skipped]
    inputs: list[Input]


class Verdict(msgspec.Struct, kw_only=True):
    """How the run ended: the exit code, and the words for it."""

    exit_code: int
    status: Status
    reason: str


class Terms(msgspec.Struct, kw_only=True, frozen=True):
    """What the user asks of the findings: which to show, which to fail on. Times are UTC milliseconds."""

    min_severity: Severity = "note"
    since: int | None = None
    until: int | None = None
    fail_on: FailOn = "never"
    exit_zero: bool = False
    strict: bool = False


def verdict(coverage: Coverage, findings: list[Finding], terms: Terms, remarks: Sequence[Remark] = ()) -> Verdict:
    """Decide how the run ended: the one place that exit codes and result lines come from."""
    counts = counted(findings)
    read = f"read {_n(coverage.files, 'file')}, {_n(coverage.records, 'record')}"
    broken = sum(one.kind == "broken" for one in coverage.skipped)
    unread = sum(one.kind not in _HARMLESS for one in coverage.skipped)
    if broken:
        return Verdict(exit_code=2, status="internal-error", reason=f"internal error on {_n(broken, 'file')}; {counts}")
    if not coverage.files:
        looked = f"{_n(unread, 'input')} looked at, none recognised" if unread else "there are no files there"
        return Verdict(exit_code=3, status="nothing-recognised", reason=f"nothing was read: {looked}")
    why = _failures(findings, terms, remarks)
    if why and not terms.exit_zero:
        return Verdict(exit_code=1, status="failed", reason="; ".join((counts, *why)))
    gaps = [_n(unread, "input") + " not read"] if unread else []
    gaps += [_n(coverage.malformed, "malformed line")] if coverage.malformed else []
    if gaps and terms.strict:
        return Verdict(exit_code=4, status="incomplete", reason=f"incomplete (--strict): {', '.join(gaps)}; {counts}")
    if findings or why:
        return Verdict(exit_code=0, status="findings", reason="; ".join((counts, *failing(list(remarks)))))
    nothing = "nothing found" if coverage.records else "no records, so there was nothing to find"
    return Verdict(exit_code=0, status="clean", reason=f"{read}, {nothing}")


def _failures(findings: list[Finding], terms: Terms, remarks: Sequence[Remark]) -> list[str]:
    """Say what fails the run: findings at or above `--fail-on`, measures that got worse, remarks that fail."""
    why: list[str] = []
    if terms.fail_on != "never":
        least = SEVERITIES.index(terms.fail_on)
        counting = [one for one in findings if one.state in _COUNTING]
        if any(SEVERITIES.index(one.severity) <= least for one in counting):
            why.append(f"fails on {terms.fail_on} (--fail-on)")
        if worse := sum(one.state == "worse" for one in counting):
            why.append(f"{_n(worse, 'finding')} worse than in the baseline")
    return [*why, *failing(list(remarks))]


def counted(findings: Iterable[Finding]) -> str:
    """Say how many findings there are of each severity, those that a baseline or a lock accepts apart."""
    states: dict[str, int] = {}
    for one in findings:
        name = one.severity if one.state in _COUNTING else one.state
        states[name] = states.get(name, 0) + 1
    parts = [_n(states[name], name) for name in SEVERITIES if name in states]
    if "baselined" in states:
        parts = [*(parts or ["nothing new"]), f"{states['baselined']:,} known"]
    return ", ".join(parts) or "nothing found"


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
