from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from forensics.check import agree
from forensics.checking.conformity import Agreement
from forensics.checking.expect import Expectations, Group, groups
from forensics.checking.judge import judge
from forensics.cli import run
from forensics.config import UsageError
from forensics.inputs import Found
from forensics.remark import Remark
from forensics.scan import Compactions, Options, SessionTotals


def session(**changed: Any) -> SessionTotals:
    values: dict[str, Any] = {
        "session": "s",
        "agent": "demo",
        "version": None,
        "file": "a.jsonl",
        "parent": None,
        "rows": 10,
        "start": 0,
        "active_from": 0,
        "end": 10_000,
        "prompts": 3,
        "replies": 9,
        "errors": {},
        "length_stops": 0,
        "aborted": 0,
        "compactions": Compactions(attempts=4, summaries=3, no_summary=1),
        "manual_continues": 1,
        "peak_context": 90_000,
        "cap": 100_000,
        "cap_source": "recorded",
        "peak_ratio": 0.9,
        "input_tokens": None,
        "cached_tokens": None,
        "output_tokens": None,
        "cost": None,
        "waiting_seconds": None,
        "compactions_per_prompt": 2,
        "contexts": [],
    }
    return SessionTotals(**(values | changed))


def nobody(_file: str, _policy: str) -> Mapping[str, Agreement] | None:
    return None


def told(*sessions: SessionTotals, pattern: str | None = None, **asked: Any) -> list[tuple[str, str, str, bool]]:
    expected = [Group(pattern, Expectations(**asked))]
    parsers = {one.file: "plain" for one in sessions}
    return [(one.name, one.change, one.message, one.fails) for one in judge(expected, sessions, parsers, nobody)]


BLIND = Compactions(attempts=4, summaries=4, no_summary=None, failed=None, aborted=None)
MIXED = Compactions(attempts=6, no_summary=1, failed=1, dropped=3, aborted=1)
OPEN = Compactions(attempts=4, summaries=2, no_summary=1, unknown=1)


@pytest.mark.parametrize(
    ("asked", "found", "change", "message"),
    [
        ({"max_compactions_per_prompt": 2}, {}, "held", "2 for one prompt, at most 2"),
        ({"max_compactions_per_prompt": 1}, {}, "broken", "2 for one prompt, at most 1"),
        ({"max_compactions_per_prompt": 3}, {"compactions_per_prompt": None}, "unjudged",
            "cannot be judged: the format shows no prompts"),
        ({"max_compactions_per_prompt": 4}, {"compactions_per_prompt": None}, "held",
            "4 in the whole session, at most 4"),
        ({"max_compactions_per_prompt": 2}, {"compactions": BLIND}, "unjudged",
            "cannot be judged: 2 can be seen, but the file does not show compactions that failed"),
        ({"max_compactions_per_prompt": 1}, {"compactions": BLIND}, "broken", "2 for one prompt, at most 1"),
        ({"max_compactions_per_prompt": 4}, {"compactions": BLIND, "compactions_per_prompt": None}, "unjudged",
            "cannot be judged: 4 can be seen, but the file does not show compactions that failed"),
        ({"max_no_summary_rate": 0.25}, {}, "held",
            "1 of 4 compaction attempts that were to make a summary made none (25%; 95 %: 5% to 70%), at most 25%"),
        ({"max_no_summary_rate": 0.1}, {}, "broken",
            "1 of 4 compaction attempts that were to make a summary made none (25%; 95 %: 5% to 70%), at most 10%"),
        ({"max_no_summary_rate": 0.0}, {"compactions": Compactions()}, "held",
            "0 of 0 compaction attempts that were to make a summary made none"),
        ({"max_no_summary_rate": 0.9}, {"compactions": BLIND}, "unjudged",
            "cannot be judged: 1 of 1 sessions cannot show failed compactions"),
        ({"max_no_summary_rate": 0.3}, {"compactions": OPEN}, "unjudged",
            "cannot be judged: 1 of 4 compaction attempts that were to make a summary made none "
            "(25%; 95 %: 5% to 70%), at most 30%, and 1 never ended"),
        ({"max_no_summary_rate": 0.5}, {"compactions": OPEN}, "held",
            "1 of 4 compaction attempts that were to make a summary made none (25%; 95 %: 5% to 70%), at most 50%"),
        ({"max_no_summary_rate": 1.0}, {"compactions": MIXED}, "held",
            "2 of 2 compaction attempts that were to make a summary made none (100%; 95 %: 34% to 100%), at most 100%"
            "; 3 more cut the context by design; 1 more was cancelled"),
        ({"max_manual_continues": 1}, {}, "held", "1 in 1 session, at most 1"),
        ({"max_manual_continues": 0}, {}, "broken", "1 in 1 session, at most 0"),
        ({"max_manual_continues": 9}, {"manual_continues": None}, "unjudged",
            "cannot be judged: 1 of 1 sessions show no prompts"),
        ({"max_context_ratio": 1.0}, {}, "held", "0.9 of the window, at most 1"),
        ({"max_context_ratio": 0.8}, {}, "broken", "0.9 of the window, at most 0.8"),
        ({"max_context_ratio": 1.0}, {"cap": None, "peak_ratio": None}, "unjudged",
            "cannot be judged: no context window is known; give --cap"),
        ({"max_context_ratio": 1.0}, {"peak_context": None, "peak_ratio": None}, "unjudged",
            "cannot be judged: no context size is recorded"),
        ({"max_context_ratio": 1.0}, {"peak_context": None, "peak_ratio": None, "replies": 0}, "held",
            "nothing was sent"),
        ({"conforms_to": "reference"}, {}, "unjudged", "cannot be judged: the file cannot be read again"),
    ],
)  # fmt: skip
def test_each_bound_holds_is_broken_or_cannot_be_judged(
    asked: dict[str, Any], found: dict[str, Any], change: str, message: str
) -> None:
    name = next(iter(asked)).replace("_", "-")
    assert told(session(**found), **asked) == [(name, change, message, change in {"broken", "unjudged"})]


