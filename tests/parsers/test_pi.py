import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise
from forensics.parsers import pi as module
from forensics.parsers._pi_prompt import prompt_of
from forensics.parsers._pi_summary import is_hollow, shortened
from forensics.parsers._pi_tree import Tree
from forensics.scan import Options, scan_file
from forensics.timeline import File

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-08-01T09:00:00.000Z", "cwd": "/srv/x"}


def _entry(record: str, parent: str | None, second: int, **fields: Any) -> dict[str, Any]:
    time = f"2026-08-01T09:{second // 60:02}:{second % 60:02}.000Z"
    return {"type": "message", "id": record, "parentId": parent, "timestamp": time, **fields}


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1785574800000}


def _answer(text: str = "ok", stop: str = "stop", **fields: Any) -> dict[str, Any]:
    usage = {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15}
    content = [{"type": "text", "text": text}]
    return {
        "role": "assistant",
        "content": content,
        "usage": usage,
        "stopReason": stop,
        "timestamp": 1785574800000,
        **fields,
    }


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _one(rows: list[Event], line: int) -> Event:
    (event,) = [row for row in rows if row.line == line and row.kind != "session"]
    return event


def test_files_of_other_formats_are_not_recognised(tmp_path: Path) -> None:
    header = json.dumps(HEADER) + "\n"
    others = {
        "stream.jsonl": header + '{"type":"agent_start"}\n{"type":"turn_start"}\n',
        "claude.jsonl": '{"type":"user","uuid":"u","parentUuid":null,"timestamp":"2026-08-01T09:00:00Z",'
        '"sessionId":"s","message":{"role":"user","content":"x"}}\n',
        "codex.jsonl": '{"type":"message","role":"user","timestamp":"2026-08-01T09:00:00Z","content":[]}\n',
        "numbered.jsonl": '{"type":"session","id":7,"timestamp":"2026-08-01T09:00:00Z","cwd":"/x"}\n',
    }
    for name, text in others.items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with suppress(NotRecognised):
            assert recognise(path).name != "pi"


def test_a_header_alone_is_a_session_without_rows(tmp_path: Path, events_of: Callable[[Path], list[Event]]) -> None:
    (event,) = events_of(_write(tmp_path / "s.jsonl", [HEADER]))
    assert (event.kind, event.session, event.line, event.ts) == ("session", "s", 1, 1785574800000)


def test_the_tree_sample_keeps_the_abandoned_branch_apart(
    samples: Path, file_of: Callable[[Path], File], events_of: Callable[[Path], list[Event]]
) -> None:
    path = samples / "parsers" / "pi.jsonl"
    live, abandoned = file_of(path).sessions
    assert (live.id, live.agent, live.parent, live.prompts, live.replies) == ("pi-demo", "pi", "pi-earlier", 4, 7)
    assert (abandoned.id, abandoned.parent, abandoned.length_stops) == ("pi-demo/a0008888", "pi-demo", 1)
    rows = events_of(path)
    assert [row.line for row in rows if row.session == abandoned.id] == [8, 8, 9]
    assert live.length_stops == 0
    assert live.peak == 1500
    assert live.errors == {"overflow": 1}
    assert (live.cap, live.cap_source) == (16000, "error text")


def test_the_tree_sample_reads_row_by_row(samples: Path, events_of: Callable[[Path], list[Event]]) -> None:
    rows = events_of(samples / "parsers" / "pi.jsonl")
    good = _one(rows, 5)
    assert (good.stop, good.input, good.cached, good.output, good.context, good.total) == (
        "tool",
        900,
        500,
        100,
        1500,
        1500,
    )
    assert (good.record, good.ts, good.cost) == ("a0004444", 1785574807000, 0.001)
    image = _one(rows, 10)
    assert (image.text, image.size, image.origin) == ("Paint them blue.", 20, "human")
    failed = _one(rows, 11)
    assert (failed.stop, failed.fault, failed.context, failed.estimate) == ("error", "overflow", None, 18080)
    summary = _one(rows, 13)
    assert (summary.kind, summary.outcome, summary.before, summary.input, summary.output) == (
        "compacted",
        "summary",
        15100,
        1200,
        300,
    )
    assert summary.text == "## Goal\nPaint the shelves.\n\n## Next Steps\n1. Blue paint."
    assert (_one(rows, 15).stop, _one(rows, 15).fault) == ("empty", None)
    refused = _one(rows, 17)
    assert (refused.stop, refused.fault, refused.context, refused.input) == ("filtered", "refusal", None, None)
    hollow = _one(rows, 18)
    assert (hollow.outcome, hollow.fault, hollow.before) == ("no-summary", "empty-summary", None)
    shell = _one(rows, 19)
    assert (shell.kind, shell.tool, shell.code) == ("tool", "bash", 2)
    assert (_one(rows, 21).tool, _one(rows, 21).stop) == ("edit", "error")
    assert _one(rows, 2).model == "demo-1"
    assert _one(rows, 12).text == "context_edit a000aaaa"


