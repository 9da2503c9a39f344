"""The incident report: what it says of the five incidents, that its figures keep their peaks, that it is quick."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from forensics.cli import app, run
from forensics.incident.cases import page_parts
from forensics.incident.model import Incident
from forensics.incident.thin import steps, thinned

Build = Callable[..., Incident]
SIGNED = {"observed", "derived", "inferred", "simulated"}


def told(incident: Incident) -> str:
    return " ".join("".join(piece.text for piece in sentence) for sentence in incident.paragraph)


def table(incident: Incident) -> dict[str, str]:
    return {row.metric: row.value for row in incident.impact}


def test_a_healthy_session_is_told_as_healthy(incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "atomic-1690" / "healthy.jsonl")
    assert told(made).startswith(
        "Nothing went wrong that these detectors look for: 1 session with 96 replies were read."
    )
    assert made.groups == []
    assert "Failed compactions: 1 file cannot show them (pi): their rate is unknown there." in made.limits
    assert [track.counts["prompt"] for track in made.tracks] == [3]


def test_pilotdeck_holds_every_row_of_the_incidents_own_table(incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "pilotdeck" / "runtime.log")
    rows = table(made)
    assert rows["Compaction error: “Summary model output was truncated at the token limit”"] == "46"
    assert rows["Compaction attempts / without a summary"] == "67 / 59 (88 %)"
    exits = "14 = 8 in a compaction window + 6 immediate respawn failures"
    assert rows["Process exits with an error"] == exits
    assert rows["Peak context, messages alone, at a compaction"] == "665,361 tokens (7.0 × the cap)"
    assert rows["Peak context, the whole prompt"] == "799,094 tokens (8.4 × the cap)"
    assert rows["Peak compaction attempts per minute"] == "3"
    notes = {row.metric: row.note for row in made.impact}
    assert "correlation" in notes["Process exits with an error"]
    assert "the log does not say why a process died" in " ".join(made.limits)


def test_each_agent_is_told_with_what_it_did_itself(incident_of: Build, samples: Path) -> None:
    folder = samples / "incidents"
    made = incident_of(folder / "atomic-1684" / "session.jsonl", folder / "opencode-replo" / "opencode.db")
    plain = "".join(piece.text for piece in made.paragraph[0])
    assert "opencode compacted its context again and again without getting any further" in plain
    assert "Atomic stopped working 3 times until a person told it to go on" in plain
    assert "Atomic and opencode" not in plain


def test_pilotdeck_says_correlated_and_never_caused(incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "pilotdeck" / "runtime.log")
    text = told(made) + " ".join(line for group in made.groups for case in group.cases for line in case.sustained)
    assert "correlat" in text
    assert "caused by" not in text
    assert "because" not in text


def test_atomic_1690_is_told_with_its_four_places(incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "atomic-1690" / "session.jsonl")
    assert "Atomic stopped working 4 times until a person told it to go on" in told(made)
    continues = next(group for group in made.groups if group.detector == "manual-continue")
    assert [case.finding.lines for case in continues.cases] == [
        [387, 388, 389, 390],
        [694, 695, 696, 697],
        [886, 887, 888, 889],
        [1085, 1086, 1087, 1088],
    ]
    first = continues.cases[0]
    assert [row.line for row in first.evidence] == [387, 388, 389, 390]
    assert first.evidence[2].words == "prompt by a person: “Continue”"
    assert first.trigger is not None
    assert first.trigger.startswith("reply failed (output-budget)")
    rows = table(made)
    assert rows["Messages a person had to type to get work going again"] == "4"
    assert rows["Time lost waiting for a person"] == "2 h 33 min"


def test_the_loops_amplification_is_told_per_cycle(incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "opencode-replo" / "opencode.db")
    loop = next(group for group in made.groups if group.detector == "compaction-loop").cases[0]
    assert loop.sustained[0] == "Each cycle took $0.14 and 581,243 tokens for the summary alone."
    rows = table(made)
    assert rows["Compaction cycles without progress"] == "2,145"
    assert rows["Time in the loop"] == "12.8 h"
    assert rows["Cost of the loop"] == "$296.00"


def test_every_figure_has_a_basis_and_something_it_rests_on(incident_of: Build, samples: Path) -> None:
    for path in sorted((samples / "incidents").glob("*/*")):
        made = incident_of(path)
        anchors = {"coverage", "sessions"} | {group.anchor for group in made.groups}
        anchors |= {case.anchor for group in made.groups for case in group.cases}
        for row in made.impact:
            assert row.basis in SIGNED
            assert row.where or row.refs, row
            assert set(row.refs) <= anchors
        for sentence in made.paragraph:
            assert {piece.ref for piece in sentence if piece.ref} <= anchors


def test_numbers_of_the_paragraph_stand_in_the_findings(incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "pilotdeck" / "runtime.log")
    messages = " ".join(case.finding.message for group in made.groups for case in group.cases)
    linked = [piece for sentence in made.paragraph[1:] for piece in sentence if piece.ref]
    assert linked
    assert all(piece.text in messages or piece.text.endswith(" more") for piece in linked)


def test_every_detectors_page_says_why_it_matters_and_what_to_do() -> None:
    from forensics.detect import detectors  # noqa: PLC0415

    for one in detectors().values():
        what, why, todo = page_parts(one.page)
        assert what.startswith("Find")
        assert why
        assert todo, one.name


def test_thinning_keeps_short_series_whole() -> None:
    points = [(x, x * x) for x in range(100)]
    assert thinned(points, 100) == points
    assert thinned([], 10) == []


def test_thinning_keeps_every_stretchs_peak_and_trough() -> None:
    points = [(x, 1000 + x % 7) for x in range(100_000)]
    points[54_321] = (54_321, 900_000)
    points[77_777] = (77_777, 1)
    kept = thinned(points, 240)
    assert len(kept) <= 4 * 241
    assert (54_321, 900_000) in kept
    assert (77_777, 1) in kept
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    assert kept == sorted(kept)


def test_steps_keep_only_changes() -> None:
    assert steps([(1, 5), (2, 5), (3, 6), (4, 6), (5, 5)]) == [(1, 5), (3, 6), (5, 5)]


def write_log(path: Path, replies: int, *, peak_at: int, pad: str = "") -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps({"kind": "session", "session": "s1", "agent": "demo"}) + "\n")
        for at in range(replies):
            context = 190_000 if at == peak_at else 50_000 + at % 1000
            ts = 1_780_000_000_000 + at * 4000
            row = {"kind": "reply", "session": "s1", "ts": ts, "stop": "tool", "context": context, "cap": 200_000}
            if at % 500 == 499:
                row |= {"stop": "error", "fault": "rate-limit", "error": f"429 slow down {pad}"}
            stream.write(json.dumps(row) + "\n")


@pytest.mark.slow
def test_a_hundred_thousand_rows_draw_in_seconds_and_the_peak_survives(tmp_path: Path, incident_of: Build) -> None:
    from forensics.reports.html import page  # noqa: PLC0415

    path = tmp_path / "long.jsonl"
    write_log(path, 100_000, peak_at=61_803)
    began = time.perf_counter()
    made = incident_of(path)
    text = page(made)
    assert time.perf_counter() - began < 10
    track = made.tracks[0]
    assert track.measured == 100_000
    assert len(track.points) < 1000
    assert max(value for _, value in track.points) == 190_000
    assert track.peak == (1_780_000_000_000 + 61_803 * 4000, 190_000)
    assert sum(pin.count for pin in track.pins if pin.mark == "error") == 200
    assert "peak 190,000" in text
    assert len(text) < 400_000


@pytest.mark.slow
def test_five_megabytes_become_a_report_within_five_seconds(tmp_path: Path) -> None:
    path, target = tmp_path / "five.jsonl", tmp_path / "report.html"
    write_log(path, 52_000, peak_at=100, pad="x" * 200)
    assert path.stat().st_size > 5_000_000
    began = time.perf_counter()
    result = CliRunner().invoke(app(), ["report", str(path), "-o", str(target), "-q"])
    assert result.exit_code == 0, result.output
    assert time.perf_counter() - began < 5
    assert target.stat().st_size > 10_000


def test_a_log_without_times_is_drawn_by_its_rows(tmp_path: Path, incident_of: Build) -> None:
    path = tmp_path / "untimed.jsonl"
    rows: list[dict[str, object]] = [{"kind": "session", "session": "s1", "agent": "demo"}]
    rows += [{"kind": "reply", "session": "s1", "stop": "done", "context": 1000 * at} for at in range(1, 9)]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    track = incident_of(path).tracks[0]
    assert not track.timed
    assert track.points[-1] == (9, 8000)
    assert track.gaps == []


def test_gaps_of_the_record_are_listed_with_what_ended_them(tmp_path: Path, incident_of: Build) -> None:
    path = tmp_path / "gap.jsonl"
    times = ["10:00:00", "10:01:00", "12:31:00", "12:32:00"]
    kinds: list[tuple[str, dict[str, object]]] = [
        ("prompt", {"origin": "human"}),
        ("reply", {"stop": "done", "context": 10}),
        ("prompt", {"origin": "human"}),
        ("reply", {"stop": "done", "context": 20}),
    ]
    rows: list[dict[str, object]] = [
        {"kind": "session", "session": "s1", "agent": "demo", "ts": "2026-01-02T10:00:00Z"}
    ]
    rows += [
        {"kind": kind, "session": "s1", "ts": f"2026-01-02T{at}Z", **more}
        for at, (kind, more) in zip(times, kinds, strict=True)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    track = incident_of(path).tracks[0]
    assert [(gap.end - gap.start, gap.then) for gap in track.gaps] == [(9_000_000, "a prompt by a person")]
    assert track.gaps_in_all == 1


def write_rows(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps({"session": "s1"} | row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_errors_of_a_session_in_several_files_count_once(tmp_path: Path, incident_of: Build) -> None:
    def error(ts: int) -> dict[str, object]:
        return {"kind": "reply", "ts": ts, "stop": "error", "error": "429 slow down"}

    first: dict[str, object] = {"kind": "session", "agent": "demo", "ts": 1_780_000_000_000}
    one = write_rows(tmp_path / "a.jsonl", [first, *map(error, range(1_780_000_001_000, 1_780_000_004_000, 1000))])
    copy = write_rows(tmp_path / "b.jsonl", [first, *map(error, range(1_780_000_001_000, 1_780_000_003_000, 1000))])
    later = write_rows(tmp_path / "c.jsonl", [first | {"ts": 1_780_009_000_000}, error(1_780_009_001_000)])
    rows = {row.metric: (row.value, row.where) for row in incident_of(one, copy, later).impact}
    value, where = rows["Reply error: “429 slow down”"]
    assert value == "4"
    assert where.endswith("a.jsonl:2-4 and in 1 more file")


def test_a_compaction_is_a_fall_at_its_own_place(incident_of: Build, samples: Path) -> None:
    track = incident_of(samples / "incidents" / "atomic-1690" / "session.jsonl").tracks[0]
    at = 1783414744077  # line 388: 271,999 to 133,280 tokens, 13 minutes before the person's continue
    assert [value for x, value in track.points if x == at] == [271_999, 133_280]


def test_nothing_read_is_told_as_nothing_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("just some words\n", encoding="utf-8")
    target = tmp_path / "report.html"
    assert run(["report", str(tmp_path / "notes.txt"), "-o", str(target)]) == 3
    assert "Nothing was read, so nothing can be said" in target.read_text(encoding="utf-8")
    assert "nothing was read" in capsys.readouterr().err


def test_several_forms_come_from_one_run(tmp_path: Path, samples: Path) -> None:
    log = samples / "incidents" / "atomic-1684" / "session.jsonl"
    outputs = [f"-o{tmp_path / name}" for name in ("report.html", "report.md", "report.json")]
    assert run(["report", str(log), *outputs, "--charts", str(tmp_path / "png"), "-q"]) == 0
    assert sorted(path.name for path in (tmp_path / "png").iterdir()) == ["session-1.png"]
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert document["groups"][0]["cases"][0]["finding"]["start"] == "2026-07-02T13:31:48.870Z"
    assert "![" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "(png/session-1.png)" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_the_json_document_keeps_to_its_schema(samples: Path, incident_of: Build) -> None:
    from forensics.reports._incident_json import document, schema  # noqa: PLC0415

    validator = Draft202012Validator(schema())
    for path in sorted((samples / "incidents").glob("*/*")):
        validator.validate(json.loads(json.dumps(document(incident_of(path, excerpts=True)))))


def test_excerpts_are_shown_only_when_asked_for(incident_of: Build, samples: Path) -> None:
    path = samples / "incidents" / "atomic-1684" / "session.jsonl"
    plain, told_more = (incident_of(path, excerpts=asked) for asked in (False, True))
    rows = [row for made in (plain,) for group in made.groups for case in group.cases for row in case.evidence]
    assert all(row.text is None for row in rows)
    texts = [row.text for group in told_more.groups for case in group.cases for row in case.evidence if row.text]
    assert texts


def test_the_same_input_gives_the_same_bytes(tmp_path: Path, samples: Path) -> None:
    log = samples / "incidents" / "pilotdeck" / "runtime.log"
    texts = []
    for name in ("a", "b"):
        target = tmp_path / f"{name}.html"
        assert run(["report", str(log), "-o", str(target), "-q", "--now", "2026-10-01"]) == 0
        texts.append(target.read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("report.doc", "must end in .html, .md or .json"),
        ("missing/report.html", "there is no such folder"),
        (".", "must end in"),
    ],
)
def test_a_wrong_output_is_told(
    tmp_path: Path, samples: Path, capsys: pytest.CaptureFixture[str], output: str, words: str
) -> None:
    log = samples / "parsers" / "plain.jsonl"
    assert run(["report", str(log), "-o", str(tmp_path / output)]) == 2
    assert words in capsys.readouterr().err


def test_markdown_goes_to_the_screen_when_no_file_is_named(samples: Path) -> None:
    result = CliRunner().invoke(app(), ["report", str(samples / "parsers" / "plain.jsonl")])
    assert result.exit_code == 0
    assert result.stdout.startswith("# Incident report: ")
