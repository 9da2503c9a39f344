import multiprocessing
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forensics.parsers._pilotdeck_halves
import forensics.parsers._pilotdeck_lines
from forensics.attempts import attempts
from forensics.events import Event
from forensics.parse import Head, Malformed, Source, parsers, read, recognise
from forensics.parsers._pilotdeck_clock import Clock
from forensics.timeline import File

ADA = "web:s_ada"
GRACE = "cli:project=/home/grace/проект:default"
Events = Callable[[Path], list[Event]]
Write = Callable[[bytes], Path]
SNAPSHOT = '{"tokens":30000,"maxContextTokens":32000}'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(data: bytes) -> Path:
        path = tmp_path / "runtime.log"
        path.write_bytes(data)
        return path

    return made


def _stage(stage: str, second: float | None = None, turn: str = "t", **details: str) -> str:
    """Give a log line; `details` are JSON texts."""
    fields = "".join(f',"{name}":{value}' for name, value in details.items())
    minute, rest = divmod(second or 0, 60)
    stamp = "" if second is None else f"2026-09-02T08:{int(minute):02}:{rest:06.3f}Z [gateway] "
    return f'{stamp}[context:auto-compact] {stage} {{"sessionId":"s","turnId":"{turn}"{fields}}}\n'


def _started(second: float | None = None) -> str:
    return _stage("full_compaction_started", second, snapshot=SNAPSHOT)


def _no_summary(second: float | None = None, error: str = "Summary model returned empty content") -> str:
    return _stage("full_compaction_no_summary", second, error=f'"{error}"', preTokens="25000")


def _ends(events: list[Event]) -> list[Event]:
    return [event for event in events if event.kind == "compacted"]


def _requests(write: Write, *lines: str) -> list[int | None]:
    return [end.requests for end in _ends(list(read(Source(write("".join(lines).encode())))))]


@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"session","id":"x"}\n{"type":"message","text":"\\n[context:auto-compact] policy_skip {}"}\n',
        b"2026-05-06T10:00:00.000Z [gateway] listening on ws://127.0.0.1:18789\n",
        b"we saw [context:auto-compact] policy_skip in the log\n",
        b"the gateway exited with an error\n",
    ],
)
def test_what_only_speaks_of_such_a_log_is_not_one(write: Write, text: bytes) -> None:
    assert not parsers()["pilotdeck-log"].recognises(Head(write(text)))


def test_a_log_without_compaction_lines_shows_no_compaction_at_all(write: Write) -> None:
    source = Source(write(b"PilotDeck server listening: http://127.0.0.1:18789\nWebSocket: ws://127.0.0.1:18789/ws\n"))
    assert [(row.line, row.kind, row.session) for row in read(source)] == [(1, "note", None)]
    assert (source.failures, source.lines, source.records, source.malformed) == ("no", 2, 1, [])


def test_the_sample_line_by_line(samples: Path) -> None:
    source = Source(samples / "parsers" / "pilotdeck_log.log")
    rows = [(row.line, row.kind, row.session) for row in read(source)]
    assert recognise(source.path).name == "pilotdeck-log"
    assert rows == [
        (2, "spawn", None),
        (3, "note", None),
        (5, "session", ADA),
        (5, "budget", ADA),
        (6, "session", GRACE),
        (6, "budget", GRACE),
        (7, "retry", None),
        (8, "budget", ADA),
        (9, "compact", ADA),
        (10, "budget", GRACE),
        (14, "compact", GRACE),
        (15, "compacted", ADA),
        (16, "compacted", GRACE),
        (17, "budget", GRACE),
        (18, "budget", GRACE),
        (19, "note", GRACE),
        (20, "note", None),
        (22, "compact", GRACE),
        (23, "compacted", GRACE),
        (24, "compact", GRACE),
        (25, "compacted", GRACE),
        (26, "compact", GRACE),
        (27, "note", GRACE),
        (28, "budget", GRACE),
        (29, "compacted", GRACE),
        (30, "compact", ADA),
        (31, "note", None),
        (32, "exit", None),
        (33, "spawn", None),
        (34, "exit", None),
        (35, "note", None),
        (36, "spawn", None),
        (37, "note", None),
    ]
    assert (source.lines, source.records, source.failures) == (38, 31, None)
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [
        (25, "NUL bytes; invalid UTF-8", True),
        (38, "torn or broken JSON: Unterminated string", False),
    ]


