from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.check import closed
from forensics.checking.lock import load, place
from forensics.checking.mutate import MOST, Trial, trial
from forensics.checking.mutations import MUTATIONS, Mutation, Rows
from forensics.cli import run
from forensics.events import Event
from forensics.scan import Options
from tests.captured import CAPTURES


def tried(path: Path) -> Trial:
    return trial(path, path.name, closed(Options()), load(place(path)))


@pytest.mark.parametrize("name", CAPTURES)
def test_the_locks_of_the_samples_notice_every_mutation(samples: Path, name: str) -> None:
    found = tried(samples / "captures" / name)
    assert [str(one) for one in found.outcomes if not one.noticed] == []
    assert len(found.outcomes) >= 20


def test_every_kind_of_mutation_is_tried_on_some_sample(samples: Path) -> None:
    kinds = {kind for name in CAPTURES for kind in tried(samples / "captures" / name).tried}
    assert kinds == {one.name for one in MUTATIONS}


def test_harm_fails_and_mending_is_told(samples: Path) -> None:
    for name in CAPTURES:
        for one in tried(samples / "captures" / name).outcomes:
            assert one.differences
            if one.kind.harmful:
                assert any(difference.fails for difference in one.differences), str(one)


def test_of_many_places_some_are_tried_and_both_numbers_are_told(samples: Path) -> None:
    found = tried(samples / "captures" / "two-sessions.jsonl")
    assert (found.places["fail-reply"], found.tried["fail-reply"]) == (18, MOST)


def test_no_mutation_changes_the_rows_it_is_given(events_of: Callable[[Path], list[Event]], samples: Path) -> None:
    for name in CAPTURES:
        rows = Rows(events_of(samples / "captures" / name))
        before = repr(list(rows))
        for kind in MUTATIONS:
            for at in range(len(rows)):
                edited = kind.edit(rows, at)
                assert edited is None or edited != list(rows)
        assert repr(list(rows)) == before


def test_what_a_lock_does_not_notice_fails_and_is_named(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "two-sessions.jsonl"
    path.write_bytes((samples / "captures" / path.name).read_bytes())
    lock = place(path)
    text = place(samples / "captures" / path.name).read_text(encoding="utf-8")
    lock.write_text(text, encoding="utf-8")
    assert run(["check", path.name, "--mutate"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "mutation trial, held: 63 of 63 noticed (tried at: add-continue 4 of 4" in told
    blank = Mutation("do-nothing", True, lambda rows, at: list(rows) if at == 3 else None)
    monkeypatch.setattr("forensics.checking.mutate.MUTATIONS", (*MUTATIONS, blank))
    assert run(["check", path.name, "--mutate"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "mutation do-nothing at line 4, broken: the lock fails on nothing (two-sessions.jsonl)" in told
    assert "63 of 64 noticed" in told
    assert told.endswith("nothing new, 4 known; 1 failed test of a lock (exit 1)")


def test_a_test_of_locks_without_a_lock_is_no_pass(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_bytes((samples / "captures" / "two-sessions.jsonl").read_bytes())
    assert run(["check", "a.jsonl", "--mutate", "--fail-on", "never"]) == 1
    assert (
        "mutation trial, unjudged: there is no lock to test; write one with forensics lock" in capsys.readouterr().out
    )
