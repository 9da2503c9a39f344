"""Several files of one session on one timeline: the clock's offset, what both record, what neither does."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from forensics.incident.join import View, joined
from forensics.incident.model import Clock, Incident
from forensics.incident.tracks import draft, track
from forensics.incident.watch import Watch
from forensics.scan import Options, look

Build = Callable[..., Incident]
SESSION = "web:s_a266e1ac-2aa5-4ca1-ae36-b7a9faf07e6f"
LOG = Path("incidents") / "pilotdeck" / "runtime.log"
START = 1789820609079
SHARED = [(1789823085568, 160612), (1789824613604, 182941)]
"""Two compactions of the log: when they ended, and the tokens before them."""


def write(path: Path, rows: list[dict[str, object]], session: str = SESSION, agent: str = "pilotdeck") -> Path:
    first = {"kind": "session", "session": session, "agent": agent, "ts": START}
    path.write_text(
        "\n".join(json.dumps({"session": session} | row) for row in [first, *rows]) + "\n", encoding="utf-8"
    )
    return path


def transcript(path: Path, ahead: int) -> Path:
    """A transcript of the log's session whose clock goes `ahead` milliseconds before the log's."""
    rows: list[dict[str, object]] = [{"kind": "prompt", "origin": "human", "ts": START + ahead, "text": "go on"}]
    for ts, before in SHARED:
        rows.append({"kind": "compacted", "ts": ts + ahead, "outcome": "no-summary", "before": before})
        rows.append({"kind": "reply", "ts": ts + 5000 + ahead, "stop": "done", "context": before, "cost": 0.5})
    return write(path, rows)


@pytest.mark.parametrize("ahead", [0, 7250, -3_600_000])
def test_a_clocks_offset_is_estimated_and_stated(tmp_path: Path, incident_of: Build, samples: Path, ahead: int) -> None:
    made = incident_of(samples / LOG, transcript(tmp_path / "chat.jsonl", ahead))
    (track,) = [one for one in made.tracks if one.session == SESSION]
    (clock,) = track.clocks
    assert clock.file.endswith("runtime.log")
    assert (clock.offset, clock.matched, clock.spread) == (ahead, 2, 0)
    assert len(track.files) == 2
    assert track.counts["no-summary"] == 6  # the two that both record are one each
    assert track.counts["crash"] == 4
    assert track.counts["prompt"] == 1
    assert track.spent[-1][1] == 1.0
    assert track.peak is not None
    assert track.peak[1] == 328055


def test_without_a_shared_event_the_clock_is_left_alone_and_that_is_said(
    tmp_path: Path, incident_of: Build, samples: Path
) -> None:
    from forensics.reports._page import track_lines  # noqa: PLC0415

    path = write(tmp_path / "chat.jsonl", [{"kind": "prompt", "origin": "human", "ts": START, "text": "go on"}])
    made = incident_of(samples / LOG, path)
    (track,) = [one for one in made.tracks if one.session == SESSION]
    assert [clock.offset for clock in track.clocks] == [None]
    assert any("cannot be held against the other file's" in line for line in track_lines(track))


def test_sessions_of_other_agents_stay_apart(tmp_path: Path, incident_of: Build, samples: Path) -> None:
    rows: list[dict[str, object]] = [{"kind": "prompt", "origin": "human", "ts": START, "text": "go on"}]
    made = incident_of(samples / LOG, write(tmp_path / "chat.jsonl", rows, agent="demo"))
    assert len([one for one in made.tracks if one.session == SESSION]) == 2


def test_a_copy_of_a_file_is_drawn_once(tmp_path: Path, incident_of: Build) -> None:
    one = transcript(tmp_path / "a.jsonl", 0)
    longer = one.read_text() + json.dumps(
        {"kind": "reply", "session": SESSION, "ts": 1789824700000, "stop": "done", "context": 5}
    )
    (tmp_path / "b.jsonl").write_text(longer + "\n")
    made = incident_of(tmp_path)
    assert len(made.tracks) == 1
    assert made.tracks[0].files[0].endswith("b.jsonl")


def test_a_file_without_times_stays_by_itself(tmp_path: Path, incident_of: Build, samples: Path) -> None:
    path = write(tmp_path / "chat.jsonl", [])
    rows = [{"kind": "session", "session": SESSION, "agent": "pilotdeck"}]
    rows += [{"kind": "reply", "session": SESSION, "stop": "error", "error": "no"}]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    made = incident_of(samples / LOG, path)
    assert sorted(one.timed for one in made.tracks if one.session == SESSION) == [False, True]


def test_a_gap_is_one_only_where_no_file_has_a_row(tmp_path: Path, incident_of: Build, samples: Path) -> None:
    alone = incident_of(samples / LOG)
    (before,) = [one for one in alone.tracks if one.session == SESSION]
    rows: list[dict[str, object]] = [
        {"kind": "compacted", "ts": ts, "outcome": "no-summary", "before": before_} for ts, before_ in SHARED
    ]
    first = before.gaps[0]
    middle = (first.start + first.end) // 2
    rows.insert(0, {"kind": "reply", "ts": middle, "stop": "done", "context": 1})
    made = incident_of(samples / LOG, write(tmp_path / "chat.jsonl", rows))
    (after,) = [one for one in made.tracks if one.session == SESSION]
    assert (first.start, first.end) not in [(gap.start, gap.end) for gap in after.gaps]
    assert (first.start, middle) in [(gap.start, gap.end) for gap in after.gaps]


SHORT = 1_780_000_000_000


def view(path: Path, rows: Sequence[tuple[float, dict[str, object]]]) -> Path:
    """A file of a short session; rows are told with their seconds."""
    told = [{"ts": SHORT + round(seconds * 1000)} | row for seconds, row in rows]
    first = {"kind": "session", "session": "s1", "agent": "demo", "ts": told[0]["ts"]}
    path.write_text("\n".join(json.dumps({"session": "s1"} | row) for row in [first, *told]) + "\n", encoding="utf-8")
    return path


def drawn(path: Path, watch: Watch | None = None) -> View:
    """The file's only session as the report draws it."""
    watch = watch or Watch()
    _, file = look(path, path.name, Options(), watch)
    assert file is not None
    made = draft(file, file.sessions[0], watch, set())
    assert made is not None
    return View(made, file, file.sessions[0])