def test_the_sample_s_attempts(samples: Path, file_of: Callable[[Path], File]) -> None:
    ada, grace = file_of(samples / "parsers" / "pilotdeck_log.log").sessions
    assert [(one.outcome, one.trigger, one.before, one.after) for one in attempts(ada.events)] == [
        ("summary", "threshold", 21000, 5600),
        ("unknown", "threshold", None, None),
    ]
    ends = [one.end for one in attempts(grace.events) if one.end]
    assert [(end.line, end.outcome, end.fault, end.requests, end.messages) for end in ends] == [
        (16, "no-summary", "empty-summary", 1, 24100),
        (23, "no-summary", "empty-summary", 0, 24900),
        (25, "no-summary", "unknown", 1, 26000),
        (29, "summary", None, 1, 26500),
    ]


def test_a_malformed_line_is_listed_with_its_place_in_the_file(samples: Path) -> None:
    source = Source(samples / "parsers" / "pilotdeck_log.log")
    list(read(source))
    data = source.path.read_bytes()
    for bad in source.malformed:
        assert data[: bad.offset].count(b"\n") + 1 == bad.line
        assert data[bad.offset - 1 : bad.offset] == b"\n"


def test_a_budget_row_keeps_the_reported_prompt_apart_from_the_context(samples: Path, events_of: Events) -> None:
    rows = {row.line: row for row in events_of(samples / "parsers" / "pilotdeck_log.log") if row.kind == "budget"}
    first, calibrated = rows[5], rows[6]
    assert (first.context, first.cap, first.cap_source, first.total, first.estimate) == (
        9000,
        32000,
        "recorded",
        None,
        None,
    )
    assert (calibrated.context, calibrated.total, calibrated.estimate) == (12000, 11800, 11500)
    assert first.ts == 1788336010000


def test_an_exit_says_its_code_and_whether_the_gateway_announced_it(samples: Path, events_of: Events) -> None:
    host = [row for row in events_of(samples / "parsers" / "pilotdeck_log.log") if row.session is None]
    assert [(row.kind, row.code, row.tool) for row in host if row.kind in {"spawn", "exit"}] == [
        ("spawn", None, "gateway"),
        ("exit", 1, "gateway"),
        ("spawn", None, "gateway"),
        ("exit", 1, "gateway"),
        ("spawn", None, "gateway"),
    ]
    told = next(row for row in host if row.line == 31)
    assert told.text is not None
    assert "shutdown snapshot" in told.text


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("[runtime-supervisor] Gateway exited code=1 signal=null", 1),
        ("2026-09-02T08:00:00.000Z [gateway] exited code=null signal=SIGKILL", None),
        ("2026-09-02T08:00:00.000Z [gateway] exit code=134", 134),
        ("Gateway exited (exit code=1)", 1),
        ("\x1b[33m[gateway]\x1b[0m exited code=0 signal=null", 0),
    ],
)
def test_an_exit_is_known_in_every_wording(write: Write, line: str, code: int | None) -> None:
    start = "PilotDeck server listening: http://127.0.0.1:18789\n"
    rows = list(read(Source(write(f"{start}{line}\n".encode()))))
    assert [(row.line, row.code, row.text is not None) for row in rows if row.kind == "exit"] == [(2, code, True)]


