"""The impact table counts what several files of one session tell once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from forensics.detect import Finding
from forensics.incident.bars import bars
from forensics.incident.build import _settle, assemble
from forensics.incident.errors import Errors, told
from forensics.incident.join import View, joined
from forensics.incident.model import Case, Incident
from forensics.incident.once import once, tellings
from forensics.incident.tracks import draft
from forensics.incident.watch import Trace, Watch
from forensics.scan import Result, totals
from forensics.summary import Report, summarise
from forensics.timeline import File
from tests.rows import end, failed, file_of_rows, start

Build = Callable[..., Incident]


def view(name: str, parser: str, *rows: dict[str, Any], log: bool = False) -> File:
    file = file_of_rows(*rows, log=log)
    file.name, file.parser = name, parser
    for session in file.sessions:
        session.file = name
    return file


def errors(*files: File) -> list[tuple[str, str, str]]:
    return [(row.metric, row.value, row.note) for row in told(Errors(files))]


def test_an_error_that_two_formats_word_differently_counts_once() -> None:
    shown = view("chat", "chat", *(end("failed", error="no usable ranges", ts=at) for at in (1, 2, 3)))
    steps = [view(f"step{n}", "stream", end("failed", error=f"failed: no usable ranges (see {n}x)")) for n in (1, 2)]
    assert errors(shown, *steps) == [("Compaction error: “no usable ranges”", "3", "")]


def test_an_error_that_two_logs_of_one_format_word_differently_counts_once() -> None:
    whole = view("whole", "log", *(failed(error="Error: full", ts=at) for at in (1, 2, 3)))
    step = view("step", "log", failed(error="Error: full", ts=2), failed(error="full", ts=3))
    assert errors(whole, step) == [("Reply error: “Error: full”", "3", "")]


def test_errors_that_differ_in_a_size_alone_are_one_row() -> None:
    rows = [failed(error=f"{size} tokens are too many", ts=at) for at, size in enumerate((72606, 72571, 72549))]
    found = errors(view("log", "log", *rows, log=True), view("db", "db", *(failed(ts=at) for at in range(3))))
    assert found == [("Reply error: “72606 tokens are too many”", "3", "with other numbers from one to the next")]


def test_errors_beyond_the_shown_ones_are_counted() -> None:
    rows = [failed(error=word, ts=at) for at, word in enumerate(("a", "b", "c", "d", "e", "f", "a"))]
    found = list(told(Errors([view("db", "db", *rows)])))
    assert [(row.metric, row.value) for row in found[-2:]] == [
        ("Reply error: “d”", "1"),
        ("Errors in other words", "2"),
    ]
    assert found[-1].where == "db:5-6"


def loop(
    file: str, cycles: int, start_: int | None, end_: int | None, *, session: str | None = "s", **more: Any
) -> Case:
    finding = Finding(
        id=f"{file}-{start_}", detector="compaction-loop", severity="error", confidence="high", agent="demo", file=file,
        session=session, message=f"{cycles} compactions in a row", lines=[1], records=[], start=start_, end=end_,
        measures={"cycles": cycles, **more}, bases={}, intervals={},
    )  # fmt: skip
    return Case(anchor="", finding=finding, trigger=None, sustained=[], evidence=[], left_out=0)


def report(*cases: Case) -> Report:
    made = summarise([])
    made.findings = [case.finding for case in cases]
    made.coverage.files = 1
    return made


def test_a_loop_that_two_files_show_is_one() -> None:
    log, db = loop("log", 11, 1000, 11_000, hours=0.0029), loop("db", 12, 1010, 6900, hours=0.0016)
    made = assemble(report(log, db))
    rows = {row.metric: row.value for row in made.impact}
    assert rows["Compaction cycles without progress"] == "12"
    assert rows["Time in the loop"] == "5.76 s"
    assert "more of this kind" not in "".join(piece.text for sentence in made.paragraph for piece in sentence)


def test_a_measure_that_the_fullest_file_does_not_know_is_taken_from_another() -> None:
    made = assemble(report(loop("log", 12, 0, 9000, cost=None), loop("db", 11, 0, 9000, cost=2.5)))
    assert {row.metric: row.value for row in made.impact}["Cost of the loop"] == "$2.50"


def test_loops_at_other_times_or_of_other_sessions_are_added() -> None:
    cases = [
        loop("a", 3, 0, 1000),
        loop("a", 4, 500_000, 501_000),
        loop("b", 5, 500_500, 501_000),
        loop("b", 6, 0, 1000, session="t"),
        loop("a", 7, 0, 1000, session=None),
        loop("b", 8, 0, 1000, session=None),
    ]
    assert sorted(str(case.finding.measures["cycles"]) for case in once(cases)) == ["3", "5", "6", "7", "8"]
    rows = {row.metric: row.value for row in assemble(report(*cases)).impact}
    assert rows["Compaction cycles without progress"] == "29 in 5 loops"


def test_two_loops_of_one_file_stay_two_though_they_touch() -> None:
    assert len(tellings([loop("a", 3, 0, 1000), loop("a", 4, 1000, 2000)])) == 2


def test_a_loop_without_times_is_told_by_the_fuller_file() -> None:
    kept = once([loop("a", 3, 0, 1000), loop("b", 2, None, None), loop("a", 4, 90_000, 91_000)])
    assert [case.finding.measures["cycles"] for case in kept] == [3, 4]


def test_a_session_is_drawn_once_though_one_file_does_not_name_its_agent() -> None:
    named = view("named", "chat", {"kind": "session", "agent": "atomic"}, end("no-summary", ts=5), failed(ts=9))
    steps = view("step", "chat", end("no-summary"))
    results = [
        Result(input=_input(file), sessions=[totals(one, []) for one in file.sessions]) for file in (named, steps)
    ]
    _settle([named, steps], summarise(results))
    assert [one.sessions[0].agent for one in (named, steps)] == ["atomic", "atomic"]
    made = joined([drawn(named), drawn(steps)])
    assert [one.title for one in made] == ["Atomic, session s"]


def drawn(file: File) -> View:
    watch = Watch()
    watch.traces["s"] = Trace()
    for event in file.sessions[0].events:
        watch.traces["s"].add(event)
    made = draft(file, file.sessions[0], watch, set())
    assert made is not None
    return View(made, file, file.sessions[0])


def _input(file: File) -> Any:
    from forensics.scan import Input  # noqa: PLC0415

    return Input(
        path=file.name, parser=file.parser, agent=file.agent, bytes=1, sessions=1, lines=1, records=1, malformed=[],
        duplicates=0, salvaged=0, unknown={}, notes=[], companions=[], failures_observable="yes",
    )  # fmt: skip


def test_a_view_that_adds_only_attempts_with_nothing_to_do_is_not_drawn() -> None:
    whole = drawn(view("whole", "chat", end("no-summary", ts=5), failed(ts=9)))
    steps = drawn(view("step", "stream", end("no-summary"), end("skipped")))
    assert len(joined([whole, steps])) == 1


def test_a_view_that_does_not_know_an_end_that_another_knows_is_not_drawn() -> None:
    whole = drawn(view("whole", "chat", end("no-summary", ts=5), failed(ts=9)))
    steps = drawn(view("step", "stream", start(), failed()))
    assert len(joined([whole, steps])) == 1
    more = drawn(view("step", "stream", start(), end("no-summary"), start(), failed()))
    assert len(joined([whole, more])) == 2


def test_a_view_that_stands_by_itself_names_its_file() -> None:
    whole = drawn(view("whole", "chat", end("no-summary", ts=5), failed(ts=9)))
    steps = drawn(view("step", "stream", end("no-summary"), end("no-summary")))
    assert [one.title for one in joined([whole, steps])] == [
        "demo, session s",
        "demo, session s, as step alone shows it",
    ]


def test_attempts_of_a_session_that_two_logs_show_count_once_per_minute() -> None:
    rows = [row for at in (0, 10_000, 20_000, 90_000) for row in (start(ts=at), end("no-summary", ts=at + 5000))]
    logs = [view(name, "log", *rows, log=True) for name in ("a.log", "b.log")]
    (chart,) = bars([], logs)
    assert chart.rows == [(0, {"attempt": 3}), (60_000, {"attempt": 1})]


def test_recorded_sessions_of_several_files_are_counted_once(corpus: Path, incident_of: Build) -> None:
    made = incident_of(corpus / "recorded" / "opencode-1.18.33" / "b3_overflow_progress")
    rows = {row.metric: row.value for row in made.impact}
    assert rows["Compaction cycles without progress"] == "12"
    assert rows["Time in the loop"].startswith("5.")  # of the one loop, in seconds, as the file that shows most has it
    made = incident_of(corpus / "recorded" / "atomic-6031a926-head" / "c_empty_summary")
    assert [one.agent for one in made.tracks] == ["atomic"]
    assert [(row.value, row.metric[:16]) for row in made.impact if "error:" in row.metric] == [
        ("3", "Compaction error")
    ]
    made = incident_of(corpus / "recorded" / "opencode-1.18.33" / "h2_oversized_all_limited")
    assert [row.value for row in made.impact if "error:" in row.metric] == ["3", "1", "1"]