def test_unknown_record_types_are_counted_and_hollow_summaries_make_failures_partly_visible(samples: Path) -> None:
    source = Source(samples / "parsers" / "pi.jsonl")
    list(read(source))
    assert source.unknown == {"shelf_label": 1}
    assert (source.lines, source.records, source.malformed, source.failures) == (23, 23, [], "partly")


def test_v1_is_linear_and_sums_its_totals_from_parts(samples: Path) -> None:
    source = Source(samples / "parsers" / "pi_v1.jsonl")
    rows = list(read(source))
    assert [(row.line, row.kind) for row in rows] == [
        (1, "session"),
        (2, "prompt"),
        (3, "reply"),
        (4, "tool"),
        (5, "reply"),
        (6, "prompt"),
        (7, "reply"),
        (8, "compacted"),
        (9, "reply"),
    ]
    assert rows[0].parent == "pi-older"
    assert (rows[2].context, rows[2].total, rows[2].record) == (2916, None, None)
    assert (rows[4].stop, rows[4].fault, rows[4].error, rows[4].context) == (
        "aborted",
        None,
        "Request was aborted.",
        None,
    )
    died = rows[6]
    assert (died.stop, died.fault, died.input, died.context) == ("error", "transport", 41605, 41615)
    assert source.failures is None
    assert source.notes == []


def test_openclaw_is_told_by_its_own_rows_and_machines_are_not_people(
    samples: Path, file_of: Callable[[Path], File], events_of: Callable[[Path], list[Event]]
) -> None:
    path = samples / "parsers" / "pi_openclaw.jsonl"
    (session,) = file_of(path).sessions
    assert (session.agent, session.prompts, session.replies, session.aborted) == ("openclaw", 3, 5, 0)
    assert session.errors == {"overflow": 1, "transport": 1}
    rows = events_of(path)
    first = _one(rows, 3)
    assert (first.text, first.origin, first.sent) == ("Water the plants.", "human", 1773000000000)
    queued = _one(rows, 8)
    assert (queued.text, queued.origin, queued.sent) == ("and the ferns?", "queued", 1773000180000)
    assert [_one(rows, line).origin for line in (10, 16, 18)] == ["synthetic", "human", "synthetic"]
    assert [(_one(rows, line).kind, _one(rows, line).text) for line in (12, 15)] == [
        ("note", "not a model's reply (delivery-mirror)"),
        ("note", "not a model's reply (cli notice)"),
    ]


def test_openclaw_rows_say_why_a_reply_was_cut_and_which_summary_is_none(
    samples: Path, events_of: Callable[[Path], list[Event]]
) -> None:
    rows = events_of(samples / "parsers" / "pi_openclaw.jsonl")
    assert (_one(rows, 6).stop, _one(rows, 6).fault, _one(rows, 6).context) == ("error", "overflow", None)
    assert (_one(rows, 7).outcome, _one(rows, 7).before) == ("summary", None)
    assert (_one(rows, 13).kind, _one(rows, 13).fault) == ("note", "transport")
    assert (_one(rows, 14).stop, _one(rows, 14).fault) == ("error", "transport")
    assert (_one(rows, 17).outcome, _one(rows, 17).fault, _one(rows, 17).before) == (
        "no-summary",
        "empty-summary",
        4000,
    )


