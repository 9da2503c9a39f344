import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from forensics.checking.diff import compare
from forensics.checking.difference import Diff, Figure
from forensics.checking.sides import Side, is_document, of_document
from forensics.cli import run
from forensics.config import UsageError
from forensics.detect import Finding
from forensics.reports._diff import markdown
from forensics.scan import Compactions, SessionTotals
from forensics.summary import Verdict

Command = Callable[..., tuple[int, str, str]]
DETECTORS = ["compaction-loop", "manual-continue", "no-summary"]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*(one for one in os.environ if one.startswith("FORENSICS_")), "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def session(name: str, **changed: Any) -> SessionTotals:
    values: dict[str, Any] = {
        "session": name,
        "agent": "demo",
        "version": None,
        "file": f"{name}.jsonl",
        "parent": None,
        "rows": 10,
        "start": 0,
        "active_from": 0,
        "end": 10_000,
        "prompts": 4,
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
        "compactions_per_prompt": 0,
        "contexts": [],
    }
    return SessionTotals(**(values | changed))


def finding(name: str, detector: str = "compaction-loop", **changed: Any) -> Finding:
    values: dict[str, Any] = {
        "id": f"{detector} {name}/v1",
        "detector": detector,
        "severity": "error",
        "confidence": "high",
        "agent": "demo",
        "file": f"{name}.jsonl",
        "session": name,
        "message": "it looped",
        "lines": [1],
        "records": [],
        "start": None,
        "end": None,
        "measures": {},
        "bases": {},
        "intervals": {},
    }
    return Finding(**(values | changed))


def side(sessions: list[SessionTotals], findings: list[Finding] | None = None, **changed: Any) -> Side:
    values: dict[str, Any] = {
        "name": "x",
        "files": len(sessions),
        "result": Verdict(exit_code=0, status="clean", reason="fine"),
        "detectors": DETECTORS,
        "sessions": sessions,
        "findings": findings or [],
        "parsers": {one.file: "plain" for one in sessions},
    }
    return Side(**(values | changed))


def failing(many: int, of: int, start: int = 0) -> list[SessionTotals]:
    """Sessions with two compactions each, of which `many` sessions make no summary at all."""
    return [
        session(
            f"s{start + at}",
            compactions=Compactions(attempts=2, summaries=0 if at < many else 2, no_summary=2 if at < many else 0),
        )
        for at in range(of)
    ]


def figure(made: Diff, name: str) -> Figure:
    return next(one for one in (*made.figures, *made.detectors) if one.name == name)


def test_rates_stand_with_their_denominators_and_intervals() -> None:
    one = figure(compare(side(failing(8, 10)), side(failing(0, 10, 20))), "no summary")
    assert (one.before.hits, one.before.tries, one.before.sessions, one.before.value) == (16, 20, 10, 0.8)
    assert (one.after.hits, one.after.tries, one.after.value) == (0, 20, 0.0)
    assert one.before.interval == (0.4902, 0.9433)
    assert one.after.interval == (0.0, 0.2775)
    assert one.judgement == "better"
    assert one.answer == (
        "not seen any more; as much as 28% is still possible; chance alone does this less than 0.1% of the time"
    )


def test_few_sessions_are_no_proof_of_a_fix() -> None:
    made = compare(side(failing(1, 2)), side(failing(0, 2, 20)))
    one = figure(made, "no summary")
    assert one.judgement == "unclear"
    assert one.answer == (
        "not seen any more, but that may be chance: 2 sessions after; as much as 66% is still possible; "
        "chance alone does this 50.0% of the time"
    )
    assert made.result.reason == "did the release fix it? no clear change: 1 of 1"
    assert made.notes[0].startswith("fewer than ten sessions before and after: ")


def test_many_attempts_of_one_session_are_no_proof_either() -> None:
    loop = Compactions(attempts=2145, summaries=0, no_summary=2145)
    calm = Compactions(attempts=300, summaries=300)
    one = figure(compare(side([session("a", compactions=loop)]), side([session("b", compactions=calm)])), "no summary")
    assert (one.before.hits, one.judgement, one.chance) == (2145, "unclear", None)
    assert one.answer == "not seen any more, but that may be chance: 1 session after; as much as 79% is still possible"


