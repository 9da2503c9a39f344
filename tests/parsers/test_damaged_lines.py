"""A damaged line costs itself, never the file: one record of each kind that once stopped the reading of all others."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.capture import writers
from forensics.events import Event
from forensics.parse import Source, read

Write = Callable[[str, bytes], Source]
PREFIX = b"2026-09-02T08:00:0%d.000Z [gateway] [context:auto-compact] "
START = PREFIX + b"full_compaction_started {%s\n"
WHOLE = START % (1, b'"sessionId":"s","turnId":"t"}')
AFTER = START % (3, b'"sessionId":"s","turnId":"t"}')


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(name: str, data: bytes) -> Source:
        path = tmp_path / name
        path.write_bytes(data)
        return Source(path)

    return made


def _listed(source: Source) -> list[tuple[int, str, bool]]:
    return [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed]


def _starts(events: list[Event]) -> list[tuple[int | None, str | None]]:
    return [(event.line, event.session) for event in events if event.kind == "compact"]


@pytest.mark.parametrize("last", [b"1}", b'"{"}'], ids=["balanced", "unbalanced"])
def test_json_nested_too_deeply_costs_a_pilotdeck_log_its_line_alone(write: Write, last: bytes) -> None:
    deep = b"[" * 30_000 + b"]" * 30_000
    source = write("runtime.log", WHOLE + START % (2, b'"sessionId":"s","x":%s,"y":%s' % (deep, last)) + AFTER)
    assert _starts(list(read(source))) == [(1, "s"), (2, "s"), (3, "s")]
    assert _listed(source) == [(2, "nested too deeply", True)]


@pytest.mark.parametrize("byte", [b"@", b"\xff"])
@pytest.mark.parametrize("lines", [1, 2000], ids=["bare", "stamped block"])
def test_a_flipped_byte_in_a_stamp_costs_a_pilotdeck_log_that_time_alone(write: Write, lines: int, byte: bytes) -> None:
    odd = (START % (2, b'"sessionId":"s"}')).replace(b".000Z", b".00%bZ" % byte)
    source = write("runtime.log", WHOLE * lines + odd + AFTER)
    assert [(event.line, event.ts) for event in read(source) if event.kind == "compact"][-2:] == [
        (lines + 1, None),
        (lines + 2, 1788336003000),
    ]
    assert _listed(source) == [(lines + 1, "a time that is none", True)]
    pieces = list(writers()["pilotdeck-log"].pieces(source, None))
    assert [piece.value.get("stamp") for piece in pieces][-2:] == [None, "2026-09-02T08:00:03.000Z"]


@pytest.mark.parametrize(
    ("said", "session"),
    [
        pytest.param(b'"web:\\q"', "web:\ufffdq", id="escape"),
        pytest.param(b'"web:\\u12"', "web:\ufffd12", id="hexadecimal"),
        pytest.param(b'"web:\x01"', "web:\x01", id="control character"),
        pytest.param(b'"web:\\\\q\\u0021"', "web:\\q!", id="sound"),
    ],
)
def test_a_torn_attempt_with_a_bad_escape_is_read_as_far_as_it_goes(write: Write, said: bytes, session: str) -> None:
    source = write("runtime.log", WHOLE + START % (2, b'"sessionId":%s,"turnId":"u","messages":' % said) + AFTER)
    assert _starts(list(read(source))) == [(1, "s"), (2, session), (3, "s")]
    ((line, reason, salvaged),) = _listed(source)
    assert (line, reason.partition(":")[0], salvaged) == (2, "torn or broken JSON", True)
    pieces = list(writers()["pilotdeck-log"].pieces(source, None))
    assert [piece.value["data"].get("sessionId") for piece in pieces] == ["s", session, "s"]


def test_a_torn_attempt_with_a_bad_escape_is_given_to_the_session_of_its_turn(write: Write) -> None:
    source = write("runtime.log", WHOLE + START % (2, b'"sessionId":"\\q","turnId":"t","messages":'))
    assert _starts(list(read(source))) == [(1, "s"), (2, "s")]


def test_a_count_of_5000_digits_in_a_torn_attempt_is_unknown_and_captured(write: Write) -> None:
    torn = PREFIX % 2 + b'full_compaction_no_summary {"sessionId":"s","preTokens":%s,"x\n' % (b"9" * 5000)
    source = write("runtime.log", WHOLE + torn)
    assert [(event.line, event.before) for event in read(source) if event.kind == "compacted"] == [(2, None)]
    pieces = list(writers()["pilotdeck-log"].pieces(source, None))
    assert [piece.value["data"].get("preTokens") for piece in pieces] == [None, 1 << 53]


def test_a_duration_of_5000_digits_costs_an_openclaw_log_no_other_line(write: Write) -> None:
    lines = (
        f"compaction retry aggregate timeout ({'9' * 5000}ms): proceeding with pre-compaction state",
        "compaction retry aggregate timeout (1000ms): proceeding with pre-compaction state",
    )
    data = "".join(f"2026-09-01T10:00:0{at}.000Z [agent/embedded] {line}\n" for at, line in enumerate(lines))
    assert {event.line for event in read(write("openclaw.log", data.encode()))} == {1, 2}


@pytest.mark.parametrize("digits", [100, 5000])
def test_a_count_of_many_digits_is_unknown_and_costs_no_other_field_of_its_record(write: Write, digits: int) -> None:
    header = b'{"type":"session","version":3,"id":"s","timestamp":"2026-08-01T09:00:00.000Z","cwd":"/x"}\n'
    reply = (
        b'{"type":"message","id":"a","parentId":null,"timestamp":"2026-08-01T09:00:01.000Z","message":{"role":'
        b'"assistant","content":[{"type":"text","text":"x"}],"usage":{"input":%s,"output":7},"stopReason":"stop"}}\n'
    )
    source = write("s.jsonl", header + reply % (b"9" * digits))
    (event,) = [event for event in read(source) if event.kind == "reply"]
    assert (event.input, event.output, event.stop) == (None, 7, "done")
    ((line, reason, salvaged),) = _listed(source)
    assert (line, salvaged) == (2, True)
    assert reason.startswith("field message.usage.input ")