def test_atomic_drops_without_a_summary_by_design_and_its_fresh_rung_discards(samples: Path) -> None:
    source = Source(samples / "parsers" / "pi_atomic.jsonl")
    rows = list(read(source))
    assert rows[0].agent == "atomic"
    assert (_one(rows, 4).fault, _one(rows, 4).api) == ("output-budget", "openai-responses")
    compactions = [(row.line, row.outcome, row.before, row.after) for row in rows if row.kind == "compacted"]
    assert compactions == [
        (5, "dropped", 267000, 131000),
        (10, "summary", 250000, 120000),
        (13, "no-summary", 250000, 20),
    ]
    assert "the conversation was discarded" in (_one(rows, 13).text or "")
    assert (_one(rows, 9).cap, _one(rows, 9).cap_source) == (272000, "recorded")
    assert source.failures == "partly"
    assert source.notes == [
        "1 context_compaction and 2 verbatim-lines records: Atomic up to 14 July 2026 passes over the latter, later"
        " versions over the former, so what the model was shown depends on the version that read the file"
    ]


@pytest.mark.parametrize("held", [True, False])
def test_a_large_file_read_twice_gives_the_same_rows(
    samples: Path, held: bool, monkeypatch: pytest.MonkeyPatch, file_of: Callable[[Path], File]
) -> None:
    if not held:
        monkeypatch.setattr(module, "HOLD_BYTES", 0)
    for name in ("pi", "pi_v1", "pi_openclaw", "pi_atomic"):
        sessions = file_of(samples / "parsers" / f"{name}.jsonl").sessions
        assert [(one.id, one.agent, one.parent, one.prompts, one.replies) for one in sessions] == {
            "pi": [("pi-demo", "pi", "pi-earlier", 4, 7), ("pi-demo/a0008888", "pi", "pi-demo", 1, 1)],
            "pi_v1": [("pi-old", "pi", "pi-older", 2, 4)],
            "pi_openclaw": [("claw-demo", "openclaw", None, 3, 5)],
            "pi_atomic": [("atomic-demo", "atomic", None, 3, 4)],
        }[name]


def test_order_is_the_files_own_and_a_clock_set_back_is_told(tmp_path: Path) -> None:
    rows = [HEADER, _entry("a", None, 90, message=_user("x")), _entry("b", "a", 30, message=_answer())]
    source = Source(_write(tmp_path / "s.jsonl", rows))
    assert [event.line for event in read(source)] == [1, 2, 3]
    assert source.notes == ["line 3: the clock went back by 60 s; file order is kept"]


def test_a_repeated_record_counts_once(tmp_path: Path) -> None:
    entry = _entry("a", None, 1, message=_user("x"))
    source = Source(_write(tmp_path / "s.jsonl", [HEADER, entry, entry, HEADER]))
    assert [event.line for event in read(source)] == [1, 2]
    assert source.duplicates == 2


def test_two_sessions_in_one_file_stay_two(tmp_path: Path, file_of: Callable[[Path], File]) -> None:
    rows = [
        HEADER,
        _entry("a", None, 1, message=_user("x")),
        {**HEADER, "id": "t"},
        _entry("b", None, 1, message=_user("y")),
    ]
    assert [(one.id, one.prompts) for one in file_of(_write(tmp_path / "s.jsonl", rows)).sessions] == [
        ("s", 1),
        ("t", 1),
    ]


def test_a_file_without_its_header_is_named_after_itself(tmp_path: Path) -> None:
    source = Source(_write(tmp_path / "lost.jsonl", [_entry("a", None, 1, message=_user("x"))]))
    assert [(event.kind, event.session) for event in read(source)] == [("session", "lost"), ("prompt", "lost")]
    assert source.notes == ["line 1: the file does not begin with a session record; its name is taken"]


def test_a_lost_parent_does_not_split_the_session(tmp_path: Path, file_of: Callable[[Path], File]) -> None:
    path = tmp_path / "s.jsonl"
    lines = [
        HEADER,
        _entry("a", None, 1, message=_user("x")),
        _entry("b", "a", 2),
        _entry("c", "b", 3, message=_answer()),
    ]
    text = [json.dumps(line) for line in lines]
    text[2] = text[2][:40]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    (session,) = file_of(path).sessions
    assert (session.prompts, session.replies) == (1, 1)


def test_an_entry_that_openclaw_appended_outside_the_tree_stays_in_its_place(
    tmp_path: Path, file_of: Callable[[Path], File]
) -> None:
    injected = _entry("x", None, 2, message=_answer(model="gateway-injected", usage=None))
    del injected["parentId"]
    rows = [HEADER, _entry("a", None, 1, message=_user("x")), injected, _entry("b", "a", 3, message=_answer())]
    sessions = file_of(_write(tmp_path / "s.jsonl", rows)).sessions
    assert [one.id for one in sessions] == ["s"]
    assert (sessions[0].replies, sessions[0].agent) == (1, "openclaw")


