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
