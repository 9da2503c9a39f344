import json
from pathlib import Path

import pytest

from forensics.scan import Options, scan_file


def test_a_total_that_the_format_shows_is_0_where_there_was_none(samples: Path) -> None:
    (session,) = scan_file(samples / "incidents" / "atomic-1690" / "healthy.jsonl", "healthy.jsonl", Options()).sessions
    assert (session.length_stops, session.aborted, session.manual_continues) == (0, 0, 0)
    assert session.errors == {"overloaded": 1}


@pytest.mark.parametrize("name", ["prompts", "replies", "errors", "length_stops", "aborted", "manual_continues"])
def test_a_total_that_a_log_cannot_show_is_unknown_and_never_0(samples: Path, name: str) -> None:
    result = scan_file(samples / "incidents" / "pilotdeck" / "runtime.log", "runtime.log", Options())
    assert [getattr(session, name) for session in result.sessions] == [None, None, None]


def test_the_size_of_a_refused_request_is_kept_apart_from_the_context(tmp_path: Path) -> None:
    rows = [
        {"kind": "reply", "session": "s", "context": 9849, "cap": 16_000, "stop": "stop"},
        {"kind": "reply", "session": "s", "stop": "error", "fault": "overflow", "estimate": 17_000},
        {"kind": "reply", "session": "s", "stop": "error", "fault": "overflow", "estimate": 18_080},
        {"kind": "reply", "session": "s", "stop": "error", "fault": "overflow"},
    ]
    path = tmp_path / "plain.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (one,) = scan_file(path, "plain.jsonl", Options()).sessions
    assert (one.peak_context, one.refused_context) == (9849, 18_080)
    path.write_text(f"{json.dumps(rows[0])}\n")
    assert scan_file(path, "plain.jsonl", Options()).sessions[0].refused_context is None