def test_an_exit_told_twice_is_one_exit(write: Write) -> None:
    text = "[gateway] exited code=1 signal=null\n[runtime-supervisor] Gateway exited code=1 signal=null\n"
    rows = list(read(Source(write(text.encode()))))
    assert [(row.line, row.kind) for row in rows] == [(1, "exit"), (2, "note")]


def test_an_older_host_s_start_marker_has_a_time_of_its_own(write: Write) -> None:
    text = "=== 2026-05-20T07:00:00.500Z spawn gateway /opt/deck/main.js (port=18789) ===\n"
    (row,) = read(Source(write(text.encode())))
    assert (row.kind, row.ts) == ("spawn", 1779260400500)


def test_a_repeat_in_the_cooldown_asks_no_model(write: Write) -> None:
    boot = "2026-09-02T08:00:00.000Z [gateway] spawn /opt/pilotdeck server\n"
    rounds = [_started(1), _no_summary(20), _started(30), _no_summary(30.02), _started(90), _no_summary(95)]
    assert _requests(write, boot, *rounds) == [1, 0, 1]


def test_another_error_is_another_call_and_a_slow_repeat_is_undecided(write: Write) -> None:
    rounds = [
        _started(1),
        _no_summary(20),
        _started(30),
        _no_summary(30.1, "terminated"),
        _started(40),
        _no_summary(55),
    ]
    assert _requests(write, *rounds) == [1, 1, 1]
    assert _requests(write, _started(1), _no_summary(20), _started(30), _no_summary(45)) == [1, None]


def test_a_restart_forgets_the_cooldown(write: Write) -> None:
    respawn = "2026-09-02T08:00:25.000Z [gateway] spawn /opt/pilotdeck server\n"
    rounds = [_started(1), _no_summary(20), respawn, _started(30), _no_summary(30.02)]
    assert _requests(write, *rounds) == [1, 1]


def test_without_times_only_the_first_failure_after_a_start_is_surely_a_call(write: Write) -> None:
    boot = "PilotDeck server listening: http://127.0.0.1:18789\n"
    rounds = [_started(), _no_summary(), _started(), _no_summary()]
    assert _requests(write, boot, *rounds) == [1, None]
    assert _requests(write, *rounds) == [None, None]


def test_words_for_the_cooldown_itself_are_a_repeat(write: Write) -> None:
    assert _requests(write, _started(1), _no_summary(30, "context summary is in cooldown")) == [0]


def test_a_later_tier_that_made_a_summary_overrules_the_failure(write: Write) -> None:
    text = (
        _started(1)
        + _stage("full_compaction_no_summary", 1, reason='"no_summarizable_live_turns"', preTokens="25000")
        + _stage("emergency_summary", 9, snapshot=SNAPSHOT, cacheReset="true")
        + _stage(
            "full_compaction_completed",
            9,
            snapshot=SNAPSHOT,
            summarySucceeded="true",
            preTokens="25000",
            postTokens="900",
        )
    )
    rows = list(read(Source(write(text.encode()))))
    assert [(row.line, row.kind) for row in rows[1:]] == [(1, "compact"), (2, "note"), (3, "budget"), (4, "compacted")]
    assert (rows[-1].outcome, rows[-1].after, rows[-1].requests) == ("summary", 900, 1)


def test_a_cut_without_a_summary_where_none_could_be_made_is_dropped(write: Write) -> None:
    text = (
        _started(1)
        + _stage("full_compaction_no_summary", 1, reason='"no_summarizable_live_turns"', preTokens="25000")
        + _stage("emergency_head_truncate", 9, snapshot=SNAPSHOT, keepRatio="0.1")
        + _stage("full_compaction_completed", 9, snapshot=SNAPSHOT, summarySucceeded="false", preTokens="25000")
    )
    (end,) = _ends(list(read(Source(write(text.encode())))))
    assert (end.line, end.outcome, end.requests, end.context) == (4, "dropped", None, 30000)


