import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise
from forensics.parsers._zstd import CorruptError, decompressed
from forensics.timeline import File


@pytest.fixture
def rows(samples: Path, events_of: Callable[[Path], list[Event]]) -> list[Event]:
    return events_of(samples / "parsers" / "openclaw_db.sqlite")


@pytest.fixture
def database(tmp_path: Path, samples: Path) -> Path:
    """A copy of the sample that a test may change, built from its SQL text."""
    path = tmp_path / "openclaw-agent.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((samples / "parsers" / "openclaw_db.sql").read_text(encoding="utf-8"))
    return path


def _one(events: list[Event], record: str) -> Event:
    (event,) = [one for one in events if one.record == record]
    return event


def _changed(path: Path, *statements: str) -> list[Event]:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return list(read(Source(path)))


def test_the_sample_is_what_its_sql_says(samples: Path, database: Path) -> None:
    def dump(path: Path) -> list[str]:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return list(connection.iterdump())

    assert dump(samples / "parsers" / "openclaw_db.sqlite") == dump(database)


def test_another_database_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table transcript_events (id integer)")
    with pytest.raises(NotRecognised, match="SQLite with tables transcript_events"):
        recognise(path)


def test_sessions_with_their_agent_version_window_and_parent(rows: list[Event]) -> None:
    sessions = [(e.session, e.agent, e.version, e.cap, e.cap_source, e.parent) for e in rows if e.kind == "session"]
    assert sessions == [
        ("kitchen", "openclaw", "2026.9.9", 48000, "recorded", None),
        ("nightly", "openclaw", "2026.9.9", None, None, "kitchen"),
    ]


def test_every_row_of_a_session_by_record(rows: list[Event]) -> None:
    assert [(e.record, e.kind, e.stop or e.outcome) for e in rows if e.session == "kitchen"] == [
        (None, "session", None),
        ("k1", "model", None),
        ("k2", "prompt", None),
        ("k3", "reply", "tool"),
        ("k4", "tool", None),
        ("k5", "reply", "length"),
        ("k6", "compacted", "summary"),
        ("k7", "prompt", None),
        ("trajectory_runtime_events:kitchen:2", "reply", "error"),
        ("k8", "reply", "error"),
        ("trajectory_runtime_events:kitchen:4", "compacted", "failed"),
        ("k9", "prompt", None),
        ("k10", "reply", "done"),
    ]
    assert {event.line for event in rows} == {None}


def test_a_compressed_row_is_read_whole(rows: list[Event]) -> None:
    cut = _one(rows, "k5")
    assert (cut.stop, cut.output, cut.context) == ("length", 4000, 4900)
    assert (cut.text or "").startswith("It bakes. It bakes.")


def test_a_torn_compressed_row_gives_what_its_outline_says_and_is_listed(samples: Path) -> None:
    source = Source(samples / "parsers" / "openclaw_db.sqlite")
    events = list(read(source))
    torn = _one(events, "n3")
    assert (torn.stop, torn.provider, torn.output, torn.context) == ("length", "p1", None, None)
    assert [(one.line, one.reason, one.salvaged) for one in source.malformed] == [
        (2, "session nightly: torn or broken JSON: Expecting ',' delimiter at character 357", False),
        (3, "session nightly: Zstandard: torn; its tokens and words are unknown", True),
    ]
    assert (source.records, source.lines) == (14, None)


def test_errors_before_a_retry_come_from_the_table_of_runs(rows: list[Event]) -> None:
    first, last = _one(rows, "trajectory_runtime_events:kitchen:2"), _one(rows, "k8")
    assert (first.fault, first.error) == ("rate-limit", "429 rate limit, retry 1")
    assert (last.fault, last.error) == ("overloaded", "503 busy, retry 2")
    assert sum(event.fault == "overloaded" for event in rows) == 1


def test_a_compaction_that_ran_out_of_time_shows(rows: list[Event]) -> None:
    end = _one(rows, "trajectory_runtime_events:kitchen:4")
    assert (end.outcome, end.fault, end.error) == ("failed", "transport", "timed out during compaction")


def test_a_prompt_sent_before_the_last_reply_ended_was_queued(rows: list[Event]) -> None:
    assert (_one(rows, "k7").origin, _one(rows, "k7").sent) == ("queued", 1788422419000)
    assert (_one(rows, "k9").origin, _one(rows, "k9").sent) == ("human", 1788422460000)


def test_what_a_timer_asks_is_not_a_person(rows: list[Event]) -> None:
    assert _one(rows, "n1").origin == "synthetic"


def test_compactions_that_openclaw_counts_but_did_not_keep_are_said(samples: Path) -> None:
    source = Source(samples / "parsers" / "openclaw_db.sqlite")
    list(read(source))
    assert source.notes == ["session kitchen: OpenClaw counts 2 compactions, its entries hold 1"]


def test_entries_off_the_live_branch_are_a_session_apart(database: Path, file_of: Callable[[Path], File]) -> None:
    _changed(
        database,
        """update transcript_events set event_json = replace(event_json, '"parentId":"k8"', '"parentId":"k4"')
        where seq = 9 and session_id = 'kitchen'""",
    )
    sessions = {session.id: session for session in file_of(database).sessions}
    assert sorted(sessions) == ["kitchen", "kitchen/k8", "nightly"]
    assert sessions["kitchen/k8"].parent == "kitchen"
    assert [e.record for e in sessions["kitchen"].events if e.kind == "prompt"] == ["k2", "k9"]