def test_what_got_worse_is_called_worse() -> None:
    made = compare(side(failing(0, 20)), side(failing(15, 20, 30)))
    one = figure(made, "no summary")
    assert (one.judgement, one.answer, one.chance) == ("worse", "worse", None)
    assert made.result == Verdict(exit_code=0, status="clean", reason="did the release fix it? worse: no summary")


def test_what_a_format_cannot_show_is_in_no_rate_and_counted_apart() -> None:
    dark = Compactions(attempts=5, summaries=5, no_summary=None, failed=None, aborted=None)
    sessions = [session("a", compactions=dark, manual_continues=None, prompts=None), *failing(1, 1, 5)]
    made = compare(side(sessions), side([]))
    one = figure(made, "no summary")
    assert (one.before.tries, one.before.sessions, one.before.unknown) == (2, 1, 1)
    assert (one.after.value, one.judgement, one.answer) == (
        None,
        "unknown",
        "cannot be told: after, there was nothing to count",
    )
    assert figure(made, "manual continues").before.unknown == 1


def test_a_rate_says_what_it_is_out_of_and_what_it_leaves_out() -> None:
    blind = Compactions(attempts=5, dropped=5, no_summary=None, failed=None)
    early = [
        session("a", compactions=Compactions(attempts=4, no_summary=2, dropped=2)),
        session("b", compactions=blind),
        session("c", compactions=blind),
    ]
    late = [session("d", compactions=Compactions(attempts=2, summaries=1, aborted=1))]
    made = compare(side(early), side(late))
    rate = figure(made, "no summary")
    assert rate.of == "compaction attempts that were to make a summary"
    assert (rate.before.hits, rate.before.tries, rate.before.unknown, rate.after.tries) == (2, 2, 2, 1)
    assert made.notes[:3] == [
        "no summary, before: of compaction attempts that were to make a summary; 12 more cut the context by design",
        "no summary, after: of compaction attempts that were to make a summary; 1 more was cancelled",
        "no summary, before: unknown in 2 sessions, in no number there",
    ]
    assert "unknown in 2 sessions, in no number there" in markdown(made)


def test_continues_are_told_by_prompts_and_waiting_by_session() -> None:
    old = [session(f"a{at}", manual_continues=2, waiting_seconds=100.0 + at) for at in range(12)]
    new = [session(f"b{at}") for at in range(12)]
    made = compare(side(old), side(new))
    one = figure(made, "manual continues")
    assert (one.before.hits, one.before.tries, one.after.hits, one.judgement) == (24, 48, 0, "better")
    wait = figure(made, "waiting for a person")
    assert (wait.before.value, wait.after.value, wait.judgement, wait.answer) == (105.5, 0.0, "better", "shorter")
    assert wait.change is not None
    assert list(wait.change) == pytest.approx([-118.558, -92.442], abs=0.001)


def test_waiting_that_is_not_recorded_is_unknown() -> None:
    made = compare(side([session("a", manual_continues=1)]), side([session("b")]))
    one = figure(made, "waiting for a person")
    assert (one.before.value, one.before.unknown, one.after.value, one.judgement) == (None, 1, 0.0, "unknown")


def test_loops_and_detectors_are_told_by_sessions() -> None:
    sessions = [session(f"a{at}") for at in range(4)]
    found = [finding("a0"), finding("a0"), finding("a1", "manual-continue"), finding("x", session=None)]
    made = compare(side(sessions, found), side([session("b")]))
    assert (figure(made, "compaction loops").before.hits, figure(made, "compaction loops").before.tries) == (1, 4)
    assert [(one.name, one.before.hits) for one in made.detectors] == [("compaction-loop", 1), ("manual-continue", 1)]


def test_a_detector_that_ran_on_one_side_only_is_not_compared() -> None:
    made = compare(side([session("a")], [finding("a")], detectors=["compaction-loop"]), side([session("b")]))
    late = compare(side([session("a")], detectors=["no-summary"]), side([session("b")], [finding("b")]))
    assert [one.name for one in made.detectors] == ["compaction-loop"]
    assert made.notes[0] == "not compared, for they ran on one side only: manual-continue, no-summary"
    assert late.detectors == []
    assert "compaction loops" not in [one.name for one in late.figures]


