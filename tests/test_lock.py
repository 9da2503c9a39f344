import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.check import closed, locked, structure
from forensics.checking.lock import compare, dump, load, place
from forensics.checking.shape import SessionShape, Shape, bound, expanded
from forensics.cli import run
from forensics.config import UsageError
from forensics.inputs import LOCK, Found
from forensics.scan import Options
from tests.captured import CAPTURES

Command = Callable[..., tuple[int, str, str]]


def shape(path: Path) -> Shape:
    found = structure(Found(path, path.name, path.stat().st_size), Options())
    assert found is not None
    return found[0]


def changes(lock: Shape, now: Shape) -> list[tuple[str, str, str]]:
    return [(one.change, one.name, one.message) for one in compare(lock, now)]


def alone(**fields: Any) -> Shape:
    return Shape(parser="plain", session=[SessionShape(**fields)])


@pytest.fixture
def captures(tmp_path: Path, samples: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample captures with their locks, in a folder of their own."""
    for name in (one for one in os.environ if one.startswith("FORENSICS_")):
        monkeypatch.delenv(name)
    folder = tmp_path / "captures"
    folder.mkdir()
    for name in CAPTURES:
        for path in (samples / "captures" / name, place(samples / "captures" / name)):
            (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(one) for one in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.mark.parametrize("name", CAPTURES)
def test_a_recording_fits_its_lock(samples: Path, name: str) -> None:
    path = samples / "captures" / name
    assert compare(load(place(path)), shape(path)) == []
    assert dump(shape(path), name) == place(path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (["overflow", "overloaded"], []),
        (["overloaded", "overflow"], [("changed", "failure 2", "overflow, overloaded -> overloaded, overflow")]),
        (["overloaded"], [("better", "overflow replies", "1 -> 0")]),
        (["overflow", "overloaded", "length"], [("worse", "length replies", "0 -> 1")]),
    ],
)
def test_failures_that_change_order_are_another_recording(now: list[str], found: list[tuple[str, str, str]]) -> None:
    """Only their numbers were held, though an order that changed fails until it is accepted."""
    assert changes(alone(failures=["overflow", "overloaded"]), alone(failures=now)) == found


def test_of_fewer_failures_the_order_is_held_too() -> None:
    lock, now = alone(failures=["length", "overflow", "overloaded x2"]), alone(failures=["overloaded", "overflow"])
    assert ("changed", "failure 2", "length, overflow, overloaded x2 -> overloaded, overflow") in changes(lock, now)


def test_a_lock_holds_the_failures_of_a_recording_in_order(samples: Path) -> None:
    (one,) = shape(samples / "captures" / "two-failures.jsonl").session
    assert one.failures == ["overloaded", "overflow"]


_ISO = re.compile(r"2026-10-(\d\d)T(\d\d):")
_MS = re.compile(r"\b17[89]\d{10}\b")
_IDS = re.compile(r"(?<=[\"_:])([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8})(?=\")")
_OPENCODE = re.compile(r"\b((?:ses|msg|prt)_[0-9a-f]{12})(\w{14})")
_NAMES = re.compile(r'"(session|record)":"([\w-]+)"')


def rerecord(text: str) -> str:
    """Give every id another name and shift every time, as a second recording of the same thing has them."""
    names: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        return names.setdefault(
            found[0], "".join(format((int(c, 16) + 5) % 16, "x") if c != "-" else c for c in found[0])
        )

    text = _ISO.sub(lambda found: f"2027-02-{int(found[1]) + 3:02}T{(int(found[2]) + 5) % 24:02}:", text)
    text = _MS.sub(lambda found: str(int(found[0]) + 11_000_000_000), text)
    text = _IDS.sub(other, text)
    text = _OPENCODE.sub(lambda found: found[1] + found[2][::-1], text)
    return _NAMES.sub(lambda found: f'"{found[1]}":"{found[2][::-1]}"', text)


@pytest.mark.parametrize("name", CAPTURES)
def test_a_second_recording_with_other_ids_and_times_fits_too(captures: Path, command: Command, name: str) -> None:
    path = captures / name
    before = path.read_text(encoding="utf-8")
    after = rerecord(before)
    same = sum(one == other for one, other in zip(before.splitlines(), after.splitlines(), strict=True))
    assert same < len(before.splitlines()) * (0.95 if name.endswith(".json") else 0.2)
    path.write_text(after, encoding="utf-8", newline="")
    assert compare(load(place(path)), shape(path)) == []
    code, out, _ = command("check", path)
    assert (code, out.splitlines()[-1].split(",")[0]) == (0, "nothing new")


def test_a_lock_is_short_and_holds_no_ids_lines_or_times(samples: Path) -> None:
    for name in CAPTURES:
        text = place(samples / "captures" / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) < 40
        assert not re.search(r"\d{4}|[0-9a-f]{8}", text.replace("atomic-1684", "").replace("opencode-37584", ""))


def test_a_lock_says_what_the_recording_is(samples: Path) -> None:
    assert place(samples / "captures" / "underflow.jsonl").read_text(encoding="utf-8").splitlines()[2:] == [
        "version = 1",
        'parser = "pi"',
        "",
        "[[session]]",
        "prompts = 3",
        "manual-continues = 2",
        'compactions = ["dropped x2"]',
        "longest-streak = 1",
        'failures = ["output-budget x2"]',
        "findings = [",
        '    "error manual-continue at prompt 2, compaction 1",',
        '    "error manual-continue at prompt 3, compaction 2",',
        '    "error output-budget-underflow at prompt 2",',
        '    "error output-budget-underflow at prompt 3",',
        "]",
        'conforms-to = ["atomic-1684", "atomic-before"]',
    ]


def test_a_fix_that_spares_the_continues_is_better_and_passes(captures: Path, command: Command) -> None:
    """The agent goes on by itself, where a person had to write before: another version of it, and a better one."""
    path = captures / "underflow.jsonl"
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for words in ("continue", "go on"):
        spared = next(row for row in rows if row.get("message", {}).get("content") == [{"type": "text", "text": words}])
        rows[rows.index(spared) + 1]["parentId"] = spared["parentId"]
        rows.remove(spared)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, out, _ = command("check", path)
    told = " ".join(out.split())
    assert "lock manual continues, better: 2 -> 0" in told
    assert "lock manual-continue, gone: error at prompt 2, compaction 1" in told
    assert "lock conforms to, gone: no longer atomic-1684, atomic-before" in told
    assert "lock conforms to, better: now atomic-1690" in told
    assert f"to accept this: forensics lock {path.as_posix()}" in told
    assert code == 0
    assert command("lock", path, "-q") == (0, "", "")
    assert "better" not in command("check", path)[1]


def test_one_more_continue_is_worse_and_fails(captures: Path, command: Command) -> None:
    path = captures / "length.jsonl"
    lock = place(path)
    lock.write_text(lock.read_text().replace("manual-continues = 2", "manual-continues = 1"))
    code, out, _ = command("check", "captures/length.jsonl")
    assert code == 1
    assert out.splitlines()[-3:] == [
        "lock manual continues, worse: 1 -> 2 (captures/length.jsonl)",
        "to accept this: forensics lock captures/length.jsonl",
        "nothing new, 4 known; 1 difference from a lock (exit 1)",
    ]
    assert command("check", path, "--exit-zero")[0] == 0


def test_what_a_lock_holds_is_counted_not_shown_and_quiet_says_nothing(captures: Path, command: Command) -> None:
    path = captures / "length.jsonl"
    code, out, _ = command("check", path)
    assert code == 0
    assert out.splitlines()[-2:] == [
        "known to the lock: 2 length-stop, 2 manual-continue (-v shows them)",
        "nothing new, 4 known (exit 0)",
    ]
    assert "ERROR" not in out
    shown = command("check", path, "-v")[1]
    assert "ERROR manual-continue x 2" in shown
    assert shown.count("known to the lock, ") == 4
    assert "baselined" not in shown
    assert command("check", path, "-q") == (0, "", "")


def test_quiet_shows_only_what_fails(captures: Path, command: Command) -> None:
    path = captures / "length.jsonl"
    lock = place(path)
    lock.write_text(lock.read_text().replace('    "error manual-continue at prompt 1",\n', ""))
    code, out, _ = command("check", path, "-q")
    assert code == 1
    assert "ERROR manual-continue\n" in out
    assert "length-stop" not in out
    assert "known to" not in out
    assert not out.startswith("read ")
    assert out.splitlines()[-1] == "1 error, 3 known; fails on error (--fail-on); 1 difference from a lock (exit 1)"
    zero, told, _ = command("check", path, "-q", "--exit-zero")
    assert zero == 0
    assert "ERROR manual-continue\n" in told


def test_a_finding_that_the_lock_does_not_hold_is_new(captures: Path, command: Command) -> None:
    path = captures / "length.jsonl"
    lock = place(path)
    lock.write_text(lock.read_text().replace('    "error manual-continue at prompt 1",\n', ""))
    code, out, _ = command("check", path)
    assert code == 1
    assert "lock manual-continue, new: error at prompt 1" in out
    assert out.splitlines()[-1] == "1 error, 3 known; fails on error (--fail-on); 1 difference from a lock (exit 1)"


def test_a_recording_that_is_gone_or_unreadable_fails(captures: Path, command: Command) -> None:
    (captures / "length.jsonl").unlink()
    (captures / "underflow.jsonl").write_text("no recording any more")
    code, out, _ = command("check", "captures")
    assert code == 1
    told = " ".join(out.split())
    assert "lock recording, changed: the recording is gone; remove the lock with it, or bring it back" in told
    assert "lock recording, unjudged: cannot be read any more (captures/underflow.jsonl)" in told


def test_locks_are_no_recordings_and_no_gap(captures: Path, command: Command) -> None:
    code, out, _ = command("check", "captures", "--strict", "-f", "json", "-q")
    report = json.loads(out)
    assert code == 0
    assert report["coverage"]["files"] == len(CAPTURES)
    assert [one["kind"] for one in report["coverage"]["skipped"]] == ["excluded"] * len(CAPTURES)
    assert {one["state"] for one in report["findings"]} == {"baselined"}
    assert [(one["topic"], one["change"]) for one in report["remarks"]] == [("lock", "held")] * len(CAPTURES)
    assert captures.is_dir()


def test_what_is_selected_does_not_change_what_a_lock_holds(captures: Path, command: Command) -> None:
    assert command("check", captures, "--select", "length-stop")[0] == 0


def test_how_young_a_recording_is_does_not_change_what_a_lock_holds() -> None:
    assert closed(Options(now=5, detectors=("x",))) == closed(Options())


def test_lock_tells_what_it_wrote(captures: Path, command: Command) -> None:
    (captures / "notes.txt").write_text("hello")
    lock = place(captures / "length.jsonl")
    lock.unlink()
    other = place(captures / "underflow.jsonl")
    other.write_text(other.read_text().replace("manual-continues = 2", "manual-continues = 3"))
    place(captures / "no-shrink.json").write_text("?")
    code, out, err = command("lock", "captures")
    assert (code, out) == (0, "")
    assert err.splitlines() == [
        f"forensics: lock: captures/length.jsonl{LOCK}: new",
        f"forensics: lock: captures/no-shrink.json{LOCK}: in the place of what was no lock",
        f"forensics: lock: captures/no-summary.log{LOCK}: as before",
        f"forensics: lock: captures/two-failures.jsonl{LOCK}: as before",
        f"forensics: lock: captures/two-sessions.jsonl{LOCK}: as before",
        f"forensics: lock: captures/underflow.jsonl{LOCK}: manual continues, better: 3 -> 2",
        "forensics: result: 6 written, 1 not read as recordings (exit 0)",
    ]


def test_nothing_is_locked_where_nothing_is_read(tmp_path: Path, command: Command) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    code, _, err = command("lock", tmp_path)
    assert code == 3
    assert "(exit 3); no lock was written" in err
    assert command("lock", "-")[0] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 1", "not a lock: Object missing required field `parser`"),
        ('version = 2\nparser = "pi"', "version 2 of locks is not known"),
        ('version = 1\nparser = "pi"\nsesion = 3', "not a lock: Object contains unknown field `sesion`"),
        ("version =", "not a lock: "),
    ],
)
def test_a_file_that_is_no_lock_is_refused(tmp_path: Path, command: Command, text: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"kind":"session","session":"s"}\n')
    place(path).write_text(text)
    with pytest.raises(UsageError) as error:
        locked([Found(path, "a.jsonl", 1)], Options())
    assert message in str(error.value)
    code, _, err = command("check", path)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ({}, {}, []),
        ({"prompts": 2}, {"prompts": 3}, [("changed", "prompts", "2 -> 3")]),
        ({"prompts": 2}, {"prompts": None}, [("changed", "prompts", "2 -> unknown")]),
        ({"manual_continues": 1}, {"manual_continues": 2}, [("worse", "manual continues", "1 -> 2")]),
        ({"manual_continues": 1}, {"manual_continues": 0}, [("better", "manual continues", "1 -> 0")]),
        ({"manual_continues": 1}, {"manual_continues": None}, [("unjudged", "manual continues", "1 -> unknown")]),
        ({"longest_streak": 3}, {"longest_streak": 4}, [("worse", "longest streak", "3 -> 4")]),
        ({"failures": ["length", "overflow x2"]}, {"failures": ["overflow x3"]},
            [("better", "length replies", "1 -> 0"), ("worse", "overflow replies", "2 -> 3")]),
        ({"peak_ratio": 0.9}, {"peak_ratio": 0.8}, []),
        ({"peak_ratio": 0.9}, {"peak_ratio": 1.0}, [("worse", "peak ratio", "at most 0.9 -> 1")]),
        ({"peak_ratio": 7.0}, {"peak_ratio": 0.9}, [("better", "peak ratio", "at most 7 -> 0.9")]),
        ({}, {"prompts": 2, "manual_continues": 1, "peak_ratio": 7.0}, []),
        ({"peak_ratio": 7.0}, {}, [("unjudged", "peak ratio", "7.0 -> unknown")]),
        ({"compactions": ["summary x2"]}, {"compactions": ["summary x3"]}, [("worse", "compactions", "2 -> 3")]),
        ({"compactions": ["summary"]}, {"compactions": ["no-summary"]},
            [("worse", "no-summary compactions", "0 -> 1")]),
        ({"compactions": ["no-summary x2"]}, {"compactions": ["summary"]},
            [("better", "compactions", "2 -> 1"), ("better", "no-summary compactions", "2 -> 0")]),
        ({"compactions": ["no-summary", "summary"]}, {"compactions": ["summary", "no-summary"]},
            [("changed", "compaction 1", "no-summary -> summary")]),
        ({"compactions": ["overflow: summary"]}, {"compactions": ["threshold: summary"]},
            [("changed", "compaction 1", "overflow: summary -> threshold: summary")]),
        ({"findings": ["error x at prompt 1"]}, {}, [("gone", "x", "error at prompt 1")]),
        ({}, {"findings": ["error x at prompt 1"]}, [("new", "x", "error at prompt 1")]),
        ({"findings": ["error x at prompt 1"]}, {"findings": ["error x at prompt 1 x2"]},
            [("new", "x", "error at prompt 1")]),
        ({"findings": ["error x at prompt 1"]}, {"findings": ["warning x at prompt 1"]},
            [("better", "x", "error at prompt 1 -> warning at prompt 1")]),
        ({"findings": ["warning x"]}, {"findings": ["error x"]}, [("worse", "x", "warning -> error")]),
        ({"findings": ["error x at prompt 1, compaction 2"]}, {"findings": ["error x at prompt 1, compaction 1"]},
            [("changed", "x", "error at prompt 1, compaction 2 -> error at prompt 1, compaction 1")]),
        ({"findings": ["error x at prompt 1, compaction 2"], "compactions": ["summary x2"]},
            {"findings": ["error x at prompt 1, compaction 1"], "compactions": ["summary"]},
            [("better", "compactions", "2 -> 1"),
             ("better", "x", "error at prompt 1, compaction 2 -> error at prompt 1, compaction 1")]),
        ({"findings": ["error x at prompt 1"]}, {"findings": ["error x at prompt 2"]},
            [("gone", "x", "error at prompt 1"), ("new", "x", "error at prompt 2")]),
        ({"conforms_to": ["a", "b"]}, {"conforms_to": ["b", "c"]},
            [("gone", "conforms to", "no longer a"), ("better", "conforms to", "now c")]),
        ({"conforms_to": ["a", "b"]}, {"conforms_to": ["b"]}, [("worse", "conforms to", "no longer a")]),
        ({"conforms_to": []}, {"conforms_to": ["a"]}, [("better", "conforms to", "now a")]),
        ({"conforms_to": ["a"]}, {}, [("unjudged", "conforms to", "a -> unknown")]),
        ({}, {"conforms_to": ["a"]}, []),
    ],
)  # fmt: skip
def test_differences_are_judged_one_by_one(
    was: dict[str, Any], now: dict[str, Any], told: list[tuple[str, str, str]]
) -> None:
    assert changes(alone(**was), alone(**now)) == told


def test_the_recording_itself_is_held_too() -> None:
    lock = Shape(parser="plain", crashes=1, findings=["error crash-loop"], session=[SessionShape()])
    now = Shape(parser="pi", malformed=2, crashes=0, session=[SessionShape(), SessionShape(longest_streak=1)])
    assert changes(lock, now) == [
        ("changed", "parser", "plain -> pi"),
        ("worse", "malformed lines", "0 -> 2"),
        ("better", "process exits with an error", "1 -> 0"),
        ("gone", "crash-loop", "error"),
        ("changed", "sessions", "1 -> 2"),
    ]
    assert [one.fails for one in compare(lock, now)] == [True, True, False, False, True]


def test_a_bound_is_the_next_tenth() -> None:
    assert [bound(one) for one in (None, 0.0, 0.83, 0.9, 1.0, 6.9867, 8.3911)] == [None, 0.0, 0.9, 0.9, 1.0, 7.0, 8.4]


WORDS = st.lists(st.sampled_from(["summary", "overflow: no-summary", "failed"]), max_size=9)


@given(WORDS, WORDS, st.integers(0, 9), st.one_of(st.none(), st.floats(0, 9)))
def test_a_lock_is_read_as_it_was_written(words: list[str], found: list[str], count: int, ratio: float | None) -> None:
    one = alone(
        prompts=count,
        compactions=words,
        failures=found,
        peak_ratio=bound(ratio),
        findings=[f"error x at prompt {at}" for at in range(count)],
        conforms_to=None if count % 2 else [],
    )
    text = dump(one, 'odd "name"\n.jsonl')
    assert text.startswith("# What")
    assert _read(text) == one


def _read(text: str) -> Shape:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_text(text, encoding="utf-8")
        return load(path)


@given(st.lists(st.tuples(st.sampled_from(["a", "b x", "c: d"]), st.integers(1, 4)), max_size=6))
def test_counted_words_are_the_words(runs: list[tuple[str, int]]) -> None:
    words = [word for word, count in runs for _ in range(count)]
    assert expanded(f"{word} x{count}" if count > 1 else word for word, count in runs) == words
