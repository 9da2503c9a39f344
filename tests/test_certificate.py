"""Certificates: every proof passes its own check, and whatever is changed in one is found."""

import ast
import copy
import inspect
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forensics.proof import checks
from forensics.proof.certificate import refuted, verify
from forensics.proof.document import NotACertificateError
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


TAMPERED: dict[str, tuple[str, Callable[[Document], None], str]] = {
    "the sentence that people read": (
        "pi",
        _set("bounded", None, "reason", "at most 1 recovery, 1 model call, 1 paid summary"),
        "pi: all failures: bounded: the reason is not what follows from the policy: ",
    ),
    "a bound raised and called inherited": (
        "reference",
        lambda document: _claim(document, "bounded")["figures"].update(recoveries=9999, inherited=1),
        "reference: all failures: bounded: the figures are not what follows from the policy: ",
    ),
    "a delay": (
        "pi",
        _figure("bounded", "context", "delay", True),
        "pi: context: bounded: the figures are not what follows from the policy: ",
    ),
    "how many were compared": (
        "pi",
        _figure("fresh", "context", "compared", 999_999),
        "pi: context: fresh: the figures are not what follows from the policy: ",
    ),
    "the violations of accounted": (
        "atomic-1684",
        _set("accounted", None, "figures", {}),
        "atomic-1684: all failures: accounted: the figures are not what follows from the policy: ",
    ),
    "the witness of accounted": (
        "atomic-1684",
        _set("accounted", None, "witness", []),
        "atomic-1684: all failures: accounted: the witness is not what follows from the policy: ",
    ),
    "who pays across prompts": (
        "pi",
        _figure("bounded", None, "across_prompts", None),
        "pi: all failures: bounded: the figures are not what follows from the policy: ",
    ),
    "what a restart forgets": (
        "reference",
        _figure("bounded", None, "restart_forgets", 1),
        "reference: all failures: bounded: the figures are not what follows from the policy: ",
    ),
    "the part of a scene": (
        "reference",
        _scene("bounded", None, 0, "part", "cycle"),
        "reference: all failures: bounded: the witness is not what follows from the policy: ",
    ),
    "fresh no more, without a witness": (
        "reference",
        _set("fresh", None, "holds", False),
        "reference: all failures: fresh: the witness holds no prompt after which the two starts could differ",
    ),
    "the file of the policy": (
        "pi",
        lambda document: document["policies"][0]["source"].update(file="forensics/policies/other.py"),
        "pi: the source of the certificate: ",
    ),
}


@pytest.mark.parametrize("change", TAMPERED)
def test_nothing_that_is_read_in_a_certificate_is_taken_on_trust(change: str) -> None:
    name, apply, words = TAMPERED[change]
    document = _certificate(name)
    apply(document)
    problems = verify(document)
    assert len(problems) == 1
    assert problems[0].startswith(words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda document: document.clear(), "missing required field"),
        (lambda document: document.pop("policies"), "missing required field policies"),
        (lambda document: document.update(policies=[]), "it claims nothing of any policy"),
        (lambda document: document["policies"][0].update(name="zzz"), "unknown field name"),
        (lambda document: document["policies"][0].update(states=None), "Expected int, got null"),
        (lambda document: _claim(document, "bounded").update(note=""), "unknown field note"),
        (lambda document: _claim(document, "loud")["by_fault"].pop("length"), "verdicts.loud.by_fault lacks length"),
        (lambda document: _claim(document, "bounded")["witness"][0].pop("part"), "missing required field part"),
    ],
)
def test_a_damaged_certificate_is_none(change: Callable[[Document], object], words: str) -> None:
    document = _certificate("pi")
    change(document)
    with pytest.raises(NotACertificateError, match=words):
        verify(document)


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [leaf for key, one in inner for leaf in _leaves(one, (*path, key))]
    yield from found or [path]


def test_whatever_single_value_of_a_certificate_is_changed_is_found() -> None:
    document = _certificate("atomic-1684")
    for path in random.Random(1).sample(list(_leaves(document)), 40):
        changed = copy.deepcopy(document)
        place: Any = changed
        for key in path[:-1]:
            place = place[key]
        was = place[path[-1]]
        place[path[-1]] = not was if isinstance(was, bool) else was + 1 if isinstance(was, int) else f"{was or ''}x"
        try:
            problems = verify(changed)
        except NotACertificateError as error:
            problems = [str(error)]
        assert problems, path


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