def test_sessions_are_grouped_by_version_where_files_say_it() -> None:
    old = [session("a", version="1.0", manual_continues=1), session("b", version="1.0"), session("c")]
    made = compare(side(old), side([session("d", version="1.1"), session("e", version="1.0")]))
    assert [(one.version, one.sessions) for one in made.groups] == [(None, (1, 0)), ("1.0", (2, 1)), ("1.1", (0, 1))]
    assert [one.before.hits for one in made.groups[1].figures if one.name == "manual continues"] == [1]
    assert compare(side([session("a")]), side([session("b")])).groups == []


def test_findings_of_the_same_session_are_compared_one_by_one() -> None:
    old = [finding("s", measures={"cycles": 3, "cost": 2.0}), finding("s", "no-summary"), finding("t")]
    new = [finding("s", measures={"cycles": 5, "cost": 1.0}), finding("s", "manual-continue")]
    made = compare(side([session("s"), session("t")], old), side([session("s"), session("u")], new))
    assert made.common == 1
    assert [(one.change, one.detector, one.message) for one in made.changes] == [
        ("new", "manual-continue", "it looped"),
        ("worse", "compaction-loop", "cycles 3 -> 5"),
        ("better", "compaction-loop", "cost 2 -> 1"),
        ("gone", "no-summary", "it looped"),
    ]


def test_the_same_sessions_on_both_sides_say_nothing_of_a_release() -> None:
    made = compare(side([session("a")]), side([session("a")]))
    assert made.notes[0].startswith("both sides hold the same sessions: ")
    assert made.result.reason == "did the release fix it? nothing was wrong on either side"


def test_copies_of_a_session_are_one_session() -> None:
    copies = [session("a", manual_continues=1), session("a", file="copy.jsonl", rows=3, manual_continues=1)]
    one = figure(compare(side(copies), side([session("b")])), "manual continues")
    assert (one.before.hits, one.before.tries, one.before.sessions) == (1, 4, 1)


@pytest.mark.parametrize("code", [2, 3, 4])
def test_a_side_that_was_not_read_whole_gives_its_exit_code(code: int) -> None:
    bad = Verdict(exit_code=code, status="incomplete", reason="why")
    made = compare(side([session("a")]), side([session("b")], result=bad))
    assert (made.result.exit_code, made.result.reason) == (code, "after: why")


def test_a_finding_is_no_reason_to_fail() -> None:
    found = Verdict(exit_code=1, status="failed", reason="1 error")
    assert compare(side([session("a")], result=found), side([session("b")])).result.exit_code == 0


def test_two_recordings_are_compared_by_structure(command: Command, samples: Path) -> None:
    captures = samples / "captures"
    code, out, err = command("diff", captures / "underflow.jsonl", captures / "length.jsonl")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "changed: underflow.jsonl: prompts: 3 -> 2" in lines
    assert "gone: underflow.jsonl: output-budget-underflow: error at prompt 2" in lines
    assert "new: underflow.jsonl: length-stop: warning at prompt 1" in lines
    assert lines[-1] == "did the release fix it? no clear change: 4 of 4 (exit 0)"


