from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise

EventsOf = Callable[[Path], list[Event]]


@pytest.mark.parametrize(
    "text",
    [
        "INFO  this program started\nERROR it stopped\n",
        "INFO  2026-04-02T08:30:00 +1ms service=frobnicator started\n",
        "timestamp=yesterday level=low\n",
        "a log said:\n> timestamp=2026-08-15T09:00:00.000Z level=INFO run=1 message=loop\nand more\nand more\n",
    ],
)
def test_another_programs_log_is_not_recognised(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.log"
    path.write_text(text)
    with pytest.raises(NotRecognised):
        recognise(path)


def test_the_new_format(samples: Path, events_of: EventsOf) -> None:
    events = events_of(samples / "parsers" / "opencode_log.log")
    assert [
        (event.line, event.kind, event.stop or event.outcome or event.trigger, event.fault) for event in events
    ] == [
        (2, "session", None, None),
        (3, "prompt", None, None),
        (6, "reply", "tool", None),
        (10, "reply", "error", "rate-limit"),
        (11, "retry", None, None),
        (11, "reply", "error", "unknown"),
        (12, "retry", None, None),
        (12, "reply", "done", None),
        (15, "prompt", None, None),
        (19, "reply", "error", "overflow"),
        (22, "compact", "overflow", None),
        (23, "compacted", "unknown", None),
        (25, "reply", "done", None),
        (28, "compact", "threshold", None),
        (30, "compacted", "failed", "overflow"),
        (31, "prompt", None, None),
        (33, "reply", None, None),
    ]
    assert {event.session for event in events} == {"ses_05e6a3000001meadow"}
    assert (events[0].version, events[0].parent) == ("1.18.4", None)
    assert (events[1].origin, events[1].ts) == ("unknown", 1786784400200)
    assert (events[9].record, events[9].cap, events[9].estimate) == ("msg_03", 64000, 70123)
    assert [event.requests for event in events if event.kind == "compacted"] == [1, 1]


def test_the_old_format_with_an_error_over_two_lines(samples: Path, events_of: EventsOf) -> None:
    events = events_of(samples / "parsers" / "opencode_log_old.log")
    assert [
        (event.line, event.kind, event.stop or event.outcome or event.trigger, event.fault) for event in events
    ] == [
        (3, "session", None, None),
        (4, "prompt", None, None),
        (9, "reply", "error", "overflow"),
        (14, "compact", "overflow", None),
        (15, "compacted", "unknown", None),
        (17, "reply", "done", None),
    ]
    assert (events[0].version, events[0].ts) == ("1.2.27", 1775118601000)
    assert events[2].error is not None
    assert events[2].error.endswith("resulted in 70123 tokens.\nTry a shorter message.")


def test_the_words_of_a_request_are_not_taken_for_its_error(samples: Path, tmp_path: Path, events_of: EventsOf) -> None:
    """The old format logs the whole request before the provider's answer; the sample's speaks of a rate limit."""
    lines = (samples / "parsers" / "opencode_log_old.log").read_text(encoding="utf-8").split("\n")
    path = tmp_path / "old.log"
    path.write_text("\n".join(lines[:8]) + "\n", encoding="utf-8")
    reply = events_of(path)[-1]
    assert (reply.line, reply.fault) == (8, "overflow")
    assert "rate limit" not in (reply.error or "")


def test_nul_bytes_torn_and_foreign_lines_cost_themselves(samples: Path, tmp_path: Path) -> None:
    data = (samples / "parsers" / "opencode_log.log").read_bytes().replace(b"\n", b"\r\n")
    path = tmp_path / "damaged.log"
    path.write_bytes(
        b"captured output\r\n" + data.replace(b"mode=primary\r\n", b"mode=primary\0\r\n") + b"timestamp=2026 loop"
    )
    source = Source(path)
    events = list(read(source))
    assert [event.line for event in events if event.kind == "compact"] == [23, 29]
    assert path.read_bytes()[source.malformed[-1].offset :] == b"timestamp=2026 loop"
    nuls = [number for number, line in enumerate(path.read_bytes().split(b"\n"), 1) if b"\0" in line]
    assert [(one.line, one.reason, one.salvaged) for one in source.malformed] == [
        (1, "before the first log line", False),
        *((number, "NUL bytes", True) for number in nuls),
        (35, "torn log line", False),
    ]


def test_a_prompt_that_says_so_is_no_loop(tmp_path: Path, events_of: EventsOf) -> None:
    path = tmp_path / "old.log"
    path.write_text(
        "INFO  2026-04-02T08:30:00 +1ms service=default version=1.2.27 args=[] opencode\n"
        "INFO  2026-04-02T08:30:01 +1ms service=permission pattern=say sessionID=ses_1 evaluated\n"
        "INFO  2026-04-02T08:30:02 +1ms service=bus type=message.updated publishing\nfor each loop\n"
    )
    assert events_of(path) == []


def test_child_sessions_are_kept_apart(tmp_path: Path, events_of: EventsOf) -> None:
    def line(message: str, session: str, more: str = "") -> str:
        return (
            f"timestamp=2026-08-15T09:00:00.000Z level=INFO run=1a2b3c4d message={message} session.id={session}{more}\n"
        )

    stream = " small=false agent=build mode=primary"
    path = tmp_path / "new.log"
    path.write_text(
        "timestamp=2026-08-15T09:00:00.000Z level=INFO run=1a2b3c4d message=created"
        " id=ses_2 version=1.18.4 parentID=ses_1\n"
        + line("loop", "ses_1", " step=0")
        + line("stream", "ses_1", stream)
        + line("loop", "ses_2", " step=0")
        + line("stream", "ses_2", stream)
        + line('"exiting loop"', "ses_2")
        + line("loop", "ses_1", " step=1")
        + line("stream", "ses_1", stream)
    )
    told = [(event.session, event.kind, event.stop) for event in events_of(path)]
    assert told == [
        ("ses_2", "session", None),
        ("ses_1", "session", None),
        ("ses_1", "prompt", None),
        ("ses_2", "prompt", None),
        ("ses_2", "reply", "done"),
        ("ses_1", "reply", "tool"),
        ("ses_1", "reply", None),
    ]
    assert events_of(path)[0].parent == "ses_1"


@pytest.mark.parametrize("name", ["opencode_log.log", "opencode_log_old.log"])
def test_garbage_between_the_lines_is_listed_and_costs_no_record(
    samples: Path, tmp_path: Path, events_of: EventsOf, name: str
) -> None:
    lines = (samples / "parsers" / name).read_bytes().splitlines(keepends=True)
    path = tmp_path / "damaged.log"
    garbage = [b"\0" * 48 + b"\n", b"\xff\xfegarbage\n", b"\0\0" + lines[2], b"\xef\xbb\xbf" + lines[0]]
    path.write_bytes(b"".join([garbage[3], lines[1], garbage[2], garbage[0], *lines[3:5], garbage[1], *lines[5:]]))
    source = Source(path)
    events = list(read(source))
    assert [(event.kind, event.stop) for event in events] == [
        (event.kind, event.stop) for event in events_of(samples / "parsers" / name)
    ]
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [
        (3, "NUL bytes", True),
        (4, "NUL bytes", False),
        (7, "invalid UTF-8 at byte 0 of the line", False),
    ]
    assert path.read_bytes()[source.malformed[2].offset :].startswith(b"\xff\xfe")


def test_a_time_that_is_none_is_unknown_and_its_line_listed(samples: Path, tmp_path: Path) -> None:
    lines = (samples / "parsers" / "opencode_log.log").read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if " message=loop " in line)
    lines[at] = "timestamp=2026-13-45T99:00:00.000Z" + lines[at][len("timestamp=2026-08-15T09:00:00.000Z") :]
    path = tmp_path / "opencode.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = Source(path)
    list(read(source))
    assert (at + 1, "a time that is none") in [(bad.line, bad.reason) for bad in source.malformed]


