"""Every verdict on every policy, each with its reason, and what the proofs say of the claims in incident reports."""

from functools import cache
from pathlib import Path

import pytest

from forensics.proof.environment import CLASSES, FaultClass
from forensics.proof.proof_text import reasons, table
from forensics.proof.terms import Property
from forensics.prove import Proof, prove
from forensics.replay import policies

KEPT = Path(__file__).with_name("verdicts.md")
"""The table and the reasons, as `forensics prove --format markdown` prints them. Read what changed, then replace it."""

HOLDS = {
    "atomic-1684": "oc-bt- -c-b-- ocl-t- oc--t- oc---- oc-bt- ------",
    "atomic-1690": "oc-bt- -c---- ocl-t- oc--t- oc---- oc--t- ------",
    "atomic-before": "oc-bt- -c-b-- oc--t- oc--t- ocl--- oclbt+ ------",
    "atomic-head": "o--bt- ------ ocl-t- -c--t- oc---- -c--t- ------",
    "kilo": "oclb-- oclb-- ----t- ----t- ---bt- ---bt- ---bt-",
    "openclaw": "oclbt- oclb-- -c--t- oc--t- oclbt+ oclbt+ -clbt-",
    "openclaw-2026-9": "oclbt- -clb-- oc--t- oc--t- oclbt+ oclbt+ ------",
    "opencode-37584": "oclbt+ ---b-- oc--t- ------ ---bt- ---bt- ---bt-",
    "opencode-before": "---bt- ---b-- oc--t- ------ ---bt- ---bt- ---bt-",
    "opencode-replo": "o--bt- ---b-- oc--t- ------ ---bt- ---bt- ---bt-",
    "opencode-v2": "o-lbt- --lb-- oc--t- -c---- oclbt+ ---bt- ---bt-",
    "pi": "o-lbt- --lb-- oc--t- -c--t- ocl--- oclbt+ ------",
    "pilotdeck-after": "--lbt- --lb-- oc--t- ocl--- ------ ------ ---bt-",
    "pilotdeck-before": "--lbt- --lb-- oc--t- ------ ------ ------ ---bt-",
    "pilotdeck-head": "--lbt- --lb-- oc--t- ocl--- ------ ------ ---bt-",
    "reference": "oclbt+ oclbt+ oclbt+ oclbt+ oclbt+ oclbt+ oclbt+",
}
"""By property, in the order of the table: a letter for each class of failure for which it holds (overflow, context,
length, output-budget `b`, transient), `-` where it is lost, and last `+` where it holds with all of them mixed."""


@cache
def _proof(name: str, *assumptions: str) -> Proof:
    return prove(name, assumptions=assumptions)


def _letters(proof: Proof, name: Property) -> str:
    judged = proof.verdicts[name]
    letters = (letter if one.holds else "-" for letter, one in zip("oclbt", judged.by_fault.values(), strict=True))
    return "".join(letters) + ("+" if judged.overall.holds else "-")


def test_every_policy_has_its_verdicts() -> None:
    assert sorted(HOLDS) == sorted(policies())


@pytest.mark.parametrize("name", HOLDS)
def test_the_verdicts_are_these(name: str) -> None:
    proof = _proof(name)
    assert " ".join(_letters(proof, prop) for prop in proof.verdicts) == HOLDS[name]


def test_the_table_and_the_reasons_are_kept() -> None:
    proofs = [_proof(name) for name in policies()]
    assert f"{table(proofs)}\n{reasons(proofs)}" == KEPT.read_text(encoding="utf-8")


def test_every_verdict_has_a_reason_of_one_line() -> None:
    for name in policies():
        for judged in _proof(name).verdicts.values():
            for verdict in (judged.overall, *judged.by_fault.values()):
                assert verdict.reason
                assert "\n" not in verdict.reason


@pytest.mark.parametrize("name", HOLDS)
def test_what_holds_with_all_failures_mixed_holds_for_each(name: str) -> None:
    for judged in _proof(name).verdicts.values():
        assert not judged.overall.holds or all(one.holds for one in judged.by_fault.values())


def test_a_lost_property_has_a_witness_and_an_unbounded_one_a_loop() -> None:
    for name in policies():
        for prop, judged in _proof(name).verdicts.items():
            for verdict in (judged.overall, *judged.by_fault.values()):
                assert verdict.holds or verdict.witness
                if prop in {"bounded", "paced"} and not verdict.holds:
                    assert any(scene.part == "cycle" for scene in verdict.witness)


