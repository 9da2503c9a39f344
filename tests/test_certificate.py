"""Certificates: every proof passes its own check, and whatever is changed in one is found."""

import ast
import copy
import inspect
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forensics.proof import checks
from forensics.proof.certificate import refuted, verify
from forensics.prove import prove, to_json
from forensics.replay import ACTIONS, Policy, Signal, policies

Document = dict[str, Any]


def _certificate(name: str, *assumptions: str, **options: object) -> Document:
    proof = prove(name, {key.replace("_", "-"): value for key, value in options.items()}, assumptions)
    document: Document = json.loads(json.dumps(to_json([proof])))
    return document


@pytest.mark.parametrize("name", sorted(policies()))
def test_a_proof_passes_the_independent_check(name: str) -> None:
    assert verify(_certificate(name)) == []


def test_options_and_assumptions_are_part_of_what_is_checked() -> None:
    document = _certificate("opencode-37584", "summaries-succeed", fail_on_third=False)
    assert verify(document) == []
    document["policies"][0]["options"]["fail-on-third"] = True
    assert "opencode-37584: overflow: 13 states claimed, 10 found" in verify(document)
    document = _certificate("opencode-v2", "summaries-succeed", "compaction-shrinks")
    document["policies"][0]["assumptions"].remove("compaction-shrinks")
    assert verify(document)


def test_several_policies_stand_in_one_certificate() -> None:
    document = json.loads(json.dumps(to_json([prove("pi"), prove("kilo")])))
    assert [one["policy"] for one in document["policies"]] == ["pi", "kilo"]
    assert verify(document) == []


def _claim(document: Document, name: str, kind: str | None = None) -> Document:
    verdict: Document = document["policies"][0]["verdicts"][name]
    return verdict if kind is None else verdict["by_fault"][kind]


