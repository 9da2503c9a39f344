"""What the prover finds: the loops that agents were recorded in, what reviews said of their fixes, and toy policies."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.proof.certificate import verify
from forensics.proof.environment import CLASSES, START, FaultClass, World, answers, follow
from forensics.proof.explanation import explain
from forensics.proof.terms import Property
from forensics.proof.verdict import Verdict
from forensics.proof.walk import Move, TooManyStatesError
from forensics.prove import AssumptionError, Proof, prove, to_json
from forensics.replay import Policy, PolicyError, Signal, find, policies, stepper

Step = Callable[..., tuple[Any, ...]]


def _toy(run: Step, start: object = 0) -> Policy:
    return Policy("toy", start, run, {}, (), None, "", __name__)


def _verdict(proof: Proof, name: Property, kind: FaultClass | None = None) -> Verdict:
    judged = proof.verdicts[name]
    return judged.overall if kind is None else judged.by_fault[kind]


def _steps(verdict: Verdict, part: str = "cycle") -> list[str]:
    return [f"{scene.signal} → {scene.action}" for scene in verdict.witness if scene.part == part]


def test_a_policy_that_never_recovers_is_bounded_and_needs_a_person() -> None:
    proof = prove(_toy(lambda state, _: (state, "proceed")))
    assert _verdict(proof, "bounded").figures["recoveries"] == 0
    assert _verdict(proof, "paced").figures == {"ratio": "0"}
    assert not _verdict(proof, "hands-free").holds
    assert not _verdict(proof, "loud").holds
    assert _verdict(proof, "contained").holds


def test_a_counter_bounds_exactly_as_often_as_it_counts() -> None:
    def run(state: int, signal: Signal) -> tuple[Any, ...]:
        if signal.progress or signal.kind == "prompt":
            return 0, "proceed"
        if signal.bad and state < 4:
            return state + 1, "retry"
        return state, "stop", True

    figures = _verdict(prove(_toy(run)), "bounded", "transient").figures
    assert (figures["recoveries"], figures["model_calls"], figures["summaries"]) == (4, 4, 0)
    assert _verdict(prove(_toy(run)), "paced", "transient").figures == {"ratio": "4"}


def test_a_recovery_that_a_prompt_begins_belongs_to_the_turn_it_begins() -> None:
    def run(state: int, signal: Signal) -> tuple[Any, ...]:
        return (state, "compact") if signal.kind == "prompt" else (state, "proceed", True)

    assert _verdict(prove(_toy(run)), "bounded").figures["recoveries"] == 1


def test_good_replies_that_leave_the_context_full_are_not_progress() -> None:
    def run(state: int, signal: Signal) -> tuple[Any, ...]:
        return (state, "compact") if signal.good and signal.over else (state, "proceed", True)

    proof = prove(_toy(run))
    assert _steps(_verdict(proof, "bounded", "context")) == [
        "tool step over the threshold → compact",
        "summary → proceed",
    ]
    assert _verdict(proof, "paced", "context").figures == {"ratio": "1"}


def test_one_recovery_for_three_good_replies_is_paced_and_one_for_two_is_not() -> None:
    def every(replies: int) -> Step:
        def run(state: int, signal: Signal) -> tuple[Any, ...]:
            if signal.kind == "prompt":
                return replies, "proceed"
            if signal.good:
                return min(state + 1, replies), "proceed"
            if signal.bad and state == replies:
                return 0, "retry"
            return state, "stop", True

        return run

    assert _verdict(prove(_toy(every(3), 3)), "paced", "transient").figures == {"ratio": "1/3"}
    assert _verdict(prove(_toy(every(3), 3)), "paced", "transient").holds
    assert _verdict(prove(_toy(every(2), 2)), "paced", "transient").figures == {"ratio": "1/2"}
    assert not _verdict(prove(_toy(every(2), 2)), "paced", "transient").holds


def test_a_counter_without_a_cap_is_refused_and_does_not_hang() -> None:
    def run(state: int, signal: Signal) -> tuple[Any, ...]:
        return state + 1, "retry" if signal.bad else "proceed"

    with pytest.raises(TooManyStatesError, match=r"toy: more than 5,000 pairs .* cap the counter"):
        prove(_toy(run), max_states=5_000)


def test_a_policy_that_breaks_or_answers_nonsense_is_named() -> None:
    with pytest.raises(PolicyError, match="toy: ZeroDivisionError on prompt in 0"):
        prove(_toy(lambda state, _: (1 // state, "proceed")))
    with pytest.raises(PolicyError, match="toy: 'reboot' on prompt is not an action"):
        prove(_toy(lambda state, _: (state, "reboot")))
    with pytest.raises(PolicyError, match=r"toy: TypeError .* unhashable"):
        prove(_toy(lambda *_: ([], "proceed")))


def test_unknown_names_are_errors_that_name_the_nearest() -> None:
    with pytest.raises(PolicyError, match="no policy 'atomic-1960'; did you mean 'atomic-1690'"):
        prove("atomic-1960")
    with pytest.raises(PolicyError, match="opencode-37584 has no option 'limits'; did you mean 'limit'"):
        prove("opencode-37584", {"limits": 2})
    with pytest.raises(AssumptionError, match="unknown assumption 'good-luck'"):
        prove("pi", assumptions=["good-luck"])
    with pytest.raises(AssumptionError, match="both over and under"):
        prove("pi", assumptions=["errors-over-threshold", "errors-under-threshold"])


def test_a_policy_of_the_users_own_is_proved_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "my_policy.py"
    path.write_text(
        "from forensics.replay import policy\n\n"
        "@policy(start=())\n"
        "def mine(state, signal, *, eager: bool = True):\n"
        '    """Retry for ever."""\n'
        '    return state, "retry" if signal.bad and eager else "proceed"\n'
    )
    assert not _verdict(prove(str(path)), "bounded").holds
    assert _verdict(prove(str(path), {"eager": False}), "bounded").holds
    assert "mine" not in policies()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nothing_of_that_name\n", "ModuleNotFoundError"),
        ("x = 1\n", "defines 0 policies"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        (None, "no such file"),
    ],
)
def test_a_file_that_defines_no_policy_is_refused(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "broken.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(PolicyError, match=words):
        find(str(path))


def test_recorded_opencode_loops_while_summaries_succeed() -> None:
    verdict = _verdict(prove("opencode-before", assumptions=["summaries-succeed"]), "bounded", "overflow")
    assert _steps(verdict) == ["overflow → compact", "summary → replay"]
    assert verdict.figures["cycle"] == {"recoveries": 1, "model_calls": 2, "summaries": 1}
    assert verdict.figures["delay"] is False


def test_recorded_opencode_loops_on_a_full_context_whose_summaries_are_empty() -> None:
    verdict = _verdict(prove("opencode-before"), "bounded", "context")
    assert _steps(verdict) == ["finished reply over the threshold → compact", "summary → continue"]
    step = stepper(find("opencode-before"))
    state = step(find("opencode-before").start, Signal("reply", "done", over=True)).state
    assert step(state, Signal("compacted", outcome="no-summary")).action == "continue"


@pytest.mark.parametrize("name", ["pilotdeck-before", "pilotdeck-head", "pilotdeck-after"])
def test_recorded_pilotdeck_sends_again_without_a_delay(name: str) -> None:
    verdict = _verdict(prove(name), "bounded", "overflow")
    assert _steps(verdict) == ["overflow → truncate"]
    assert verdict.figures == {
        "cycle": {"recoveries": 1, "model_calls": 1, "summaries": 0},
        "delay": False,
        "across_prompts": True,
        "restart_forgets": True,
    }


@pytest.mark.parametrize(("name", "ratio"), [("pi", "1"), ("openclaw-2026-9", "3"), ("atomic-1690", "1")])
def test_recorded_pi_and_openclaw_bound_an_overflow_but_do_not_pace_it(name: str, ratio: str) -> None:
    proof = prove(name)
    assert _verdict(proof, "bounded", "overflow").holds
    assert _verdict(proof, "paced", "overflow").figures == {"ratio": ratio}
    assert not _verdict(proof, "paced", "overflow").holds


def test_incident_1_the_idle_stall_before_1690() -> None:
    verdict = _verdict(prove("atomic-before", assumptions=["errors-over-threshold"]), "hands-free", "output-budget")
    assert _steps(verdict, "prefix") == [
        "prompt → proceed",
        "output-budget over the threshold → compact",
        "summary → proceed",
    ]
    fixed = prove("atomic-1690", assumptions=["errors-over-threshold"])
    assert _verdict(fixed, "hands-free", "output-budget").holds


def test_review_1690_a_it_is_bounded_at_one() -> None:
    figures = _verdict(prove("atomic-1690"), "bounded", "output-budget").figures
    assert (figures["recoveries"], figures["summaries"]) == (1, 1)


def test_review_1690_b_the_second_underflow_is_silent() -> None:
    assumed = ["errors-over-threshold", "something-to-compact"]
    verdict = _verdict(prove("atomic-1690", assumptions=assumed), "loud", "output-budget")
    assert _steps(verdict, "prefix") == [
        "prompt → proceed",
        "output-budget over the threshold → compact-and-retry",
        "summary → continue",
        "output-budget over the threshold → stop",
    ]
    assert not verdict.witness[-1].announced


def test_review_1690_d_an_error_below_the_threshold_is_never_continued() -> None:
    verdict = _verdict(prove("atomic-1690"), "hands-free", "output-budget")
    assert verdict.figures["violations"] == ["output-budget → stop"]


def test_review_1690_e_a_failed_compaction_spends_the_attempt() -> None:
    found = _verdict(prove("atomic-1690"), "accounted", "output-budget").figures["violations"]
    assert "a compaction that fails after output-budget over the threshold leaves 0 of 1" in found
    assert "a continuation that is skipped once the compaction is made after output-budget over the threshold" in str(
        found
    )


def test_review_1690_f_a_cut_reply_over_the_threshold_has_no_counter() -> None:
    verdict = _verdict(prove("atomic-1690"), "bounded", "length")
    assert _steps(verdict) == ["length stop over the threshold → compact-and-retry", "summary → continue"]


def test_review_1684_a_the_counter_leaks_across_prompts() -> None:
    verdict = _verdict(prove("atomic-1684"), "fresh", "length")
    assert _steps(verdict, "instead") == ["length stop → continue"]
    assert [scene.action for scene in verdict.witness if scene.part == "prefix"][-1] == "stop"
    assert _verdict(prove("atomic-before"), "fresh", "length").holds


def test_review_1684_b_a_skipped_continuation_spends_the_counter() -> None:
    verdict = _verdict(prove("atomic-1684"), "accounted", "length")
    assert verdict.reason == "a continuation that is skipped after length stop leaves 2 of 3"


def test_1684_bounds_what_it_continues_below_the_threshold_only() -> None:
    below = prove("atomic-1684", assumptions=["errors-under-threshold"])
    assert _verdict(below, "bounded", "length").figures["recoveries"] == 3
    assert not _verdict(prove("atomic-1684"), "bounded", "length").holds


def test_head_still_holds_what_the_reviews_said() -> None:
    proof = prove("atomic-head")
    assert _verdict(proof, "accounted", "length").reason.endswith("leaves 2 of 3")
    assert not _verdict(proof, "fresh", "length").holds
    assert not _verdict(proof, "loud", "output-budget").holds
    assert _steps(_verdict(proof, "bounded", "length"))[0].startswith(
        "length stop at the output cap over the threshold"
    )


def test_37584_bounds_an_overflow_at_two_summaries_and_one_left_by_an_earlier_turn() -> None:
    clean = prove("opencode-37584", assumptions=["summaries-succeed"])
    assert _verdict(clean, "bounded", "overflow").figures["summaries"] == 2
    assert _verdict(prove("opencode-37584"), "bounded", "overflow").figures["summaries"] == 3
    late = prove("opencode-37584", {"fail-on-third": False}, ["summaries-succeed"])
    assert _verdict(late, "bounded", "overflow").figures["summaries"] == 3


def test_37584_does_not_count_a_loop_of_finished_steps_unless_told_to() -> None:
    assert _verdict(prove("opencode-37584"), "bounded", "context").holds
    verdict = _verdict(prove("opencode-37584", {"count-threshold": False}), "bounded", "context")
    assert _steps(verdict) == ["finished reply over the threshold → compact", "summary → continue"]


def test_37584_a_finished_step_between_two_overflows_resets_its_count() -> None:
    verdict = _verdict(prove("opencode-37584"), "paced", "overflow")
    assert verdict.figures == {"ratio": "2"}
    assert _steps(verdict)[-1] == "tool step → proceed"


@pytest.mark.parametrize("name", ["opencode-37584", "opencode-replo", "kilo", "openclaw", "pi", "atomic-1690"])
def test_a_bound_per_run_does_not_bound_what_new_prompts_pay(name: str) -> None:
    verdict = _verdict(prove(name), "bounded", "overflow")
    assert verdict.holds
    assert verdict.figures["across_prompts"]


def test_replo_pays_at_most_one_summary_for_an_oversized_message() -> None:
    figures = _verdict(prove("opencode-replo"), "bounded", "overflow").figures
    assert (figures["recoveries"], figures["summaries"]) == (1, 1)
    assert not _verdict(prove("opencode-replo"), "bounded", "context").holds


def test_replo_a_stall_outlives_the_prompt() -> None:
    verdict = _verdict(prove("opencode-replo", assumptions=["summaries-succeed"]), "fresh", "overflow")
    assert verdict.witness[-2].action == "show-error"
    assert verdict.witness[-1].action == "compact"


def test_kilo_bounds_at_three_and_ends_healthy_long_runs_too() -> None:
    assert _verdict(prove("kilo", assumptions=["summaries-succeed"]), "bounded", "overflow").figures["summaries"] == 3
    assert (
        "tool step over the threshold → show-error"
        in _verdict(prove("kilo"), "hands-free", "context").figures["violations"]
    )


def test_a_retry_without_a_limit_does_not_hide_what_is_bounded() -> None:
    proof = prove("kilo")
    assert not _verdict(proof, "bounded").holds
    assert [kind for kind in CLASSES if not _verdict(proof, "bounded", kind).holds] == ["transient"]
    assert _verdict(proof, "bounded", "transient").figures["delay"]


def test_incident_5_the_fix_bounds_nothing_by_itself() -> None:
    for more in ((), ("summaries-succeed",), ("compaction-shrinks",)):
        assert not _verdict(prove("pilotdeck-after", assumptions=more), "bounded", "context").holds
    both = prove("pilotdeck-after", assumptions=["summaries-succeed", "compaction-shrinks"])
    assert _verdict(both, "bounded", "context").figures["summaries"] == 1
    before, after = (
        {name: judged.by_fault for name, judged in prove(name_).verdicts.items()}
        for name_ in ("pilotdeck-head", "pilotdeck-after")
    )
    assert before == after


def test_incident_5_the_cooldown_outlives_the_prompt() -> None:
    verdict = _verdict(prove("pilotdeck-before"), "fresh", "context")
    assert _steps(verdict, "prefix")[-1] == "tool step over the threshold → proceed"
    assert _steps(verdict, "instead") == ["tool step over the threshold → compact"]


def test_what_a_fix_relies_on_is_said() -> None:
    found = explain(prove("atomic-1690"))
    assert found["output-budget"]["hands-free"] == [("errors-over-threshold",)]
    assert ("no-skips",) in found["length"]["accounted"]
    assert explain(prove("reference")) == {}


def test_two_good_replies_are_the_only_way_to_mix_failures_without_end_in_openclaw() -> None:
    proof = prove("openclaw")
    assert all(_verdict(proof, "bounded", kind).holds for kind in CLASSES)
    assert not _verdict(proof, "bounded").holds


def test_opencode_forgets_no_pending_compaction_in_a_restart() -> None:
    assert _verdict(prove("opencode-before"), "bounded").figures["restart_forgets"] is False
    assert _verdict(prove("pi"), "bounded").figures["restart_forgets"] is False
    assert _verdict(prove("openclaw"), "bounded").figures["restart_forgets"] is True


def test_restarts_widen_the_environment() -> None:
    assert prove("openclaw", assumptions=["restarts"]).states > prove("openclaw").states - 1


_NAMES = sorted(policies())


@pytest.mark.parametrize("name", _NAMES)
def test_every_witness_can_be_played_again(name: str) -> None:
    proof = prove(name)
    for prop, judged in proof.verdicts.items():
        world = World(assume=frozenset(proof.assumptions), friendly=prop == "hands-free")
        _play(proof.policy, judged.overall, world)
        for kind, verdict in judged.by_fault.items():
            _play(proof.policy, verdict, world._replace(classes=frozenset({kind})))


def _play(policy: Policy, verdict: Verdict, world: World) -> None:
    step, state, asked = stepper(policy), policy.start, START
    for before, scene in pairwise([None, *verdict.witness]):
        if scene is None or scene.part == "instead":
            continue
        if asked.what == "idle" and scene.signal == Signal("prompt") and before is not None:
            asked = START
        assert scene.signal in answers(asked, world)
        answer = step(state, scene.signal)
        assert (answer.action, answer.announced) == (scene.action, scene.announced)
        state, asked = answer.state, follow(asked, scene.signal, answer.action, answer.announced, world)


_PROOFS = {name: prove(name) for name in _NAMES}


@pytest.mark.parametrize("name", _NAMES)
@given(choices=st.lists(st.integers(0, 10_000), min_size=20, max_size=200), kind=st.sampled_from([None, *CLASSES]))
@settings(max_examples=25, deadline=None)
def test_random_walks_never_exceed_a_proved_bound(name: str, choices: list[int], kind: FaultClass | None) -> None:
    proof = _PROOFS[name]
    verdict = _verdict(proof, "bounded", kind)
    if not verdict.holds:
        return
    world = World(frozenset(CLASSES if kind is None else (kind,)), frozenset(proof.assumptions))
    step, state, asked = stepper(proof.policy), proof.policy.start, START
    spent = [0, 0, 0]
    for choice in choices:
        signals = answers(asked, world)
        signal = signals[choice % len(signals)]
        answer = step(state, signal)
        then = follow(asked, signal, answer.action, answer.announced, world)
        move = Move(asked, signal, answer.action, answer.announced, then)
        if move.progress or move.boundary:
            spent = [0, 0, 0]
        spent = [sum(pair) for pair in zip(spent, move.weights, strict=True)]
        state, asked = answer.state, then
        assert all(
            used <= verdict.figures[figure]
            for used, figure in zip(spent, ("recoveries", "model_calls", "summaries"), strict=True)
        )


def test_a_large_policy_inherits_what_holds_with_all_failures_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = prove("openclaw")
    monkeypatch.setattr("forensics.prove.INHERITING_STATES", 100)
    proof = prove("openclaw")
    assert proof.states_by_fault == exact.states_by_fault
    for name, judged in proof.verdicts.items():
        for kind, verdict in judged.by_fault.items():
            assert verdict.holds == _verdict(exact, name, kind).holds
            assert verdict.figures.get("inherited", False) == judged.overall.holds
    assert verify(json.loads(json.dumps(to_json([proof])))) == []
    whole = prove("reference")
    assert set(whole.states_by_fault.values()) == {None}
    assert whole.verdicts["bounded"].by_fault["overflow"].figures["recoveries"] == 3
    assert verify(json.loads(json.dumps(to_json([whole])))) == []
