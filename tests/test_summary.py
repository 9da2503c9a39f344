import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.detect import SEVERITIES, Finding, Severity
from forensics.parse import Malformed
from forensics.scan import Compactions, Input, Options, Result, SessionTotals, SkipKind, Skipped, scan_file
from forensics.summary import FailOn, Terms, order, summarise

DAY = 86_400_000


def finding(number: int = 1, **changed: Any) -> Finding:
    values: dict[str, Any] = {
        "id": f"{number:016x}/v1",
        "detector": "manual-continue",
        "severity": "error",
        "confidence": "high",
        "agent": "pi",
        "file": "a.jsonl",
        "session": "s",
        "message": "m",
        "lines": [number],
        "records": [],
        "start": number * 1000,
        "end": number * 1000 + 500,
        "measures": {},
        "bases": {},
        "intervals": {},
    }
    return Finding(**(values | changed))


def session(**changed: Any) -> SessionTotals:
    values: dict[str, Any] = {
        "session": "s",
        "agent": "pi",
        "version": None,
        "file": "a.jsonl",
        "parent": None,
        "rows": 10,
        "start": 0,
        "active_from": 0,
        "end": 10_000,
        "prompts": 3,
        "replies": 9,
        "errors": {},
        "length_stops": 0,
        "aborted": 0,
        "compactions": Compactions(),
        "manual_continues": 0,
        "peak_context": None,
        "cap": None,
        "cap_source": None,
        "peak_ratio": None,
        "input_tokens": None,
        "cached_tokens": None,
        "output_tokens": None,
        "cost": None,
        "waiting_seconds": None,
        "contexts": [],
    }
    return SessionTotals(**(values | changed))


def read(path: str = "a.jsonl", sessions: Any = (), findings: Any = (), **changed: Any) -> Result:
    values: dict[str, Any] = {
        "path": path,
        "parser": "pi",
        "agent": "pi",
        "bytes": 100,
        "sessions": len(sessions),
        "lines": 10,
        "records": 10,
        "malformed": [],
        "duplicates": 0,
        "salvaged": 0,
        "unknown": {},
        "notes": [],
        "companions": [],
        "failures_observable": "yes",
    }
    return Result(input=Input(**(values | changed)), sessions=list(sessions), findings=list(findings))


def skipped(kind: SkipKind, path: str = "x") -> Skipped:
    return Skipped(path=path, bytes=1, kind=kind, reason="why")


def test_nothing_at_all_is_exit_3() -> None:
    result = summarise([]).summary.result
    assert (result.exit_code, result.status, result.reason) == (
        3,
        "nothing-recognised",
        "nothing was read: there are no files there",
    )


NOTHING = "read 1 file, 10 records, nothing found"
FAILS = "1 error; fails on error (--fail-on)"
FOUND = [read(findings=[finding()])]
NOTED = [read(findings=[finding(severity="note")])]
STRICT = Terms(strict=True)


@pytest.mark.parametrize(
    ("results", "missed", "terms", "code", "reason"),
    [
        ([read()], [], Terms(), 0, NOTHING),
        ([read(records=0)], [], Terms(), 0, "read 1 file, 0 records, no records, so there was nothing to find"),
        ([], [skipped("unrecognised")], Terms(), 3, "nothing was read: 1 input looked at, none recognised"),
        ([], [skipped("excluded")], Terms(), 3, "nothing was read: there are no files there"),
        (FOUND, [], Terms(), 0, "1 error"),
        (FOUND, [], Terms(fail_on="error"), 1, FAILS),
        (FOUND, [], Terms(fail_on="error", exit_zero=True), 0, "1 error"),
        (NOTED, [], Terms(fail_on="warning"), 0, "1 note"),
        (NOTED, [], Terms(fail_on="note"), 1, "1 note; fails on note (--fail-on)"),
        ([read()], [skipped("unrecognised")], Terms(), 0, NOTHING),
        ([read()], [skipped("unrecognised")], STRICT, 4, "incomplete (--strict): 1 input not read; nothing found"),
        ([read()], [skipped("same"), skipped("excluded")], STRICT, 0, NOTHING),
        (
            [read(malformed=[Malformed(1, 0, "torn", salvaged=False)])],
            [],
            STRICT,
            4,
            "incomplete (--strict): 1 malformed line; nothing found",
        ),
        (FOUND, [skipped("unreadable")], Terms(strict=True, fail_on="error"), 1, FAILS),
        (FOUND, [skipped("broken")], Terms(fail_on="error"), 2, "internal error on 1 file; 1 error"),
    ],
)  # fmt: skip
def test_line_and_exit_code_come_from_one_place(
    results: list[Result], missed: list[Skipped], terms: Terms, code: int, reason: str
) -> None:
    result = summarise(results, missed, terms).summary.result
    assert (result.exit_code, result.reason) == (code, reason)


