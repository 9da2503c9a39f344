import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forensics.attempts import attempts
from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise
from forensics.parsers._opencode_rules import DIED
from forensics.timeline import File

EventsOf = Callable[[Path], list[Event]]
FileOf = Callable[[Path], File]
V1 = """
create table session (id text primary key, parent_id text, version text, time_created integer);
create table message (id text primary key, session_id text, time_created integer, data text);
create table part (id text primary key, message_id text, time_created integer, data text);
create index part_message_id_id_idx on part (message_id, id);
"""
V2 = """
create table session (id text primary key, parent_id text, fork_session_id text, version text, time_created integer);
create table session_message (id text primary key, session_id text, type text, seq integer, time_created integer,
  data text);
"""
T = 1_780_000_000_000
"""Times in these tests are milliseconds after it."""
ZERO = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


@contextmanager
def _database(path: Path, tables: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(tables)
        database.execute("insert into session (id, version, time_created) values ('ses_1', '1.18.4', 1780000001000)")
        yield database
        database.commit()


def _add(database: sqlite3.Connection, key: str, ts: int, info: dict[str, Any], *parts: dict[str, Any]) -> None:
    data = _json({"time": {"created": T + ts}, **info})
    database.execute("insert into message values (?, 'ses_1', ?, ?)", (key, T + ts, data))
    for number, part in enumerate(parts):
        row = (f"prt_{key}_{number}", key, T + ts, _json(part))
        database.execute("insert into part values (?, ?, ?, ?)", row)


def _v2(database: sqlite3.Connection, key: str, kind: str, ts: int, **data: Any) -> None:
    seq = database.execute("select count(*) from session_message").fetchone()[0]
    row = (key, "ses_1", kind, seq, T + ts, _json({"time": {"created": T + ts}, **data}))
    database.execute("insert into session_message values (?, ?, ?, ?, ?, ?)", row)


def _user(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _done(ts: int, **more: Any) -> dict[str, Any]:
    tokens = {**ZERO, "input": 9, "output": 1}
    return {
        "role": "assistant",
        "finish": "stop",
        "tokens": tokens,
        "time": {"created": T + ts, "completed": T + ts + 5},
        **more,
    }


def test_another_programs_database_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript("create table sessions (id text); create table messages (id text, data text);")
    with pytest.raises(NotRecognised, match="SQLite with tables messages, sessions"):
        recognise(path)


def test_an_empty_database_has_no_sessions(tmp_path: Path, file_of: FileOf) -> None:
    path = tmp_path / "empty.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(V1)
    assert recognise(path).name == "opencode-db"
    assert file_of(path).sessions == []


def test_the_sample_tells_its_story_in_the_order_of_time(samples: Path, events_of: EventsOf) -> None:
    told = [
        (event.kind, event.origin or event.stop or event.outcome or event.trigger, event.fault)
        for event in events_of(samples / "parsers" / "opencode_db.db")
        if event.session == "ses_05e6a1000001greenhouse" and event.kind != "tool"
    ]
    assert told == [
        ("session", None, None),
        ("prompt", "human", None),
        ("reply", "tool", None),
        ("reply", "done", None),
        ("prompt", "human", None),
        ("reply", "error", "overflow"),
        ("compact", "overflow", None),
        ("compacted", "summary", None),
        ("prompt", "replay", None),
        ("reply", "error", "overloaded"),
        ("prompt", "human", None),
        ("reply", "length", None),
        ("prompt", "queued", None),
        ("compact", "threshold", None),
        ("compacted", "no-summary", "empty-summary"),
        ("prompt", "synthetic", None),
        ("reply", "empty", None),
        ("prompt", "human", None),
        ("reply", "aborted", "cancelled"),
        ("compact", "manual", None),
        ("compacted", "unknown", None),
    ]


def test_the_samples_figures(samples: Path, file_of: FileOf) -> None:
    main, child = file_of(samples / "parsers" / "opencode_db.db").sessions
    assert (main.version, main.parent, child.parent) == ("1.18.4", None, main.id)
    assert (main.prompts, child.prompts) == (5, 0)  # one of them was typed while the agent worked
    assert (main.input_tokens, main.cached_tokens, main.output_tokens) == (3300, 1100, 2250)
    assert main.cost == pytest.approx(0.126)
    assert (child.input_tokens, child.output_tokens, child.cost) == (70, 7, 0.001)
    assert (main.peak, main.cap) == (1048, None)


def test_ids_that_wrap_do_not_order_a_session(samples: Path, events_of: EventsOf) -> None:
    records = [
        e.record or "" for e in events_of(samples / "parsers" / "opencode_db.db") if e.kind in {"prompt", "reply"}
    ]
    assert records[0].startswith("msg_ffff")
    assert records[4].startswith("msg_0000")


def test_a_multi_step_reply_spends_the_sum_and_holds_the_last_steps_context(samples: Path, events_of: EventsOf) -> None:
    (cut,) = [event for event in events_of(samples / "parsers" / "opencode_db.db") if event.stop == "length"]
    assert (cut.input, cut.output, cut.cost) == (560, 52, 0.04)
    assert (cut.context, cut.total) == (92, 92)


def test_a_database_with_a_write_ahead_log_is_read_whole(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma wal_autocheckpoint = 0")
        database.executescript(V1)
        database.execute("insert into session values ('ses_1', null, '1.18.4', 1780000001000)")
        _add(database, "msg_1", 1001, {"role": "user"}, _user("hello"))
        database.commit()
        assert path.with_name("opencode.db-wal").stat().st_size > 0
        before = sorted(one.name for one in tmp_path.iterdir())
        assert [event.text for event in events_of(path) if event.kind == "prompt"] == ["hello"]
        assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_a_row_of_broken_json_costs_that_row(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("one"))
        database.execute("insert into message values ('msg_2', 'ses_1', 1780000001002, '{\"role\":\"assist')")
        _add(database, "msg_3", 1003, {"role": "user"}, _user("two"))
        database.execute(
            "insert into part values ('prt_9', 'msg_3', 1780000001004, ?)", (b'{"type":"text","text":"\xff"}',)
        )
    source = Source(path)
    prompts = [event.text for event in read(source) if event.kind == "prompt"]
    assert prompts == ["one", "two\n\ufffd"]
    assert [(one.line, one.reason.split(":")[0], one.salvaged) for one in source.malformed] == [
        (0, "message msg_2", False),
        (0, "part prt_9 of msg_3", True),
    ]
    assert source.records == 1 + 3 + 3


def test_messages_whose_session_is_gone_are_still_read(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("one"))
        database.execute("delete from session")
    source = Source(path)
    assert [(event.kind, event.session) for event in read(source)] == [("session", "ses_1"), ("prompt", "ses_1")]
    assert source.notes == ["session ses_1: its row is gone, its messages are not"]


def test_recorded_totals_that_the_messages_do_not_add_up_to_are_noted(tmp_path: Path, samples: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes((samples / "parsers" / "opencode_db.db").read_bytes())
    with closing(sqlite3.connect(path)) as database:
        database.execute("delete from message where data like '%\"finish\":\"length\"%' and data not like '%summary%'")
        database.commit()
    source = Source(path)
    assert list(read(source))
    (note,) = source.notes
    assert "3300 input, 1100 cached tokens" in note
    assert "(2740, 1100, $0.0860)" in note


def test_totals_that_were_never_recorded_are_not_compared(tmp_path: Path, samples: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes((samples / "parsers" / "opencode_db.db").read_bytes())
    with closing(sqlite3.connect(path)) as database:
        database.execute("update session set cost = 0, tokens_input = 0, tokens_cache_read = 0")
        database.commit()
    source = Source(path)
    assert list(read(source))
    assert source.notes == []


def test_a_rejected_request_without_a_marker_is_an_interruption(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "opencode.db"
    zero = {"role": "assistant", "tokens": ZERO, "time": {"created": T + 1002, "completed": T + 1003}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("one"))
        _add(database, "msg_2", 1002, zero)
        _add(database, "msg_3", 2000, {"role": "user"}, _user("two"))
        _add(database, "msg_4", 2001, _done(2001), _user("fine"))
    replies = [event for event in events_of(path) if event.kind == "reply"]
    assert [(event.stop, event.fault, event.input) for event in replies] == [
        ("aborted", "cancelled", None),
        ("done", None, 9),
    ]


def test_a_prompt_queued_before_the_overflow_marker_does_not_hide_it(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "opencode.db"
    zero = {"role": "assistant", "tokens": ZERO, "time": {"created": T + 1002, "completed": T + 1900}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("one"))
        _add(database, "msg_2", 1002, zero)
        _add(database, "msg_3", 1500, {"role": "user"}, _user("and this"))
        _add(database, "msg_4", 1901, {"role": "user"}, {"type": "compaction", "auto": True, "overflow": True})
    told = [(event.kind, event.origin, event.fault) for event in events_of(path)[1:]]
    assert told == [
        ("prompt", "human", None),
        ("reply", None, "overflow"),
        ("prompt", "queued", None),
        ("compact", None, None),
    ]


@pytest.mark.parametrize(("followed", "stop"), [(True, "error"), (False, None)])
def test_a_reply_without_an_end_died_only_if_another_followed(
    tmp_path: Path, events_of: EventsOf, *, followed: bool, stop: str | None
) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "assistant", "tokens": ZERO}, {"type": "step-start"})
        _add(database, "msg_2", 2000, {"role": "user"}, _user("still there?"))
        if followed:
            _add(database, "msg_3", 2001, _done(2001), _user("yes"))
    assert events_of(path)[1].stop == stop


def test_a_command_that_a_person_ran_is_no_reply(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "opencode.db"
    shell = {"role": "assistant", "tokens": ZERO, "time": {"created": T + 1002, "completed": T + 1003}}
    call = {"status": "completed", "input": {"command": "ls"}, "output": "beds.md"}
    with _database(path, V1) as database:
        said = {**_user("The following tool was executed by the user"), "synthetic": True}
        _add(database, "msg_1", 1001, {"role": "user"}, said)
        _add(database, "msg_2", 1002, shell, {"type": "tool", "tool": "bash", "state": call})
    assert [(event.kind, event.origin) for event in events_of(path)[1:]] == [("prompt", "synthetic"), ("tool", None)]


@pytest.mark.parametrize(
    ("more", "parts", "expected"),
    [
        ({"finish": "stop"}, ["Goal"], ("summary", None)),
        ({"finish": "stop"}, [" \n"], ("no-summary", "empty-summary")),
        ({"finish": "length"}, ["Goa"], ("no-summary", "truncated-summary")),
        ({"finish": "length"}, [], ("no-summary", "empty-summary")),
        (
            {"finish": "error", "error": {"name": "ContextOverflowError", "data": {"message": "x"}}},
            [],
            ("failed", "overflow"),
        ),
        ({"error": {"name": "MessageAbortedError", "data": {"message": "Aborted"}}}, [], ("aborted", "cancelled")),
        ({"error": {"name": "APIError", "data": {"message": "no", "statusCode": 401}}}, [], ("failed", "auth")),
        ({}, [], ("aborted", None)),
        ({"time": {"created": T + 1002}}, [], ("unknown", None)),
    ],
)
def test_a_summary_is_judged_by_what_came_of_it(
    tmp_path: Path,
    events_of: EventsOf,
    more: dict[str, Any],
    parts: list[str],
    expected: tuple[str, str | None],
) -> None:
    path = tmp_path / "opencode.db"
    row = {
        "role": "assistant",
        "summary": True,
        "tokens": ZERO,
        "time": {"created": T + 1002, "completed": T + 1003},
        **more,
    }
    with _database(path, V1) as database:
        _add(database, "msg_1", 1002, row, *map(_user, parts))
    (_, end) = events_of(path)
    assert (end.kind, end.outcome, end.fault) == ("compacted", *expected)


@pytest.mark.parametrize(
    ("error", "stop", "fault"),
    [
        ({"name": "APIError", "data": {"message": "Overloaded", "statusCode": 529}}, "error", "overloaded"),
        ({"name": "APIError", "data": {"message": "Bad Request", "statusCode": 400}}, "error", "invalid-request"),
        (
            {"name": "APIError", "data": {"message": "Bad Request", "responseBody": "context_length_exceeded"}},
            "error",
            "overflow",
        ),
        ({"name": "UnknownError", "data": {"message": "prompt is too long"}}, "error", "overflow"),
        ({"name": "MessageOutputLengthError", "data": {}}, "length", None),
        ({"name": "ContentFilterError", "data": {"message": "no"}}, "filtered", "refusal"),
        ({"name": "ProviderAuthError", "data": {"providerID": "demo", "message": "no key"}}, "error", "auth"),
        ({"name": "SomethingNew", "data": {}}, "error", "unknown"),
    ],
)
def test_an_error_is_classed_by_its_name_then_its_words(
    tmp_path: Path, events_of: EventsOf, error: dict[str, Any], stop: str, fault: str | None
) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        _add(database, "msg_1", 1002, {"role": "assistant", "tokens": ZERO, "error": error})
    assert [(event.stop, event.fault) for event in events_of(path)[1:]] == [(stop, fault)]


def test_an_overflow_errors_words_give_the_window(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "opencode.db"
    words = "prompt is too long: 212000 tokens > 200000 maximum"
    error = {"name": "ContextOverflowError", "data": {"message": words}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1002, {"role": "assistant", "tokens": ZERO, "error": error, "finish": "error"})
    reply = events_of(path)[1]
    assert (reply.cap, reply.cap_source, reply.estimate, reply.context) == (200000, "error text", 212000, None)


def test_a_total_that_leaves_cache_reads_out_does_not_shrink_the_context(tmp_path: Path, events_of: EventsOf) -> None:
    """anomalyco/opencode#47832."""
    path = tmp_path / "opencode.db"
    tokens = {"total": 7, "input": 5, "output": 2, "reasoning": 0, "cache": {"read": 3_170_000, "write": 0}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1002, _done(1002, tokens=tokens), _user("ok"))
    reply = events_of(path)[1]
    assert (reply.context, reply.total, reply.cached) == (3_170_007, 7, 3_170_000)


def test_output_held_the_reasoning_until_version_1_2_and_what_was_generated_holds_it_always(
    tmp_path: Path, events_of: EventsOf
) -> None:
    path = tmp_path / "opencode.db"
    tokens = {"total": 110, "input": 100, "output": 10, "reasoning": 7, "cache": {"read": 0, "write": 0}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1002, _done(1002, tokens=tokens), _user("ok"))
        _add(database, "msg_2", 1003, _done(1003, tokens={**tokens, "total": 117}), _user("ok"))
        _add(database, "msg_3", 1004, _done(1004, tokens={**tokens, "total": None}), _user("ok"))
    rows = [(event.context, event.output, event.reasoning) for event in events_of(path)[1:]]
    assert rows == [(110, 10, 7), (117, 17, 7), (117, 17, 7)]


def test_a_repeated_prompt_after_a_manual_compaction_is_a_persons(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("go on"))
        _add(database, "msg_2", 1002, _done(1002), _user("ok"))
        _add(database, "msg_3", 2000, {"role": "user"}, {"type": "compaction", "auto": False})
        _add(database, "msg_4", 2001, _done(2001, summary=True), _user("Goal"))
        _add(database, "msg_5", 3000, {"role": "user"}, _user("go on"))
    assert [event.origin for event in events_of(path) if event.kind == "prompt"] == ["human", "human"]


def test_a_compaction_that_failed_stays_pending_and_takes_the_next_prompt(tmp_path: Path, file_of: FileOf) -> None:
    """The second summary answers the prompt, not the marker: opencode found the marker still pending."""
    path = tmp_path / "opencode.db"
    denied = {"name": "APIError", "data": {"message": "no such key", "statusCode": 401}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("one"))
        _add(database, "msg_2", 1002, _done(1002), _user("ok"))
        _add(database, "msg_3", 1010, {"role": "user"}, {"type": "compaction", "auto": True, "overflow": False})
        failed = {"role": "assistant", "summary": True, "parentID": "msg_3", "tokens": ZERO, "error": denied}
        _add(database, "msg_4", 1011, failed)
        _add(database, "msg_5", 5000, {"role": "user"}, _user("go on"))
        _add(database, "msg_6", 5001, _done(5001, summary=True, parentID="msg_5"), _user("Goal"))
    (session,) = file_of(path).sessions
    assert [(one.outcome, one.trigger, one.first.record) for one in attempts(session.events)] == [
        ("failed", "threshold", "msg_3"),
        ("summary", "threshold", "msg_6"),
    ]


def test_a_cost_of_zero_is_no_price(tmp_path: Path, file_of: FileOf) -> None:
    path = tmp_path / "opencode.db"
    step = {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {**ZERO, "input": 9, "output": 1}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, _done(1001, cost=0), _user("ok"), step)
    (session,) = file_of(path).sessions
    assert (session.cost, session.input_tokens) == (None, 9)


def test_a_cost_stands_though_no_tokens_do(tmp_path: Path, file_of: FileOf) -> None:
    """A step of $0.70 without tokens was once in no total."""
    path = tmp_path / "opencode.db"
    step = {"type": "step-finish", "reason": "stop", "cost": 0.7, "tokens": ZERO}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, _done(1001, cost=0.7, tokens=ZERO), _user("ok"), step)
    (session,) = file_of(path).sessions
    assert (session.cost, session.input_tokens, session.peak) == (0.7, None, None)


def test_a_replay_whose_picture_became_a_placeholder_is_a_replay(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "opencode.db"
    picture = {"type": "file", "mime": "image/png", "filename": "bed.png", "url": "data:image/png;base64,AAAA"}
    zero = {"role": "assistant", "tokens": ZERO, "time": {"created": T + 1002, "completed": T + 1003}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("look"), picture)
        _add(database, "msg_2", 1002, zero)
        _add(database, "msg_3", 1004, {"role": "user"}, {"type": "compaction", "auto": True, "overflow": True})
        _add(database, "msg_4", 1005, _done(1005, summary=True), _user("Goal"))
        _add(database, "msg_5", 1011, {"role": "user"}, _user("look"), _user("[Attached image/png: bed.png]"))
    first, second = [event for event in events_of(path) if event.kind == "prompt"]
    assert (first.origin, second.origin) == ("human", "replay")
    assert first.digest == second.digest


def test_v2_rows(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "opencode.db"
    tokens = {"input": 10, "output": 2, "reasoning": 1, "cache": {"read": 5, "write": 0}}
    model = {"id": "demo-mini", "providerID": "demo"}
    with _database(path, V2) as database:
        _v2(database, "msg_1", "user", 1001, text="one")
        text = [{"type": "text", "text": "ok"}]
        _v2(database, "msg_2", "assistant", 1002, content=text, model=model, finish="stop", tokens=tokens, cost=0.5)
        _v2(database, "msg_3", "compaction", 1003, status="completed", reason="auto", summary="Goal", tokens=tokens)
        broken = {"type": "compaction.failed", "message": "Compaction summary reached the output token limit"}
        _v2(database, "msg_4", "compaction", 1004, status="failed", reason="auto", error=broken)
        gone = {"type": "compaction.interrupted", "message": "Compaction was interrupted"}
        _v2(database, "msg_5", "compaction", 1005, status="failed", reason="manual", error=gone)
        _v2(database, "msg_6", "compaction", 1006, status="running", reason="auto", summary="", recent="")
        _v2(database, "msg_7", "idle", 1007, outcome="failed")
        _v2(database, "msg_8", "novelty", 1008)
        away = {"type": "aborted", "message": "Step interrupted"}
        _v2(database, "msg_9", "assistant", 1009, content=[], error=away)
        _v2(database, "msg_a", "synthetic", 1010, text="Continue")
        _v2(database, "msg_b", "assistant", 1011, content=[])
    source = Source(path)
    told = [
        (event.record, event.kind, event.origin or event.stop or event.outcome, event.fault) for event in read(source)
    ]
    assert told[1:] == [
        ("msg_1", "prompt", "human", None),
        ("msg_2", "reply", "done", None),
        ("msg_3", "compacted", "summary", None),
        ("msg_4", "compacted", "no-summary", "truncated-summary"),
        ("msg_5", "compacted", "aborted", "cancelled"),
        ("msg_6", "compact", None, None),
        ("msg_9", "reply", "aborted", "cancelled"),
        ("msg_a", "prompt", "synthetic", None),
        ("msg_b", "reply", None, None),
    ]
    assert source.unknown == {"session message novelty": 1}
    reply, end = [event for event in events_of(path) if event.record in {"msg_2", "msg_3"}]
    assert (reply.context, reply.input, reply.cached, reply.output, reply.cost) == (18, 10, 5, 3, 0.5)
    assert (reply.provider, reply.model) == ("demo", "demo-mini")
    assert (end.context, end.input, end.trigger, end.text) == (None, 10, "unknown", "Goal")


def test_v2_rows_that_repeat_v1_messages_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1 + V2[V2.index("create table session_message") :]) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("one"))
        _add(database, "msg_2", 1002, _done(1002), _user("ok"))
        _v2(database, "msg_x1", "user", 1001, text="one")
        _v2(database, "msg_x2", "assistant", 1002, content=[{"type": "text", "text": "ok"}], finish="stop")
        _v2(database, "msg_x3", "user", 5000, text="two")
    source = Source(path)
    assert [event.text for event in read(source) if event.kind != "session"] == ["one", "ok", "two"]
    assert source.duplicates == 2


def test_a_torn_page_costs_what_lies_on_it(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        for number in range(40):
            _add(database, f"msg_{number:02d}", 1001 + number, {"role": "user"}, _user(f"prompt {number:02d} " * 90))
    data = bytearray(path.read_bytes())
    page = data.index(b"prompt 20 ") // 4096 * 4096
    data[page : page + 8] = bytes(8)
    path.write_bytes(data)
    source = Source(path)
    texts = [event.text for event in read(source) if event.kind == "prompt"]
    assert len(texts) == 40
    assert 0 < sum(text is None for text in texts) < 40
    assert {one.reason.split(": ")[1] for one in source.malformed} == {"database disk image is malformed"}
    assert all(one.reason.startswith("parts of msg_") for one in source.malformed)


def _listed(source: Source) -> list[tuple[str, bool]]:
    return [(one.reason, one.salvaged) for one in source.malformed]


@pytest.mark.parametrize(
    ("change", "reason", "texts"),
    [
        (
            "update message set id = 'msg_9' where id = 'msg_1'",
            "parts of message msg_1, which is not there: 1",
            {"two"},
        ),
        ("delete from message where id = 'msg_1'", "parts of message msg_1, which is not there: 1", {"two"}),
        ("update part set message_id = null where id = 'prt_msg_1_0'", "which is not there: 1", {"two"}),
        (
            "update message set session_id = x'00' where id = 'msg_1'",
            "rows of message that name no session: 1",
            {"two"},
        ),
        ("update message set session_id = null where id = 'msg_1'", "rows of message that name no session: 1", {"two"}),
        ("update session set id = null", "a session whose id is no text", {"one", "two"}),
    ],
)
def test_rows_whose_ids_do_not_match_are_listed(tmp_path: Path, change: str, reason: str, texts: set[str]) -> None:
    """They were once passed over with nothing listed."""
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, {"role": "user"}, _user("one"))
        _add(database, "msg_2", 1002, {"role": "user"}, _user("two"))
        database.execute(change)
    source = Source(path)
    assert {event.text for event in read(source) if event.kind == "prompt"} - {None} == texts
    ((said, salvaged),) = _listed(source)
    assert said.endswith(reason)
    assert not salvaged


def test_v2_rows_of_no_session_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V2) as database:
        _v2(database, "msg_1", "user", 1001, text="one")
        _v2(database, "msg_2", "user", 1002, text="two")
        database.execute("update session_message set session_id = null where id = 'msg_1'")
    source = Source(path)
    assert [event.text for event in read(source) if event.kind == "prompt"] == ["two"]
    assert _listed(source) == [("rows of session_message that name no session: 1", False)]


@pytest.mark.parametrize(
    ("tokens", "column", "reason"),
    [
        ({"input": -9}, "input", "field tokens.input is not int >= 0"),
        ({"output": 10**400}, "output", "field tokens.output is not int below 2^51"),
        ({"output": "many"}, "output", "field tokens.output is not int | float but str"),
        ({"cache": {"read": [], "write": 0}}, "cached", "field tokens.cache.read is not int | float but array"),
    ],
)
def test_a_figure_that_cannot_be_one_is_unknown_and_its_row_listed(
    tmp_path: Path, tokens: dict[str, Any], column: str, reason: str
) -> None:
    path = tmp_path / "opencode.db"
    done = _done(1001, tokens={**ZERO, "input": 9, "output": 1, **tokens})
    with _database(path, V1) as database:
        database.execute(
            "insert into message values ('msg_1', 'ses_1', 1780000001001, ?)", (json.dumps({**done, "cost": -1}),)
        )
    source = Source(path)
    (reply,) = [event for event in read(source) if event.kind == "reply"]
    assert (reply.stop, reply.cost) == (None, None)
    assert not getattr(reply, column)
    ((said, salvaged),) = _listed(source)
    assert said.startswith("message msg_1: ")
    assert salvaged
    assert reason in said
    assert "field cost is not int >= 0" in said


def test_columns_that_cannot_be_figures_or_times_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        database.execute("alter table session add column cost real")
        database.execute("update session set cost = 9e999, time_created = 'long ago'")
        database.execute("insert into message values ('msg_1', 'ses_1', -5, '{\"role\":\"user\"}')")
    source = Source(path)
    assert [(event.kind, event.ts) for event in read(source)] == [("session", None), ("prompt", None)]
    assert _listed(source) == [
        ("session ses_1: cost is no figure", True),
        ("session ses_1: its time is no time from 2015 to 2100", True),
        ("message msg_1: its time is no time from 2015 to 2100", True),
    ]
    assert source.notes == []


def test_a_finish_that_is_not_known_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with _database(path, V1) as database:
        _add(database, "msg_1", 1001, _done(1001, finish="weird"), _user("ok"))
        _add(database, "msg_2", 1010, _done(1010, finish="other"), _user("ok"))
    source = Source(path)
    assert [event.stop for event in read(source) if event.kind == "reply"] == ["done", "done"]
    assert source.unknown == {"finish weird": 1}


def test_a_reply_whose_process_died_has_no_error_that_nobody_said(tmp_path: Path, events_of: EventsOf) -> None:
    path, later = tmp_path / "opencode.db", tmp_path / "v2.db"
    cut = {"role": "assistant", "tokens": ZERO, "cost": 0, "time": {"created": 1002}}
    with _database(path, V1) as database:
        _add(database, "msg_1", 1002, cut)
        _add(database, "msg_2", 1003, cut, _user("half an ans"))
        _add(database, "msg_3", 1004, _done(1004), _user("ok"))
    with _database(later, V2) as database:
        _v2(database, "msg_1", "assistant", 1002, content=[])
        _v2(database, "msg_2", "assistant", 1003, content=[{"type": "text", "text": "half an ans"}])
        _v2(database, "msg_3", "assistant", 1004, content=[], finish="stop")
    for one in (path, later):
        replies = [event for event in events_of(one) if event.kind == "reply"][:2]
        assert [(event.stop, event.fault, event.error) for event in replies] == [("error", "unknown", None)] * 2
        assert [event.text for event in replies] == [DIED, "half an ans"]