def test_recordings_of_two_agents_are_told_as_what_they_are(command: Command, samples: Path, tmp_path: Path) -> None:
    captures = samples / "captures"
    apart = "underflow.jsonl (atomic) and no-shrink.json (opencode) are recordings of different agents"
    made = json.loads(command("diff", captures / "underflow.jsonl", captures / "no-shrink.json", "-f", "json", "-q")[1])
    assert (made["structures"], made["sessions"], made["common"]) == ([], [1, 1], 0)
    assert made["notes"][0] == f"{apart}: not compared as recordings of one thing"
    for folder, file in (("old", "underflow.jsonl"), ("new", "no-shrink.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one").write_bytes((captures / file).read_bytes())
        (tmp_path / folder / "two").write_bytes((captures / "length.jsonl").read_bytes())
    made = json.loads(command("diff", "old", "new", "-f", "json", "-q")[1])
    assert made["structures"] == []
    assert "one (atomic) and one (opencode) are recordings of different agents" in made["notes"][0]


def test_two_sessions_of_one_agent_are_said_to_be_two(command: Command, samples: Path) -> None:
    captures = samples / "captures"
    asked = ("diff", captures / "underflow.jsonl", captures / "length.jsonl", "-f", "json", "-q")
    made = json.loads(command(*asked)[1])
    assert made["notes"][0] == (
        "underflow.jsonl (atomic) and length.jsonl (atomic) share no session:"
        " compared as two recordings of one thing, called underflow.jsonl"
    )
    same = json.loads(command("diff", captures / "length.jsonl", captures / "length.jsonl", "-f", "json", "-q")[1])
    assert not [one for one in same["notes"] if "share no session" in one]


def test_folders_are_compared_file_by_file_where_names_agree(command: Command, samples: Path, tmp_path: Path) -> None:
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        for file in ("underflow.jsonl", "length.jsonl"):
            (tmp_path / name / file).write_bytes((samples / "captures" / file).read_bytes())
    (tmp_path / "after" / "length.jsonl").write_bytes((samples / "captures" / "underflow.jsonl").read_bytes())
    made = json.loads(command("diff", "before", "after", "-f", "json", "-q")[1])
    assert {one["file"] for one in made["structures"]} == {"length.jsonl"}
    assert (made["files"], made["sessions"], made["common"]) == ([2, 2], [2, 1], 1)


def test_files_of_one_name_in_unrelated_folders_are_not_compared(
    command: Command, samples: Path, tmp_path: Path
) -> None:
    """Only the path within the given folder or a shared session makes two files a pair."""
    captures = samples / "captures"
    places = {
        "before/x/one.jsonl": "underflow.jsonl",
        "after/y/one.jsonl": "length.jsonl",
        "before/x/early.jsonl": "two-sessions.jsonl",
        "after/y/late.jsonl": "two-sessions.jsonl",
    }
    for place, file in places.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes((captures / file).read_bytes())
    assert json.loads(command("diff", "before", "after", "-f", "json", "-q")[1])["structures"] == []
    changed = (captures / "two-sessions.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "after/y/late.jsonl").write_bytes(b"".join(changed[:-4]))
    made = json.loads(command("diff", "before", "after", "-f", "json", "-q")[1])
    assert {one["file"] for one in made["structures"]} == {"x/early.jsonl"}


def test_reports_of_scan_are_a_side(command: Command, samples: Path, tmp_path: Path) -> None:
    _, scanned, _ = command("scan", samples / "captures", "-f", "json", "-q", "--now", "2026-11-30")
    path = tmp_path / "before.json"
    path.write_text(scanned)
    assert is_document(path)
    both = (json.loads(command("diff", one, samples / "captures", "-f", "json", "-q", "--now", "2026-11-30")[1])
            for one in (path, samples / "captures"))  # fmt: skip
    read, made = both
    assert [read[name] for name in ("figures", "detectors", "groups", "changes", "common", "sessions")] == [
        made[name] for name in ("figures", "detectors", "groups", "changes", "common", "sessions")
    ]
    assert read["changes"] == []
    assert read["structures"] == made["structures"] == []
    assert {one["before"]["value"] for one in read["figures"]} != {None}


def test_a_report_that_leaves_mild_findings_out_is_refused(command: Command, samples: Path, tmp_path: Path) -> None:
    """`length-stop 0 of 5 -> 3 of 5, worse`: before had been scanned with --min-severity error."""
    source = samples / "captures" / "length.jsonl"
    for name, more in (("a.json", ("--min-severity", "error")), ("b.json", ())):
        (tmp_path / name).write_text(command("scan", source, "--format", "json", *more)[1])
    for sides in (("a.json", "b.json"), ("b.json", "a.json")):
        code, out, err = command("diff", *sides)
        assert (code, out) == (2, "")
        assert "a.json: --min-severity left 2 findings out of it" in err
        assert "scan again with --min-severity note" in err


def test_a_stall_that_only_the_clock_shows_is_no_change(command: Command, tmp_path: Path) -> None:
    """A stored scan judged the end of its records by the day, a folder does not: the same files were cured."""
    for number in range(4):
        rows = [
            {"session": f"s{number}", "kind": "session", "agent": "demo"},
            {"session": f"s{number}", "kind": "prompt", "origin": "human", "text": "paint", "ts": 1_782_900_000_000},
            {"session": f"s{number}", "kind": "reply", "stop": "error", "fault": "overflow", "ts": 1_782_900_060_000},
        ]
        path = tmp_path / "runs" / f"{number}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "before.json").write_text(command("scan", "runs", "--format", "json")[1])
    assert '"silent-stall"' in (tmp_path / "before.json").read_text()
    for sides in (("before.json", "runs"), ("runs", "before.json")):
        code, out, _ = command("diff", *sides)
        assert code == 0
        assert "silent-stall" not in out
        assert "did the release fix it? nothing was wrong on either side" in out
        assert "before.json: 4 findings of work that lies still at a record's end are left out" in " ".join(out.split())


def test_a_report_of_a_span_of_time_is_said_to_be_one(command: Command, samples: Path, tmp_path: Path) -> None:
    source = samples / "captures" / "length.jsonl"
    (tmp_path / "a.json").write_text(command("scan", source, "--format", "json", "--until", "2020-01-01")[1])
    _, out, _ = command("diff", "a.json", source, "--format", "json")
    assert json.loads(out)["notes"][0] == (
        "a.json was made for a span of time (--since, --until): 4 findings outside it are in no number here"
    )


def test_findings_that_somebody_accepts_are_counted_on_both_sides(
    command: Command, samples: Path, tmp_path: Path
) -> None:
    source = samples / "captures" / "length.jsonl"
    document = json.loads(command("scan", source, "--format", "json")[1])
    for one in document["findings"]:
        document["suppressed"].append(one | {"state": "suppressed", "reason": "known since June"})
    document["suppressed"].append(document["findings"][0] | {"reason": "only the file ends here: x", "id": "x/v1"})
    document["findings"] = []
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    assert [one.reason for one in of_document(path).findings] == ["known since June"] * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema_version":1,"tool":{"name":"forensics"}}', "not a whole report of scan --format json"),
        ('{"schema_version":9,"tool":{"name":"forensics"}}', "schema version 9 is not known; scan again"),
        ('{"schema_version":1,"tool":{"name":"forensics"', "not a whole report of scan --format json"),
    ],
)
def test_a_broken_report_is_refused(tmp_path: Path, command: Command, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        of_document(path)
    assert message in str(error.value)
    assert command("diff", path, path)[0] == 2


def test_a_side_with_nothing_to_read_is_exit_3(command: Command, samples: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    code, out, _ = command("diff", samples / "captures", "notes.txt")
    assert code == 3
    assert out.splitlines()[-1] == "after: nothing was read: 1 input looked at, none recognised (exit 3)"
    assert command("diff", samples / "captures", "none")[0] == 2
    assert command("diff", samples / "captures", samples / "captures", "-f", "html")[0] == 2


def test_markdown_is_a_comment_for_a_pull_request(command: Command, samples: Path) -> None:
    captures = samples / "captures"
    code, out, err = command("diff", captures / "underflow.jsonl", captures / "length.jsonl", "-f", "markdown")
    assert code == 0
    assert err == "forensics: result: did the release fix it? no clear change: 4 of 4 (exit 0)\n"
    html = MarkdownIt("commonmark").enable("table").render(out)
    assert html.count("<table>") == 2
    assert "<td>2 of 5 prompts = 40% (3% to 94%)</td>" in html or "prompts = 40%" in html
    assert "<h2>Did the release fix it?</h2>" in html


def test_hostile_names_are_harmless_in_markdown() -> None:
    name = "</td><script>alert(1)</script> | x\n# y @all"
    made = compare(side([session("a", version=name)], name=name), side([session("b")], [finding("b", message=name)]))
    html = MarkdownIt("commonmark").enable("table").render(markdown(made))
    assert "<script>" not in html
    assert html.count("<h1>") == 1


def test_a_side_that_cannot_be_read_is_no_error_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert not is_document(path)