@given(
    st.lists(st.sampled_from(SEVERITIES), max_size=4),
    st.sampled_from(["error", "warning", "note", "never"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_a_failing_exit_code_always_has_its_words(
    severities: list[Severity], fail_on: FailOn, strict: bool, exit_zero: bool, gap: bool
) -> None:
    findings = [finding(at, severity=one) for at, one in enumerate(severities)]
    terms = Terms(fail_on=fail_on, strict=strict, exit_zero=exit_zero)
    result = summarise([read(findings=findings)], [skipped("unreadable")] if gap else [], terms).summary.result
    reaches = fail_on != "never" and any(SEVERITIES.index(s) <= SEVERITIES.index(fail_on) for s in severities)
    assert result.exit_code == (1 if reaches and not exit_zero else 4 if gap and strict else 0)
    assert ("fails on" in result.reason) == (result.exit_code == 1)
    assert ("incomplete" in result.reason) == (result.exit_code == 4)


def test_the_order_is_total_and_the_same_whatever_comes_first() -> None:
    findings = [
        finding(3, severity="note"),
        finding(2, file="b.jsonl"),
        finding(1, detector="z"),
        finding(1, detector="a"),
        finding(9, severity="warning", lines=[]),
    ]
    expected = [(one.severity, one.file, one.detector) for one in sorted(findings, key=order)]
    assert expected == [
        ("error", "a.jsonl", "a"),
        ("error", "a.jsonl", "z"),
        ("error", "b.jsonl", "manual-continue"),
        ("warning", "a.jsonl", "manual-continue"),
        ("note", "a.jsonl", "manual-continue"),
    ]
    for turn in range(len(findings)):
        turned = findings[turn:] + findings[:turn]
        report = summarise([read(findings=turned), read("b.jsonl")])
        assert [(one.severity, one.file, one.detector) for one in report.findings] == expected


def test_a_finding_in_a_copy_is_one_finding_of_the_fullest_file() -> None:
    report = summarise(
        [
            read("a.bak", [session(file="a.bak", rows=5)], [finding(1, file="a.bak")]),
            read("a.jsonl", [session(rows=10)], [finding(1), finding(2)]),
            read("z.jsonl", [session(file="z.jsonl", rows=10)], [finding(1, file="z.jsonl")]),
        ]
    )
    assert [(one.id[:16], one.file, one.also) for one in report.findings] == [
        ("0000000000000001", "a.jsonl", ["a.bak", "z.jsonl"]),
        ("0000000000000002", "a.jsonl", []),
    ]
    assert report.summary.by_severity == {"error": 2, "warning": 0, "note": 0}


def test_the_same_id_at_another_time_is_another_finding() -> None:
    report = summarise(
        [
            read("a.log", [], [finding(1, file="a.log", session=None, start=0)]),
            read("b.log", [], [finding(1, file="b.log", session=None, start=DAY)]),
        ]
    )
    assert [(one.file, one.also) for one in report.findings] == [("a.log", []), ("b.log", [])]


def test_two_findings_of_one_file_are_never_merged() -> None:
    assert len(summarise([read(findings=[finding(1), finding(1)])]).findings) == 2


def test_copies_count_once_and_are_told() -> None:
    report = summarise(
        [
            read("a.jsonl.bak", [session(file="a.jsonl.bak", rows=5, prompts=2, cost=1.0, end=5000)]),
            read("a.jsonl", [session(prompts=3, cost=1.5, errors={"overflow": 2})]),
            read("b.jsonl", [session(session="t", file="b.jsonl", prompts=1)]),
        ]
    )
    total = report.summary
    assert (total.sessions, total.prompts, total.cost, total.errors) == (2, 4, 1.5, {"overflow": 2})
    assert [(one.session, one.file, one.others) for one in total.copies] == [("s", "a.jsonl", ["a.jsonl.bak"])]
    assert len(report.sessions) == 3


def test_stretches_of_one_session_in_several_files_are_added() -> None:
    steps = [session(file=f"step{at}", active_from=at * 1000, end=at * 1000 + 900, replies=2) for at in range(3)]
    report = summarise([read(one.file, [one]) for one in steps])
    assert (report.summary.replies, report.summary.sessions, report.summary.copies) == (6, 1, [])


def test_two_kinds_of_file_show_a_session_differently_and_the_greater_figure_counts() -> None:
    blind = Compactions(attempts=1, summaries=1, no_summary=None)
    report = summarise(
        [
            read("s.jsonl", [session(file="s.jsonl", prompts=3, compactions=blind)]),
            read(
                "stream.txt",
                [session(file="stream.txt", prompts=0, compactions=Compactions(attempts=3, summaries=1, no_summary=2))],
                parser="pi-stream",
            ),
        ]
    )  # fmt: skip
    total = report.summary
    assert (total.prompts, total.compactions.attempts, total.compactions.no_summary) == (3, 3, 2)
    assert total.copies[0].others == ["stream.txt"]


def test_an_outcome_that_one_file_knows_is_not_unknown() -> None:
    log = session(file="x.log", compactions=Compactions(attempts=3, unknown=3))
    database = session(file="x.db", compactions=Compactions(attempts=3, summaries=2, unknown=1))
    total = summarise([read("x.log", [log], parser="log"), read("x.db", [database])]).summary.compactions
    assert (total.attempts, total.summaries, total.unknown) == (3, 2, 1)


def two_views(*found: Finding, **changed: Any) -> list[Result]:
    """A session file and the event stream of a part of it, which dates things 14 ms earlier."""
    stream = {"file": "step.txt", "records": []} | changed
    return [
        read("s.jsonl", [session(file="s.jsonl", rows=40)], [finding(1, file="s.jsonl")]),
        read("step.txt", [session(file="step.txt", rows=9, end=2000)], [*found, finding(7, **stream)], parser="stream"),
    ]


def test_the_same_moment_in_another_kind_of_file_is_the_same_finding() -> None:
    report = summarise(two_views(start=986, end=1486))
    assert [(one.file, one.id[:16], one.also) for one in report.findings] == [
        ("s.jsonl", "0000000000000001", ["step.txt"])
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"start": 4000, "end": 4500},
        {"start": 986, "end": 9000},
        {"start": None, "end": None},
        {"start": 986, "end": 1486, "detector": "other"},
        {"start": 986, "end": 1486, "session": "t"},
    ],
)
def test_what_differs_in_time_detector_or_session_stays_apart(changed: dict[str, Any]) -> None:
    assert len(summarise(two_views(**changed)).findings) == 2


def test_each_finding_is_matched_at_most_once_by_a_file() -> None:
    second = finding(8, file="step.txt", start=1100, end=1600)
    report = summarise(two_views(second, start=986, end=1486))
    assert [(one.file, one.start) for one in report.findings] == [("s.jsonl", 1000), ("step.txt", 986)]


def test_files_of_one_format_that_follow_one_another_are_never_matched() -> None:
    steps = [
        read(
            name,
            [session(file=name, active_from=at, end=at + 900)],
            [finding(1, file=name, start=None, end=None), finding(2, file=name, start=at + 800, end=at + 900)],
        )
        for name, at in (("step1", 0), ("step2", 1000))
    ]
    assert len(summarise(steps).findings) == 4


def test_a_stall_at_a_files_end_is_refuted_by_a_file_that_goes_on() -> None:
    stall = {"detector": "silent-stall", "start": 1500, "end": 2000}
    report = summarise(two_views(**stall))
    assert [one.detector for one in report.findings] == ["manual-continue"]
    assert [(one.detector, one.file, one.state) for one in report.suppressed] == [
        ("silent-stall", "step.txt", "suppressed")
    ]
    assert report.summary.hidden.by_other_file == 1


@pytest.mark.parametrize(("later", "more"), [(130, 5), (1, 1), (0, 3)])
def test_a_stall_at_the_end_of_a_superseded_copy_is_suppressed_with_the_reason(later: int, more: int) -> None:
    """Atomic's backups end where it compacted, often less than two seconds before the session's file goes on."""
    backup, live = "s.jsonl.overflow-auto-compact.bak", "s.jsonl"
    stall = finding(3, detector="silent-stall", file=backup, start=10_000, end=10_000)
    copies = [
        read(backup, [session(file=backup, end=10_000, rows=10)], [stall]),
        read(live, [session(file=live, end=10_000 + later, rows=10 + more)]),
    ]
    for results in (copies, copies[::-1]):
        report = summarise(results)
        assert report.findings == []
        assert [(one.file, one.state, one.reason) for one in report.suppressed] == [
            (backup, "suppressed", "only the file ends here: the session goes on in s.jsonl")
        ]


def test_a_stall_that_two_equal_copies_show_stands_once() -> None:
    copies = [
        read(name, [session(file=name)], [finding(3, detector="silent-stall", file=name, start=10_000, end=10_000)])
        for name in ("a.jsonl", "b.jsonl")
    ]
    report = summarise(copies)
    assert [(one.file, one.also) for one in report.findings] == [("a.jsonl", ["b.jsonl"])]
    assert report.suppressed == []


def test_a_stall_is_not_refuted_by_another_session_or_within_the_doubt_between_formats() -> None:
    stall = finding(3, detector="silent-stall", start=10_000, end=10_000)
    others = [
        read("other.jsonl", [session(file="other.jsonl", session="t", end=90_000)]),
        read("step.txt", [session(file="step.txt", end=11_500)], parser="pi-events"),
    ]
    assert summarise([read(sessions=[session()], findings=[stall]), *others]).findings == [stall]


def test_a_file_that_does_not_name_its_agent_is_of_the_session_that_another_file_names() -> None:
    """Event streams of Atomic without a sign of it were counted as a second session, of pi, with all its figures."""
    files = [
        read("s.jsonl", [session(file="s.jsonl", agent="atomic")], [finding(1, file="s.jsonl", agent="atomic")]),
        read(
            "step.txt",
            [session(file="step.txt")],
            [finding(7, file="step.txt", start=1200, end=1700)],
            parser="pi-events",
        ),
        read("else.txt", [session(file="else.txt", session="t")], parser="pi-events"),
    ]
    report = summarise(files)
    assert {(one.agent, one.session) for one in report.sessions} == {("atomic", "s"), ("pi", "t")}
    assert (report.summary.sessions, report.summary.prompts) == (2, 6)
    assert [(one.agent, one.file, one.also) for one in report.findings] == [("atomic", "s.jsonl", ["step.txt"])]


def test_a_finding_is_named_by_the_agent_that_another_file_tells_so_that_copies_show_it_once(tmp_path: Path) -> None:
    """A length-stop of an unnamed copy kept the id of pi and stood beside the same one of Atomic."""
    cut = {"usage": {"input": 9, "output": 4096, "cacheRead": 0, "cacheWrite": 0}, "stopReason": "length"}
    rows: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-07-01T00:00:00.000Z", "cwd": "/x"},
        {
            "type": "message",
            "id": "p",
            "message": {"role": "user", "content": [{"type": "text", "text": "Go on then"}]},
        },
        {"type": "message", "id": "r", "message": {"role": "assistant", "content": [], **cut}},
    ]
    sign: dict[str, object] = {"type": "context_window_change", "id": "w", "contextWindow": 9000}
    files = {"a.jsonl": rows, "b.jsonl": [rows[0], sign, *rows[1:]]}
    results = []
    for name, lines in files.items():
        path = tmp_path / name
        timed = [{"timestamp": f"2026-07-01T00:00:0{1 + (one['id'] == 'r')}.000Z", **one} for one in lines]
        path.write_text("".join(f"{json.dumps(one)}\n" for one in timed))
        results.append(scan_file(path, name, Options(detectors=("length-stop",))))
    assert [one.sessions[0].agent for one in results] == ["pi", "atomic"]
    (found,) = summarise(results).findings
    assert (found.agent, found.file, found.also) == ("atomic", "b.jsonl", ["a.jsonl"])
    assert found.id == results[1].findings[0].id != results[0].findings[0].id


