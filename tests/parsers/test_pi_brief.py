"""A brief reading leaves out tool rows between others, and nothing that a scan tells changes by it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forensics.detect import detect
from forensics.parse import Source, parsers, read
from forensics.scan import Options, scan_file, totals
from forensics.summary import summarise
from forensics.timeline import File


def _looked_at(path: Path, *, brief: bool, cap: int | None = None) -> tuple[int, list[object], list[object]]:
    chosen = parsers()["pi"]
    source = Source(path, brief=brief)
    events = list(read(source, chosen))
    file = File(path.name, chosen.name, chosen.agent).build(events, cap)
    for session in file.sessions:
        session.rows += source.left_out[session.id]
    findings = detect(file)
    continues = {
        session.id: [one for one in findings if (one.detector, one.session) == ("manual-continue", session.id)]
        for session in file.sessions
    }
    figures = [(session.id, session.end, totals(session, continues[session.id])) for session in file.sessions]
    return (
        sum(event.kind == "tool" for event in events),
        [replace(one, times=one.times if one.start is not None else []) for one in findings],
        [(name, end, {f: getattr(one, f) for f in one.__struct_fields__}) for name, end, one in figures],
    )


@pytest.mark.parametrize(
    "name",
    ["incidents/atomic-1690/session.jsonl", "incidents/atomic-1684/counter-leak.jsonl"],
    ids=["stalls", "length"],
)
def test_a_brief_reading_of_a_sample_tells_the_same(samples: Path, name: str) -> None:
    whole, brief = _looked_at(samples / name, brief=False), _looked_at(samples / name, brief=True)
    assert whole[0] > brief[0] == 0
    assert whole[1:] == brief[1:]


def _tools(path: Path, parents: str) -> list[int | None]:
    """Write a prompt and three tool results with these parents, and give the tool rows of a brief reading."""
    rows = ['{"type":"session","version":3,"id":"s","timestamp":"2026-07-01T10:00:00.000Z","cwd":"/w"}']
    for at, (name, parent) in enumerate(zip("abcd", parents, strict=True), 1):
        role = "user" if name == "a" else "toolResult"
        link = "null" if parent == "-" else f'"{parent}"'
        message = f'{{"role":"{role}","content":[],"toolName":"read"}}'
        time = f"2026-07-01T10:00:0{at}.000Z"
        rows.append(f'{{"type":"message","id":"{name}","parentId":{link},"timestamp":"{time}","message":{message}}}')
    path.write_text("\n".join(rows) + "\n")
    return [event.line for event in read(Source(path, brief=True), parsers()["pi"]) if event.kind == "tool"]


def test_the_tool_row_that_ends_a_file_stays(tmp_path: Path) -> None:
    assert _tools(tmp_path / "line.jsonl", "-abc") == [5]


def test_a_file_with_branches_is_read_whole(tmp_path: Path) -> None:
    assert sorted(line or 0 for line in _tools(tmp_path / "tree.jsonl", "-aac")) == [3, 4, 5]


def test_a_brief_reading_of_every_recorded_session_tells_the_same(corpus: Path) -> None:
    paths = [
        path for agent in ("pi", "atomic") for path in sorted(corpus.glob(f"recorded/{agent}-*/*/session/*.jsonl"))
    ]
    assert len(paths) > 40
    for path in [*paths, *sorted(corpus.glob("real/pi-*.jsonl")), *sorted(corpus.glob("real/openclaw-*.jsonl"))]:
        assert _looked_at(path, brief=False)[1:] == _looked_at(path, brief=True)[1:], path


_USAGE = {"input": 900, "output": 50, "cacheRead": 90, "cacheWrite": 0, "totalTokens": 1040, "cost": {"total": 0.01}}
_NONE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": {"total": 0}}
_CALL = [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}]
_REPLIES: list[dict[str, object]] = [
    {"stopReason": "toolUse", "content": _CALL},
    {"stopReason": "toolUse", "content": _CALL},
    {"stopReason": "toolUse", "content": _CALL, "usage": {**_USAGE, "input": 90_000, "totalTokens": 90_140}},
    {"stopReason": "stop", "content": [{"type": "text", "text": "done"}]},
    {"stopReason": "stop", "content": [{"type": "text", "text": "done"}]},
    {"stopReason": "stop", "content": "done"},
    {"stopReason": "toolUse", "content": []},
    {"stopReason": "stop", "content": [{"type": "text", "text": " "}]},
    {"stopReason": "stop", "content": None},
    {"stopReason": "stop", "content": 7},
    {"stopReason": "stop", "content": [{"type": "text", "text": "done"}], "usage": None},
    {"stopReason": "stop", "content": [{"type": "text", "text": "Sorry, I cannot assist"}], "usage": {"output": 0}},
    {"stopReason": "toolUse", "content": _CALL, "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}},
    {"stopReason": "length", "content": _CALL},
    {"stopReason": "error", "content": [], "errorMessage": "prompt is too long: 210000 tokens > 200000 maximum"},
    {"stopReason": "error", "content": [], "errorMessage": "429 rate limit"},
    {"stopReason": "aborted", "content": []},
    {"stopReason": "aborted", "content": [], "usage": _NONE},
    {"stopReason": "aborted", "content": _CALL, "usage": {**_NONE, "totalTokens": 12}},
    {"stopReason": "stop", "content": "mirror", "provider": "openclaw", "model": "delivery-mirror"},
]
_PROMPTS = [
    "[OpenClaw heartbeat poll]",
    "go on with the shelf",
    "paint it",
    "continue",
    "continue",
    "hello?",
    "",
    "System: [2026-07-01 10:00] x",
]
_ENTRIES: list[dict[str, object]] = [
    {"type": "thinking_level_change", "thinkingLevel": "high"},
    {"type": "model_change", "provider": "p", "modelId": "m"},
    {"type": "compaction", "summary": "what was done", "firstKeptEntryId": "0", "tokensBefore": 90_000},
    {"type": "compaction", "summary": "", "firstKeptEntryId": "0", "tokensBefore": 90_000},
    {"type": "custom", "customType": "openclaw:prompt-error", "data": {"error": "timed out"}},
    {"type": "extension"},
    {"type": "context_window_change", "contextWindow": 50_000},
]


_SHELL: dict[str, object] = {
    "type": "message",
    "message": {"role": "bashExecution", "command": "ls", "exitCode": 1, "cancelled": True},
}


def _messages() -> st.SearchStrategy[dict[str, object]]:
    reply = st.sampled_from(_REPLIES).map(lambda one: {"role": "assistant", "model": "m", "usage": _USAGE, **one})
    prompt = st.sampled_from(_PROMPTS).map(lambda text: {"role": "user", "content": text})
    tool = st.just({"role": "toolResult", "toolName": "bash", "content": [], "isError": False})
    message = st.one_of(reply, reply, reply, prompt, prompt, tool).map(lambda one: {"type": "message", "message": one})
    return st.one_of(message, message, message, st.sampled_from([*_ENTRIES, _SHELL]))


def _written(folder: Path, turns: list[list[dict[str, object]]]) -> Path:
    """Write a v1 session of these turns, a minute apart, their rows a second apart."""
    lines: list[dict[str, object]] = [
        {"type": "session", "id": "s", "timestamp": "2026-07-01T10:00:00.000Z", "cwd": "/w"}
    ]
    for at, turn in enumerate(turns):
        lines += [{**row, "timestamp": f"2026-07-01T10:{at:02}:{n:02}.000Z"} for n, row in enumerate(turn)]
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


_GOOD_TURN: list[dict[str, object]] = [
    {"type": "message", "message": {"role": "user", "content": "build the shelf"}},
    {"type": "message", "message": {"role": "assistant", "model": "m", "usage": _USAGE, **_REPLIES[0]}},
    {"type": "message", "message": {"role": "assistant", "model": "m", "usage": _USAGE, **_REPLIES[0]}},
    {"type": "message", "message": {"role": "assistant", "model": "m", "usage": _USAGE, **_REPLIES[3]}},
]
_ABORTS: list[dict[str, object]] = [
    {"type": "message", "message": {"role": "assistant", "model": "m", **_REPLIES[16], **usage}}
    for usage in ({}, {"usage": _NONE}, {"usage": _USAGE})
]
_QUIET = [_SHELL, *_ENTRIES[:2]]
_STEPS = st.lists(
    st.tuples(
        st.one_of(
            _messages().map(lambda one: [one]),
            st.integers(1, 4).map(lambda turns: _GOOD_TURN * turns),
            st.tuples(st.integers(1, 3), st.sampled_from(_ABORTS)).map(lambda turn: [*_GOOD_TURN[: turn[0]], turn[1]]),
            st.lists(st.sampled_from(_ABORTS), min_size=1, max_size=3).map(
                lambda aborts: [*_GOOD_TURN, *(row for one in aborts for row in (*_GOOD_TURN[:2], one)), *_GOOD_TURN]
            ),
            st.lists(
                st.one_of(
                    st.integers(1, 4).map(lambda rows: _GOOD_TURN[:rows]), st.sampled_from(_QUIET).map(lambda x: [x])
                ),
                min_size=1,
                max_size=5,
            ).map(lambda turns: [*_GOOD_TURN, *(row for turn in turns for row in turn), *_GOOD_TURN]),
        ),
        st.sampled_from([1, 1, 1, 1, 90, 4000, 0, -5, None]),
    ),
    max_size=14,
)


@given(steps=_STEPS, ids=st.booleans(), cap=st.sampled_from([None, 50_000]))
@settings(max_examples=400)
def test_a_brief_reading_of_any_session_tells_the_same(
    steps: list[tuple[list[dict[str, object]], int | None]],
    ids: bool,
    cap: int | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    start: dict[str, object] = {"type": "session", "id": "s", "timestamp": "2026-07-01T10:00:00.000Z", "cwd": "/w"}
    lines: list[dict[str, object]] = [{**start, "version": 3} if ids else start]
    now = datetime(2026, 7, 1, 10, tzinfo=UTC)
    for entries, seconds in steps:
        for entry in entries:
            now += timedelta(seconds=seconds or 0)
            row = dict(entry)
            if seconds is not None:
                row["timestamp"] = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            if ids:
                row |= {"id": f"{len(lines)}", "parentId": f"{len(lines) - 1}" if len(lines) > 1 else None}
            lines.append(row)
    path = tmp_path_factory.mktemp("pi") / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert _looked_at(path, brief=False, cap=cap)[1:] == _looked_at(path, brief=True, cap=cap)[1:]


def test_the_first_time_is_that_of_the_first_dated_row_though_its_run_is_not_told(tmp_path: Path) -> None:
    """It was that of the first dated row that a session keeps, which depends on the reading."""
    lines: list[dict[str, object]] = [
        {"type": "session", "id": "s", "timestamp": "2026-07-01T10:00:00.000Z", "cwd": "/w"}
    ]
    for second, kind in enumerate((0, 0, 0, 6)):
        message = {"role": "assistant", "model": "m", "usage": _USAGE, **_REPLIES[kind]}
        time = {"timestamp": f"2026-07-01T10:00:0{second}.000Z"} if second else {}
        lines.append({"type": "message", "message": message, **time})
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert _looked_at(path, brief=True)[1:] == _looked_at(path, brief=False)[1:]
    session = File("s.jsonl", "pi", "pi").build(read(Source(path), parsers()["pi"])).sessions[0]
    assert session.active_from == 1_782_900_001_000


def test_turns_between_turns_that_went_well_are_not_told(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {"type": "session", "id": "s", "timestamp": "2026-07-01T10:00:00.000Z", "cwd": "/w"}
    ]
    lines += [
        {**row, "timestamp": f"2026-07-01T10:{at:02}:{n:02}.000Z"}
        for at in range(6)
        for n, row in enumerate(_GOOD_TURN)
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    events = list(read(Source(path, brief=True), parsers()["pi"]))
    told = [2, 3, 5, 22, 23, 25]
    assert [event.line for event in events if event.kind != "session"] == told
    assert [(row.run.prompts, list(row.run.lines)) for row in events if row.run] == [
        (0, [4]),
        (4, [7, 8, 9, 11, 12, 13, 15, 16, 17, 19, 20, 21]),
        (0, [24]),
    ]
    session = File("s.jsonl", "pi", "pi").build(iter(events)).sessions[0]
    assert (session.prompts, session.replies, session.good, len(session.samples)) == (6, 18, 18, 18)
    assert (session.input_tokens, session.output_tokens, round(session.cost or 0, 9)) == (16_200, 900, 0.18)


def test_turns_cut_by_a_prompt_and_quiet_rows_are_not_told_between_turns_that_went_well(tmp_path: Path) -> None:
    turns: list[list[dict[str, object]]] = [
        _GOOD_TURN,
        _GOOD_TURN[:2],
        _QUIET,
        _GOOD_TURN[:1],
        _GOOD_TURN[:3],
        _GOOD_TURN,
        _QUIET,
        _GOOD_TURN,
    ]
    path = _written(tmp_path, turns)
    events = list(read(Source(path, brief=True), parsers()["pi"]))
    (brought,) = [row.run for row in events if row.run and row.run.prompts]
    assert [event.line for event in events if event.kind != "session"] == [2, 3, 5, 22, 23, 25]
    assert (brought.prompts, brought.stopped, list(brought.lines)) == (4, 0, [7, 13, 14, 16, 17, 18])
    file = File("s.jsonl", "pi", "pi").build(iter(events))
    assert (file.sessions[0].prompts, file.sessions[0].replies, file.sessions[0].good) == (6, 12, 12)


def test_turns_cut_by_a_prompt_are_told_where_what_follows_did_not_go_well(tmp_path: Path) -> None:
    error: dict[str, object] = {
        "type": "message",
        "message": {"role": "assistant", "model": "m", "usage": _USAGE, **_REPLIES[15]},
    }
    turns: list[list[dict[str, object]]] = [
        _GOOD_TURN,
        _GOOD_TURN[:2],
        _GOOD_TURN[:1],
        _GOOD_TURN[:3] * 2,
        [_GOOD_TURN[0], error],
    ]
    path = _written(tmp_path, turns)
    events = list(read(Source(path, brief=True), parsers()["pi"]))
    assert [event.line for event in events if event.kind != "session"] == [2, 3, *range(5, 17)]
    assert [list(row.run.lines) for row in events if row.run] == [[4]]


def test_turns_that_the_person_stopped_are_not_told_between_turns_that_went_well(tmp_path: Path) -> None:
    turns = [_GOOD_TURN, [_GOOD_TURN[0], _ABORTS[1]], [*_GOOD_TURN[:3], _ABORTS[2]], _GOOD_TURN, _GOOD_TURN]
    path = _written(tmp_path, turns)
    events = list(read(Source(path, brief=True), parsers()["pi"]))
    (brought,) = [row.run for row in events if row.run and row.run.prompts]
    assert [event.line for event in events if event.kind != "session"] == [2, 3, 5, 16, 17, 19]
    assert (brought.prompts, brought.stopped, list(brought.unmeasured)) == (3, 2, [1_782_900_061_000])
    assert list(brought.lines) == [9, 10, 11, 13, 14, 15]
    session = File("s.jsonl", "pi", "pi").build(iter(events)).sessions[0]
    assert (session.prompts, session.replies, session.good, session.aborted) == (5, 13, 11, 2)
    assert _looked_at(path, brief=True)[1:] == _looked_at(path, brief=False)[1:]


def test_a_fuller_copy_is_the_fuller_one_though_a_diagnostic_file_has_the_other_read_whole(
    samples: Path, tmp_path: Path
) -> None:
    """A copy with a failed compaction beside it is read whole: it had 105 rows, and another that holds more 58."""
    source = samples / "parsers" / "atomic_diagnostic"
    (whole,) = source.glob("*.jsonl")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    for path in source.iterdir():
        (tmp_path / "a" / path.name).write_bytes(path.read_bytes())
    text = whole.read_text()
    last = json.loads(text.splitlines()[-1])
    time = datetime.fromisoformat(last["timestamp"])
    for at in range(60):
        role: dict[str, object] = {"role": "toolResult", "toolName": "bash", "content": []}
        if not at % 2:
            role = {"role": "assistant", "model": "m", "usage": _USAGE, **_REPLIES[0]}
        stamp = (time + timedelta(seconds=at + 1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        row = {"type": "message", "id": f"more{at}", "parentId": last["id"], "timestamp": stamp, "message": role}
        text += json.dumps(row) + "\n"
        last = row
    (tmp_path / "b" / whole.name).write_text(text)
    results = [scan_file(tmp_path / one / whole.name, f"{one}/{whole.name}", Options()) for one in ("a", "b")]
    (one,), (other,) = (result.sessions for result in results)
    assert results[0].input is not None
    attempts = len(results[0].input.companions)
    assert attempts == 3
    assert other.rows == len(list(read(Source(tmp_path / "b" / whole.name))))
    assert one.rows == len(list(read(Source(tmp_path / "a" / whole.name))))
    assert other.rows > one.rows > attempts
    (copies,) = summarise(results).summary.copies
    assert (copies.file, copies.others) == (f"b/{whole.name}", [f"a/{whole.name}"])


def test_a_row_in_the_turn_of_a_heartbeat_says_when_something_happened_last(tmp_path: Path) -> None:
    """A scan once told of a stall of 39 minutes that a whole reading did not have."""
    said = {"role": "assistant", "model": "m", "usage": _USAGE}
    result = {"role": "toolResult", "toolName": "bash", "content": [], "isError": False}
    rows: list[tuple[int, dict[str, object]]] = [
        (30, {"type": "message", "message": {"role": "user", "content": "build the shelf"}}),
        (60, {"type": "message", "message": {**said, **_REPLIES[14]}}),
        (1400, {"type": "message", "message": {"role": "user", "content": "[OpenClaw heartbeat poll]"}}),
        (1410, {"type": "message", "message": {**said, **_REPLIES[0]}}),
        (1420, {"type": "message", "message": result}),
        (1500, _ENTRIES[1]),
        (1510, {"type": "message", "message": result}),
        (1520, {"type": "message", "message": {**said, **_REPLIES[0]}}),
        (1530, {"type": "message", "message": result}),
        (1540, {"type": "message", "message": {**said, **_REPLIES[3]}}),
        (2400, {"type": "message", "message": {"role": "user", "content": "now plan the garden with me"}}),
        (2410, {"type": "message", "message": {**said, **_REPLIES[3]}}),
    ]
    begin = datetime(2026, 7, 1, tzinfo=UTC)
    lines = ['{"type":"session","version":3,"id":"s","timestamp":"2026-07-01T00:00:00.000Z","cwd":"/w"}']
    for at, (second, row) in enumerate(rows):
        time = (begin + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")
        lines.append(json.dumps({**row, "id": str(at), "parentId": str(at - 1) if at else None, "timestamp": time}))
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines) + "\n")
    whole, brief = _looked_at(path, brief=False), _looked_at(path, brief=True)
    assert whole[1:] == brief[1:]
    assert not [one for one in scan_file(path, "s", Options()).findings if one.detector == "silent-stall"]
