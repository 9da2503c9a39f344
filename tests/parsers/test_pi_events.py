import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.events import Event
from forensics.parse import NotRecognised, Source, parsers, read, recognise
from forensics.parsers._failed_compaction import judged
from forensics.timeline import File

HEADER = '{"type":"session","version":3,"id":"s1","timestamp":"2026-10-05T08:00:00.000Z","cwd":"/home/mia"}'


@pytest.fixture
def stream(samples: Path, events_of: Callable[[Path], list[Event]]) -> list[Event]:
    return events_of(samples / "parsers" / "pi_events.jsonl")


@pytest.fixture
def rpc(samples: Path, events_of: Callable[[Path], list[Event]]) -> list[Event]:
    return events_of(samples / "parsers" / "pi_events_rpc.jsonl")


def _written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "stream.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _at(events: list[Event], line: int) -> Event:
    (event,) = [one for one in events if one.line == line]
    return event


def test_a_header_alone_and_a_session_file_are_no_stream(tmp_path: Path) -> None:
    entry = {
        "type": "message",
        "id": "a",
        "parentId": None,
        "timestamp": "2026-10-05T08:00:01.000Z",
        "message": {"role": "user", "content": "hello", "timestamp": 1785574800000},
    }
    for lines in ([HEADER], [HEADER, json.dumps(entry)]):
        assert recognise(_written(tmp_path, *lines)).name == "pi"


@pytest.mark.parametrize(
    "second",
    [
        '{"type":"agent_start"}',
        '{"type":"entry_appended","entry":{"type":"context_edit","id":"x"}}',
        '{"type":"compaction_start","reason":"threshold"}',
        '{"type":"auto_compaction_start","reason":"threshold"}',
        '{"type":"queue_update","steering":[],"followUp":[]}',
    ],
)
def test_the_line_after_the_header_makes_it_a_stream(tmp_path: Path, second: str) -> None:
    assert recognise(_written(tmp_path, HEADER, second)).name == "pi-events"


def test_a_stream_without_header_is_told_by_rpc_answers_or_by_the_agents_start(tmp_path: Path) -> None:
    answer = '{"id":"p1","type":"response","command":"prompt","success":true}'
    assert recognise(_written(tmp_path, answer)).name == "pi-events"
    assert recognise(_written(tmp_path, '{"type":"agent_start"}', '{"type":"turn_start"}')).name == "pi-events"
    with pytest.raises(NotRecognised):
        recognise(_written(tmp_path, '{"type":"message_start","message":{"id":"msg_1","usage":{}}}'))


def test_every_row_of_the_sample_by_line(stream: list[Event]) -> None:
    assert [(event.line, event.kind, event.stop or event.outcome or event.trigger) for event in stream] == [
        (1, "session", None),
        (5, "prompt", None),
        (8, "reply", "tool"),
        (11, "tool", None),
        (14, "reply", "error"),
        (15, "retry", None),
        (16, "reply", "error"),
        (17, "note", None),
        (20, "compact", "overflow"),
        (22, "compacted", "summary"),
        (23, "reply", "error"),
        (24, "note", None),
        (25, "compact", "threshold"),
        (26, "compacted", "no-summary"),
        (27, "compact", "threshold"),
        (28, "compacted", "skipped"),
        (29, "compact", "manual"),
        (30, "compacted", "aborted"),
        (33, "compact", "threshold"),
    ]


def test_messages_that_agent_end_and_turn_end_repeat_are_counted_once(
    file_of: Callable[[Path], File], samples: Path
) -> None:
    (session,) = file_of(samples / "parsers" / "pi_events.jsonl").sessions
    assert (session.prompts, session.replies, session.tools) == (1, 4, 1)
    assert dict(session.errors) == {"overloaded": 1, "overflow": 2}
    assert (session.input_tokens, session.cached_tokens, session.output_tokens) == (1700, 100, 52)


def test_a_line_that_is_no_event_is_listed_and_an_unknown_type_counted(samples: Path) -> None:
    source = Source(samples / "parsers" / "pi_events.jsonl")
    list(read(source))
    assert [(one.line, one.reason) for one in source.malformed] == [(21, "not JSON")]
    assert source.unknown == {"proofing_started": 1}


def test_recovery_that_gives_up_is_a_note_and_no_attempt(stream: list[Event]) -> None:
    note = _at(stream, 24)
    assert (note.text or "").startswith("recovery ended: Context overflow recovery failed after one")
    assert (note.error or "").endswith("larger-context model.")
    assert (_at(stream, 17).text or "").startswith("recovery ended: retries used up: 400 maximum context length")


