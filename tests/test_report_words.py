"""What an incident report says of money, of silences, of nothing read, and of what nobody recorded."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from forensics.cli import run
from forensics.incident.build import incident
from forensics.incident.evidence import words
from forensics.incident.model import Clock, Impact, Incident, Track
from forensics.incident.replayed import _interval, replays
from forensics.incident.undated import undated
from forensics.inputs import expand
from forensics.parsers._opencode_log import RETRIED
from forensics.parsers._opencode_rules import DIED
from forensics.reports._incident_markdown import page
from forensics.reports._page import clock_lines, track_caption
from forensics.reports._words import figure, hours, money, times_of
from forensics.scan import Options
from tests.rows import end, failed, file_of_rows, prompt, reply

Build = Callable[..., Incident]
BEGIN = 1_780_000_000_000


def write(path: Path, *rows: dict[str, object], session: str = "s1") -> Path:
    first: dict[str, object] = {"kind": "session", "agent": "demo"}
    text = "".join(json.dumps({"session": session} | row) + "\n" for row in (first, *rows))
    path.write_text(text, encoding="utf-8")
    return path


def impact(made: Incident) -> dict[str, Impact]:
    return {row.metric: row for row in made.impact}


def told(made: Incident) -> str:
    return " ".join("".join(piece.text for piece in sentence) for sentence in made.paragraph)


def broken_off(path: Path) -> Path:
    return write(
        path,
        prompt(ts=BEGIN),
        failed("overflow", ts=BEGIN + 5000, error="too long"),
    )


def test_a_report_says_the_same_on_every_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken_off(tmp_path / "s.jsonl")
    texts = []
    for day in range(2):
        monkeypatch.setattr("time.time", lambda day=day: 1_790_000_000 + day * 86_400)
        target = tmp_path / f"{day}.json"
        assert run(["report", str(tmp_path / "s.jsonl"), "-o", str(target), "-q", "--cap", "100000"]) == 0
        texts.append(target.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    (stall,) = [group for group in json.loads(texts[0])["groups"] if group["detector"] == "silent-stall"]
    assert stall["cases"][0]["finding"]["message"].endswith("and nothing followed up to the end of the record")
    assert "idle_seconds" not in stall["cases"][0]["finding"]["measures"]


def test_a_time_that_is_given_is_told_of(tmp_path: Path) -> None:
    broken_off(tmp_path / "s.jsonl")
    target = tmp_path / "r.json"
    options = ["--now", "2026-06-01", "--cap", "100000"]
    assert run(["report", str(tmp_path / "s.jsonl"), "-o", str(target), "-q", *options]) == 0
    document = json.loads(target.read_text(encoding="utf-8"))
    (stall,) = [group for group in document["groups"] if group["detector"] == "silent-stall"]
    assert "until the scan (" in stall["cases"][0]["finding"]["message"]
    assert document["options"]["now"] == "2026-06-01T00:00:00.000Z"


def test_a_silence_that_the_record_ends_with_is_no_time_lost(tmp_path: Path, incident_of: Build) -> None:
    rows = impact(incident_of(broken_off(tmp_path / "s.jsonl")))
    assert "Time in silence after work broke off" not in rows
    row = rows["Times work broke off and the record ends"]
    assert (row.value, row.note) == ("1", "the record goes until 2026-05-28 20:26:45 UTC")


def test_a_silence_that_a_person_ended_is_a_time_lost(tmp_path: Path, incident_of: Build) -> None:
    path = write(
        tmp_path / "s.jsonl",
        prompt(ts=BEGIN),
        failed("overflow", ts=BEGIN + 5000, error="too long"),
        prompt("Now paint the gate instead, in the green that is left.", ts=BEGIN + 7_205_000),
        reply(ts=BEGIN + 7_210_000),
    )
    row = impact(incident_of(path))["Time in silence after work broke off"]
    assert (row.value, row.note) == ("2 h", "until a person came")


def test_only_the_time_of_the_scan_is_left_out_of_a_finding(tmp_path: Path, incident_of: Build) -> None:
    made = incident_of(broken_off(tmp_path / "s.jsonl"))
    (finding,) = [case.finding for group in made.groups for case in group.cases if group.detector == "silent-stall"]
    changed = undated(finding)
    assert changed.id == finding.id
    assert finding.measures.keys() - changed.measures.keys() == {"idle_seconds"}
    assert undated(changed) is changed


def test_small_sums_are_told_with_their_digits() -> None:
    sums = (0, 0.0000347, 0.004, 0.00999, 0.01, 12.3456, 1234.5, -0.0002)
    assert [money(one) for one in sums] == [
        "$0.00", "$0.0000347", "$0.004", "$0.00999", "$0.01", "$12.35", "$1,234.50", "$-0.0002",
    ]  # fmt: skip


def test_sessions_without_a_cost_are_told(tmp_path: Path, incident_of: Build) -> None:
    write(tmp_path / "a.jsonl", reply(cost=0.0000347, context=5, ts=BEGIN))
    write(tmp_path / "b.jsonl", failed("overflow", ts=BEGIN), failed("overflow", ts=BEGIN + 1), session="s2")
    write(tmp_path / "c.jsonl", prompt(ts=BEGIN), failed("overflow", ts=BEGIN), session="s3")
    made = incident_of(tmp_path)
    row = impact(made)["Recorded cost in all"]
    assert (row.value, row.note) == ("$0.0000347", "as recorded by the agent; 2 of 3 sessions have no cost on record")
    assert made.tracks[-1].spent[-1][1] == 0.0000347
    write(tmp_path / "d.jsonl", failed("overflow", ts=BEGIN), prompt("continue", ts=BEGIN + 9000), session="s4")
    assert "The files record $0.0000347 in all; 3 of 4 sessions have no cost on record." in told(incident_of(tmp_path))


def test_a_session_whose_cost_one_of_its_files_knows_is_none_without(tmp_path: Path, incident_of: Build) -> None:
    write(tmp_path / "a.jsonl", reply(cost=0.5, context=5, ts=BEGIN))
    write(tmp_path / "b.jsonl", reply(context=5, ts=BEGIN + 90_000_000))
    assert impact(incident_of(tmp_path))["Recorded cost in all"].note == "as recorded by the agent"


@pytest.mark.parametrize("column", ["error", "text"])
@pytest.mark.parametrize("own", [DIED, RETRIED])
def test_words_that_nobody_recorded_are_not_quoted(tmp_path: Path, incident_of: Build, own: str, column: str) -> None:
    failure = failed("unknown", ts=BEGIN, **{column: own})
    rows = impact(incident_of(write(tmp_path / "s.jsonl", failure)))
    row = rows[f"Reply that failed: {own}"]
    assert (row.value, row.basis) == ("1", "inferred")
    (event,) = file_of_rows(failure).sessions[0].events
    assert words(event) == f"reply failed (unknown), inferred: {own}"


def test_what_a_failed_reply_said_is_no_error(tmp_path: Path, incident_of: Build) -> None:
    failure = failed("unknown", ts=BEGIN, text="I will look")
    assert not [name for name in impact(incident_of(write(tmp_path / "s.jsonl", failure))) if "failed:" in name]


def test_where_nothing_was_read_nothing_was_looked_for(tmp_path: Path, incident_of: Build) -> None:
    from forensics.reports.html import page as html  # noqa: PLC0415

    (tmp_path / "notes.txt").write_text("just some words\n", encoding="utf-8")
    made = incident_of(tmp_path)
    for text in (page(made), html(made)):
        assert "Nothing was read, so nothing was looked for." in text
        assert "None of the detectors" not in text
        assert "record no cost" not in text


def test_where_something_was_read_the_detectors_found_nothing(tmp_path: Path, incident_of: Build) -> None:
    made = incident_of(write(tmp_path / "s.jsonl", prompt(ts=BEGIN), reply(ts=BEGIN + 5)))
    assert "\nNone of the detectors that ran found anything.\n" in page(made)
    assert "1 session with 1 reply were read" in told(made)


def test_times_below_an_hour_and_ratios_near_one_are_told_with_what_they_hold() -> None:
    assert [hours(one) for one in (0.0016, 0.5, 1, 12.84, 1234.5)] == [
        "5.76 s",
        "30 min",
        "1.0 h",
        "12.8 h",
        "1,234.5 h",
    ]
    assert (figure("hours", 0.0016), figure("minutes", 0.05), figure("minutes", 90)) == ("5.76 s", "3 s", "1.5 h")
    assert [times_of(one) for one in (0.99, 1, 1.04, 1.06, 8.39)] == ["0.99", "1.0", "1.04", "1.1", "8.4"]


def clocks(*given: tuple[str, int | None, int, int | None]) -> Track:
    told_of = [Clock(file=name, offset=offset, matched=n, spread=spread) for name, offset, n, spread in given]
    return Track(
        anchor="", title="", agent="demo", session="s", files=["db"], timed=True, start=0, end=1, points=[], measured=0,
        peak=None, refused=None, cap=None, caps=[], begins=None, spent=[], pins=[], counts={}, gaps=[], gaps_in_all=0,
        clocks=told_of, refs=[],
    )  # fmt: skip


def test_clocks_are_told_together() -> None:
    track = clocks(
        ("a", 0, 27, 0), ("b", None, 0, None), ("c", 7250, 3, 40), ("d", 0, 1, 52), ("e", None, 0, None)
    )  # fmt: skip
    assert list(clock_lines(track)) == [
        "c: times moved by +7.250 s, estimated from 3 events that both files record (within 0.040 s).",
        "Times as recorded, which fits what db records too: a (27 events within 0.000 s), d (1 event within 0.052 s).",
        "b, e: their clocks cannot be held against the other file's, their times are as recorded.",
    ]


def test_a_refused_request_is_told_beside_the_curve(tmp_path: Path, incident_of: Build) -> None:
    from forensics.reports._svg import told as words_of  # noqa: PLC0415

    rows = [reply(context=7890, ts=BEGIN), failed("overflow", estimate=72606, ts=BEGIN + 5)]
    (track,) = incident_of(write(tmp_path / "s.jsonl", *rows)).tracks
    for text in (words_of(track), track_caption(track)):
        assert "7,890 tokens; a request of 72,606 was refused" in text
    rows[1]["estimate"] = 7000
    (track,) = incident_of(write(tmp_path / "s.jsonl", *rows)).tracks
    assert "was refused" not in words_of(track)


def test_one_bar_is_no_chart(tmp_path: Path, incident_of: Build) -> None:
    ends = [{"kind": "compacted", "outcome": "summary", "ts": BEGIN + at} for at in (0, 5000)]
    assert incident_of(write(tmp_path / "s.jsonl", *ends)).bars == []
    ends.append({"kind": "compacted", "outcome": "summary", "ts": BEGIN + 7_200_000})
    (chart,) = incident_of(write(tmp_path / "s.jsonl", *ends)).bars
    assert [counts for _, counts in chart.rows] == [{"summary": 2}, {"summary": 1}]


def test_a_replay_names_its_file(incident_of: Build, samples: Path) -> None:
    from forensics.reports.html import page as html  # noqa: PLC0415

    path = samples / "incidents" / "atomic-1684" / "session.jsonl"
    made = incident_of(path)
    title = f"Atomic, session {made.replays[0].session} in {path}"
    assert f"### {title}\n" in page(made).replace("\\", "")
    assert f"{title}</h3>" in html(made)


def test_a_file_that_does_not_know_its_sessions_agent_is_not_replayed_as_anothers(samples: Path) -> None:
    path = samples / "incidents" / "atomic-1684" / "session.jsonl"
    found = expand([str(path)], Path(), None).files
    (one, *_) = [case.finding for group in incident(found, Options()).groups for case in group.cases]
    assert [replay.agent for replay in replays(found, [one], None)[0]] == ["atomic"]
    other = msgspec.structs.replace(one, agent="another")
    assert replays(found, [other], None) == ([], 0)


def test_a_compaction_that_was_none_is_told_as_such(tmp_path: Path, incident_of: Build) -> None:
    ends = [end(outcome, ts=BEGIN) for outcome in ("summary", "skipped", "aborted")]
    row = impact(incident_of(write(tmp_path / "s.jsonl", *ends)))["Compaction attempts"]
    assert (row.value, row.note) == ("3", "1 with a summary, 1 with nothing to do, 1 aborted")


def test_a_header_on_the_line_of_a_row_is_no_evidence_and_a_trigger_ends_with_one_full_stop(
    tmp_path: Path, incident_of: Build
) -> None:
    from forensics.reports.html import page as html  # noqa: PLC0415

    rows = [
        {"kind": "reply", "session": "s1", "agent": "demo", "stop": "error", "fault": "overflow", "ts": BEGIN,
         "error": "Too long."},
        {"kind": "prompt", "session": "s1", "origin": "human", "text": "continue", "ts": BEGIN + 60_000},
        {"kind": "reply", "session": "s1", "stop": "done", "ts": BEGIN + 70_000},
    ]  # fmt: skip
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made = incident_of(path)
    (case,) = [case for group in made.groups for case in group.cases if group.detector == "manual-continue"]
    assert [row.line for row in case.evidence] == [1, 2, 3]
    assert case.trigger == "reply failed (overflow): Too long."
    assert "Too long.." not in html(made)


def test_a_peak_is_told_of_the_window_that_held_at_it(tmp_path: Path, incident_of: Build) -> None:
    rows = [
        {"kind": "model", "cap": 1_000_000, "cap_source": "recorded", "ts": BEGIN},
        prompt(ts=BEGIN + 1000),
        reply(context=600_100, ts=BEGIN + 2000),
        end(before=600_100, ts=BEGIN + 3000),
        {"kind": "model", "cap": 200_000, "cap_source": "recorded", "ts": BEGIN + 4000},
        reply(context=22_000, ts=BEGIN + 5000),
    ]
    (track,) = incident_of(write(tmp_path / "s.jsonl", *rows)).tracks
    assert (track.peak, track.cap) == ((BEGIN + 2000, 600_100), 1_000_000)


@pytest.mark.parametrize(
    ("name", "low", "high", "said"),
    [
        ("continues_avoided", -6, -6, "6 more instead"),
        ("continues_avoided", -2, 3, "2 more instead to 3"),
        ("compactions_avoided", 6, 6, "6"),
        ("hours_avoided", -0.5, 0.5, "30 min more instead to 30 min"),
        ("dollars_avoided", -1.5, None, "$1.50 more instead to an unknown number"),
    ],
)
def test_what_a_policy_would_have_spent_on_top_is_no_negative_saving(
    name: str, low: float, high: float | None, said: str
) -> None:
    """A report said that -6 messages of a person would have been avoided."""
    assert _interval(name, low, high) == said
