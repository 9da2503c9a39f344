"""A line that was not clean stands in a file's list once, at a line that the file has, whatever is said of it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.parse import Source, read
from forensics.source import Malformed

Read = Callable[[str, bytes], Source]


@pytest.fixture
def after(tmp_path: Path) -> Read:
    def made(name: str, data: bytes) -> Source:
        path = tmp_path / name
        path.write_bytes(data)
        source = Source(path)
        list(read(source))
        return source

    return made


def test_reasons_of_one_line_are_joined_and_it_is_lost_when_anything_of_it_is(tmp_path: Path) -> None:
    source = Source(tmp_path / "x")
    source.reject(3, 20, "NUL bytes", salvaged=True)
    source.reject(3, 20, "NUL bytes", salvaged=True)
    source.reject(4, 30, "torn", salvaged=True)
    source.reject(3, 24, "no record", salvaged=False)
    source.reject(0, 0, "a row", salvaged=True)
    source.reject(0, 0, "a row", salvaged=True)
    assert source.malformed == [
        Malformed(3, 20, "NUL bytes; no record", salvaged=False),
        Malformed(4, 30, "torn", salvaged=True),
        Malformed(0, 0, "a row", salvaged=True),
        Malformed(0, 0, "a row", salvaged=True),
    ]
    assert source.doubts == 6


def test_lines_of_several_sessions_or_files_with_the_same_number_are_several(tmp_path: Path) -> None:
    source = Source(tmp_path / "x")
    for name in ("a", "b", "a"):
        source.reject(1, 0, f"torn {name}", of=f"session {name}")
    source.reject(1, 0, "torn")
    assert [bad.reason for bad in source.malformed] == ["session a: torn a", "session b: torn b", "torn"]


def test_what_is_said_of_one_line_with_thousands_of_records_has_an_end(tmp_path: Path) -> None:
    source = Source(tmp_path / "x")
    for number in range(5000):
        source.reject(1, 0, f"record {number} is torn", salvaged=True)
    ((_, _, reason, _),) = source.malformed
    assert len(reason) < 1100
    assert reason.endswith("; and more")


def test_a_pilotdeck_line_with_nul_bytes_that_is_torn_too_is_listed_once(after: Read) -> None:
    line = b'2026-09-02T08:00:0%d.000Z [gateway] [context:auto-compact] full_compaction_started {"sessionId":"s"%s\n'
    source = after("runtime.log", line % (1, b"}") + line % (2, b',"a":"\0\xff"}') + line % (3, b',"a":\0'))
    assert [(bad.line, bad.reason, bad.salvaged) for bad in source.malformed] == [
        (2, "NUL bytes; invalid UTF-8", True),
        (3, "NUL bytes; torn or broken JSON: Expecting value", True),
    ]


def test_an_opencode_log_line_with_invalid_utf_8_that_is_torn_too_is_listed_once_and_lost(after: Read) -> None:
    head = b"INFO  2026-04-02T08:30:0%d +0ms service="
    lines = (
        head % 1 + b"default version=1.2.27 args=[] opencode\n",
        b"ERROR 2026-04-02T08:3\xff loop\n",
        head % 3 + b"session.prompt step=0 sessionID=ses_1 loop\n",
    )
    assert [(bad.line, bad.reason, bad.salvaged) for bad in after("opencode.log", b"".join(lines)).malformed] == [
        (2, "invalid UTF-8 at byte 21 of the line; torn log line", False)
    ]


def test_an_export_on_one_line_lists_it_once(samples: Path, after: Read) -> None:
    text = (samples / "parsers" / "opencode_export.json").read_text(encoding="utf-8")
    document = json.loads(text[text.index("{") :])
    for message in document["messages"][:2]:
        message["parts"] = "none"
    source = after("one.json", json.dumps(document).encode())
    assert [(bad.line, bad.reason) for bad in source.malformed] == [(1, "message: field parts is not array but str")]


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"], ids=["none", "line end", "blank line"])
def test_an_export_that_ends_between_messages_lists_no_line_after_its_last(
    samples: Path, after: Read, end: bytes
) -> None:
    data = (samples / "parsers" / "opencode_export.json").read_bytes()
    source = after("cut.json", data[: data.index(b"\n    },\n    {") + len(b"\n    },")] + end)
    (bad,) = source.malformed
    assert bad.line == source.lines
    assert bad.reason == "the document ends between messages"