def test_nothing_that_was_read_is_nothing_that_was_judged() -> None:
    for asked in (
        {"max_compactions_per_prompt": 1},
        {"max_no_summary_rate": 1.0},
        {"max_manual_continues": 1},
        {"max_context_ratio": 1.0},
        {"conforms_to": "reference"},
    ):
        assert [(change, fails) for _, change, _, fails in told(**asked)] == [("unjudged", True)]


def test_totals_count_a_session_in_several_files_once() -> None:
    copies = [session(), session(file="b.jsonl", rows=5)]
    assert told(*copies, max_manual_continues=1)[0][1:3] == ("held", "1 in 1 session, at most 1")
    others = [session(), session(session="t", file="b.jsonl")]
    assert told(*others, max_manual_continues=1)[0][1:3] == ("broken", "2 in 2 sessions, at most 1")


def test_a_file_that_shows_it_judges_for_one_that_does_not() -> None:
    dark = session(file="run.log", manual_continues=None, compactions=BLIND, peak_ratio=None, cap=None)
    views = [session(), dark]
    assert [one[1] for one in told(*views, max_manual_continues=1, max_no_summary_rate=0.3, max_context_ratio=1.0)] == [
        "held",
        "held",
        "held",
    ]


def test_a_session_whose_files_show_no_compactions_is_not_held_to_have_none(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the chat nor the log of that version of PilotDeck tells of a compaction that went well."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.forensics.expect]\nmax-compactions-per-prompt = 0\n")
    assert run(["check", str(corpus / "recorded" / "pilotdeck-974404a1-2026-07-07" / "a_healthy"), "-q"]) == 1
    assert "max-compactions-per-prompt, unjudged: cannot be judged: 0 can be seen" in capsys.readouterr().out


