"""Reports made by hand, so that what a report writes does not hang on what a detector finds today."""

from collections.abc import Callable
from typing import Any

import pytest

from forensics.detect import Finding
from forensics.parse import Malformed
from forensics.scan import Compactions, Input, Result, SessionTotals, Skipped
from forensics.summary import Report, summarise

HOSTILE = (
    "\x1b[31mred\x1b[0m \u202eevil\u202c [bold]markup[/bold] <script>alert(1)</script> "
    "](javascript:alert(1)) | a | b | \n# not a heading\n::error::injected \x07\x9b2J \ud800 =cmd()"
)


def make_finding(**changed: Any) -> Finding:
    values: dict[str, Any] = {
        "id": "0123456789abcdef/v1",
        "detector": "manual-continue",
        "severity": "error",
        "confidence": "high",
        "agent": "demo",
        "file": "logs/a.jsonl",
        "session": "s1",
        "message": "a reply failed, and a person had to write",
        "lines": [387, 388, 389, 390],
        "records": ["r1", "r2"],
        "start": 1783591200000,
        "end": 1783592010500,
        "measures": {"waiting_seconds": 810.5, "rate": None},
        "bases": {"waiting_seconds": "derived", "rate": "inferred"},
        "intervals": {"waiting_seconds": (800.0, 820.0)},
    }
    return Finding(**(values | changed))


def make_session(**changed: Any) -> SessionTotals:
    values: dict[str, Any] = {
        "session": "s1",
        "agent": "demo",
        "version": "1.0",
        "file": "logs/a.jsonl",
        "parent": None,
        "rows": 40,
        "start": 1783591200000,
        "active_from": 1783591200000,
        "end": 1783594800000,
        "prompts": 2,
        "replies": 10,
        "errors": {"overflow": 1},
        "length_stops": 1,
        "aborted": 0,
        "compactions": Compactions(attempts=2, summaries=1, no_summary=1),
        "manual_continues": 1,
        "peak_context": 120000,
        "cap": 128000,
        "cap_source": "recorded",
        "peak_ratio": 0.9375,
        "input_tokens": 1000,
        "cached_tokens": None,
        "output_tokens": 500,
        "cost": 1.5,
        "waiting_seconds": 810.5,
        "contexts": [1000, 60000, 120000],
    }
    return SessionTotals(**(values | changed))


def make_input(**changed: Any) -> Input:
    values: dict[str, Any] = {
        "path": "logs/a.jsonl",
        "parser": "plain",
        "agent": "demo",
        "bytes": 5000,
        "sessions": 1,
        "lines": 400,
        "records": 399,
        "malformed": [Malformed(7, 512, "invalid UTF-8 at byte 3 of the line", salvaged=True)],
        "duplicates": 0,
        "salvaged": 1,
        "unknown": {"mystery": 2},
        "notes": ["UTF-8 byte order mark skipped"],
        "companions": [],
        "failures_observable": "partly",
    }
    return Input(**(values | changed))


def make_report(findings: list[Finding] | None = None, **summary: Any) -> Report:
    """One file with one session and its findings, one file that nothing recognises, one that cannot be read."""
    result = Result(
        input=make_input(), sessions=[make_session()], findings=[make_finding()] if findings is None else findings
    )
    skipped = [
        Skipped(path="logs/b.txt", bytes=9, kind="unrecognised", reason="not a format that is read"),
        Skipped(path="logs/c.jsonl", bytes=0, kind="unreadable", reason="Permission denied"),
    ]
    return summarise([result], skipped, detectors=["manual-continue", "no-summary"], **summary)


@pytest.fixture
def report() -> Report:
    return make_report()


@pytest.fixture
def report_of() -> Callable[..., Report]:
    return make_report


@pytest.fixture
def finding_of() -> Callable[..., Finding]:
    return make_finding


@pytest.fixture
def hostile() -> Report:
    """Hostile text in every field that a transcript can reach."""
    finding = make_finding(
        message=HOSTILE,
        session=HOSTILE,
        records=[HOSTILE],
        file=f"logs/{HOSTILE}.jsonl",
        agent=HOSTILE,
        measures={"kind": HOSTILE},
        bases={"kind": "observed"},
        intervals={},
        also=[HOSTILE],
    )
    result = Result(
        input=make_input(path=f"logs/{HOSTILE}.jsonl", agent=HOSTILE, notes=[HOSTILE], unknown={HOSTILE: 1}),
        sessions=[make_session(session=HOSTILE, agent=HOSTILE, file=f"logs/{HOSTILE}.jsonl", version=HOSTILE)],
        findings=[finding],
    )
    return summarise([result], [Skipped(path=HOSTILE, bytes=1, kind="unreadable", reason=HOSTILE)])
