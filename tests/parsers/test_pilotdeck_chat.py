import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.attempts import attempts
from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise
from forensics.timeline import File

Events = Callable[[Path], list[Event]]
Build = Callable[[Path], File]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records of one turn, numbered and timed by their order."""

    def made(*records: dict[str, Any], turn: str = "t") -> Path:
        path = tmp_path / "cli_project=-home-ada_default.jsonl"
        lines = []
        for at, record in enumerate(records, 1):
            base = {"sessionId": "s", "turnId": turn, "sequence": at, "createdAt": f"2026-08-22T10:00:{at:02}.000Z"}
            lines.append(json.dumps({**base, **record}))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return made


def _said(text: str | None = None, call: str | None = None, **metadata: Any) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_call", "id": call, "name": "bash", "input": {"b": 1, "a": 2}}] if call else []
    return {"type": "assistant_message", "message": {"role": "assistant", "content": content, "metadata": metadata}}


def _asked(text: str = "go", **metadata: Any) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}], "metadata": metadata}
    return {"type": "accepted_input", "messages": [message]}


def _budget(used: int = 900) -> dict[str, Any]:
    detail = {"used": used, "effectiveTotal": 1000}
    return {"type": "agent_status_message", "event": "context_budget", "text": "context_budget", "detail": detail}


def _status(event: str, text: str = "words") -> dict[str, Any]:
    return {"type": "agent_status_message", "event": event, "kind": "error", "text": text, "detail": {}}


def _ended(kind: str = "success", stop: str = "completed", **result: Any) -> dict[str, Any]:
    return {"type": "turn_result", "result": {"type": kind, "stopReason": stop, **result}}


def _kept(**about: Any) -> dict[str, Any]:
    boundary = {"kind": "compact", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", **about}}
    return {"type": "control_boundary", "boundary": boundary}


def _replies(path: Path) -> list[tuple[int | None, str | None, str | None]]:
    return [(row.line, row.stop, row.fault) for row in read(Source(path)) if row.kind == "reply"]


def test_rows_that_miss_a_key_are_another_format(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"type":"accepted_input","sessionId":"s","turnId":"t","createdAt":"2026-08-22T10:00:00Z"}\n')
    with pytest.raises(NotRecognised):
        recognise(path)


def test_a_healthy_session_has_nothing_but_good_replies(write: Write) -> None:
    path = write(_asked(), _budget(), _said("a", "k"), {"type": "tool_result_message"}, _budget(), _said("b"), _ended())
    source = Source(path)
    rows = [(row.line, row.kind, row.stop) for row in read(source)]
    assert recognise(path).name == "pilotdeck-chat"
    assert rows == [
        (1, "session", None),
        (1, "prompt", None),
        (2, "budget", None),
        (3, "reply", "tool"),
        (3, "tool", None),
        (5, "budget", None),
        (6, "reply", "done"),
    ]
    assert (source.records, source.malformed, source.notes, source.failures) == (7, [], [], "no")


def test_the_sample_line_by_line(samples: Path) -> None:
    source = Source(samples / "parsers" / "pilotdeck_chat.jsonl")
    rows = [(row.line, row.kind, row.stop or row.outcome or row.origin) for row in read(source)]
    assert rows == [
        (1, "session", None),
        (1, "prompt", "human"),
        (2, "session", None),
        (3, "budget", None),
        (4, "reply", "tool"),
        (4, "tool", None),
        (6, "budget", None),
        (7, "reply", "done"),
        (8, "note", None),
        (9, "prompt", "human"),
        (10, "budget", None),
        (11, "reply", "length"),
        (12, "budget", None),
        (12, "reply", "empty"),
        (13, "budget", None),
        (14, "reply", "done"),
        (16, "prompt", "human"),
        (17, "budget", None),
        (18, "reply", "error"),
        (19, "compacted", "summary"),
        (23, "prompt", "synthetic"),
        (24, "budget", None),
        (25, "reply", "error"),
        (28, "prompt", "human"),
        (29, "compacted", "no-summary"),
        (31, "reply", "error"),
        (32, "prompt", "human"),
        (33, "budget", None),
        (34, "reply", "tool"),
        (34, "tool", None),
        (37, "reply", "aborted"),
        (38, "prompt", "synthetic"),
        (39, "budget", None),
        (40, "reply", "length"),
        (41, "note", None),
    ]
    assert (source.lines, source.records, source.duplicates, source.failures) == (43, 43, 3, None)
    assert dict(source.unknown) == {"dream_journal": 1}
    assert source.notes == [
        "replies taken as cut at the output limit because the agent went on: 1",
        "replies taken as empty because no row answers their request: 1",
        "replies that failed with no error on record: 1",
    ]


def test_the_sample_s_session(samples: Path, file_of: Build) -> None:
    (session,) = file_of(samples / "parsers" / "pilotdeck_chat.jsonl").sessions
    assert (session.id, session.agent, session.parent) == ("web:s_lovelace", "pilotdeck", "web:s_babbage")
    assert (session.prompts, session.replies, session.good, session.aborted) == (5, 11, 4, 1)
    assert (dict(session.errors), session.length_stops) == ({"unknown": 1, "overflow": 2}, 2)
    assert (session.peak, session.cap, session.cap_source) == (30100, 32000, "recorded")
    assert (session.input_tokens, session.cached_tokens, session.output_tokens) == (17000, 1000, 90)


def test_the_error_of_a_turn_is_its_last_request_s(samples: Path, events_of: Events) -> None:
    rows = {row.line: row for row in events_of(samples / "parsers" / "pilotdeck_chat.jsonl") if row.kind == "reply"}
    assert (rows[18].fault, rows[18].error) == ("unknown", None)
    overflow = rows[25]
    assert (overflow.fault, overflow.provider, overflow.estimate) == ("overflow", "acme", 33000)
    assert (overflow.cap, overflow.cap_source, overflow.requests) == (31000, "error text", None)
    refused = rows[31]
    assert (refused.fault, refused.requests, refused.error) == (
        "overflow",
        0,
        "context_overflow_after_emergency_compaction",
    )


def test_the_sample_s_compactions(samples: Path, events_of: Events) -> None:
    kept, lost = [row for row in events_of(samples / "parsers" / "pilotdeck_chat.jsonl") if row.kind == "compacted"]
    assert (kept.trigger, kept.before, kept.after, kept.context) == ("overflow", 21000, None, 14000)
    assert (kept.messages, kept.text) == (21000, "## Objective\nLearn the letters.")
    assert (lost.trigger, lost.fault, lost.before, lost.after) == ("threshold", "truncated-summary", 25000, 24800)
    assert (lost.context, lost.cap) == (33500, 32000)


def test_the_builds_of_september_say_how_each_request_ended(samples: Path, events_of: Events) -> None:
    events = events_of(samples / "parsers" / "pilotdeck_chat_september.jsonl")
    replies = [row for row in events if row.kind == "reply"]
    assert [(row.line, row.stop, row.context, row.cached, row.model) for row in replies] == [
        (11, "tool", 8950, 900, "acme-1"),
        (16, "length", 13100, None, "acme-1"),
        (20, "error", None, None, "acme-1"),
    ]
    assert (replies[2].fault, replies[2].error) == ("overloaded", "Bad gateway")
    assert [row.line for row in events if row.kind == "tool"] == [11]
    assert [row.messages for row in events if row.kind == "budget"] == [400]
    assert not [row for row in events if row.kind == "note"]


def test_a_compaction_started_before_every_request_is_no_attempt(samples: Path, file_of: Build) -> None:
    (session,) = file_of(samples / "parsers" / "pilotdeck_chat_september.jsonl").sessions
    found = [(one.first.line, one.outcome, one.trigger) for one in attempts(session.events)]
    assert found == [(23, "no-summary", "manual"), (26, "no-summary", "unknown"), (28, "failed", "unknown")]


def test_a_summary_without_words_is_none_whatever_the_boundary_says(write: Write) -> None:
    hollow = "[CONTEXT COMPACTION - REFERENCE ONLY] Earlier turns.\n\n--- END OF CONTEXT SUMMARY - respond ---"
    path = write(_asked(), _kept(extra={"summarySucceeded": True}), _said(hollow, compactReplacement=True))
    rows = list(read(source := Source(path)))
    assert (rows[-1].outcome, rows[-1].fault) == ("no-summary", "empty-summary")
    assert source.failures is None


@pytest.mark.parametrize(("status", "outcome"), [("summary_failed", "no-summary"), ("no_content", "dropped")])
def test_the_oldest_builds_say_it_in_the_marker_alone(write: Write, status: str, outcome: str) -> None:
    marker = {"role": "user", "content": [{"type": "text", "text": f'<compact-boundary status="{status}" />'}]}
    copy = {"type": "durable_message", "message": {**marker, "metadata": {"compactReplacement": True}}}
    rows = list(read(Source(write(_asked(), _kept(preTokens=9), copy))))
    assert (rows[-1].kind, rows[-1].outcome) == ("compacted", outcome)


def test_a_trimmed_tool_result_is_no_compaction(write: Write) -> None:
    trimmed = {"type": "control_boundary", "boundary": {"kind": "compact", "subtype": "microcompact_boundary"}}
    rows = list(read(Source(write(_asked(), trimmed))))
    assert [(row.kind, row.text) for row in rows[2:]] == [("note", "microcompact_boundary")]


def test_copies_behind_a_compaction_or_a_fork_are_not_said_again(write: Write) -> None:
    path = write(
        _asked("old", forkCarryover=True),
        _asked(),
        _budget(),
        _said("old", compactReplacement=True),
        _said("new"),
        _ended(),
    )
    source = Source(path)
    rows = list(read(source))
    assert [(row.line, row.kind) for row in rows[1:]] == [(2, "prompt"), (3, "budget"), (5, "reply")]
    assert source.duplicates == 2


@pytest.mark.parametrize(
    ("session", "metadata", "origin"),
    [("s", {}, "human"), ("s", {"synthetic": True}, "synthetic"), ("always-on/execute:1", {}, "synthetic")],
)
def test_who_wrote_a_prompt(write: Write, session: str, metadata: dict[str, Any], origin: str) -> None:
    rows = list(read(Source(write({**_asked(**metadata), "sessionId": session}))))
    assert rows[-1].origin == origin


def test_a_message_put_in_by_a_hook_is_not_surely_a_person_s_and_no_reply_was_cut(write: Write) -> None:
    hook = {"type": "durable_message", "message": {"role": "user", "content": [{"type": "text", "text": "lint fails"}]}}
    rows = list(read(Source(write(_asked(), _budget(), _said("done"), hook, _budget(), _said("fixed"), _ended()))))
    assert [(row.kind, row.stop or row.origin) for row in rows if row.kind in {"reply", "prompt"}] == [
        ("prompt", "human"),
        ("reply", "done"),
        ("prompt", "unknown"),
        ("reply", "done"),
    ]


def test_a_request_that_threw_left_no_message_and_is_told_by_the_turn_s_end(write: Write) -> None:
    error = {"code": "agent_model_error", "message": "fetch failed"}
    path = write(_asked(), _budget(), _status("model_request_failed"), _ended("error", "model_error", errors=[error]))
    assert _replies(path) == [(4, "error", "transport")]


def test_a_turn_that_ends_well_without_an_answer_was_empty(write: Write) -> None:
    assert _replies(write(_asked(), _budget(), _ended())) == [(2, "empty", None)]
    gave_up = _status("model_empty_response_exhausted", "empty content repeatedly")
    path = write(_asked(), _budget(), gave_up, _ended())
    rows = list(read(Source(path)))
    assert [(row.kind, row.text) for row in rows if row.kind == "note"] == [
        ("note", "recovery ended: empty content repeatedly")
    ]
    assert _replies(path) == [(2, "empty", None)]


def test_a_thought_without_words_is_empty_and_a_filtered_or_broken_answer_is_neither_good(write: Write) -> None:
    thought = _said()
    thought["message"]["content"] = [{"type": "thinking", "text": "hm"}]
    assert _replies(write(_asked(), _budget(), thought, _ended())) == [(3, "empty", None)]
    filtered = write(_asked(), _budget(), _said("a"), _status("content_filter_stop"), _ended())
    assert _replies(filtered) == [(3, "filtered", None)]
    broken = _status("unknown_finish_reason", "The model stream ended without a normal finish reason")
    assert _replies(write(_asked(), _budget(), _said("a"), broken, _ended())) == [(3, "error", "transport")]


def test_what_stops_a_turn_without_the_model_s_fault_is_a_note(write: Write) -> None:
    error = {"code": "agent_max_turns_reached", "message": "Reached maximum number of turns (3)."}
    path = write(
        _asked(),
        _budget(),
        _said("a", "k"),
        {"type": "tool_result_message"},
        _ended("max_turns", "max_turns", errors=[error]),
    )
    rows = list(read(Source(path)))
    assert [row.stop for row in rows if row.kind == "reply"] == ["tool"]
    assert (rows[-1].kind, rows[-1].text, rows[-1].error) == ("note", "max_turns", error["message"])


def test_a_turn_that_broke_off_leaves_its_last_reply_as_it_was_written(write: Write) -> None:
    assert _replies(write(_asked(), _budget(), _said("a"))) == [(3, "done", None)]
    assert _replies(write(_asked(), _budget(), _said())) == [(3, "error", "unknown")]


def test_a_repeated_call_has_the_same_digest_whatever_the_order_of_its_input(write: Write) -> None:
    other = _said(call="k2")
    other["message"]["content"][0]["input"] = {"a": 2, "b": 1}
    rows = list(read(Source(write(_asked(), _said(call="k1"), other, _ended()))))
    first, second = (row.digest for row in rows if row.kind == "tool")
    assert first == second
    assert first is not None


@given(st.lists(st.integers(min_value=0, max_value=42), max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_order_of_rows_is_read_without_losing_a_record(
    tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    sample = Path(__file__).parent.parent.parent / "samples" / "parsers" / "pilotdeck_chat.jsonl"
    lines = sample.read_bytes().splitlines()
    path = tmp_path_factory.mktemp("chat") / "chat.jsonl"
    path.write_bytes(b"\n".join([lines[0], *(lines[at] for at in order)]))
    source = Source(path)
    rows = list(read(source))
    assert source.records == len(order) + 1
    said = sum(
        lines[at].startswith(b'{"type":"assistant_message"') and b"compactReplacement" not in lines[at] for at in order
    )
    assert sum(row.kind == "reply" and row.size is not None for row in rows) == said


def test_the_excerpt_of_a_real_session(corpus: Path, file_of: Build) -> None:
    (session,) = file_of(corpus / "pilotdeck" / "pilotdeck_real" / "g5-transcript.excerpt.jsonl").sessions
    (one,) = attempts(session.events)
    assert (one.first.line, one.outcome, one.trigger, one.before, one.after) == (11, "summary", "manual", 10598, None)
    (reply,) = [row for row in session.events if row.kind == "reply"]
    assert (reply.line, reply.stop, reply.input, reply.output, reply.total) == (6, "tool", 11141, 149, 11290)
    assert (session.cap, session.peak, session.prompts) == (95232, 11290, 0)


def test_an_object_where_the_messages_belong_costs_one_prompt_and_not_the_session(write: Write) -> None:
    """`"messages":{}` once lost the whole transcript."""
    source = Source(write({**_asked(), "messages": {}}, _budget(), _said("a"), _ended()))
    assert [(row.line, row.kind, row.stop) for row in read(source)] == [
        (1, "session", None),
        (2, "budget", None),
        (3, "reply", "done"),
    ]
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [
        (1, "field messages is not array but object", True)
    ]


def test_an_empty_object_is_no_session(write: Write) -> None:
    path = write(_asked(), _budget(), _said("a"), _ended())
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:2], "{}", *lines[2:]]) + "\n", encoding="utf-8")
    source = Source(path)
    assert [(row.line, row.session) for row in read(source)] == [(1, "s"), (1, "s"), (2, "s"), (4, "s")]
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [(3, "no session id", False)]


def test_a_row_whose_session_id_is_odd_belongs_to_the_session_that_goes_on(write: Write) -> None:
    source = Source(write(_asked(), _budget(), {**_said("a"), "sessionId": 7, "turnId": None}, _ended()))
    assert [(row.line, row.session) for row in read(source)] == [(1, "s"), (1, "s"), (2, "s"), (3, "s")]
    (bad,) = source.malformed
    assert (bad.line, bad.salvaged) == (3, True)
    assert bad.reason.endswith("no session id: taken as the session's of the row before")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({**_budget(), "detail": {"used": -4, "effectiveTotal": 1000}}, "field detail.used is not int >= 0"),
        ({**_budget(), "detail": 7}, "field detail is not object but int"),
        ({**_budget(), "event": 7}, "field event is not str but int"),
        (_ended(usage={"inputTokens": 10**400}), "field result.usage.inputTokens is not int below 2^51"),
        (_kept(preTokens="many"), "field boundary.compactMetadata.preTokens is not int but str"),
        ({**_said("a"), "createdAt": "yesterday"}, "field createdAt does not fit: Invalid RFC3339 encoded datetime"),
        ({**_said("a"), "createdAt": "0001-01-01T00:00:00Z"}, "ts is no time from 2015 to 2100"),
        ({"type": "compaction_failed", "error": [1]}, "field error is not str | object but array"),
    ],
)
def test_a_value_that_does_not_fit_is_listed(write: Write, record: dict[str, Any], reason: str) -> None:
    source = Source(write(_asked(), _budget(), record, _ended()))
    list(read(source))
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [(3, reason, True)]


def test_words_that_are_not_known_are_counted(write: Write) -> None:
    end = {"type": "model_stream_event", "event": {"type": "message_end", "finishReason": "weird"}}
    source = Source(write(_asked(), {"type": "model_request"}, end, _said("a"), _ended("strange"), {"type": 7}))
    list(read(source))
    assert source.unknown == {"finish reason weird": 1, "turn result strange": 1, "(no type)": 1}
