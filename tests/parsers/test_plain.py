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