def test_figures_and_words_of_compactions(stream: list[Event]) -> None:
    made = _at(stream, 22)
    assert (made.before, made.after, made.will_retry, made.input, made.output, made.cost) == (
        9400,
        700,
        True,
        800,
        40,
        0.01,
    )
    cut = _at(stream, 26)
    assert (cut.outcome, cut.fault, cut.will_retry) == ("no-summary", "truncated-summary", False)
    assert (_at(stream, 28).requests, _at(stream, 30).fault) == (0, "cancelled")


def test_only_messages_have_times_and_none_is_made_up(stream: list[Event]) -> None:
    assert {event.kind for event in stream if event.ts is None} == {"retry", "note", "compact", "compacted"}
    assert (_at(stream, 5).ts, _at(stream, 8).ts) == (1791187201000, 1791187201100)


def test_the_window_is_read_from_the_overflow_error(stream: list[Event]) -> None:
    assert (_at(stream, 16).cap, _at(stream, 16).cap_source, _at(stream, 16).context) == (9000, "error text", None)


def test_an_rpc_stream_takes_its_session_from_an_answer_further_down(rpc: list[Event]) -> None:
    assert [(event.line, event.session, event.agent) for event in rpc if event.kind == "session"] == [
        (1, "rye-1", None),
        (15, "rye-1", "atomic"),
        (24, "rye-2", None),
    ]
    assert [event.line for event in rpc if event.session == "rye-2"] == [24, 25, 26]


def test_an_rpc_stream_that_names_no_session_is_called_after_the_file(tmp_path: Path) -> None:
    path = _written(
        tmp_path,
        '{"id":"1","type":"response","command":"prompt","success":true}',
        '{"id":"2","type":"response","command":"new_session","success":true,"data":{"cancelled":true}}',
        '{"id":"3","type":"response","command":"new_session","success":true}',
    )
    names = [event.session for event in read(Source(path)) if event.kind == "session"]
    assert names == ["stream", "stream#2"]


def test_origins_in_a_stream(rpc: list[Event]) -> None:
    prompts = [(event.line, event.origin, event.text) for event in rpc if event.kind == "prompt"]
    assert prompts == [
        (5, "human", "Knead the dough"),
        (8, "queued", "and the rye too"),
        (25, "human", "Start over"),
    ]
    assert (_at(rpc, 11).kind, _at(rpc, 11).text) == ("note", "timer")


def test_results_of_every_version(rpc: list[Event]) -> None:
    ends = [(e.line, e.outcome, e.fault, e.before, e.after, e.requests) for e in rpc if e.kind == "compacted"]
    assert ends == [
        (13, "no-summary", "empty-summary", 16569, None, None),
        (15, "dropped", None, 4000, 2100, None),
        (17, "no-summary", None, 50000, 14, None),
        (19, "dropped", None, 51000, 2800, 0),
    ]


def test_a_boundary_with_too_few_lines_to_plan_for_asked_for_no_summary(rpc: list[Event]) -> None:
    assert "too few lines" in (_at(rpc, 19).text or "")
    assert "no planner gave a usable answer" in (_at(rpc, 17).text or "")


def test_the_window_comes_from_session_stats_and_model_changes(rpc: list[Event]) -> None:
    assert (_at(rpc, 23).kind, _at(rpc, 23).context, _at(rpc, 23).cap) == ("budget", 75, 48000)
    assert (_at(rpc, 21).kind, _at(rpc, 21).model, _at(rpc, 21).cap) == ("model", "baker-3", 64000)


def test_a_result_and_an_error_together_are_a_compaction_and_an_end(tmp_path: Path) -> None:
    end = {
        "type": "compaction_end",
        "reason": "threshold",
        "midTurn": True,
        "result": {"summary": "## Goal\nBake.", "tokensBefore": 9000},
        "aborted": False,
        "willRetry": False,
        "errorMessage": "Post-tool context remains over the provider hard input limit after compaction (9 > 8 tokens);"
        " the next provider request was not sent.",
    }
    path = _written(tmp_path, HEADER, '{"type":"compaction_start","reason":"threshold"}', json.dumps(end))
    rows = [(event.kind, event.outcome, event.fault) for event in read(Source(path))][2:]
    assert rows == [("compacted", "summary", "overflow"), ("note", None, None)]


@pytest.mark.parametrize("begun", [True, False])
def test_a_compaction_that_began_has_its_end_though_the_agent_gave_up(tmp_path: Path, begun: bool) -> None:
    """Such an attempt was once told as one that never ended."""
    words = "Post-tool context remains over the provider hard input limit after compaction (9 > 8 tokens);"
    words += " the next provider request was not sent."
    start = {"type": "compaction_start", "reason": "threshold"}
    end = {"type": "compaction_end", "reason": "threshold", "aborted": False, "willRetry": False, "errorMessage": words}
    rows = [HEADER, *([json.dumps(start)] if begun else []), json.dumps(end)]
    told = [(event.kind, event.outcome) for event in read(Source(_written(tmp_path, *rows)))][1:]
    assert told == [("compact", None), ("compacted", "failed"), ("note", None)][0 if begun else 2 :]