def test_a_database_with_the_entries_alone_is_read(database: Path) -> None:
    events = _changed(
        database,
        "drop table schema_meta",
        "drop table session_nodes",
        "drop table session_windows",
        "drop table trajectory_runtime_events",
        "delete from transcript_events where event_json is null",
        "alter table transcript_events drop column event_zstd",
        "alter table transcript_events drop column navigation_json",
    )
    assert [(e.session, e.version, e.cap) for e in events if e.kind == "session"] == [
        ("kitchen", None, None),
        ("nightly", None, None),
    ]
    assert [event.record for event in events if event.kind == "reply"] == ["k3", "k8", "k10"]


def test_rows_of_another_shape_are_listed(database: Path) -> None:
    _changed(
        database,
        "update transcript_events set event_json = '[1]' where seq = 3 and session_id = 'kitchen'",
        "update transcript_events set event_json = 'nonsense' where seq = 4 and session_id = 'kitchen'",
        "update session_nodes set entry_json = 'nonsense'",
        "update trajectory_runtime_events set event_json = '\"model.completed\"' where seq = 1",
    )
    source = Source(database)
    events = list(read(source))
    assert [(one.line, one.reason) for one in source.malformed if "kitchen" in one.reason] == [
        (0, "session node of kitchen: not JSON"),
        (3, "session kitchen: not a JSON object"),
        (4, "session kitchen: not JSON"),
        (0, "session kitchen, run event: field event_json is not object but str"),
    ]
    assert events[0].cap is None


def test_nothing_is_written_beside_the_database(database: Path) -> None:
    list(read(Source(database)))
    assert [path.name for path in database.parent.iterdir()] == [database.name]


@pytest.mark.parametrize("data", [b"", b"not zstandard", b"\x28\xb5\x2f\xfd"])
def test_bytes_that_are_no_frame_are_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptError):
        decompressed(data, 100)


def test_a_frame_that_holds_more_than_asked_is_refused(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        query = "select event_zstd from transcript_events where session_id = 'kitchen' and event_zstd is not null"
        (packed,) = connection.execute(query).fetchone()
    assert len(decompressed(packed, 10_000)) > 100
    with pytest.raises(CorruptError, match="more than 100 bytes"):
        decompressed(packed, 100)


def _run(seq: int, seconds: int, data: str) -> str:
    event = f'{{"type":"model.completed","ts":"2026-09-03T08:00:{seconds:02}.000Z","data":{data}}}'
    return f"insert into trajectory_runtime_events values ('kitchen', {seq}, 'r', '{event}', 0)"


def test_a_runs_failure_counts_though_its_messages_were_cut_away(database: Path) -> None:
    events = _changed(
        database,
        _run(5, 30, '{"stopReason":"error","messagesSnapshot":{"truncated":true,"originalChars":900000}}'),
        _run(6, 31, '{"stopReason":"error","messagesSnapshot":["[Truncated]"]}'),
        _run(7, 51, '{"stopReason":"error","messagesSnapshot":"[Truncated]"}'),
    )
    added = [(e.record, e.stop, e.fault, e.error) for e in events if (e.record or "").endswith((":5", ":6", ":7"))]
    assert added == [
        ("trajectory_runtime_events:kitchen:5", "error", "unknown", None),
        ("trajectory_runtime_events:kitchen:6", "error", "unknown", None),
    ]  # the last one ended within five seconds of the error that is an entry, k8


def test_a_message_whose_details_were_cut_away_still_says_what_broke(database: Path) -> None:
    message = (
        '{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 rate limit","timestamp":1,'
        '"usage":{"input":0,"output":0,"cost":"[Truncated]"}}'
    )
    events = _changed(database, _run(5, 30, f'{{"stopReason":"error","messagesSnapshot":[{message}]}}'))
    assert _one(events, "trajectory_runtime_events:kitchen:5").fault == "rate-limit"


_LOOSE = (
    "create table loose as select * from transcript_events",
    "drop table transcript_events",
    "alter table loose rename to transcript_events",
)


@pytest.mark.parametrize("seq", ["null", "'seven'", "9e999", "1.5", "-3", "x'00ff'"])
def test_an_odd_seq_in_one_row_costs_no_row(database: Path, seq: str) -> None:
    """A `seq` of NULL, text or infinity once lost the whole database."""
    before = _changed(database, *_LOOSE)
    source = Source(database)
    _changed(database, f"update transcript_events set seq = {seq} where seq = 2 and session_id = 'kitchen'")
    events = list(read(source))
    assert sorted(str(event.record) for event in events) == sorted(str(event.record) for event in before)
    assert "session kitchen: a seq that is no whole number" in [one.reason for one in source.malformed]


@pytest.mark.parametrize("seq", ["null", "'seven'", "9e999"])
def test_an_odd_seq_of_a_run_costs_no_run(database: Path, seq: str) -> None:
    loose = [one.replace("transcript_events", "trajectory_runtime_events") for one in _LOOSE]
    before = _changed(database, *loose)
    source = Source(database)
    _changed(database, f"update trajectory_runtime_events set seq = {seq} where seq = 4")
    events = list(read(source))
    assert [(event.kind, event.outcome) for event in events] == [(event.kind, event.outcome) for event in before]
    assert "session kitchen, run event: a seq that is no whole number" in [one.reason for one in source.malformed]


def test_entries_of_no_session_are_listed(database: Path) -> None:
    _changed(database, *_LOOSE, "update transcript_events set session_id = null where seq = 2")
    source = Source(database)
    list(read(source))
    assert "2 entries whose session id is no text" in [one.reason for one in source.malformed]
