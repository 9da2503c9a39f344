import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise

EventsOf = Callable[[Path], list[Event]]
Row = dict[str, Any]
OVERFLOW = {"name": "ContextOverflowError", "data": {"message": "prompt is too long"}}


def _row(kind: str, **more: Any) -> Row:
    return {"type": kind, "timestamp": 1786800000000, "sessionID": "ses_1", **more}


def _step(message: str, reason: str, text: str | None = None) -> list[Row]:
    parts: list[Row] = [{"type": "step-start"}, {"type": "step-finish", "reason": reason, "cost": 0}]
    if text is not None:
        parts.insert(1, {"type": "text", "text": text})
    kinds = {"step-start": "step_start", "step-finish": "step_finish", "text": "text"}
    return [_row(kinds[part["type"]], part={**part, "messageID": message}) for part in parts]


def _write(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _told(events: list[Event]) -> list[tuple[str, str | None]]:
    return [(event.kind, event.stop or event.outcome or event.trigger or event.origin) for event in events[1:]]


def test_another_programs_lines_are_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"type":"text","timestamp":"2026-01-01","sessionID":"s","part":{}}\n')
    with pytest.raises(NotRecognised):
        recognise(path)


def test_the_sample_reads_line_by_line(samples: Path, events_of: EventsOf) -> None:
    events = events_of(samples / "parsers" / "opencode_run.jsonl")
    assert [(event.line, event.kind, event.stop or event.outcome, event.fault) for event in events] == [
        (1, "session", None, None),
        (2, "tool", None, None),
        (3, "reply", "tool", None),
        (4, "reply", "error", "overflow"),
        (5, "compact", None, None),
        (7, "compacted", "summary", None),
        (10, "reply", "done", None),
        (11, "compact", None, None),
        (12, "compacted", "no-summary", "empty-summary"),
        (13, "prompt", None, None),
        (16, "reply", "done", None),
        (17, "compacted", "failed", "overloaded"),
    ]
    assert [event.trigger for event in events if event.trigger] == ["overflow", "threshold", "threshold"]
    assert (events[3].cap, events[3].estimate) == (200000, 212000)
    assert (events[2].context, events[2].input, events[2].cost) == (512, 500, 0.001)


def test_inferred_compactions_are_said_to_be(samples: Path) -> None:
    source = Source(samples / "parsers" / "opencode_run.jsonl")
    assert list(read(source))
    assert source.notes == ["3 compactions are inferred from the order of steps and errors"]


def test_a_run_that_ends_well_has_no_compaction(tmp_path: Path, events_of: EventsOf) -> None:
    path = _write(tmp_path / "run.jsonl", [*_step("m1", "tool-calls", "hm"), *_step("m2", "stop", "done")])
    assert _told(events_of(path)) == [("reply", "tool"), ("reply", "done")]


def test_two_runs_in_one_file_are_not_taken_for_a_compaction(tmp_path: Path, events_of: EventsOf) -> None:
    rows = [*_step("m1", "stop", "done"), *_step("m2", "stop", "done"), _row("error", error=OVERFLOW)]
    path = _write(tmp_path / "run.jsonl", [*rows, *_step("m3", "stop", "Goal"), *_step("m4", "stop", "done")])
    assert _told(events_of(path)) == [
        ("reply", "done"),
        ("reply", "done"),
        ("reply", "error"),
        ("compact", "overflow"),
        ("compacted", "summary"),
        ("reply", "done"),
    ]


def test_a_summary_that_itself_overflows_is_a_failed_compaction(tmp_path: Path, events_of: EventsOf) -> None:
    rows = [*_step("m1", "tool-calls", "hm"), _row("error", error=OVERFLOW), _row("error", error=OVERFLOW)]
    path = _write(tmp_path / "run.jsonl", rows)
    assert _told(events_of(path)) == [("reply", "tool"), ("reply", "error"), ("compacted", "failed")]


def test_a_stream_that_breaks_is_one_failed_reply(tmp_path: Path, events_of: EventsOf) -> None:
    error = {"name": "APIError", "data": {"message": "Connection reset by server"}}
    path = _write(tmp_path / "run.jsonl", [_step("m1", "stop")[0], _row("error", error=error)])
    (reply,) = events_of(path)[1:]
    assert (reply.line, reply.record, reply.stop, reply.fault) == (2, "m1", "error", "transport")


def test_a_step_that_never_ended_has_no_known_end(tmp_path: Path, events_of: EventsOf) -> None:
    path = _write(tmp_path / "run.jsonl", _step("m1", "stop", "half a")[:2])
    assert _told(events_of(path)) == [("reply", None)]


def test_a_torn_line_costs_that_line(tmp_path: Path) -> None:
    path = _write(tmp_path / "run.jsonl", _step("m1", "stop", "done"))
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"type":"err\nnot JSON\n{"type":"later","timestamp":1786800000000,"sessionID":"ses_1"}\n')
    source = Source(path)
    assert _told(list(read(source))) == [("reply", "done")]
    assert [one.line for one in source.malformed] == [4, 5]
    assert source.unknown == {"later": 1}


def test_a_line_without_its_part_is_listed(tmp_path: Path) -> None:
    path = _write(tmp_path / "run.jsonl", [*_step("m1", "stop", "done"), _row("text", part=None), _row("text", part=7)])
    source = Source(path)
    assert _told(list(read(source))) == [("reply", "done")]
    assert sorted((bad.line, bad.reason) for bad in source.malformed) == [
        (4, "a line of type text without a part"),
        (5, "field part is not object but int; a line of type text without a part"),
    ]