def test_a_log_that_shows_failures_judges_for_a_chat_that_does_not() -> None:
    chat = session(compactions=BLIND, compactions_per_prompt=0)
    log = session(file="run.log", compactions=Compactions(attempts=1, summaries=1), compactions_per_prompt=None)
    assert told(chat, log, max_compactions_per_prompt=4)[0][1:3] == ("held", "4 in the whole session, at most 4")
    assert told(chat, log, max_compactions_per_prompt=0)[0][1:3] == (
        "unjudged",
        "cannot be judged: 0 can be seen, but the file does not show compactions that failed",
    )


def test_sessions_that_break_a_bound_are_told_one_by_one_and_dark_ones_together() -> None:
    sessions = [session(session=f"s{at}", compactions_per_prompt=at) for at in range(5)]
    sessions += [session(session=f"t{at}", compactions_per_prompt=None) for at in range(3)]
    found = told(*sessions, max_compactions_per_prompt=2)
    assert [one[1:3] for one in found] == [
        ("broken", "3 for one prompt, at most 2"),
        ("broken", "4 for one prompt, at most 2"),
        ("unjudged", "cannot be judged: the format shows no prompts, and 2 more sessions"),
    ]


def test_bounds_of_a_path_judge_its_sessions_alone() -> None:
    sessions = [session(), session(session="t", file="b/x.jsonl", manual_continues=7)]
    assert told(*sessions, pattern="a*", max_manual_continues=1) == [
        ("max-manual-continues of a*", "held", "1 in 1 session, at most 1", False)
    ]
    assert told(*sessions, pattern="c/*", max_manual_continues=1) == [
        ("files of c/*", "unused", "no session that was read is in such a file", False)
    ]


def test_a_bound_of_a_path_replaces_the_one_for_all() -> None:
    sessions = [session(), session(session="t", file="b/x.log", manual_continues=7)]

    def found(**other: Any) -> list[tuple[str, str, str]]:
        expected = groups({"max-manual-continues": 1, "b/*": other}, "p")
        return [(one.name, one.change, one.message) for one in judge(expected, sessions, {}, nobody)]

    own = ("max-manual-continues", "held", "1 in 1 session, at most 1")
    assert found(**{"max-manual-continues": 7}) == [
        own,
        ("max-manual-continues of b/*", "held", "7 in 1 session, at most 7"),
    ]
    assert found(**{"max-manual-continues": False}) == [own]
    assert found(**{"max-context-ratio": 1.0}) == [
        ("max-manual-continues", "broken", "8 in 2 sessions, at most 1"),
        ("max-context-ratio of b/*", "held", "0.9 of the window, at most 1"),
    ]


def test_a_bound_that_other_bounds_replace_everywhere_is_not_judged() -> None:
    expected = groups({"max-manual-continues": 0, "*": {"max-manual-continues": 1}}, "p")
    assert [one.name for one in judge(expected, [session()], {}, nobody)] == ["max-manual-continues of *"]


def test_what_a_policy_is_proved_to_be_is_proved_here() -> None:
    assert told(session(), conforms_to="reference", proved=("bounded", "loud"))[1:] == [
        ("proved", "held", "reference is bounded: " + _reason("reference", "bounded"), False),
        ("proved", "held", "reference is loud: " + _reason("reference", "loud"), False),
    ]
    (broken,) = told(session(), conforms_to="opencode-before", proved=("bounded",))[1:]
    assert broken[1] == "broken"
    assert broken[2].startswith("opencode-before is not bounded: ")
    assert broken[3]


def _reason(policy: str, name: str) -> str:
    from forensics.prove import prove  # noqa: PLC0415  (slow)

    return {str(key): one.overall.reason for key, one in prove(policy).verdicts.items()}[name]


def conforming(samples: Path, name: str, policy: str) -> list[Remark]:
    path = samples / "captures" / name
    found = Found(path, name, path.stat().st_size)
    follow = agree([found], Options())
    sessions = [session(session=one, file=name) for one in follow(name, policy) or {}]
    return list(judge([Group(None, Expectations(conforms_to=policy))], sessions, {name: "pi"}, follow))