def stream(one: View) -> View:
    """The same as another format shows it."""
    one.file.parser = "stream"
    return one


def broke(words: str, fault: str = "overloaded") -> dict[str, object]:
    return {"kind": "reply", "stop": "error", "fault": fault, "error": words}


def asked(text: str) -> dict[str, object]:
    return {"kind": "prompt", "origin": "human", "text": text, "digest": text}


GOOD: dict[str, object] = {"kind": "reply", "stop": "done", "context": 5}


def test_no_silence_lies_outside_the_files(tmp_path: Path) -> None:
    one = drawn(view(tmp_path / "a.jsonl", [(0, asked("a")), (9, GOOD), (17, GOOD)]))
    other = stream(drawn(view(tmp_path / "b.jsonl", [(3, broke("no")), (12, GOOD)])))
    (made,) = joined([one, other])
    assert made.silences == []
    assert track(made).gaps_in_all == 0


def test_the_stretch_between_two_files_is_a_silence(tmp_path: Path) -> None:
    one = drawn(view(tmp_path / "a.jsonl", [(0, asked("a")), (9, GOOD)]))
    other = stream(drawn(view(tmp_path / "b.jsonl", [(2009, GOOD), (2012, GOOD)])))
    (made,) = joined([one, other])
    assert made.silences == [(SHORT + 9000, SHORT + 2_009_000, "another file's first row")]


def test_a_row_that_is_not_drawn_ends_a_silence_too(tmp_path: Path) -> None:
    one = drawn(view(tmp_path / "a.jsonl", [(0, asked("a")), (9, GOOD), (1000, {"kind": "tool"}), (1800, asked("b"))]))
    other = stream(drawn(view(tmp_path / "b.jsonl", [(1, broke("no")), (9, GOOD), (700, {"kind": "tool"})])))
    (made,) = joined([one, other])
    assert made.silences == []