BAD_LINES: list[tuple[str, bytes, str, bool]] = [
    ("torn", b'{"type":"message","id":"t","mess', "torn or broken JSON", False),
    ("nul", b'\0\0{"type":"label","id":"n","parentId":"a","timestamp":"2026-08-01T09:00:02Z"}', "NUL bytes", True),
    ("text", b"\x1b[0mnot a record", "not JSON", False),
    ("utf8", b'{"type":"label","id":"n","parentId":"a","label":"\xff\xfe"}', "invalid UTF-8", True),
    ("nan", b'{"type":"compaction","id":"n","parentId":"a","summary":"s","tokensBefore":NaN}', "NaN or Infinity", True),
    (
        "two",
        b'{"type":"label","id":"n","parentId":"a"}{"type":"label","id":"o","parentId":"n"}',
        "several records",
        True,
    ),
    ("surrogate", b'{"type":"label","id":"n","parentId":"a","label":"\\ud800"}', "lone surrogate", True),
    ("deep", b'{"type":"custom","data":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply", False),
    ("array", b"[1,2]", "not a JSON object", False),
]


@pytest.mark.parametrize(("name", "bad", "reason", "salvaged"), BAD_LINES, ids=[row[0] for row in BAD_LINES])
def test_a_bad_line_costs_itself_at_most(tmp_path: Path, name: str, bad: bytes, reason: str, salvaged: bool) -> None:
    before = [json.dumps(HEADER).encode(), json.dumps(_entry("a", None, 1, message=_user("x"))).encode()]
    after = [json.dumps(_entry("b", "a", 3, message=_answer())).encode()]
    path = tmp_path / f"{name}.jsonl"
    path.write_bytes(b"\n".join([*before, bad, *after]) + b"\n")
    source = Source(path)
    rows = [event for event in read(source) if event.line in {2, 4}]
    assert [(event.line, event.kind) for event in rows] == [(2, "prompt"), (4, "reply")]
    (one,) = source.malformed
    assert (one.line, one.offset, one.salvaged) == (3, sum(len(line) + 1 for line in before), salvaged)
    assert reason in one.reason


def test_a_line_of_25_mb_is_a_line_like_any_other(tmp_path: Path) -> None:
    huge = {"role": "toolResult", "toolName": "read", "content": [{"type": "text", "text": "x" * 25_000_000}]}
    answers = [_entry("a", None, 1, message=_answer()), _entry("c", "b", 3, message=_answer())]
    text = [json.dumps(row) for row in [HEADER, answers[0], _entry("b", "a", 2, message=huge)]]
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join([*text, text[2][:-40], json.dumps(answers[1])]), encoding="utf-8")
    source = Source(path)
    assert [(event.line, event.kind) for event in read(source) if event.kind != "session"] == [
        (2, "reply"),
        (3, "tool"),
        (5, "reply"),
    ]
    assert [(one.line, one.offset, one.salvaged) for one in source.malformed] == [
        (4, sum(len(line) + 1 for line in text), False)
    ]


def test_a_field_of_an_unexpected_shape_costs_the_field_not_the_record(
    tmp_path: Path, events_of: Callable[[Path], list[Event]]
) -> None:
    answer = _answer(model=["m"])
    answer["usage"] = {"input": "12", "output": 3.0, "cacheRead": None, "cost": "free"}
    rows = [HEADER, {**_entry("a", None, 1, message=answer), "details": 7}]
    event = events_of(_write(tmp_path / "s.jsonl", rows))[1]
    assert (event.kind, event.input, event.output, event.cached, event.context, event.model) == (
        "reply",
        12,
        3,
        None,
        15,
        None,
    )


@pytest.mark.parametrize(
    ("content", "stop"),
    [
        (None, "empty"),
        ([], "empty"),
        ("words", "done"),
        ([{"type": "text", "text": " \n"}], "empty"),
        ([{"type": "thinking", "thinking": "hm"}], "empty"),
        ([{"type": "toolCall", "name": "x", "arguments": {}}], "done"),
        ([{"type": "chart"}], "done"),
        ([7], "done"),
    ],
)
def test_a_reply_is_empty_when_a_person_sees_nothing(
    tmp_path: Path, events_of: Callable[[Path], list[Event]], content: Any, stop: str
) -> None:
    rows = [HEADER, _entry("a", None, 1, message=_answer(content=content))]
    assert events_of(_write(tmp_path / "s.jsonl", rows))[1].stop == stop