def test_a_recording_conforms_or_departs_at_a_line(samples: Path) -> None:
    (held,) = conforming(samples, "underflow.jsonl", "atomic-before")
    assert (held.change, held.message) == ("held", "4 of 4 decisions are equal")
    (broken,) = conforming(samples, "underflow.jsonl", "atomic-1690")
    assert (broken.change, broken.fails, broken.file) == ("broken", True, "underflow.jsonl")
    assert broken.message == (
        "line 20: recorded: nothing until a person wrote; atomic-1690: continue; 2 of 4 decisions are equal"
    )


def test_a_file_that_does_not_show_what_decides_is_no_pass() -> None:
    def dark(_file: str, policy: str) -> Mapping[str, Agreement]:
        return {"s": Agreement(policy, 3, 0, 3, None, None)}

    def calm(_file: str, policy: str) -> Mapping[str, Agreement]:
        return {"s": Agreement(policy, 0, 0, 0, None, None)}

    expected = [Group(None, Expectations(conforms_to="reference"))]
    (one,) = judge(expected, [session()], {}, dark)
    assert (one.change, one.fails) == ("unjudged", True)
    assert one.message == "cannot be judged: the file does not show what decided: 0 of 3 decisions are equal"
    (one,) = judge(expected, [session()], {}, calm)
    assert (one.change, one.message) == ("held", "there was nothing to decide")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "place: is not a table; write [tool.forensics.expect]"),
        ({"max-manual-continue": 0}, "unknown key 'max-manual-continue'; did you mean max-manual-continues?"),
        ({"max-manual-continues": "0"}, "Expected `int | null`, got `str`"),
        ({"max-manual-continues": -1}, "max-manual-continues: -1 does not fit; give a number from 0"),
        ({"max-context-ratio": float("nan")}, "max-context-ratio: nan does not fit"),
        ({"proved": ["bounded"]}, "proved: of which policy? name it with conforms-to"),
        ({"conforms-to": "nope"}, "conforms-to: no policy 'nope'; there are atomic-1684, atomic-1690, "),
        ({"conforms-to": "atomic-1609"}, "conforms-to: no policy 'atomic-1609'; did you mean 'atomic-1690'?"),
        ({"conforms-to": "reference", "proved": ["bound"]}, "unknown property 'bound'; did you mean bounded?"),
        ({"captures/*": {"max": 1}}, "place.captures/*: unknown key 'max'; there are conforms-to, max-"),
    ],
)
def test_an_expectation_that_makes_no_sense_is_refused(given: Any, message: str) -> None:
    with pytest.raises(UsageError) as error:
        groups(given, "place")
    assert message in str(error.value)


def test_bounds_and_bounds_by_path_are_read() -> None:
    given = {"max-manual-continues": 0, "b/*": {"conforms-to": "pi"}, "a/*": {"max-context-ratio": 1}}
    assert groups(given, "p") == [
        Group(None, Expectations(max_manual_continues=0)),
        Group("a/*", Expectations(max_context_ratio=1.0)),
        Group("b/*", Expectations(conforms_to="pi")),
    ]


def test_check_fails_on_an_expectation_and_says_which(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_bytes((samples / "captures" / "underflow.jsonl").read_bytes())
    (tmp_path / "pyproject.toml").write_text(
        '[tool.forensics.expect]\nmax-manual-continues = 1\nmax-context-ratio = 1.0\nconforms-to = "atomic-1690"\n'
    )
    assert run(["check", "a.jsonl", "--fail-on", "never"]) == 1
    told_ = " ".join(capsys.readouterr().out.split())
    assert "expectation max-manual-continues, broken: 2 in 1 session, at most 1" in told_
    assert "expectation max-context-ratio, unjudged: cannot be judged: no context window is known; give --cap" in told_
    assert "expectation conforms-to, broken: line 20: recorded: nothing until a person wrote" in told_
    assert told_.endswith("; 2 expectations do not hold; 1 expectation cannot be judged (exit 1)")
    assert run(["check", "a.jsonl", "--fail-on", "never", "--cap", "300000", "-q", "-f", "json"]) == 1
    assert '"max-context-ratio",\n      "message": "0.9067 of the window, at most 1"' in capsys.readouterr().out
    assert run(["check", "a.jsonl", "--exit-zero"]) == 0
