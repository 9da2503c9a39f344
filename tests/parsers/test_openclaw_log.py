import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise
from forensics.timeline import File

EMBEDDED = "2026-09-01T10:00:0{at}.000Z [agent/embedded] {text}"


@pytest.fixture
def console(samples: Path, events_of: Callable[[Path], list[Event]]) -> list[Event]:
    return events_of(samples / "parsers" / "openclaw_log_console.log")


@pytest.fixture
def debug(samples: Path, events_of: Callable[[Path], list[Event]]) -> list[Event]:
    return events_of(samples / "parsers" / "openclaw_log_file.log")


def _written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "openclaw.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


def _at(events: list[Event], line: int) -> Event:
    (event,) = [one for one in events if one.line == line and one.kind != "session"]
    return event


@pytest.mark.parametrize(
    "line",
    [
        "2026-09-01T10:00:00.000Z [nginx] ready",
        "[agent/embedded] no time at all",
        '{"0":"hello","_meta":{"name":"other","parentNames":["other"]},"time":"2026-09-01T10:00:00.000Z"}',
        '{"level":30,"time":1788249600000,"msg":"openclaw"}',
    ],
)
def test_another_programs_log_is_not_recognised(tmp_path: Path, line: str) -> None:
    with pytest.raises(NotRecognised):
        recognise(_written(tmp_path, line))


@pytest.mark.parametrize(
    ("name", "damage", "reason"),
    [
        ("file", b"hello\n", "not JSON"),
        ("console", b'{"type":"me\n', "before the first log line"),
        ("console", b"\0\0\0\n", "NUL bytes"),
        ("console", b"\xff\xfe\n", "invalid UTF-8 at byte 0 of the line"),
    ],
)
def test_a_damaged_first_line_costs_that_line_and_no_other(
    samples: Path, tmp_path: Path, name: str, damage: bytes, reason: str
) -> None:
    data = (samples / "parsers" / f"openclaw_log_{name}.log").read_bytes()
    path = tmp_path / "openclaw.log"
    path.write_bytes(data)
    clean, source = Source(path), Source(path)
    rows = [(event.kind, event.line) for event in read(clean)]
    path.write_bytes(damage + data)
    assert [(event.kind, event.line) for event in read(source)] == [(kind, line and line + 1) for kind, line in rows]
    assert source.records == clean.records > 5
    assert source.malformed[0][::2] == (1, reason)
    assert len(source.malformed) == len(clean.malformed) + 1


def test_entries_of_the_file_form_among_those_of_the_console_are_read(tmp_path: Path) -> None:
    failed = "auto-compaction failed for p/m: no summary text"
    other = {"0": '{"subsystem":"agent/embedded"}', "1": failed, "_meta": {"name": "openclaw"}}
    lines = [EMBEDDED.format(at=at, text=f"embedded run start: runId=r{at} sessionId=s") for at in range(4)]
    source = Source(_written(tmp_path, *lines, json.dumps({**other, "time": "2026-09-01T10:00:05.000Z"})))
    events = list(read(source))
    assert (source.records, source.malformed) == (5, [])
    assert [event.line for event in events if event.kind == "compacted"] == [5]


def test_pilotdecks_gateway_is_not_openclaws(tmp_path: Path) -> None:
    path = _written(tmp_path, "2026-09-01T10:00:00.000Z [gateway] [context:auto-compact] policy_trigger {}")
    assert recognise(path).name == "pilotdeck-log"


@pytest.mark.parametrize(
    "line",
    [
        EMBEDDED.format(at=0, text="embedded run start: runId=r sessionId=s"),
        "Sep 01 12:00:00 oven node[41]: 2026-09-01T10:00:00.000+02:00 [gateway] ready (3 plugins)",
        "\x1b[90m2026-09-01T10:00:00.000Z\x1b[39m \x1b[36m[gateway]\x1b[39m signal SIGTERM received",
        '{"0":"{\\"subsystem\\":\\"gateway\\"}","1":"ready","_meta":{"name":"x","parentNames":["openclaw"]},"time":null}',
        '{"0":"hello","_meta":{"name":"clawdbot"},"time":"2026-09-01T10:00:00.000Z"}',
    ],
)
def test_either_form_is_recognised_by_what_only_openclaw_writes(tmp_path: Path, line: str) -> None:
    path = _written(tmp_path, line)
    assert recognise(path).name == "openclaw-log"
    source = Source(path)
    list(read(source))
    assert (source.lines, source.records, source.malformed) == (1, 1, [])