def test_a_failure_that_nothing_follows_stands_when_the_session_goes_on_or_the_log_ends(write: Write) -> None:
    text = _started(1) + _no_summary(9) + _stage("policy_skip", 9, snapshot=SNAPSHOT)
    assert [row.kind for row in read(Source(write(text.encode())))][1:] == ["compact", "compacted", "budget"]
    text = _started(1) + _stage("full_compaction_no_summary", 1, reason='"no_summarizable_live_turns"')
    (end,) = _ends(list(read(Source(write(text.encode())))))
    assert (end.outcome, end.requests) == ("skipped", 0)


def test_messages_cut_after_the_summary_was_measured_leave_its_size_unknown(write: Write) -> None:
    done = _stage(
        "full_compaction_completed", 9, snapshot=SNAPSHOT, summarySucceeded="true", preTokens="9", postTokens="8"
    )
    for applied, after in (("true", None), ("false", 8)):
        snip = _stage("post_summary_snip", 9, applied=applied, snapshot=SNAPSHOT)
        (end,) = _ends(list(read(Source(write((_started(1) + snip + done).encode())))))
        assert (end.after, end.before) == (after, 9)


def test_an_early_build_s_fallback_text_is_no_summary(write: Write) -> None:
    text = _started(1) + _stage(
        "full_compaction_completed", 9, snapshot=SNAPSHOT, summarySucceeded="false", preTokens="9"
    )
    (end,) = _ends(list(read(Source(write(text.encode())))))
    assert (end.outcome, end.line) == ("no-summary", 2)


def test_an_early_build_s_relaxed_retry_is_a_second_call(write: Write) -> None:
    retry = _stage("full_compaction_relaxed_retry", 8, snapshot=SNAPSHOT, keepTailRatio="0.05")
    failed = _stage("full_compaction_relaxed_no_summary", 30, error='"terminated"', preTokens="9")
    (end,) = _ends(list(read(Source(write((_started(1) + retry + failed).encode())))))
    assert (end.outcome, end.requests, end.fault) == ("no-summary", 2, "transport")


def test_a_thrown_error_ends_the_attempt_as_failed_or_aborted(write: Write) -> None:
    for words, outcome in (("fetch failed", "failed"), ("This operation was aborted", "aborted")):
        thrown = f"[agent:auto-compact] model-error-recovery failed sessionId=s turnId=t: {words}\n"
        (end,) = _ends(list(read(Source(write((_started() + thrown).encode())))))
        assert (end.outcome, end.trigger, end.error) == (outcome, "overflow", words)


def test_a_thrown_error_outside_an_attempt_is_a_note(write: Write) -> None:
    text = "[agent:auto-compact] pre-routing failed sessionId=s turnId=t: tokenizer broke\n"
    rows = list(read(Source(write(text.encode()))))
    assert [(row.kind, row.session, row.error) for row in rows][1:] == [("note", "s", "tokenizer broke")]


def test_a_stage_that_no_known_build_writes_is_counted_and_its_budget_kept(write: Write) -> None:
    source = Source(write(_stage("quantum_compaction", snapshot=SNAPSHOT).encode()))
    rows = list(read(source))
    assert (rows[-1].kind, rows[-1].context, dict(source.unknown)) == ("budget", 30000, {"quantum_compaction": 1})


def test_a_torn_end_of_an_attempt_still_ends_it(write: Write) -> None:
    torn = _no_summary(20)[:-20].encode() + b"\n"
    source = Source(write(_started(1).encode() + torn + b"2026-09-02T08:01:00.000Z [gateway] [router] decision: x\n"))
    (end,) = _ends(list(read(source)))
    assert (end.line, end.outcome, end.session) == (2, "no-summary", "s")
    assert [(bad.line, bad.salvaged) for bad in source.malformed] == [(2, True)]


