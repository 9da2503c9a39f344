"""Records whose line ends are lost stand on one line, however many: reading them costs no more than it must.

A line of 350 KB once took 13 s, one of 28 MB 33 s and a GB. Work is counted in calls, the same on every machine.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import forensics.tolerant
from forensics.parse import Source, read

HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-07-01T09:00:00.000Z","cwd":"/x"}'
TWICE = 2.2
"""What twice the input may cost, in times."""


def _record(name: str, words: str = "go on") -> str:
    message = {"role": "user", "content": [{"type": "text", "text": words}]}
    entry = {"type": "message", "id": name, "parentId": None, "timestamp": "2026-07-01T09:00:01.000Z"}
    return json.dumps({**entry, "message": message})


def _same(count: int) -> list[str]:
    return [_record("a") * count]


def _copied(count: int) -> list[str]:
    line = "".join(_record(f"a{at}") for at in range(count))
    return [line, line]


def _copied_with_spaces(count: int) -> list[str]:
    records = [_record(f"a{at}") for at in range(count)]
    return ["".join(records), " ".join(records)]


def _changed(count: int) -> list[str]:
    return ["".join(_record(f"a{at}", words) for at in range(count)) for words in ("go on", "stop")]


def _small(count: int) -> list[str]:
    return [*(_record(f"a{at}") for at in range(30)), '{"a":1}' * count]


def _source(path: Path, lines: list[str]) -> Source:
    path.write_text("\n".join([HEADER, *lines, _record("z")]) + "\n", encoding="utf-8")
    return Source(path)


def _calls(source: Source) -> int:
    calls = 0

    def seen(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(seen)
    try:
        for _ in read(source):
            pass
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("lines", [_same, _copied, _copied_with_spaces, _changed, _small])
def test_twice_the_records_on_a_line_cost_twice_the_work(tmp_path: Path, lines: Callable[[int], list[str]]) -> None:
    _calls(_source(tmp_path / "s.jsonl", lines(2)))
    base, once, twice = (_calls(_source(tmp_path / "s.jsonl", lines(count))) for count in (1, 200, 400))
    assert twice - base <= TWICE * (once - base)
    assert once < 200 * 400


@pytest.mark.parametrize(
    ("lines", "prompts", "duplicates", "listed"),
    [
        (_same, 2, 2, ["several records on one line"]),
        (_copied, 4, 3, ["several records on one line", "several records on one line"]),
        (_copied_with_spaces, 4, 3, ["several records on one line", "several records on one line"]),
        (
            _changed,
            7,
            0,
            [
                "several records on one line",
                "several records on one line; the id of line 2 again, with other content: both are kept",
            ],
        ),
    ],
)
def test_records_again_on_a_line_are_held_against_those_of_their_own_id(
    tmp_path: Path, lines: Callable[[int], list[str]], prompts: int, duplicates: int, listed: list[str]
) -> None:
    source = _source(tmp_path / "s.jsonl", lines(3))
    assert sum(event.kind == "prompt" for event in read(source)) == prompts
    assert (source.duplicates, [bad.reason for bad in source.malformed]) == (duplicates, listed)


def test_a_record_again_beside_another_is_a_duplicate(tmp_path: Path) -> None:
    """It was once held against the whole line, and kept."""
    source = _source(tmp_path / "s.jsonl", [_record("a") + _record("b") + _record("a"), _record("b") + _record("c")])
    assert [event.record for event in read(source) if event.kind == "prompt"] == ["a", "b", "c", "z"]
    assert source.duplicates == 2


def test_a_line_of_millions_of_records_is_read_up_to_a_bound_and_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forensics.tolerant, "MOST", 3)
    source = _source(tmp_path / "s.jsonl", ["".join(_record(name) for name in "abcd"), "".join(map(_record, "efg"))])
    assert [event.record for event in read(source) if event.kind == "prompt"] == list("abcefgz")
    assert [(bad.line, bad.reason) for bad in source.malformed] == [
        (2, "more than 3 records on one line: the rest is passed over"),
        (3, "several records on one line"),
    ]


def test_white_space_between_records_costs_nothing(tmp_path: Path) -> None:
    assert _calls(_source(tmp_path / "a.jsonl", [_record("a") + " " * 20_000 + _record("b")])) < 20_000
