from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.events import Event
from forensics.parse import NotRecognised, Source, read, recognise
from forensics.timeline import File


def test_an_empty_file_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    with pytest.raises(NotRecognised, match="empty file"):
        recognise(path)


def test_a_row_with_a_foreign_key_is_another_format(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"kind":"reply","payload":{}}\n')
    with pytest.raises(NotRecognised, match="JSON lines with keys kind, payload"):
        recognise(path)


def test_the_sample_reads_line_by_line(samples: Path, events_of: Callable[[Path], list[Event]]) -> None:
    events = events_of(samples / "parsers" / "plain.jsonl")
    assert [(event.line, event.kind) for event in events] == [
        (1, "session"),
        (2, "prompt"),
        (3, "reply"),
        (4, "tool"),
        (5, "compact"),
        (6, "compacted"),
        (7, "reply"),
    ]
    assert events[0].ts == 1782900000000
    assert events[5].before == 1200


def test_a_session_without_a_session_row_takes_its_agent_from_the_first_row(
    tmp_path: Path, file_of: Callable[[Path], File]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"kind":"prompt","session":"s","agent":"demo","origin":"human"}\n')
    (session,) = file_of(path).sessions
    assert (session.agent, session.prompts) == ("demo", 1)


def test_a_row_without_a_kind_and_a_prompt_without_an_origin_are_told(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(
        '{"kind":"session","session":"s"}\n'
        '{"session":"s","text":"no \\"kind\\" here"}\n'
        '{"kind":"bogus","session":"s"}\n'
        '{"kind":"prompt","session":"s","origin":"human"}\n'
        '{"kind":"prompt","session":"s"}\n'
        '{"kind":"prompt","session":"s","origin":"unknown"}\n'
    )
    source = Source(path, "s.jsonl")
    events = list(read(source))
    assert [event.kind for event in events] == ["session", "note", "note", "prompt", "prompt", "prompt"]
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [
        (3, "field kind is none of the words it may be", True),
        (2, "field kind is missing", True),
    ]
    assert source.notes == ["1 prompt without an origin is not counted as a person's"]


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ('"ts":1e400', "field ts is no time from 2015 to 2100"),
        ('"ts":-1', "field ts is no time from 2015 to 2100"),
        ('"ts":[]', "field ts is not int | float | str but array"),
        ('"ts":"yesterday"', "a time that is none"),
        ('"ts":"0001-01-01T00:00:00Z"', "ts is no time from 2015 to 2100"),
        ('"sent":"2101-01-01T00:00:00Z"', "sent is no time from 2015 to 2100"),
        ('"context":-1', "context is negative"),
        (f'"after":{"9" * 400}', "after is 2^53 or more"),
        ('"cost":1e400', "field cost is not float below 2^53"),
        ('"stop":"weird"', "field stop is none of the words it may be"),
        ('"outcome":"banana"', "field outcome is none of the words it may be"),
        ('"fault":7', "field fault is not str but int"),
        ('"cap_source":"guess"', "field cap_source is none of the words it may be"),
    ],
)
def test_a_value_that_cannot_be_is_unknown_and_its_line_listed(tmp_path: Path, field: str, reason: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"kind":"reply","session":"s"}}\n{{"kind":"reply","session":"s",{field}}}\n')
    source = Source(path)
    assert list(read(source)) == [Event(kind="reply", session="s", line=1), Event(kind="reply", session="s", line=2)]
    (bad,) = source.malformed
    assert (bad.line, bad.offset, bad.salvaged) == (2, 31, True)
    assert bad.reason == reason