@pytest.mark.parametrize(
    ("left", "outcome", "words"),
    [
        ('"error":"Summary model output wa', "no-summary", "Summary model output wa"),
        ('"error":"Summary model\\', "no-summary", "Summary model"),
        ('"err', "unknown", None),
        ('"reason":"no_summarizable_live_turns","preT', "skipped", None),
    ],
)
def test_an_end_torn_in_its_error_is_no_skipped_attempt(
    write: Write, left: str, outcome: str, words: str | None
) -> None:
    """Ten attempts that made no summary were once five, and five that had nothing to do."""
    torn = _no_summary(20).split('"error"')[0] + left + "\n"
    log = _started(1) + torn + "2026-09-02T08:01:00.000Z [gateway] [router] decision: x\n"
    (end,) = _ends(list(read(Source(write(log.encode())))))
    assert (end.line, end.outcome, end.error) == (2, outcome, words)


def test_fractions_of_tokens_do_not_cost_the_budget(write: Write) -> None:
    text = _stage("policy_skip", snapshot='{"tokens":14548.5,"maxContextTokens":17000}')
    rows = list(read(Source(write(text.encode()))))
    assert (rows[-1].context, rows[-1].cap) == (14548, 17000)


def _plain(path: Path) -> tuple[list[object], int | None, int]:
    source = Source(path)
    columns = ("line", "kind", "session", "ts", "context", "outcome", "code")
    rows: list[object] = [[getattr(row, name) for name in columns] for row in read(source)]
    return rows, source.lines, len(source.malformed)


@given(st.integers(min_value=1, max_value=4000))
@settings(max_examples=40, deadline=None)
def test_how_the_file_falls_into_blocks_changes_nothing(block: int) -> None:
    path = Path(__file__).parent.parent.parent / "samples" / "parsers" / "pilotdeck_log.log"
    whole = _plain(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forensics.parsers._pilotdeck_lines, "_BLOCK_BYTES", block)
        assert _plain(path) == whole