def test_a_healthy_log_has_no_failures(tmp_path: Path, file_of: Callable[[Path], File]) -> None:
    path = _written(
        tmp_path,
        EMBEDDED.format(at=0, text="embedded run start: runId=r sessionId=s provider=p model=m"),
        EMBEDDED.format(at=1, text="embedded run auto-compaction start: runId=r reason=threshold"),
        EMBEDDED.format(at=2, text="embedded run auto-compaction complete: runId=r reason=threshold willRetry=false"),
    )
    (session,) = file_of(path).sessions
    assert session.id == "s"
    assert [(event.line, event.kind, event.outcome) for event in session.events] == [
        (2, "session", None),
        (2, "compact", None),
        (3, "compacted", "summary"),
    ]


def test_every_compaction_of_the_console_sample(console: list[Event]) -> None:
    rows = [
        (e.line, e.kind, e.session, e.trigger, e.outcome, e.fault)
        for e in console
        if e.kind in {"compact", "compacted"}
    ]
    assert rows == [
        (6, "compact", "agent:main:kitchen", "overflow", None, None),
        (7, "compacted", "agent:main:kitchen", "overflow", "summary", None),
        (9, "compact", "agent:main:kitchen", "overflow", None, None),
        (10, "compacted", "agent:main:kitchen", "overflow", "failed", "overloaded"),
        (13, "compact", "run-b", "threshold", None, None),
        (15, "compacted", "run-b", "threshold", "no-summary", "empty-summary"),
        (16, "compacted", "bakery", "unknown", "no-summary", "empty-summary"),
        (19, "compacted", "unattributed", "unknown", "no-summary", "empty-summary"),
        (20, "compacted", "agent:main:shop", "threshold", "no-summary", "empty-summary"),
    ]


def test_one_attempt_told_by_two_entries_is_one_with_the_fuller_words(console: list[Event]) -> None:
    assert _at(console, 10).error == "503 service unavailable"
    assert (_at(console, 7).will_retry, _at(console, 10).will_retry) == (True, False)
    assert not [event for event in console if event.line == 11]


def test_requests_of_a_compaction_are_unknown_where_the_level_does_not_log_them(
    console: list[Event], debug: list[Event]
) -> None:
    assert {event.requests for event in console if event.kind == "compacted"} == {None}
    assert [(e.line, e.requests) for e in debug if e.kind == "compacted"] == [(17, 2), (25, 1), (27, 0)]


def test_a_boundary_without_summary_belongs_to_the_run_whose_wait_ends_a_minute_later(console: list[Event]) -> None:
    note = _at(console, 17)
    assert (note.session, note.kind) == ("bakery", "note")
    assert (note.text or "").startswith("compaction rolled back: compaction retry aggregate timeout (60000ms)")
    assert _at(console, 18).session == "bakery"


def test_a_boundary_that_no_wait_claims_stays_unattributed_and_is_said(samples: Path) -> None:
    source = Source(samples / "parsers" / "openclaw_log_console.log")
    list(read(source))
    assert source.notes == ["line 19: a compaction that names no session, told as unattributed"]


def test_a_failed_preflight_said_on_two_lanes_is_one(console: list[Event]) -> None:
    assert _at(console, 20).error == "Summarization failed: no summary text"
    assert not [event for event in console if event.line == 21]


def test_starts_and_ends_of_the_gateway_have_no_session(console: list[Event]) -> None:
    assert [(event.line, event.kind, event.session) for event in console if event.kind in {"spawn", "exit"}] == [
        (2, "spawn", None),
        (23, "exit", None),
        (24, "spawn", None),
        (25, "exit", None),
        (28, "exit", None),
    ]
    assert _at(console, 23).text == "no end was logged before this start"
    assert (_at(console, 28).error or "").startswith("Gateway failed to start: gateway already running")


def test_times_with_an_offset_are_utc(console: list[Event]) -> None:
    assert _at(console, 2).ts == 1788249601000  # 2026-09-01T08:00:01Z, written as 10:00:01+02:00