def test_two_agents_that_claim_a_session_id_leave_the_unnamed_file_alone() -> None:
    files = [read(name, [session(file=name, agent=name)]) for name in ("atomic", "openclaw", "pi")]
    assert [one.agent for one in summarise(files).sessions] == ["atomic", "openclaw", "pi"]


def test_a_stall_at_the_end_of_the_longest_file_stands() -> None:
    stall = finding(3, detector="silent-stall", file="s.jsonl", start=9000, end=10_000)
    report = summarise([read("s.jsonl", [session(file="s.jsonl")], [stall]), *two_views()[1:]])
    assert {one.detector for one in report.findings} == {"silent-stall", "manual-continue"}


def test_what_nobody_knows_stays_unknown() -> None:
    compactions = Compactions(attempts=1, summaries=1, no_summary=None, failed=None, aborted=None)
    total = summarise([read(sessions=[session(compactions=compactions)])]).summary
    assert (total.cost, total.input_tokens, total.waiting_seconds, total.peak_context) == (None, None, None, None)
    assert (total.compactions.no_summary, total.compactions.failed) == (None, None)


def test_only_databases_have_no_lines() -> None:
    assert summarise([read(lines=None)]).coverage.lines is None
    assert summarise([read(lines=None), read("b", lines=7)]).coverage.lines == 7