CLAIMS: list[tuple[str, str, str, Property, FaultClass, tuple[str, ...], bool, str]] = [
    (
        "incident 2: a cut reply is continued at most three times in a row",
        "contradicted: above the threshold nothing counts",
        "atomic-1684",
        "bounded",
        "length",
        (),
        False,
        "length stop over the threshold → compact-and-retry, summary → continue, for ever, without delay",
    ),
    (
        "incident 2: a cut reply is continued at most three times in a row",
        "upheld below the threshold",
        "atomic-1684",
        "bounded",
        "length",
        ("errors-under-threshold",),
        True,
        "at most 3 recoveries, 3 model calls, 0 paid summaries",
    ),
    (
        "incident 1: once per failure streak",
        "upheld",
        "atomic-1690",
        "bounded",
        "output-budget",
        (),
        True,
        "at most 1 recovery, 2 model calls, 1 paid summary",
    ),
    (
        "incident 1: on recurrence a compaction_end with willRetry false and an error message",
        "contradicted: after a compaction that worked, the second error ends in silence; the announced end is reached"
        " only where the compaction failed",
        "atomic-1690",
        "loud",
        "output-budget",
        ("errors-over-threshold", "summaries-succeed"),
        False,
        "output-budget over the threshold → compact-and-retry, summary → continue,"
        " output-budget over the threshold → stop",
    ),
    (
        "incident 1: the error is continued without a person",
        "upheld over the threshold",
        "atomic-1690",
        "hands-free",
        "output-budget",
        ("errors-over-threshold",),
        True,
        "every failure is recovered without a person",
    ),
    (
        "incident 1: the error is continued without a person",
        "contradicted below the threshold (review point d)",
        "atomic-1690",
        "hands-free",
        "output-budget",
        (),
        False,
        "output-budget → stop",
    ),
    (
        "incident 3: at most two summaries per oversized message",
        "upheld, and not tight: one",
        "opencode-replo",
        "bounded",
        "overflow",
        (),
        True,
        "at most 1 recovery, 2 model calls, 1 paid summary",
    ),
    (
        "incident 3: the session loops until it is killed",
        "upheld",
        "opencode-before",
        "bounded",
        "overflow",
        ("summaries-succeed",),
        False,
        "overflow → compact, summary → replay, for ever, without delay",
    ),
    (
        "incident 4: after three in a row it fails, two summaries paid",
        "upheld where no earlier compaction was left behind",
        "opencode-37584",
        "bounded",
        "overflow",
        ("summaries-succeed",),
        True,
        "at most 2 recoveries, 4 model calls, 2 paid summaries",
    ),
    (
        "incident 4: after three in a row it fails, two summaries paid",
        "contradicted by a marker that a failed summary left: the next prompt pays a third",
        "opencode-37584",
        "bounded",
        "overflow",
        (),
        True,
        "at most 3 recoveries, 6 model calls, 3 paid summaries",
    ),
    (
        "incident 4: long sessions that compact many times are unaffected",
        "upheld",
        "opencode-37584",
        "hands-free",
        "context",
        (),
        True,
        "every failure is recovered without a person",
    ),
    (
        "incident 5: both halves of the fix end the retry loop",
        "contradicted: a summary that succeeds does not end a full context",
        "pilotdeck-after",
        "bounded",
        "context",
        ("summaries-succeed",),
        False,
        "tool step over the threshold → compact, summary → proceed, for ever, without delay",
    ),
    (
        "incident 5: both halves of the fix end the retry loop",
        "upheld where summaries succeed and shrink the context",
        "pilotdeck-after",
        "bounded",
        "context",
        ("summaries-succeed", "compaction-shrinks"),
        True,
        "at most 1 recovery, 1 model call, 1 paid summary",
    ),
]


@pytest.mark.parametrize(
    ("claim", "judgement", "name", "prop", "kind", "assumptions", "holds", "reason"),
    CLAIMS,
    ids=lambda value: value if isinstance(value, str) and value.startswith("incident") else "",
)
def test_what_the_proofs_say_of_the_claims(  # noqa: PLR0917  (the columns of the table)
    claim: str,
    judgement: str,
    name: str,
    prop: Property,
    kind: FaultClass,
    assumptions: tuple[str, ...],
    holds: bool,
    reason: str,
) -> None:
    assert claim
    assert judgement.split(maxsplit=1)[0].strip(":,") in {"upheld", "contradicted"}
    verdict = _proof(name, *assumptions).verdicts[prop].by_fault[kind]
    assert (verdict.holds, verdict.reason) == (holds, reason)


def test_classes_of_failure_are_named_by_different_letters() -> None:
    assert len(CLASSES) == len("oclbt")