def test_a_reply_of_thoughts_alone_that_was_cut_is_a_length_stop(
    tmp_path: Path, events_of: Callable[[Path], list[Event]]
) -> None:
    answer = _answer(stop="length", content=[{"type": "thinking", "thinking": "hm"}])
    assert events_of(_write(tmp_path / "s.jsonl", [HEADER, _entry("a", None, 1, message=answer)]))[1].stop == "length"


def test_a_stop_reason_that_says_nothing_stays_unknown(
    tmp_path: Path, events_of: Callable[[Path], list[Event]]
) -> None:
    rows = [HEADER, _entry("a", None, 1, message=_answer(stop="deferred"))]
    assert events_of(_write(tmp_path / "s.jsonl", rows))[1].stop is None


def test_an_atomic_workflow_writes_its_own_prompts(tmp_path: Path, events_of: Callable[[Path], list[Event]]) -> None:
    header = {**HEADER, "internal": True, "workflow": {"runId": "r", "stageId": "s", "stageName": "n"}}
    rows = events_of(_write(tmp_path / "s.jsonl", [header, _entry("a", None, 1, message=_user("do it"))]))
    assert (rows[0].agent, rows[1].origin) == ("atomic", "synthetic")


@pytest.mark.parametrize(
    ("details", "agent"),
    [
        ({"timeoutSeconds": 300, "wallTimeMs": 9}, "atomic"),
        ({"meta": {"sourcePath": "/srv/x/a.py"}, "diff": "x" * 5000}, "atomic"),
        ({"diff": "x" * 5000, "meta": {"sourcePath": None}}, "atomic"),
        ({"diff": '+{"wallTimeMs": 9}'}, "pi"),
        ({"meta": {"title": "sourcePath"}}, "pi"),
        ({"inner": {"wallTimeMs": 9}}, "pi"),
        ({"meta": "sourcePath"}, "pi"),
        (["wallTimeMs"], "pi"),
        ("wallTimeMs", "pi"),
        (None, "pi"),
    ],
)
def test_atomic_without_a_compaction_is_told_by_its_tools(
    tmp_path: Path, file_of: Callable[[Path], File], details: object, agent: str
) -> None:
    result = {"role": "toolResult", "toolName": "bash", "content": [], "details": details}
    entries = [_entry("a", None, 1, message=_answer()), _entry("b", "a", 2, message=result)]
    path = _write(tmp_path / "s.jsonl", [HEADER, *entries, _entry("c", "b", 3, message=_answer())])
    assert file_of(path).sessions[0].agent == agent
    assert scan_file(path, "s.jsonl", Options()).sessions[0].agent == agent
    stream = [HEADER, *({"type": "message_end", "message": one["message"]} for one in entries)]
    assert file_of(_write(tmp_path / "stream.jsonl", stream)).sessions[0].agent == agent


@pytest.mark.parametrize(
    ("text", "words", "origin"),
    [
        ("continue", "continue", "human"),
        ("[1] is not a time", "[1] is not a time", "human"),
        ("[Telegram Ada id:7 +5m 2026-01-05 20:04 UTC] hi", "hi", "human"),
        ("System: [2026-01-05 20:04:00 UTC] Node connected\n\nhi", "hi", "human"),
        (
            "System: [2026-01-05 20:04:00 UTC] Node connected",
            "System: [2026-01-05 20:04:00 UTC] Node connected",
            "synthetic",
        ),
        ("[Queued messages while agent was busy]\n\n---\nQueued #1\nhi", None, "queued"),
        ("[cron:7 report] write it", None, "synthetic"),
    ],
)
def test_the_wrapping_comes_off_a_prompt(text: str, words: str | None, origin: str) -> None:
    prompt = prompt_of(text)
    assert (prompt.text, prompt.origin) == (text if words is None else words, origin)


def test_a_time_in_a_zone_known_by_name_alone_is_not_guessed() -> None:
    assert prompt_of("[Sun 2026-03-08 20:00 CST] hi").sent is None
    assert prompt_of("[Sun 2026-03-08 20:00 GMT-5] hi").sent == 1773018000000