FOREIGN = b"npm warn deprecated foo@1.0 session.id=ses_other\n"


@pytest.mark.parametrize("name", ["opencode_log.log", "opencode_log_old.log"])
def test_a_line_of_another_program_costs_no_record_before_it_wherever_it_stands(
    samples: Path, tmp_path: Path, name: str
) -> None:
    def told(lines: list[bytes]) -> list[tuple[object, ...]]:
        path = tmp_path / name
        path.write_bytes(b"".join(lines))
        source = Source(path)
        rows = [
            (row.kind, row.session, row.stop, row.outcome, row.fault, row.error, row.record) for row in read(source)
        ]
        return [*rows, *((bad.reason, bad.salvaged) for bad in source.malformed)]

    lines = (samples / "parsers" / name).read_bytes().splitlines(keepends=True)
    heads = [at for at, line in enumerate(lines) if line.startswith((b"INFO", b"ERROR", b"timestamp="))] + [len(lines)]
    whole = told(lines)
    for at in heads[1:]:
        assert told([*lines[:at], FOREIGN, *lines[at:]]) == whole


def test_a_line_of_another_program_is_listed_when_it_is_damaged(samples: Path, tmp_path: Path) -> None:
    data = (samples / "parsers" / "opencode_log_old.log").read_bytes()
    path = tmp_path / "old.log"
    path.write_bytes(data + FOREIGN + b"npm \xff\n")
    source = Source(path)
    list(read(source))
    last = source.malformed[-1]
    assert (last.line, last.reason, last.salvaged) == (source.lines, "invalid UTF-8 at byte 4 of the line", False)


def test_a_request_that_was_made_again_has_no_error_that_nobody_said(samples: Path, events_of: EventsOf) -> None:
    (reply,) = [event for event in events_of(samples / "parsers" / "opencode_log.log") if event.text is not None]
    assert (reply.line, reply.stop, reply.fault, reply.error) == (11, "error", "unknown", None)
    assert reply.text == "the request was made again; the log does not say why"