def test_a_stream_joined_from_several_processes_stays_one_session(tmp_path: Path) -> None:
    path = _written(tmp_path, HEADER, '{"type":"agent_start"}', HEADER, '{"type":"compaction_start","reason":"manual"}')
    assert [(event.line, event.kind) for event in read(Source(path))] == [(1, "session"), (4, "compact")]


@pytest.mark.parametrize(
    ("words", "outcome", "fault"),
    [
        (None, "unknown", None),
        (
            "Summarization failed: generation hit the token cap and the summary is incomplete",
            "no-summary",
            "truncated-summary",
        ),
        ("Summarization failed: no summary text", "no-summary", "empty-summary"),
        ("Auto-compaction failed: Summarization failed: 400 maximum context length is 9 tokens", "failed", "overflow"),
        ("Context overflow recovery failed: 503 busy", "failed", "overloaded"),
        ("Auto-compaction failed: planning produced no usable deleted ranges", "no-summary", None),
        ("Context overflow recovery failed: found no compactable transcript entries", "skipped", None),
        ("Nothing to compact (session too small)", "skipped", None),
        ("Compaction cancelled", "aborted", "cancelled"),
        ("No complete recent message fits beside the prompt and summary", "failed", "overflow"),
    ],
)
def test_the_words_of_a_failed_compaction(words: str | None, outcome: str, fault: str | None) -> None:
    assert judged(words) == (outcome, fault)


_FIELDS = st.dictionaries(
    st.sampled_from(
        ["type", "message", "result", "reason", "data", "errorMessage", "attempt", "model", "followUp", "id"]
    ),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=8),
        st.sampled_from(["compaction_end", "message_end", "response", "session", "auto_retry_start", "model_changed"]),
        st.dictionaries(st.sampled_from(["role", "content", "usage", "summary", "tokensBefore"]), st.text(max_size=3)),
        st.lists(st.integers(), max_size=2),
    ),
)


@given(st.lists(_FIELDS, max_size=6))
def test_no_shape_of_line_stops_the_reading(
    tmp_path_factory: pytest.TempPathFactory, lines: list[dict[str, object]]
) -> None:
    path = tmp_path_factory.mktemp("hostile") / "stream.jsonl"
    path.write_text("\n".join([HEADER, '{"type":"agent_start"}', *map(json.dumps, lines)]), encoding="utf-8")
    source = Source(path)
    events = list(read(source, parsers()["pi-events"]))
    assert events[0].kind == "session"
    assert source.lines == len(lines) + 2


def _said(role: str, words: str) -> str:
    content = [{"type": "text", "text": words}]
    return json.dumps(
        {"type": "message_end", "message": {"role": role, "content": content, "timestamp": 1785574800000}}
    )


def _queue(*texts: str) -> str:
    return json.dumps({"type": "queue_update", "steering": list(texts), "followUp": []})


AGENT = ('{"type":"agent_start"}', '{"type":"turn_start"}')


@pytest.mark.parametrize(
    ("lines", "origins"),
    [
        pytest.param([_queue("a"), _queue(), _said("user", "a")], ["queued"], id="delivered as it leaves"),
        pytest.param([_queue("a"), _said("user", "a"), _queue()], ["queued"], id="delivered before it leaves"),
        pytest.param([_queue("a"), _said("user", "a"), _said("user", "a")], ["queued", "human"], id="once"),
        pytest.param(
            [_queue("a", "b"), _queue(), _said("user", "a"), _said("user", "b")], ["queued", "queued"], id="together"
        ),
        pytest.param(
            [_queue("a", "b"), _queue("b"), _said("user", "a"), _said("assistant", "x"), _queue(), _said("user", "b")],
            ["queued", "queued"],
            id="one after another",
        ),
        pytest.param([_queue("a"), _queue(), _said("assistant", "x"), _said("user", "a")], ["human"], id="emptied"),
        pytest.param([_queue("a"), _queue(), *AGENT, _said("user", "a")], ["human"], id="emptied, new run"),
        pytest.param([_queue("a"), *AGENT, _queue(), _said("user", "a")], ["queued"], id="delivered by a new run"),
    ],
)
def test_a_text_that_left_the_queue_undelivered_is_a_persons_when_typed_later(
    tmp_path: Path, lines: list[str], origins: list[str]
) -> None:
    path = _written(tmp_path, HEADER, *AGENT, *lines)
    assert [event.origin for event in read(Source(path)) if event.kind == "prompt"] == origins