def test_the_providers_words_come_before_the_friendly_ones(console: list[Event]) -> None:
    failed = _at(console, 3)
    assert failed.error == "400 maximum context length is 9000 tokens, your messages resulted in 9400 tokens"
    assert (failed.fault, failed.cap, failed.estimate, failed.context) == ("overflow", 9000, 9400, None)
    assert (_at(console, 6).before, _at(console, 9).before) == (9500, None)


def test_interleaved_sessions_are_told_apart_by_run_and_trace(debug: list[Event]) -> None:
    rows = [(e.line, e.kind, e.session, e.stop) for e in debug if e.kind in {"prompt", "reply", "retry", "note"}]
    assert rows == [
        (3, "prompt", "kitchen", None),
        (5, "prompt", "shop", None),
        (8, "reply", "kitchen", "tool"),
        (10, "reply", "shop", "error"),
        (11, "retry", "shop", None),
        (18, "reply", "kitchen", "length"),
        (21, "note", "shop", None),
        (28, "reply", "kitchen", "aborted"),
    ]
    assert {event.origin for event in debug if event.kind == "prompt"} == {"unknown"}


def test_two_tool_calls_of_one_reply_are_one_reply(debug: list[Event]) -> None:
    assert [(event.line, event.tool) for event in debug if event.kind == "tool"] == [(8, "read"), (9, "exec")]
    assert sum(event.stop == "tool" for event in debug) == 1


def test_the_prompt_check_is_a_budget_with_its_window_and_an_estimate_that_is_no_context(debug: list[Event]) -> None:
    """OpenClaw's estimate was once told as an observed peak of 93,597 where the provider refused 78,588."""
    budget = _at(debug, 4)
    assert (budget.context, budget.estimate, budget.cap, budget.cap_source) == (None, 7000, 9000, "recorded")


def test_before_and_after_are_the_same_measure(debug: list[Event]) -> None:
    assert (_at(debug, 25).before, _at(debug, 25).after) == (225, 220)


def test_a_torn_line_costs_itself(samples: Path) -> None:
    source = Source(samples / "parsers" / "openclaw_log_file.log")
    list(read(source))
    assert [one.line for one in source.malformed] == [20]
    assert (source.lines, source.records) == (28, 27)


def test_carriage_returns_colours_and_invalid_bytes_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "gateway.log"
    start = b"2026-09-01T10:00:00.000Z [agent/embedded] embedded run auto-compaction "
    path.write_bytes(
        b"\xef\xbb\xbf"
        + start
        + b"start: runId=r reason=manual\r\n"
        + start
        + b"failed: runId=r reason=\xff unknown\r\n"
    )
    source = Source(path)
    rows = [(event.line, event.kind, event.trigger, event.outcome) for event in read(source)][1:]
    assert rows == [(1, "compact", "manual", None), (2, "compacted", "manual", "failed")]
    assert [(one.line, one.salvaged) for one in source.malformed] == [(2, True)]


def test_a_wait_that_runs_out_ends_the_attempt_it_waited_for(tmp_path: Path) -> None:
    path = _written(
        tmp_path,
        EMBEDDED.format(at=0, text="embedded run auto-compaction start: runId=r reason=threshold"),
        EMBEDDED.format(
            at=1,
            text="compaction retry aggregate timeout (1000ms): proceeding with pre-compaction state"
            " runId=r sessionId=r",
        ),
        EMBEDDED.format(at=1, text="using pre-compaction snapshot: timed out during compaction"),
    )
    rows = [(event.line, event.kind, event.outcome, event.fault) for event in read(Source(path))][1:]
    assert rows == [
        (1, "compact", None, None),
        (2, "compacted", "failed", "transport"),
        (2, "note", None, None),
        (3, "note", None, None),
    ]


CANCELLED = "Compaction summarization failed; cancelling compaction to preserve history: planning worker timed out"


def test_a_cancelled_attempt_and_its_end_are_one(tmp_path: Path) -> None:
    end = "[compaction-diag] end runId=r sessionKey=k diagId=cmp-1 trigger=budget outcome=failed reason=guard_blocked"
    path = _written(tmp_path, EMBEDDED.format(at=0, text=CANCELLED), EMBEDDED.format(at=1, text=end))
    rows = [(e.line, e.session, e.outcome, e.fault, e.error) for e in read(Source(path)) if e.kind == "compacted"]
    assert rows == [(2, "k", "failed", "transport", CANCELLED)]


