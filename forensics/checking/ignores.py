"""Suppressions of the configuration: findings set aside by detector, session or path, with a reason and an end."""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from forensics.config import UsageError, nearest
from forensics.detect import Finding
from forensics.remark import Change, Remark
from forensics.summary import Marked
from forensics.times import day, expired

_EXAMPLE = '{ detector = "no-summary", path = "captures/*", reason = "..." }'


class Ignore(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A suppression: what it names must all match. Patterns are those of file names (`*`, `?`, `[...]`)."""

    reason: str
    detector: str | None = None
    session: str | None = None
    path: str | None = None
    expires: str | None = None

    def matches(self, finding: Finding) -> bool:
        """Whether the finding is meant."""
        names = (self.detector, finding.detector), (self.session, finding.session or "")
        files = (finding.file, *finding.also)
        return all(pattern is None or fnmatchcase(name, pattern) for pattern, name in names) and (
            self.path is None or any(fnmatchcase(file, self.path) for file in files)
        )

    def __str__(self) -> str:
        """Say what it names."""
        named = (("detector", self.detector), ("session", self.session), ("path", self.path))
        return ", ".join(f"{name} {pattern}" for name, pattern in named if pattern is not None)


def suppress(findings: Sequence[Finding], rules: Sequence[Ignore], now: int) -> Marked:
    """Set aside what the suppressions name; tell of those that are expired or name nothing."""
    used = [0] * len(rules)
    kept: list[Finding] = []
    aside: list[Finding] = []
    for one in findings:
        by = [at for at, rule in enumerate(rules) if rule.matches(one)]
        for at in by:
            used[at] += 1
        valid = next((rules[at] for at in by if not expired(rules[at].expires, now)), None)
        if valid is None:
            kept.append(one)
        else:
            aside.append(msgspec.structs.replace(one, state="suppressed", reason=valid.reason))
    remarks: list[Remark] = []
    for rule, times in zip(rules, used, strict=True):
        if expired(rule.expires, now):
            again = f"; {times} of its findings count again" if times else ""
            remarks.append(_told(rule, "expired", f"held through {rule.expires}{again}"))
        elif not times:
            remarks.append(_told(rule, "unused", "matches no finding of this run"))
    return Marked(kept, aside, remarks)


def _told(rule: Ignore, change: Change, message: str) -> Remark:
    return Remark(topic="ignore", change=change, fails=False, name=str(rule), message=message)


def rules_of(given: Sequence[Any], place: str, detectors: Collection[str]) -> list[Ignore]:
    """Read the suppressions found at `place`. Raises `UsageError`."""
    return [_rule(one, place, detectors) for one in given]


def _rule(given: Any, place: str, detectors: Collection[str]) -> Ignore:
    if not isinstance(given, dict):
        raise UsageError(f"{place}: {given!r} does not fit; for example {_EXAMPLE}")
    for key in given:
        if key not in Ignore.__struct_fields__:
            raise UsageError(f"{place}: unknown key {key!r}; {nearest(key, Ignore.__struct_fields__)}")
    content = dict(given)
    if "expires" in content:
        try:
            content["expires"] = day(content["expires"])
        except ValueError as error:
            raise UsageError(f"{place}: expires: {content['expires']!r} does not fit; {error}") from error
    if not str(content.get("reason", "")).strip():
        raise UsageError(f"{place}: a suppression needs a reason; for example {_EXAMPLE}")
    if not {"detector", "session", "path"} & content.keys():
        raise UsageError(f"{place}: a suppression names a detector, a session or a path; for example {_EXAMPLE}")
    try:
        rule = msgspec.convert(content, Ignore)
    except msgspec.ValidationError as error:
        raise UsageError(f"{place}: {error}; for example {_EXAMPLE}") from error
    if rule.detector is not None and not any(fnmatchcase(name, rule.detector) for name in detectors):
        raise UsageError(f"{place}: unknown detector {rule.detector!r}; {nearest(rule.detector, detectors)}")
    return rule
