"""One side of a comparison: what a scan found, made now or read from `scan --format json`."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from forensics.config import UsageError
from forensics.detect import Finding
from forensics.forks import own
from forensics.merge import REFUTED
from forensics.scan import SessionTotals
from forensics.summary import SCHEMA_VERSION, Hidden, Report, Verdict
from forensics.times import instant
from forensics.totals import Figures, totals

_TIMES = ("start", "end", "active_from")


class Case(NamedTuple):
    """A session with its figures, each thing counted once though several files hold it."""

    agent: str
    version: str | None
    session: str
    figures: Figures
    """Those that are unknown are not in it."""
    findings: list[Finding]

    def total(self, *names: str) -> int | None:
        """Add figures up; `None` when one of them is unknown."""
        return sum(int(self.figures[name]) for name in names) if all(one in self.figures for one in names) else None


class Side(msgspec.Struct, kw_only=True):
    """Sessions and findings of one side."""

    name: str
    files: int
    result: Verdict
    detectors: list[str]
    sessions: list[SessionTotals]
    findings: list[Finding]
    parsers: dict[str, str]
    """By file."""
    notes: list[str] = []
    """What the reader must know of how it was made."""

    def cases(self) -> list[Case]:
        """Give the sessions, each once, in order."""
        views: defaultdict[tuple[str, str], list[SessionTotals]] = defaultdict(list)
        for one in self.sessions:
            views[one.agent, one.session].append(one)
        found: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
        for finding in self.findings:
            if finding.session is not None:
                found[finding.agent, finding.session].append(finding)
        return [
            Case(key[0], _version(views[key]), key[1], totals(views[key], self.parsers)[0], found[key])
            for key in sorted(views)
        ]


def _version(views: Iterable[SessionTotals]) -> str | None:
    known = sorted({one.version for one in views if one.version is not None})
    return "/".join(known) or None


def of_report(name: str, report: Report) -> Side:
    """Take a scan as a side."""
    return Side(
        name=name,
        files=report.coverage.files,
        result=report.summary.result,
        detectors=report.detectors,
        sessions=own(report.sessions),
        findings=lasting(report.findings),
        parsers={one.path: one.parser for one in report.coverage.inputs},
        notes=_unjudged(name, report.findings),
    )


def lasting(findings: Iterable[Finding]) -> list[Finding]:
    """Leave out the stalls at the end of a record: whether there is one depends on the day of the scan."""
    return [one for one in findings if not (one.detector == "silent-stall" and one.measures.get("ended") == "nothing")]


def _unjudged(name: str, findings: Sequence[Finding]) -> list[str]:
    count = len(findings) - len(lasting(findings))
    verb = "is" if count == 1 else "are"
    return [f"{name}: {_findings(count)} of work that lies still at a record's end {verb} left out"] if count else []


def is_document(path: Path) -> bool:
    """Whether a file is what `scan --format json` writes."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            head = stream.read(512)
    except OSError:  # a folder, a glob, or what cannot be read: the scan says so
        return False
    return head.lstrip().startswith(b"{") and b'"schema_version"' in head and b'"forensics"' in head


def of_document(path: Path) -> Side:
    """Read what `scan --format json` wrote. Raises `UsageError`."""
    try:
        content = msgspec.json.decode(path.read_bytes())
        if content["schema_version"] != SCHEMA_VERSION:
            raise UsageError(f"{path}: schema version {content['schema_version']} is not known; scan again")
        hidden = msgspec.convert(content["summary"]["hidden"], Hidden)
        if hidden.by_severity:
            raise UsageError(
                f"{path}: --min-severity left {_findings(hidden.by_severity)} out of it, so that its rates would be too"
                " low; scan again with --min-severity note"
            )
        found = _found(content["findings"])
        return Side(
            name=path.as_posix(),
            files=content["coverage"]["files"],
            result=msgspec.convert(content["summary"]["result"], Verdict),
            detectors=content["detectors"],
            sessions=[msgspec.convert(_timed(one), SessionTotals) for one in content["sessions"]],
            findings=lasting([*found, *_accepted(_found(content["suppressed"]))]),
            parsers={one["path"]: one["parser"] for one in content["coverage"]["inputs"]},
            notes=[*_notes(path, hidden), *_unjudged(path.as_posix(), found)],
        )
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: not a whole report of scan --format json: {error}; scan again") from error


def _found(listed: Iterable[dict[str, Any]]) -> list[Finding]:
    return [msgspec.convert(_timed(one), Finding) for one in listed]


def _accepted(suppressed: Iterable[Finding]) -> Iterable[Finding]:
    """Give those that happened, though somebody accepts them; not those that another file refutes."""
    return (one for one in suppressed if not (one.reason or "").startswith(REFUTED))


def _notes(path: Path, hidden: Hidden) -> list[str]:
    if not hidden.by_time:
        return []
    verb = "is" if hidden.by_time == 1 else "are"
    many = f"{_findings(hidden.by_time)} outside it {verb} in no number here"
    return [f"{path.as_posix()} was made for a span of time (--since, --until): {many}"]


def _findings(many: int) -> str:
    return f"{many:,} finding{'' if many == 1 else 's'}"


def _timed(one: dict[str, Any]) -> dict[str, Any]:
    return one | {name: instant(one[name]) for name in _TIMES if one.get(name) is not None}