def test_a_skeleton_is_no_summary_and_words_are_one() -> None:
    assert is_hollow("")
    assert is_hollow("## Decisions\nNo prior history.\n\n## Open TODOs\nNone.\n- (none)\n1. N/A")
    assert is_hollow("(No conversation provided to summarize)")
    assert not is_hollow("## Decisions\nNone of the shelves is painted.")
    assert not is_hollow(
        "None so far, but the summary unavailable due to context limits is a phrase I quote.\nReal words"
    )


def test_a_long_summary_keeps_its_ends_and_the_headings_between() -> None:
    text = "a" * 500 + "\n## Next Steps\n" + "b" * 500 + "\n<read-files>\n/x\n</read-files>"
    assert shortened(text) == "a" * 400 + "\n…\n## Next Steps\n…\n" + "b" * 400


def test_an_entry_shared_by_two_abandoned_branches_is_counted_once() -> None:
    tree = Tree("s")
    for record, parent in (("a", None), ("b", "a"), ("c", "b"), ("d", "b"), ("e", "a")):
        tree.add(record, parent)
    assert {record: tuple(branch) for record, branch in tree.abandoned().items()} == {
        "b": ("s/d", "s"),
        "c": ("s/c", "s/d"),
        "d": ("s/d", "s"),
    }