def test_a_file_read_with_another_is_not_counted_again() -> None:
    report = summarise(
        [
            read("dir/side.json", [session(file="dir/side.json", session="side")], [finding(1, file="dir/side.json")]),
            read("dir/main.jsonl", companions=["dir/side.json", "dir/other.json"]),
            Result(skipped=skipped("unrecognised", "dir/other.json")),
            Result(skipped=skipped("unrecognised", "dir/third.json")),
        ]
    )
    assert [one.path for one in report.coverage.inputs] == ["dir/main.jsonl"]
    assert [one.path for one in report.coverage.skipped] == ["dir/third.json"]
    assert (report.sessions, report.findings) == ([], [])


def test_filters_hide_and_say_so() -> None:
    findings = [finding(1), finding(2, severity="note"), finding(100), finding(5, start=None, end=None)]
    report = summarise(
        [read(sessions=[session(), session(session="late", start=DAY, end=2 * DAY)], findings=findings)],
        terms=Terms(min_severity="warning", until=50_000),
    )
    assert [one.lines for one in report.findings] == [[1], [5]]
    assert (report.summary.hidden.by_severity, report.summary.hidden.by_time) == (1, 1)
    assert [one.session for one in report.sessions] == ["s"]


@pytest.mark.parametrize(
    ("since", "until", "shown"),
    [
        (None, None, True),
        (1500, None, True),
        (1501, None, False),
        (None, 1000, True),
        (None, 999, False),
        (1200, 1300, True),
    ],
)
def test_what_overlaps_the_time_asked_for_is_shown(since: int | None, until: int | None, shown: bool) -> None:
    report = summarise([read(findings=[finding(1)])], terms=Terms(since=since, until=until))
    assert bool(report.findings) is shown
