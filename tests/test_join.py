"""Several files of one session on one timeline: the clock's offset, what both record, what neither does."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.incident.model import Incident

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


def test_recordings_of_transcript_and_log_are_one_session(corpus: Path, incident_of: Build) -> None:
    folder = corpus / "recorded" / "pilotdeck-v260806" / "h_oversized_message"
    made = incident_of(folder / "runtime.log", next(folder.rglob("chats/*default*.jsonl")))
    sessions = [one for one in made.tracks if one.session is not None]
    assert {one.session for one in sessions} == {sessions[0].session}
    assert made.summary.sessions == 1
