"""Which logic a session ran, in words, with the rows that prove it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.parse import Source, read, recognise
from forensics.replay import PolicyError
from forensics.replaying.decisions import points, sight
from forensics.replaying.fingerprint import candidates, fingerprint, named, ran
from forensics.timeline import File

Told = Callable[..., list[str]]


@pytest.fixture
def told() -> Told:
    def run(path: Path, agent: str | None = None) -> list[str]:
        chosen = recognise(path)
        source = Source(path)
        file = File(path.name, chosen.name, chosen.agent, log=chosen.log).build(read(source, chosen))
        seen = sight(chosen, source.failures or chosen.failures)
        words = []
        for session in file.sessions:
            made = points(session, seen, None, file.host)
            words.append(ran(fingerprint(made, seen, candidates(agent or session.agent))))
        return words

    return run


def test_candidates_come_oldest_first() -> None:
    assert [one.label for one in candidates("atomic")] == ["atomic-before", "atomic-1684", "atomic-1690", "atomic-head"]
    assert [one.label for one in candidates("pi")] == ["pi", "pi 0.73"]
    assert [one.label for one in candidates("opencode")] == [
        "opencode-before",
        "opencode-37584",
        "opencode-37584 (a third summary)",
        "opencode-replo",
        "opencode-v2",
    ]


def test_a_variant_is_found_by_its_name() -> None:
    (one,) = named(["pi 0.73"])
    assert (one.policy.name, one.options) == ("pi", {"mid-turn": False, "hollow": True})
    with pytest.raises(PolicyError, match="no policy 'atomic-1691'; did you mean"):
        named(["atomic-1691"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "atomic-1690/session.jsonl",
            ["ran the logic before pull request 1690 (atomic-before or atomic-1684); lines 387-389 are the proof"],
        ),
        (
            "atomic-1684/session.jsonl",
            ["ran the logic before pull request 1684 (atomic-before); lines 20-21 are the proof"],
        ),
        (
            "atomic-1684/counter-leak.jsonl",
            [
                "ran the logic of pull request 1684 or later (atomic-1684 or atomic-1690 or atomic-head); "
                "lines 14-15 are the proof"
            ],
        ),
        (
            "opencode-37584/export.json",
            ["ran the logic before pull request 37584 (opencode-before); lines 1265-1321 are the proof"],
        ),
        (
            "pilotdeck/runtime.log",
            [
                "ran the logic before August 2026 (pilotdeck-before); lines 2579-2649 are the proof",
                "ran the logic before August 2026 (pilotdeck-before); lines 189-194 are the proof",
                "ran the logic before August 2026 (pilotdeck-before); lines 2583-2653 are the proof",
            ],
        ),
    ],
)
def test_the_incidents_tell_the_logic_that_they_ran(samples: Path, told: Told, name: str, words: list[str]) -> None:
    assert told(samples / "incidents" / name) == words


def test_a_database_is_proved_by_its_records(samples: Path, told: Told) -> None:
    (words,) = told(samples / "incidents" / "opencode-replo" / "opencode.db")
    assert words.startswith("ran the logic before pull request 37584 (opencode-before); msg_")
    assert words.endswith("are the proof")


def test_healthy_sessions_do_not_tell(samples: Path, told: Told) -> None:
    assert told(samples / "incidents" / "atomic-1690" / "healthy.jsonl") == [
        "cannot be told apart: atomic-before or atomic-1684 or atomic-1690 or atomic-head"
    ]


RPC = "e_underflow_continue_rpc"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recording", "scenario", "file", "words"),
    [
        (
            "atomic-cf3c2059-pre1690",
            RPC,
            "session/*.jsonl",
            "ran the logic before pull request 1690 (atomic-before or atomic-1684); lines 12-14 are the proof",
        ),
        (
            "atomic-cf3c2059-pre1690",
            RPC,
            "rpc_stdout.jsonl",
            "ran the logic before pull request 1690 (atomic-before or atomic-1684); lines 47-51 are the proof",
        ),
        (
            "atomic-cf3c2059-pre1690",
            "e_underflow_continue",
            "session/*.jsonl",
            "cannot be told apart: atomic-before or atomic-1684 or atomic-1690 or atomic-head",
        ),
        (
            "atomic-7c87ed1d-pr1690",
            "e_underflow_continue",
            "session/*.jsonl",
            "ran the logic of pull request 1690 or later (atomic-1690 or atomic-head); lines 13-15 are the proof",
        ),
        (
            "atomic-7c87ed1d-pr1690",
            RPC,
            "rpc_stdout.jsonl",
            "ran the logic of pull request 1690 or later (atomic-1690 or atomic-head); lines 47-51 are the proof",
        ),
        (
            "atomic-6031a926-head",
            "e_underflow_continue",
            "session/*.jsonl",
            "ran the logic of August 2026 or later (atomic-head); lines 9-11 are the proof",
        ),
        (
            "pilotdeck-1104fd9e-head",
            "c_empty_summary",
            "runtime.log",
            "ran the logic of August 2026 or later (pilotdeck-head or pilotdeck-after); lines 14-16 are the proof",
        ),
        (
            "openclaw-2026.9.6",
            "b_overflow_loop",
            "log/openclaw.log",
            "ran the logic of September 2026 or later (openclaw-2026-9); lines 319-327 are the proof",
        ),
    ],
)
def test_was_the_fix_deployed(  # noqa: PLR0917  (a row of the table)
    corpus: Path, told: Told, recording: str, scenario: str, file: str, words: str
) -> None:
    (path,) = (corpus / "recorded" / recording / scenario).glob(file)
    assert told(path) == [words]