def _set(name: str, kind: str | None, key: str, value: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        _claim(document, name, kind)[key] = value

    return change


def _figure(name: str, kind: str | None, figure: str, value: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        _claim(document, name, kind)["figures"][figure] = value

    return change


def _scene(name: str, kind: str | None, place: int, key: str, value: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        _claim(document, name, kind)["witness"][place][key] = value

    return change


CHANGES: dict[str, tuple[str, Callable[[Document], None], str]] = {
    "a smaller bound": (
        "reference",
        _figure("bounded", None, "recoveries", 2),
        "at most 2 recoveries claimed, more found",
    ),
    "a larger bound": ("reference", _figure("bounded", None, "recoveries", 4), "at most 4 recoveries claimed, 3 found"),
    "fewer calls": (
        "pi",
        _figure("bounded", "overflow", "model_calls", 1),
        "at most 1 model_calls claimed, more found",
    ),
    "fewer summaries": (
        "kilo",
        _figure("bounded", "overflow", "summaries", 3),
        "at most 3 summaries claimed, more found",
    ),
    "a smaller ratio": ("pi", _figure("paced", "overflow", "ratio", "1/2"), "a cycle has a greater ratio than 1/2"),
    "a larger ratio": (
        "pi",
        _figure("paced", "overflow", "ratio", "2"),
        "the loop of the witness has the ratio 1, not 2",
    ),
    "paced after all": ("pi", _set("paced", "overflow", "holds", True), "a ratio of 1 does not decide it so"),
    "hands-free after all": ("pi", _set("hands-free", "length", "holds", True), "these steps are wrong: length stop"),
    "not loud": ("reference", _set("loud", None, "holds", False), "these steps are wrong: none"),
    "fresh after all": ("atomic-1684", _set("fresh", "length", "holds", True), "behaves otherwise than the start"),
    "accounted after all": ("atomic-1684", _set("accounted", "length", "holds", True), "an attempt vanishes"),
    "not accounted": ("pi", _set("accounted", None, "holds", False), "an attempt does not vanish"),
    "contained after all": ("kilo", _set("contained", "overflow", "holds", True), "these steps are futile"),
    "a loop that does not close": (
        "opencode-before",
        lambda document: _claim(document, "bounded", "overflow")["witness"].pop(),
        "the loop of the witness does not close",
    ),
    "no loop": ("opencode-before", _set("bounded", "overflow", "witness", []), "the witness holds no loop"),
    "another answer": (
        "opencode-before",
        _scene("bounded", "overflow", -1, "action", "stop"),
        "to summary the policy answers replay",
    ),
    "an impossible signal": (
        "opencode-before",
        _scene("bounded", "overflow", 1, "signal", {"kind": "elapsed"}),
        "the wait is over cannot come here",
    ),
    "another comparison": (
        "atomic-1684",
        _scene("fresh", "length", -1, "action", "stop"),
        "the two starts do not differ as the witness says",
    ),
    "another size": (
        "pi",
        lambda document: document["policies"][0].__setitem__("states", 7),
        "7 states claimed",
    ),
    "a verdict left out": (
        "pi",
        lambda document: document["policies"][0]["verdicts"].pop("loud"),
        "no verdict on loud",
    ),
    "another source": (
        "pi",
        lambda document: document["policies"][0]["source"].__setitem__("sha256", "0" * 64),
        "the source of the policy is not the one that was proved",
    ),
    "another policy": (
        "pi",
        lambda document: document["policies"][0].__setitem__("policy", "pie"),
        "no policy 'pie'",
    ),
    "another alphabet": (
        "pi",
        lambda document: document["alphabet"]["signals"].pop(),
        "another alphabet",
    ),
    "another schema": ("pi", lambda document: document.__setitem__("schema_version", 0), "schema version 0"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_changed_is_found(change: str) -> None:
    name, apply, words = CHANGES[change]
    document = _certificate(name)
    before = copy.deepcopy(document)
    apply(document)
    assert document != before
    assert any(words in problem for problem in verify(document)), verify(document)


def _random(seed: int, size: int, tame: bool) -> Policy:
    """Make a policy that answers at random, the same each time; a tame one begins anew at progress and prompts."""

    def run(state: int, signal: Signal) -> tuple[int, str, bool]:
        chance = random.Random(f"{seed}/{state}/{signal!r}")
        action, after = chance.choice(sorted(ACTIONS)), chance.randrange(size)
        if tame and (signal.progress or signal.kind in {"prompt", "tick", "skipped"}):
            return (state if signal.kind == "tick" else 0), "proceed", False
        if tame:
            action = chance.choice(["compact", "continue", "retry", "stop", "stop", "stop"])
            after = min(size - 1, state + 1)
        return after, action, chance.random() < 0.5

    return Policy("random", 0, run, {}, (), None, "", __name__)


@given(seed=st.integers(0, 100_000), size=st.integers(1, 5), tame=st.booleans())
@settings(max_examples=60, deadline=None)
@example(seed=215, size=1, tame=False)
def test_two_methods_agree_on_policies_that_answer_at_random(seed: int, size: int, tame: bool) -> None:
    policy = _random(seed, size, tame)
    claim = json.loads(json.dumps(to_json([prove(policy)])["policies"][0]))
    assert list(refuted(claim, policy)) == []


def test_a_policy_that_compacts_for_ever_before_a_prompt_is_judged_too() -> None:
    policy = Policy("compacts", 0, lambda state, _: (state, "compact"), {}, (), None, "", __name__)
    assert not prove(policy).verdicts["bounded"].overall.holds


def test_the_checker_uses_none_of_the_provers_searches() -> None:
    tree = ast.parse(inspect.getsource(checks))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    searches = {"graphs", "ratio", "equivalence", "accounts", "properties", "verdict"}
    assert not imported & {f"forensics.{name}" for name in searches}


def test_a_users_own_policy_is_found_by_its_path_and_checked_against_its_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = (
        "from forensics.replay import policy\n\n"
        "@policy(start=0)\n"
        "def mine(state, signal):\n"
        "    if signal.bad and state < 2:\n"
        '        return state + 1, "retry"\n'
        '    return (0 if signal.progress else state), "proceed", True\n'
    )
    path.write_text(text)
    document = _certificate(str(path))
    assert verify(document) == []
    path.write_text(text.replace("< 2", "< 3"))
    assert verify(document) == ["mine: the source of the policy is not the one that was proved"]
    path.unlink()
    assert verify(document) == [f"mine: {path}: no such file"]
