"""Recognition is by content and exact: our own formats in spite of damage, and no text that only shows their lines."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from forensics.parse import Head, NotRecognised, Source, is_quotation, read, recognise

LINED = {
    "pi.jsonl": "pi",
    "pi_v1.jsonl": "pi",
    "pi_atomic.jsonl": "pi",
    "pi_openclaw.jsonl": "pi",
    "pi_events.jsonl": "pi-events",
    "pi_events_rpc.jsonl": "pi-events",
    "opencode_run.jsonl": "opencode-run",
    "pilotdeck_chat.jsonl": "pilotdeck-chat",
    "plain.jsonl": "plain",
    "openclaw_log_file.log": "openclaw-log",
    "openclaw_log_console.log": "openclaw-log",
    "pilotdeck_log.log": "pilotdeck-log",
    "opencode_log.log": "opencode-log",
    "opencode_log_old.log": "opencode-log",
}
HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-08-01T09:00:00.000Z","cwd":"/srv/x"}'
PROMPT = (
    '{"type":"message","id":"a","parentId":null,"timestamp":"2026-08-01T09:00:01.000Z",'
    '"message":{"role":"user","content":"x"}}'
)
STAGE = '2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] full_compaction_started {"sessionId":"s"}'
RUN = "timestamp=2026-08-15T09:00:00.000Z level=INFO run=1a2b3c4d message=loop session.id=ses_1 step="
NOISE = [
    b"garbage\n",
    b"hello world, this\n",
    b'"str"\n',
    b"null\n",
    b"[1,2]\n",
    b"\0\0\n",
    b"\xff\n",
    b"    at x (y.js:1)\n",
]
Write = Callable[[bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(data: bytes) -> Path:
        path = tmp_path / "input"
        path.write_bytes(data)
        return path

    return made


QUOTED = {
    "markdown": ["# Incident", "It said:", "```", STAGE, STAGE, STAGE, "```"],
    "markdown-json": ["# pi sessions", HEADER, PROMPT, "and so on."],
    "fenced-json": ["Look:", "```json", HEADER, PROMPT, PROMPT, PROMPT, PROMPT, "```"],
    "introduced": ["The log of the run:", *[f"{RUN}{step}" for step in range(9)]],
    "python": ['EXPECTED = """', STAGE, STAGE, STAGE, "[context:auto-compact] policy_skip {}", '"""'],
    "typescript": ["// logs", "export function full() {", f'  console.log("{STAGE[36:]}");', "}", STAGE[36:]],
    "heredoc": ["cat > log <<'EOF'", *[f"{RUN}{step}" for step in range(9)], "EOF"],
    "conversation": ["User: what is this?", *[f"{RUN}{step}" for step in range(9)], "Assistant: a log."],
    "prose": ["I saw a line.", "And then one more.", f"{RUN}0", "After that nothing.", "I stopped it."],
}


@pytest.mark.parametrize("lines", QUOTED.values(), ids=QUOTED)
def test_a_text_that_shows_lines_of_a_format_is_not_a_file_of_it(write: Write, lines: list[str]) -> None:
    with pytest.raises(NotRecognised):
        recognise(write("\n".join([*lines, ""]).encode()))


FOREIGN = {
    "web-log": [
        '{"type":"session","id":"a","timestamp":"2026-01-01T00:00:00Z","user":"bob"}',
        '{"type":"login","timestamp":"2026-01-01T00:00:00Z","ip":"192.0.2.1"}',
        '{"type":"logout","timestamp":"2026-01-01T00:00:00Z"}',
    ],
    "any-program's-exits": ["exited code=1 signal=null"] * 3,
    "old-look-alike": [
        "INFO  2026-04-02T08:30:00 +1ms service=session id=1 created",
        "INFO  2026-04-02T08:30:00 +1ms service=db pool=3 ready",
    ],
    "new-look-alike": [
        'timestamp=2026-08-15T09:00:00.000Z level=INFO run=main message="server started" port=80',
        "timestamp=2026-08-15T09:00:01.000Z level=INFO run=main message=loop id=1",
    ],
    "stage-names": ["[info] up", "[context] policy_skip", "[auto-compact] done"],
}


@pytest.mark.parametrize("lines", FOREIGN.values(), ids=FOREIGN)
def test_another_programs_lines_that_look_alike_are_not_recognised(write: Write, lines: list[str]) -> None:
    with pytest.raises(NotRecognised):
        recognise(write("\n".join([*lines, ""]).encode()))


HOSTILE = [
    '{"type":["object","null"],"properties":{}}',
    '{"kind":["a"]}',
    '{"type":"message","timestamp":"x","message":{"role":["user"]}}',
    '{"type":"message_end","message":{"role":{"user":1},"timestamp":1}}',
    '{"type":{"a":1},"timestamp":1,"sessionID":"s","part":{}}',
    '{"0":"x","_meta":{"name":["openclaw"],"parentNames":{"openclaw":1}}}',
    '{"type":"session","version":{"a":1},"id":"s","timestamp":"x"}',
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"info":{"id":' + "[" * 100_000,
]


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: line[:40])
def test_a_value_that_cannot_be_hashed_or_is_nested_too_deeply_breaks_no_recogniser(write: Write, line: str) -> None:
    for text in (line, f"{line}\n" * 5, f"{line}\n{HEADER}\n{PROMPT}\n{PROMPT}\n"):
        try:
            assert recognise(write(text.encode())).name == "pi"
        except NotRecognised:
            assert HEADER not in text


DAMAGE = {
    "nul-bytes": b"\0" * 64 + b"\n",
    "a-run-of-2-MB-of-nul-bytes": b"\0" * 2_000_000,
    "a-2-MB-line": b"x" * 2_000_000 + b"\n",
    "blank-lines": b"\n\r\n" * 30,
    "an-empty-object": b"{}\n",
    "a-foreign-object": b'{"a":1}\n',
    "a-line-of-text": b"Update available\n",
    "a-torn-object": b'{"type":"me\n',
    "invalid-utf-8": b"\xff\xfe\xc3garbage\n",
    "an-unhashable-type": b'{"type":["x"]}\n',
    "nested-too-deeply": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("name", LINED)
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_line_anywhere_defeats_no_recognition(samples: Path, write: Write, name: str, damage: bytes) -> None:
    lines = (samples / "parsers" / name).read_bytes().splitlines(keepends=True)
    for at in (0, 1, 2, 7):
        assert recognise(write(b"".join([*lines[:at], damage, *lines[at:]]))).name == LINED[name], at


@pytest.mark.parametrize("name", LINED)
def test_the_first_lines_may_be_lost(samples: Path, write: Write, name: str) -> None:
    lines = (samples / "parsers" / name).read_bytes().splitlines(keepends=True)
    assert recognise(write(b"".join([lines[0][40:], *lines[1:]]))).name == LINED[name]


@pytest.mark.parametrize("name", LINED)
def test_warnings_before_the_first_line_do_no_harm(samples: Path, write: Write, name: str) -> None:
    noise = b"npm warn deprecated inflight@1.0.6\n" * 30
    assert recognise(write(noise + (samples / "parsers" / name).read_bytes())).name == LINED[name]


def test_an_rpc_stream_with_a_line_of_a_type_that_is_a_list_is_read(samples: Path, write: Write) -> None:
    lines = (samples / "parsers" / "pi_events_rpc.jsonl").read_bytes().splitlines(keepends=True)
    clean = list(read(Source(write(b"".join(lines)))))
    source = Source(write(b"".join([lines[0], b'{"type":["x"]}\n', *lines[1:]])))
    assert [row.kind for row in read(source)] == [row.kind for row in clean]


def test_one_json_line_makes_no_text_log_unknown(samples: Path, write: Write) -> None:
    for name in ("pilotdeck_log.log", "openclaw_log_console.log"):
        lines = (samples / "parsers" / name).read_bytes().splitlines(keepends=True)
        for at in (0, 3, 12):
            path = write(b"".join([*lines[:at], b'{"level":"info","msg":"hello"}\n', *lines[at:]]))
            assert recognise(path).name == LINED[name]


def test_a_header_may_be_longer_than_what_is_read_at_first(write: Write) -> None:
    header = json.dumps({**json.loads(HEADER), "extra": "x" * 2_000_000})
    assert recognise(write(f"{header}\n{PROMPT}\n{PROMPT}\n".encode())).name == "pi"


def test_only_the_first_lines_are_decoded_where_these_are_clean(write: Write) -> None:
    head = Head(write((HEADER + "\n" + (PROMPT + "\n") * 2000).encode()))
    assert (head.first["type"], len(head.some(2)), len(head.objects)) == ("session", 2, 24)
    assert sum(1 for _ in head.lines()) == 400


@pytest.mark.parametrize("name", sorted(LINED.keys() - {"plain.jsonl"}))  # it has seven lines: most would be damaged
@given(damage=st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_two_damaged_lines_among_the_first_leave_a_format_known(
    samples: Path, tmp_path: Path, name: str, damage: st.DataObject
) -> None:
    lines = (samples / "parsers" / name).read_bytes().splitlines(keepends=True)
    for _ in range(2):
        at = damage.draw(st.integers(0, 6))
        start = damage.draw(st.integers(0, len(lines[at]) - 1))
        torn = st.sampled_from([lines[at][start:], lines[at][:start] + b"\n"])
        lines[at : at + 1] = damage.draw(st.sampled_from([[noise, lines[at]] for noise in NOISE]) | torn.map(_alone))
    # A piece that ends as code does that leads to something (`run=`) is not told from a program that shows such lines.
    assume(not any(is_quotation([line.strip()]) for line in lines[:3] if not line.startswith(b"{")))
    path = tmp_path / name
    path.write_bytes(b"".join(lines))
    assert recognise(path).name == LINED[name]


@pytest.mark.parametrize(
    "piece",
    [
        '"sequence":1,"messages":[',
        'pe":"x","sequence":1,"createdAt":"',
        '"sessionId":"s","createdAt":"',
        '"messages":[{"role":"user","content":"',
    ],
)
def test_a_line_torn_at_both_ends_is_no_words_that_lead_to_a_quotation(samples: Path, write: Write, piece: str) -> None:
    lines = (samples / "parsers" / "pilotdeck_chat.jsonl").read_bytes().splitlines(keepends=True)
    assert recognise(write(piece.encode() + b"\n" + b"".join(lines[1:]))).name == "pilotdeck-chat"


def _alone(line: bytes) -> list[bytes]:
    return [line]


@pytest.mark.parametrize(
    "text", ['[{"a": "x"}]', '[["a"]]\n', "{}", '[{"a": "' + "x" * (2 << 20) + '"}]', '[{"a": 1}\n,{"a": 2}]\n']
)
def test_a_json_document_on_one_line_is_no_binary_data(write: Write, text: str) -> None:
    with pytest.raises(NotRecognised, match="JSON document: not a format that is read"):
        recognise(write(text.encode()))


@pytest.mark.parametrize("text", ['{\n "a": 1,\n "b": {}\n}\n', '[\n {"a": 1},\n {"a": 2}\n]\n', '{\r\n"a": 1\r\n}'])
def test_json_over_several_lines_is_not_called_lines(write: Write, text: str) -> None:
    with pytest.raises(NotRecognised, match="JSON document: not a format that is read"):
        recognise(write(text.encode()))


@pytest.mark.parametrize(
    ("name", "lost", "said"),
    [
        ("openclaw_db.sqlite", 16, "SQLite whose header is damaged"),
        ("openclaw_db.sqlite", 4096, "SQLite whose header is damaged"),
        ("opencode_db.db", 16, "SQLite whose header is damaged"),
        ("opencode_db.db", 4096, "binary data: not a format that is read"),
    ],
)
def test_a_database_whose_header_is_lost_is_no_session_file(
    samples: Path, write: Write, name: str, lost: int, said: str
) -> None:
    """A row of its JSON among binary lines once made it a pi session of one reply."""
    data = (samples / "parsers" / name).read_bytes()
    rows = f"{HEADER}\n{PROMPT}\n".encode()
    with pytest.raises(NotRecognised, match=f"^{said}$"):
        recognise(write(b"\0" * lost + data[lost:] + b"\n" + rows))


@pytest.mark.parametrize("name", LINED)
def test_a_file_that_is_binary_in_less_than_half_of_its_lines_is_known(samples: Path, write: Write, name: str) -> None:
    lines = (samples / "parsers" / name).read_bytes().splitlines(keepends=True)[:7]
    binary = [b"\x02\xff\xfe%d\n" % at for at in range(7)]
    mixed = [line for pair in zip(lines, binary, strict=True) for line in pair]
    assert recognise(write(b"".join([*mixed, *lines[3:]]))).name == LINED[name]
    with pytest.raises(NotRecognised):
        recognise(write(b"".join([*binary * 2, *lines])))