REPEATED = [(at, broke("try again")) for at in (0, 74)]


def test_one_event_moves_no_clock(tmp_path: Path) -> None:
    """The error of the second prompt is not that of the first, though it says the same."""
    whole = drawn(view(tmp_path / "a.jsonl", [*REPEATED, (80, GOOD)]))
    step = stream(drawn(view(tmp_path / "b.jsonl", [(74.01, broke("try again")), (80, GOOD)])))
    (made,) = joined([whole, step])
    assert made.clocks == [Clock(file="b.jsonl", offset=0, matched=1, spread=10)]
    alone = stream(drawn(view(tmp_path / "c.jsonl", [(37, broke("try again")), (80, GOOD)])))
    (made,) = joined([whole, alone])
    assert made.clocks == [Clock(file="c.jsonl", offset=None, matched=0, spread=None)]


def test_one_event_of_each_file_far_apart_moves_no_clock(tmp_path: Path) -> None:
    whole = drawn(view(tmp_path / "a.jsonl", [(0, broke("no")), (80, GOOD)]))
    step = stream(drawn(view(tmp_path / "b.jsonl", [(74, broke("no"))])))
    (made,) = joined([whole, step])
    assert [clock.offset for clock in made.clocks] == [None]
    assert {x for x, lane, *_ in made.spots if lane == "failures"} == {SHORT, SHORT + 74_000}


def test_a_loops_period_is_no_offset(tmp_path: Path) -> None:
    """One file begins one turn of the loop later: the clocks are the same all the same."""
    times = [at * 0.41 for at in range(12)]
    whole = drawn(view(tmp_path / "a.jsonl", [*((at, broke("too long")) for at in times), (6, GOOD)]))
    step = stream(drawn(view(tmp_path / "b.jsonl", [(at + 0.03, broke("too long")) for at in times[1:]])))
    (made,) = joined([whole, step])
    assert made.clocks == [Clock(file="b.jsonl", offset=0, matched=11, spread=30)]
    assert len([spot for spot in made.spots if spot[1] == "failures"]) == 12


def test_other_words_for_the_same_failures_hold_a_clock_where_it_is(tmp_path: Path) -> None:
    whole = drawn(view(tmp_path / "a.jsonl", [(at, broke("")) for at in (0, 20, 40)]))
    log = stream(drawn(view(tmp_path / "b.jsonl", [(at, broke("APIError: full")) for at in (0, 20, 40)])))
    (made,) = joined([whole, log])
    assert made.clocks == [Clock(file="b.jsonl", offset=0, matched=3, spread=0)]


def test_events_that_each_file_has_once_move_a_clock(tmp_path: Path) -> None:
    rows = [(0, asked("a")), (5, broke("no")), (20, asked("b")), (30, GOOD)]
    whole = drawn(view(tmp_path / "a.jsonl", rows))
    other = stream(drawn(view(tmp_path / "b.jsonl", [(at + 7.25, row) for at, row in rows])))
    (made,) = joined([whole, other])
    assert made.clocks == [Clock(file="b.jsonl", offset=-7250, matched=3, spread=0)]


def test_a_recorded_session_of_seconds_has_no_silence_and_one_clock(corpus: Path, incident_of: Build) -> None:
    for name in ("b3_overflow_progress", "f_retry_storm", "e_underflow_continue_responses"):
        made = incident_of(corpus / "recorded" / "opencode-1.18.33" / name)
        for one in made.tracks:
            assert one.gaps == []
            assert {clock.offset for clock in one.clocks} <= {0, None}


def test_recordings_of_transcript_and_log_are_one_session(corpus: Path, incident_of: Build) -> None:
    folder = corpus / "recorded" / "pilotdeck-v260806" / "h_oversized_message"
    made = incident_of(folder / "runtime.log", next(folder.rglob("chats/*default*.jsonl")))
    sessions = [one for one in made.tracks if one.session is not None]
    assert {one.session for one in sessions} == {sessions[0].session}
    assert made.summary.sessions == 1