@given(st.lists(st.sampled_from(range(38)), max_size=60), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_block_that_the_host_stamped_reads_the_same_by_its_short_way(
    tmp_path_factory: pytest.TempPathFactory, picked: list[int], torn: bool
) -> None:
    sample = Path(__file__).parent.parent.parent / "samples" / "parsers" / "pilotdeck_log.log"
    lines = sample.read_bytes().split(b"\r\n")
    path = tmp_path_factory.mktemp("log") / "runtime.log"
    end = b"" if torn else b"\r\n"
    path.write_bytes(b"\r\n".join([lines[0], *(lines[at] for at in picked)]) + end)
    slow = _plain(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forensics.parsers._pilotdeck_lines, "_HOSTED_BYTES", 1)
        assert _plain(path) == slow


ODD = [
    b'2026-09-02T08:00:00.0x0Z [gateway] [context:auto-compact] policy_skip {"sessionId":"s","turnId":"t"}',
    b'2026-02-30T08:00:00.000Z [gateway] [context:auto-compact] policy_skip {"sessionId":"s","turnId":"t"}',
    b'1999-09-02T08:00:00.000Z [gateway] [context:auto-compact] full_compaction_started {"sessionId":"s"}',
    b'2026-09-02T08:00:61.000Z [gateway] [context:auto-compact] policy_trigger {"sessionId":"s","snapshot":{}}',
    b'2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] policy_skip {"sessionId":"s\xff","turnId":"t"}',
    b'2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] policy_skip {"sessionId":"s\xef\xbf\xbd","turnId":"t"}',
    b'2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] policy_skip {"snapshot":{"tokens":-1}}',
    b'2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] policy_skip {"a":' + b"[" * 3000 + b"]" * 3000 + b"}",
    b'2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] policy_skip {"sessionId":"s","turnId":"u","snaps',
    b'2026-09-02T08:00:01.000Z [gateway] hot":{"tokens":5}}',
    b'2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] new_stage {"sessionId":"s","snapshot":{"tokens":5}}',
    b"2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] policy_skip",
    b'xZ [gateway] [context:auto-compact] policy_skip {"sessionId":"s","turnId":"t"}',
    b'2026-09-02T08:00:00.000Z [gateway] [context:auto-compact] full_compaction_no_summary {"error":"a","preTokens":'
    + b"9" * 30,
]


def _everything(path: Path) -> tuple[list[Event], int | None, int, list[Malformed]]:
    source = Source(path)
    return list(read(source, parsers()["pilotdeck-log"])), source.lines, source.records, source.malformed


@given(st.lists(st.integers(min_value=0, max_value=37 + len(ODD)), max_size=60), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_stage_that_is_decoded_at_once_gives_what_its_whole_line_gives(
    tmp_path_factory: pytest.TempPathFactory, picked: list[int], hosted: bool
) -> None:
    sample = Path(__file__).parent.parent.parent / "samples" / "parsers" / "pilotdeck_log.log"
    lines = [*sample.read_bytes().split(b"\r\n")[:38], *ODD]
    path = tmp_path_factory.mktemp("log") / "runtime.log"
    path.write_bytes(b"\r\n".join([lines[0], *(lines[at] for at in picked)]))
    with pytest.MonkeyPatch.context() as patch:
        if hosted:
            patch.setattr(forensics.parsers._pilotdeck_lines, "_HOSTED_BYTES", 1)
        found = _everything(path)
        patch.setattr(forensics.parsers._pilotdeck_lines, "_NAMES", {})
        assert _everything(path) == found


@pytest.mark.parametrize("hosted", [1, 1 << 30])
def test_a_stamp_of_other_characters_is_none_and_its_row_is_kept_and_listed(
    write: Write, monkeypatch: pytest.MonkeyPatch, hosted: int
) -> None:
    """The row was once passed over in silence, whatever it said."""
    monkeypatch.setattr(forensics.parsers._pilotdeck_lines, "_HOSTED_BYTES", hosted)
    check = _stage("policy_skip", 1, snapshot=SNAPSHOT).encode()
    torn = check.replace(b":01.000Z", b":01.0x0Z")
    source = Source(write(check * 50 + torn + check * 50))
    rows = [row for row in read(source) if row.kind == "budget"]
    assert [row.line for row in rows] == [*range(1, 102)]
    assert [row.line for row in rows if row.ts is None] == [51]
    assert source.malformed == [Malformed(51, 50 * len(check), "a time that is none", salvaged=True)]


@pytest.mark.parametrize(
    ("stamp", "ms", "odd"),
    [
        (b"2026-09-18T02:00:00.014Z", 1789696800014, False),
        (b"2026-09-18T02:00:59.999Z", 1789696859999, False),
        (b"2026-09-18T02:00:60.000Z", None, False),
        (b"2026-09-18T24:00:00.000Z", None, False),
        (b"2026-02-29T00:00:00.000Z", None, False),
        (b"2024-02-29T00:00:00.000Z", 1709164800000, False),
        (b"2026-09-18T02:00:1_.000Z", None, False),
        (b"2026-09-18T02:00:00,000Z", None, False),
        (b"1999-12-31T23:59:59.000Z", 946684799000, True),
        (b"2101-01-01T00:00:00.000Z", 4133980800000, True),
        (b"", None, False),
        (None, None, False),
    ],
)
def test_a_stamp_is_read_to_the_millisecond_or_not_at_all(stamp: bytes | None, ms: int | None, odd: bool) -> None:
    clock = Clock()
    clock.read(b"2026-09-18T02:00:00.000Z")
    assert clock.read(stamp) == ms
    assert clock.odd is odd


@given(st.binary(max_size=300))
@settings(max_examples=60, deadline=None)
def test_no_bytes_break_the_reading(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    path = tmp_path_factory.mktemp("noise") / "runtime.log"
    path.write_bytes(_stage("policy_skip", 1, snapshot=SNAPSHOT).encode() + noise + b"\n" + _started(2).encode())
    source = Source(path)
    # Named, not recognised: two lines of a log among more lines of binary data are not taken for one.
    rows = list(read(source, parsers()["pilotdeck-log"]))
    assert rows[1].line == 1
    assert source.lines == path.read_bytes().count(b"\n")
    assert any(row.kind == "compact" for row in rows)


def test_the_reproduction_reads_as_expected(corpus: Path, file_of: Callable[[Path], File]) -> None:
    path = corpus / "reproductions" / "pilotdeck_no_summary_crash" / "runtime.log"
    source = Source(path)
    events = list(read(source))
    (session,) = file_of(path).sessions
    found = attempts(session.events)
    assert [one.first.line for one in found] == [4, 7, 10, 13, 18, 22, 25]
    ends = [one.end for one in found if one.end]
    assert [end.line for end in ends if end.outcome == "no-summary"] == [8, 11, 14, 19, 23]
    assert [end.line for end in ends if end.outcome == "summary"] == [5]
    assert [end.requests for end in ends] == [1, 1, None, 1, 0, 1]
    assert sum(end.fault == "truncated-summary" for end in ends) == 4
    assert found[-1].unfinished
    assert max(end.messages or 0 for end in ends if end.outcome == "no-summary") == 492000
    assert (session.peak, session.cap) == (665361, 95232)
    assert sum(row.kind == "budget" for row in events) == 7
    assert [(row.line, row.code) for row in events if row.kind == "exit"] == [(27, 1), (29, 1)]
    assert [(bad.line, bad.salvaged) for bad in source.malformed] == [(33, False)]


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("head_code_emitted/truncated", 1),
        ("head_code_emitted/empty", 1),
        ("head_code_emitted/overflow", 1),
        ("head_code_emitted/success", 1),
        ("head_code_emitted/warning", 0),
        ("head_code_emitted/policy_skip", 0),
        ("v260806_code_emitted/truncated", 1),
        ("v260806_code_emitted/overflow", 1),
        ("v260806_code_emitted/success", 1),
        ("fix_port_emitted/truncated", 1),
        ("fix_port_emitted/overflow", 1),
        ("fix_port_emitted/success", 1),
        ("assembled/runtime.assembled", 1),
    ],
)
def test_the_model_calls_of_lines_that_the_real_code_wrote(
    corpus: Path, events_of: Events, name: str, calls: int
) -> None:
    events = events_of(corpus / "pilotdeck" / f"{name}.log")
    assert sum(end.requests or 0 for end in _ends(events)) == calls
    assert all(end.requests is not None for end in _ends(events))


@pytest.mark.skipif(sys.platform != "linux", reason="a log is searched in two processes on Linux only")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_large_log_searched_in_two_processes_reads_the_same(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runtime.log"
    path.write_bytes((samples / "parsers" / "pilotdeck_log.log").read_bytes() * 9)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    whole = _plain(path)
    monkeypatch.setattr(forensics.parsers._pilotdeck_halves, "SPLIT_BYTES", 1)
    assert forensics.parsers._pilotdeck_halves._middle(Source(path)) is not None
    assert _plain(path) == whole


@pytest.mark.skipif(sys.platform != "linux", reason="a log is searched in two processes on Linux only")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_log_of_which_the_fork_searches_nearly_all_reads_the_same(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runtime.log"
    path.write_bytes((samples / "parsers" / "pilotdeck_log.log").read_bytes() * 9)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    whole = _everything(path)
    monkeypatch.setattr(forensics.parsers._pilotdeck_halves, "SPLIT_BYTES", 1)
    monkeypatch.setattr(forensics.parsers._pilotdeck_halves, "_share", lambda *_: 500)
    monkeypatch.setattr(forensics.parsers._pilotdeck_halves, "_BATCH", 7)
    monkeypatch.setattr(forensics.parsers._pilotdeck_halves, "_WAITING", 1)
    middle = forensics.parsers._pilotdeck_halves._middle(Source(path))
    assert middle is not None
    assert 500 < middle < 2000
    assert _everything(path)[:3] == whole[:3]
    assert sorted(_everything(path)[3]) == sorted(whole[3])


@pytest.mark.skipif(sys.platform != "linux", reason="a log is searched in two processes on Linux only")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_fork_ends_when_the_process_that_it_searches_for_was_killed(write: Write) -> None:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    path = write(_stage("policy_skip", 1, snapshot=SNAPSHOT).encode() * 20_000)  # more than a pipe holds
    search = forensics.parsers._pilotdeck_halves._search
    fork = context.Process(target=search, args=(path, 0, theirs, ours), daemon=True)
    fork.start()
    theirs.close()
    ours.close()
    fork.join(20)
    code = fork.exitcode
    fork.kill()
    assert code == 1


@pytest.mark.parametrize(("every", "share"), [(0, 8 << 20), (2000, 8 << 20), (20, 1 << 20)])
def test_the_more_rows_a_log_has_the_more_of_it_the_fork_searches(every: int, share: int, tmp_path: Path) -> None:
    path = tmp_path / "runtime.log"
    chatter = b"2026-09-02T08:00:00.000Z [gateway] [always-on] tick workspace=w1 state=idle next=7 ms\n"
    check = _stage("policy_skip", 1, snapshot=SNAPSHOT).encode()
    path.write_bytes(
        (chatter * every + check) * ((16 << 20) // (len(chatter) * every + len(check)))
        if every
        else chatter * ((16 << 20) // len(chatter))
    )
    with path.open("rb") as stream:
        found = forensics.parsers._pilotdeck_halves._share(stream, path.stat().st_size)
    assert found == pytest.approx(share, rel=0.1)


def test_lines_that_are_no_text_are_listed_once_wherever_they_stand(write: Write) -> None:
    log = (_started(1) + _no_summary(2)).encode()
    torn = _no_summary(3).encode().replace(b"empty", b"emp\xffty")
    source = Source(
        write(b"\xff\xfegarbage\n" + log + b"\xc3\n" + torn + "\u65e5\u672c\n".encode() + b"\0\xff\n" + log)
    )
    ends = _ends(list(read(source)))
    assert [end.line for end in ends] == [3, 5, 9]
    assert [(bad.line, bad.reason) for bad in sorted(source.malformed)] == [
        (1, "invalid UTF-8 at byte 0 of the line"),
        (4, "invalid UTF-8 at byte 0 of the line"),
        (5, "invalid UTF-8"),
        (7, "NUL bytes"),
    ]
    data = source.path.read_bytes()
    assert [data[bad.offset - 1 : bad.offset] for bad in sorted(source.malformed)[1:]] == [b"\n"] * 3


def test_figures_that_cannot_be_are_unknown_and_their_line_listed(write: Write) -> None:
    data = _started(1) + _stage("policy_skip", 2, snapshot='{"tokens":-3,"maxContextTokens":1e400}')
    source = Source(write((data + f"exited code={'9' * 5000} signal=null\n").encode()))
    events = list(read(source))
    assert [(event.kind, event.context, event.cap, event.code) for event in events if event.line != 1] == [
        ("budget", None, None, None),
        ("exit", None, None, None),
    ]
    assert [(bad.line, bad.offset, bad.salvaged) for bad in source.malformed] == [
        (2, len(_started(1)), True),
        (3, len(data), True),
    ]
    assert source.malformed[0].reason.startswith("field snapshot.tokens is not int >= 0; ")
    assert source.malformed[1].reason == "code is 2^53 or more"


def test_tokens_with_a_fraction_are_rounded_as_some_builds_write_them(write: Write) -> None:
    source = Source(write(_stage("policy_skip", 2, snapshot='{"tokens":30000.4,"maxContextTokens":32000}').encode()))
    assert [event.context for event in read(source) if event.kind == "budget"] == [30000]
    assert source.malformed == []