def test_a_linear_session_has_no_branches() -> None:
    tree = Tree("s")
    tree.add("a", None)
    tree.add("b", "a")
    assert not tree.forked
    assert tree.abandoned() == {}


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 6900), junk=st.binary(max_size=30))
def test_hostile_bytes_never_raise_and_the_rest_is_read(
    cut: int, junk: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = (Path(__file__).parents[2] / "samples" / "parsers" / "pi.jsonl").read_bytes()
    path = tmp_path_factory.mktemp("hostile") / "s.jsonl"
    path.write_bytes(data[:cut] + junk + data[cut:])
    try:
        rows = list(read(Source(path)))
    except NotRecognised:
        assert cut < 900
        return
    assert sum(row.kind == "compacted" for row in rows) >= 1


def test_where_a_file_stands_names_the_agent_only_when_the_file_does_not(
    tmp_path: Path, file_of: Callable[[Path], File], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".openclaw" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    plain = [HEADER, _entry("a", None, 1, message=_user("x"))]
    atomic = [*plain, {**_entry("b", "a", 2), "type": "context_compaction"}]
    for hold in (1 << 20, 0):
        monkeypatch.setattr(module, "HOLD_BYTES", hold)
        assert file_of(_write(folder / "s.jsonl", plain)).sessions[0].agent == "openclaw"
        assert file_of(_write(folder / "t.jsonl", atomic)).sessions[0].agent == "atomic"


def _read(path: Path) -> tuple[list[Event], Source]:
    source = Source(path)
    return list(read(source)), source


_BEYOND = "9" * 400


@pytest.mark.parametrize(
    ("old", "new", "column", "reason"),
    [
        ('"input": 10', '"input": -10', "input", "field message.usage.input is not int >= 0"),
        ('"input": 10', f'"input": {_BEYOND}', "input", "field message.usage.input is not int below 2^51"),
        ('"output": 5', '"output": "many"', "output", "field message.usage.output is not int but str"),
        ('"totalTokens": 15', '"totalTokens": 1e400', "total", "field message.usage.totalTokens is not int but float"),
        ('"total": 0.5', '"total": 1e400', "cost", "field message.usage.cost.total is not float below 2^53"),
        ('"total": 0.5', '"total": -0.5', "cost", "field message.usage.cost.total is not float >= 0"),
    ],
)
def test_a_figure_that_cannot_be_one_is_unknown_and_its_line_listed(
    tmp_path: Path, old: str, new: str, column: str, reason: str
) -> None:
    """Costs of 1e400, negative tokens and integers of 400 digits were added up, or broke the detectors."""
    priced = _answer()
    priced["usage"]["cost"] = {"total": 0.5}
    path = _write(tmp_path / "s.jsonl", [HEADER, _entry("a", None, 1, message=priced)])
    (before,) = [row for row in _read(path)[0] if row.kind == "reply"]
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    rows, source = _read(path)
    reply = _one(rows, 2)
    assert getattr(before, column) is not None
    assert getattr(reply, column) is None
    assert (reply.stop, reply.model) == (before.stop, before.model)
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [(2, reason, True)]


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00Z", "2014-12-31T23:59:59Z", "2101-01-01T00:00:00Z"])
def test_a_time_that_no_recording_has_is_unknown_and_its_line_listed(tmp_path: Path, time: str) -> None:
    """A row dated 0001-01-01 once made a wait of 2,000 years."""
    rows_ = [HEADER, {**_entry("a", None, 1, message=_user("hello")), "timestamp": time}]
    rows, source = _read(_write(tmp_path / "s.jsonl", [*rows_, _entry("b", "a", 2, message=_answer())]))
    assert [(row.line, row.ts is None) for row in rows] == [(1, False), (2, True), (3, False)]
    assert [(bad.line, bad.reason) for bad in source.malformed] == [(2, "its time is no time from 2015 to 2100")]
    assert source.notes == []


def test_a_record_written_again_as_it_was_counts_once_however_it_is_laid_out(tmp_path: Path) -> None:
    twice = _entry("a", None, 1, message=_user("hello"))
    path = _write(tmp_path / "s.jsonl", [HEADER, twice, _entry("b", "a", 2, message=_answer()), twice])
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(dict(reversed(twice.items())), separators=(",", ":")) + "\n")
    rows, source = _read(path)
    assert [row.line for row in rows] == [1, 2, 3]
    assert (source.duplicates, source.malformed) == (2, [])


def test_records_of_one_id_that_say_different_things_are_all_kept_and_listed(tmp_path: Path) -> None:
    """Five of six records were once dropped as duplicates, with their tokens and errors."""
    first, other = (_entry("a", None, at, message=_user(text)) for at, text in ((1, "hello"), (2, "go on")))
    answer = _entry("b", "a", 3, message=_answer())
    rows, source = _read(_write(tmp_path / "s.jsonl", [HEADER, first, other, answer, first, other]))
    assert [(row.line, row.session) for row in rows] == [(1, "s"), (2, "s"), (3, "s"), (4, "s")]
    assert source.duplicates == 2
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [
        (3, "the id of line 2 again, with other content: both are kept", True)
    ]


@pytest.mark.parametrize(("text", "kept"), [("hello", 1), ("go on", 2)])
def test_two_records_of_one_id_on_one_line_are_held_against_each_other(tmp_path: Path, text: str, kept: int) -> None:
    one, two = (json.dumps(_entry("a", None, 1, message=_user(words))) for words in ("hello", text))
    path = tmp_path / "s.jsonl"
    path.write_text(f"{json.dumps(HEADER)}\n{one}{two}\n", encoding="utf-8")
    rows, source = _read(path)
    assert (len(rows) - 1, source.duplicates) == (kept, 2 - kept)


def test_a_stop_reason_that_is_not_known_is_counted(tmp_path: Path) -> None:
    rows_ = [HEADER, *(_entry(stop, None, 1, message=_answer(stop=stop)) for stop in ("weird", "pending"))]
    rows, source = _read(_write(tmp_path / "s.jsonl", rows_))
    assert [row.stop for row in rows if row.kind == "reply"] == [None, None]
    assert source.unknown == {"stop reason weird": 1}


@pytest.mark.parametrize(
    ("content", "reason", "text"),
    [
        (7, "field content is not str | array but int", None),
        ([{"type": "text", "text": 7}], "field content[0].text is not str but int", None),
        (["x", {"type": "text", "text": "y"}], "field content[0] is not an object", "y"),
    ],
)
def test_content_of_another_shape_is_listed_and_makes_no_empty_reply(
    tmp_path: Path, content: object, reason: str, text: str | None
) -> None:
    rows_ = [HEADER, _entry("a", None, 1, message={**_answer(), "content": content})]
    rows, source = _read(_write(tmp_path / "s.jsonl", rows_))
    reply = _one(rows, 2)
    assert (reply.stop, reply.text) == ("done", text)
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [(2, reason, True)]


def test_a_side_file_that_is_odd_in_part_is_read_and_told(tmp_path: Path) -> None:
    path = _write(tmp_path / "s.jsonl", [HEADER, _entry("a", None, 1, message=_user("hello"))])
    side = tmp_path / "s-compaction-diagnostic-1785574870000-x.json"
    side.write_text('{"failureCategory":"starved","failureMessage":"no room","usage":{"input":-5,"output":7}}')
    rows, source = _read(path)
    (failed,) = [row for row in rows if row.kind == "compacted"]
    assert (failed.input, failed.output, failed.error) == (None, 7, "no room")
    assert source.notes == [f"{side.name} beside the session is read in part: field usage.input is not int >= 0"]