def test_a_cancelled_attempt_whose_end_is_not_logged_counts(tmp_path: Path) -> None:
    path = _written(tmp_path, EMBEDDED.format(at=0, text=CANCELLED), EMBEDDED.format(at=9, text="hello"))
    source = Source(path)
    rows = [(e.line, e.session, e.outcome) for e in read(source) if e.kind == "compacted"]
    assert rows == [(1, "unattributed", "failed")]
    assert source.notes == ["line 1: a compaction that names no session, told as unattributed"]


def test_results_of_two_sessions_that_compact_at_once_are_said_to_be_uncertain(tmp_path: Path) -> None:
    path = _written(
        tmp_path,
        EMBEDDED.format(at=0, text="embedded run auto-compaction start: runId=r1 reason=overflow"),
        EMBEDDED.format(at=1, text="embedded run auto-compaction start: runId=r2 reason=overflow"),
        EMBEDDED.format(at=2, text="auto-compaction succeeded for p/m; retrying prompt"),
    )
    source = Source(path)
    ends = [(event.line, event.session) for event in read(source) if event.kind == "compacted"]
    assert ends == [(3, "r1")]
    assert source.notes == ["line 3: 2 sessions were compacting; the result is told of the first"]


_WORDS = st.sampled_from(
    [
        "[compaction-diag] start",
        "[compaction-diag] end outcome=failed",
        "[compaction-diag] end outcome=compacted post.estTokens=7",
        "sessionKey=a",
        "runId=r sessionId=s",
        "auto-compaction failed for",
        "auto-compaction failed for p/m: 503",
        "context overflow detected (attempt 1/3)",
        "embedded run auto-compaction complete",
        "embedded run compaction end",
        "writing compaction boundary",
        "cancelling compaction",
        "compaction retry aggregate timeout (1ms)",
        "embedded run agent end: isError=true error=",
        "run r ended with stopReason=stop",
        "session state: prev=idle new=processing",
        "Preflight compaction required but failed:",
        "[model-fetch] start",
    ]
)


@given(st.lists(st.tuples(st.integers(0, 9), st.lists(_WORDS, min_size=1, max_size=3)), max_size=12))
def test_no_order_of_entries_stops_the_reading_or_loses_a_session(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[int, list[str]]]
) -> None:
    path = tmp_path_factory.mktemp("hostile") / "openclaw.log"
    lines = [EMBEDDED.format(at=at, text=" ".join(words)) for at, words in [(0, ["hello"]), *entries]]
    path.write_text("\n".join(lines), encoding="utf-8")
    events = list(read(Source(path)))
    seen = {event.session for event in events if event.kind == "session"}
    assert {event.session for event in events if event.session is not None} == seen
    assert all(event.line is not None for event in events)


def test_structured_fields_and_words_give_the_same_rows(tmp_path: Path) -> None:
    data = {"event": "embedded_run_compaction_end", "runId": "r", "reason": "threshold", "completed": False}
    data["outcomeReason"] = "Summarization failed: no summary text"
    line = {"0": '{"subsystem":"agent/embedded"}', "1": data, "2": "embedded run auto-compaction failed"}
    line |= {"_meta": {"parentNames": ["openclaw"]}, "time": "2026-09-01T10:00:00.000Z"}
    (end,) = [event for event in read(Source(_written(tmp_path, json.dumps(line)))) if event.kind == "compacted"]
    assert (end.session, end.outcome, end.fault, end.error) == (
        "r",
        "no-summary",
        "empty-summary",
        "Summarization failed: no summary text",
    )


def test_a_flag_that_is_a_list_stops_nothing(tmp_path: Path) -> None:
    lines = [
        json.dumps(
            {
                "0": '{"subsystem":"agent/embedded"}',
                "1": {"runId": "r", "sessionId": "s", "isError": ["true"], "willRetry": {"a": 1}, "completed": [1]},
                "2": words,
                "_meta": {"name": "openclaw"},
                "time": "2026-09-01T10:00:00.000Z",
            }
        )
        for words in (
            "embedded run agent end",
            "embedded run auto-compaction start",
            "embedded run auto-compaction end",
        )
    ]
    (end,) = [event for event in read(Source(_written(tmp_path, *lines))) if event.kind == "compacted"]
    assert end.will_retry is None
