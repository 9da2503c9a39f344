import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from forensics.scan import Options, scan_file
from forensics.summary import summarise


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


def _log(*lines: str) -> str:
    time = "timestamp=2026-11-30T11:44:18.{at:03}Z level=INFO run={run} message="
    return "".join(f"{time.format(at=at, run=line[:8])}{line[9:]}\n" for at, line in enumerate(lines))


RUN = (
    'aaaaaaaa "creating instance" directory=/x',
    "aaaaaaaa loop session.id=ses_1 step=0",
    "aaaaaaaa stream providerID=p modelID=m session.id=ses_1 small=false agent=build mode=primary",
)


def test_replies_of_a_log_are_unknown_where_a_run_shows_none_and_errors_it_does_not_show_always(tmp_path: Path) -> None:
    """opencode loses the last lines that a process logs: "3 replies" of 7, and no error of 3."""
    path = tmp_path / "opencode.log"
    path.write_text(_log(*RUN))
    (one,) = scan_file(path, "opencode.log", Options()).sessions
    assert (one.replies, one.errors) == (1, None)
    path.write_text(_log(*RUN, *(line.replace("aaaaaaaa", "bbbbbbbb") for line in RUN[:2])))
    result = scan_file(path, "opencode.log", Options())
    assert [(one.replies, one.errors) for one in result.sessions] == [(None, None)]
    assert result.input is not None
    assert result.input.notes[0] == "1 run shows no request: how many replies came is unknown"


def _chat(*rows: Mapping[str, object]) -> str:
    common = {"sessionId": "s", "turnId": "t", "createdAt": "2026-07-07T10:00:00.000Z"}
    return "".join(f"{json.dumps({**common, 'sequence': at, **row})}\n" for at, row in enumerate(rows))


ASKED = {"type": "accepted_input", "messages": [{"role": "user", "content": [{"type": "text", "text": "Go"}]}]}
BUDGET = {"type": "agent_status_message", "event": "context_budget", "detail": {"type": "context_budget", "used": 100}}


def test_compactions_are_unknown_where_the_build_records_none(tmp_path: Path) -> None:
    """Builds of July write neither boundary nor log line: three summaries that were made came as 0."""
    path = tmp_path / "chat.jsonl"
    path.write_text(_chat(ASKED))
    (one,) = scan_file(path, "chat.jsonl", Options()).sessions
    assert {getattr(one.compactions, name) for name in one.compactions.__struct_fields__} == {None}
    assert one.compactions_per_prompt is None
    path.write_text(_chat(ASKED, BUDGET))
    (one,) = scan_file(path, "chat.jsonl", Options()).sessions
    assert (one.compactions.attempts, one.compactions.summaries, one.compactions_per_prompt) == (0, 0, 0)


def test_what_no_file_of_a_recorded_session_shows_is_unknown(corpus: Path) -> None:
    folder = corpus / "recorded" / "pilotdeck-974404a1-2026-07-07" / "a_healthy"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    total = summarise([scan_file(path, path.as_posix(), Options()) for path in files]).summary
    assert (total.prompts, total.replies) == (5, 8)
    assert (total.compactions.attempts, total.compactions.summaries) == (None, None)
    for name in ("d_length_continue", "e_underflow_continue_responses"):
        path = corpus / "recorded" / "opencode-1.18.33" / name / "log" / "opencode.log"
        (one,) = scan_file(path, path.name, Options()).sessions
        assert (one.replies, one.errors) == (None, None)
