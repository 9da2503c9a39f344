import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import forensics.policies.reference as module
from forensics.proof.environment import CLASSES
from forensics.prove import prove
from forensics.replay import load

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("reference", "prompt", "tool", "done") == ["proceed"] * 3


def test_an_overflow_is_compacted_once_and_a_second_one_ends_the_turn_aloud(acts: Acts) -> None:
    assert acts("reference", "overflow", "summary", "overflow") == ["compact-and-retry", "retry", "stop!"]


def test_a_failed_summary_is_tried_once_more_aloud(acts: Acts) -> None:
    said = acts("reference", "overflow", "no summary", "failed")
    assert said == ["compact-and-retry", "compact!", "stop!"]


def test_what_is_known_not_to_fit_is_not_sent(acts: Acts) -> None:
    assert acts("reference", "overflow", "summary too large") == ["compact-and-retry", "stop!"]


def test_a_cut_reply_is_continued_three_times(acts: Acts) -> None:
    assert acts("reference", *(["length"] * 4)) == ["continue"] * 3 + ["stop!"]


def test_an_output_budget_error_is_compacted_and_retried_wherever_it_comes(acts: Acts) -> None:
    assert acts("reference", "budget", "summary") == ["compact-and-retry", "retry"]


def test_credit_is_earned_by_good_replies(acts: Acts) -> None:
    thrashing = acts("reference", *(["overflow", "summary", "tool"] * 4), "overflow")
    assert thrashing[-1] == "stop!"
    working = acts("reference", *(["overflow", "summary", "tool", "tool", "tool"] * 9), "overflow")
    assert working[-1] == "compact-and-retry"


def test_a_skipped_continuation_is_given_back(acts: Acts) -> None:
    assert acts("reference", *(["length", "skipped"] * 9), "length")[-1] == "continue"


def test_a_prompt_forgets_everything(acts: Acts) -> None:
    assert acts("reference", *(["length"] * 4), "prompt", "length")[-1] == "continue"


def test_a_full_context_that_cannot_be_compacted_goes_on_aloud(acts: Acts) -> None:
    assert acts("reference", "tool+", "summary", "tool+", "tool") == [
        "compact-and-retry",
        "proceed",
        "proceed!",
        "proceed",
    ]


def test_transient_errors_are_waited_for(acts: Acts) -> None:
    assert acts("reference", *(["transient", "elapsed"] * 3), "transient") == ["wait", "retry"] * 3 + ["stop!"]


def test_it_holds_everything_for_every_failure_and_for_all_together() -> None:
    proof = prove("reference")
    assert [name for name, judged in proof.verdicts.items() if not judged.overall.holds] == []
    assert {kind for judged in proof.verdicts.values() for kind, one in judged.by_fault.items() if one.holds} == {
        *CLASSES
    }
    figures = proof.verdicts["bounded"].overall.figures
    assert (figures["recoveries"], figures["model_calls"], figures["summaries"]) == (3, 4, 2)
    assert proof.verdicts["paced"].overall.figures == {"ratio": "1/3"}


def test_it_is_short() -> None:
    code = [line for line in inspect.getsource(module).splitlines() if line.strip() and '"""' not in line]
    assert len(code) < 60


Change = tuple[str, str]

GUARDS: dict[str, tuple[list[Change], set[str]]] = {
    "a recovery costs credit": (
        [
            *[("credit=state.credit - price, ", "")] * 2,
            ("credit=state.credit + price, ", ""),
        ],
        {"paced"},
    ),
    "at most three in a row": ([("spent.streak > limit or ", "")], {"bounded"}),
    "only progress ends a row": (
        [("min(state.credit + 1, limit * price))", "min(state.credit + 1, limit * price), streak=0)")],
        {"bounded"},
    ),
    "credit is earned by good replies": ([("min(state.credit + 1, limit * price)", "state.credit")], {"hands-free"}),
    "what was compacted goes on": ([('"stop" if stuck else state.then, stuck', '"stop", True')], {"hands-free"}),
    "an end is announced": ([('if signal.good else "stop", True', 'if signal.good else "stop", False')], {"loud"}),
    "a skipped continuation is given back": (
        [("credit=state.credit + price, streak=state.streak - 1", "")],
        {"accounted"},
    ),
    # What a failed attempt spent is given back by the prompt, so forgetting is for both.
    "a prompt forgets everything": (
        [("return Budget(credit=limit * price)", "return Budget(credit=state.credit)")],
        {"fresh", "accounted"},
    ),
    # Both properties ask for it in their definitions.
    "a failed summary is told": ([('"compact", True', '"compact", False')], {"accounted", "contained"}),
    "one summary until there is progress": ([(' or (full and state.summary != "none")', "")], {"contained"}),
    "one retry of a failed summary": ([(' or state.summary == "failed"', "")], {"contained"}),
    "no summary of nothing": ([('signal.outcome == "nothing" or ', "")], {"contained"}),
    "nothing is sent that does not fit": ([('stuck = signal.fits == "no"', "stuck = False")], {"contained"}),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_without_a_guard_exactly_the_property_it_is_for_is_lost(guard: str, tmp_path: Path) -> None:
    changes, lost = GUARDS[guard]
    text = inspect.getsource(module)
    if guard == "at most three in a row":
        text = text.replace("streak=state.streak + 1)", "streak=min(state.streak + 1, limit))", 1)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "mutant.py"
    path.write_text(text)
    proof = prove(load(path), max_states=50_000)
    assert {name for name, judged in proof.verdicts.items() if not judged.overall.holds} == lost
