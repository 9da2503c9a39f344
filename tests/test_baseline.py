import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.checking.baseline import (
    Baseline,
    Changed,
    Entry,
    Seen,
    dump,
    empty,
    entry_of,
    load,
    mark,
    pair,
    pruned,
    updated,
)
from forensics.checking.ignores import Ignore, rules_of, suppress
from forensics.checking.worse import NEUTRAL, judged, shifts
from forensics.config import UsageError
from forensics.detect import Finding, Value
from forensics.times import instant

NOW = instant("2026-11-30T12:00:00Z")
SEEN = Seen({"compaction-loop"}, {"s"})


def finding(number: int = 1, **changed: Any) -> Finding:
    values: dict[str, Any] = {
        "id": f"{number:016x}/v1",
        "detector": "compaction-loop",
        "severity": "error",
        "confidence": "high",
        "agent": "demo",
        "file": "captures/a.jsonl",
        "session": "s",
        "message": "m",
        "lines": [number],
        "records": [],
        "start": None,
        "end": None,
        "measures": {"cycles": 3, "cost": 0.5, "ended_by": "progress", "prompts": 2, "tokens": None},
        "bases": {},
        "intervals": {},
    }
    return Finding(**(values | changed))


def accepted(*entries: Entry) -> Baseline:
    return Baseline(version=1, tool_version="0", entries=list(entries))


def states(findings: list[Finding], baseline: Baseline, now: int = NOW) -> list[str]:
    return [one.state for one in mark(findings, baseline, SEEN, now, "accept").findings]


def test_nothing_accepted_leaves_everything_new_and_says_nothing() -> None:
    found = mark([finding()], empty(), SEEN, NOW, "accept")
    assert ([one.state for one in found.findings], found.suppressed, found.remarks) == (["new"], [], [])


def test_an_accepted_finding_is_marked_and_stays() -> None:
    entry = entry_of(finding(), "known since June", "2026-12-31")
    assert entry.measures == {"cost": 0.5, "cycles": 3, "ended_by": "progress"}
    found = mark([finding(), finding(2)], accepted(entry), SEEN, NOW, "accept")
    assert [(one.state, one.reason) for one in found.findings] == [("baselined", "known since June"), ("new", None)]
    assert found.remarks == []


def test_a_measure_that_got_worse_is_worse_and_is_named() -> None:
    entry = entry_of(finding(), "known")
    worse = finding(measures={"cycles": 5, "cost": 0.4, "ended_by": "nothing", "prompts": 9, "tokens": 7})
    found = mark([worse], accepted(entry), SEEN, NOW, "accept")
    (one,) = found.findings
    assert (one.state, one.reason) == ("worse", "cycles 3 -> 5; ended_by progress -> nothing; known")
    assert [(r.change, r.message, r.accept) for r in found.remarks] == [
        ("better", "compaction-loop: cost 0.5 -> 0.4", "accept"),
        ("worse", "compaction-loop: cycles 3 -> 5", "accept"),
        ("worse", "compaction-loop: ended_by progress -> nothing", "accept"),
    ]


def test_a_measure_that_is_no_longer_known_is_told() -> None:
    entry = entry_of(finding())
    found = mark([finding(measures={"cycles": 3, "ended_by": "progress"})], accepted(entry), SEEN, NOW, "accept")
    assert [one.state for one in found.findings] == ["baselined"]
    assert [(r.change, r.message) for r in found.remarks] == [
        ("unjudged", "compaction-loop: cost 0.5 -> unknown (it was known when it was accepted)")
    ]


def test_an_entry_holds_through_its_day_and_then_counts_as_new_by_name() -> None:
    entry = entry_of(finding(), "until the release", "2026-11-30")
    assert states([finding()], accepted(entry), instant("2026-11-30T23:59:59Z")) == ["baselined"]
    found = mark([finding()], accepted(entry), SEEN, instant("2026-12-01"), "accept")
    assert [one.state for one in found.findings] == ["new"]
    assert [(r.change, r.name, r.message) for r in found.remarks] == [
        ("expired", entry.fingerprint, "compaction-loop: accepted until 2026-11-30: counts as new")
    ]


def test_entries_that_match_nothing_are_told_and_those_not_looked_for_apart() -> None:
    entries = [
        entry_of(finding(1)),
        entry_of(finding(2, session="other")),
        entry_of(finding(3, detector="no-summary")),
        entry_of(finding(4, session=None)),
    ]
    remarks = mark([], accepted(*entries), SEEN, NOW, "accept").remarks
    assert [(r.change, r.name[:16]) for r in remarks] == [
        ("unseen", f"{4:016x}"),
        ("unseen", f"{2:016x}"),
        ("gone", f"{1:016x}"),
        ("unseen", f"{3:016x}"),
    ]


def test_an_entry_accepts_one_finding_of_its_name() -> None:
    entry = entry_of(finding())
    assert states([finding(), finding()], accepted(entry)) == ["baselined", "new"]
    assert states([finding(), finding()], accepted(entry, entry)) == ["baselined", "baselined"]


def test_update_takes_in_what_is_new_and_keeps_reasons_and_what_is_gone() -> None:
    old = accepted(entry_of(finding(1), "why", "2027-01-01"), entry_of(finding(9), "gone"))
    changed = updated(old, [finding(1, measures={"cycles": 4}), finding(2)], NOW, "because")
    entries = sorted(changed.baseline.entries, key=lambda one: one.fingerprint)
    assert [(one.reason, one.expires, one.measures.get("cycles")) for one in entries] == [
        ("why", "2027-01-01", 4),
        ("because", None, 3),
        ("gone", None, 3),
    ]
    assert changed.told == ["1 taken in", "1 with other measures", "1 not found now"]


def test_update_renews_what_is_expired_only_when_given_a_day() -> None:
    old = accepted(entry_of(finding(), "why", "2026-01-01"))
    assert updated(old, [finding()], NOW) == Changed(old, ["1 expired"])
    renewed = updated(old, [finding()], NOW, expires="2027-06-30")
    assert [(one.reason, one.expires) for one in renewed.baseline.entries] == [("why", "2027-06-30")]
    assert renewed.told == ["1 renewed"]


def test_prune_takes_out_what_is_gone_and_leaves_what_was_not_read() -> None:
    old = accepted(*(entry_of(finding(at, session=name)) for at, name in enumerate(["s", "s", "other"], 1)))
    changed = pruned(old, [finding(1)], SEEN)
    assert [one.fingerprint[:16] for one in changed.baseline.entries] == [f"{1:016x}", f"{3:016x}"]
    assert changed.told == ["1 taken out"]
    assert len(pruned(old, [finding(1)], SEEN, unread=True).baseline.entries) == 1


def test_the_file_is_sorted_and_holds_what_the_conventions_name(tmp_path: Path) -> None:
    one, two = entry_of(finding(2), "r", "2026-12-31"), entry_of(finding(1, session=None, measures={}))
    text = dump(accepted(one, two))
    assert text == dump(accepted(two, one))
    content = json.loads(text)
    assert list(content) == ["version", "tool_version", "entries"]
    assert [list(entry) for entry in content["entries"]] == [
        ["fingerprint", "detector", "session"],
        ["fingerprint", "detector", "session", "reason", "expires", "measures"],
    ]
    path = tmp_path / "b.json"
    path.write_bytes(text)
    assert dump(load(path)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a baseline: "),
        ('{"version":1}', "not a baseline: "),
        ('{"version":2,"tool_version":"9","entries":[]}', "version 2 of baselines is not known"),
        ('{"version":1,"tool_version":"0","entries":[],"x":1}', "not a baseline: "),
        (
            '{"version":1,"tool_version":"0","entries":[{"fingerprint":"f","detector":"d","session":null,'
            '"expires":"soon"}]}',
            "f: expires: 'soon' does not fit; give a day as 2026-12-31",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load(path)
    assert message in str(error.value)
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "none.json")


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), max_size=12))
def test_every_finding_and_every_entry_is_accounted_for(found: list[int], known: list[int]) -> None:
    findings = [finding(one) for one in found]
    pairs = pair(findings, [entry_of(finding(one)) for one in known])
    assert len(pairs.matched) + len(pairs.new) == len(findings)
    assert len(pairs.matched) + len(pairs.unused) == len(known)
    assert all(one.id == entry.fingerprint for one, entry in pairs.matched)
    assert not {one.id for one in pairs.new} & {one.fingerprint for one in pairs.unused}


@given(st.lists(st.integers(0, 5), max_size=12), st.randoms())
def test_what_update_accepts_is_accepted(numbers: list[int], random: Any) -> None:
    findings = [finding(one, measures={"cycles": random.randint(0, 9)}) for one in numbers]
    changed = updated(empty(), findings, NOW)
    assert set(states(findings, changed.baseline)) <= {"baselined"}
    assert updated(changed.baseline, findings, NOW).told == []


def test_more_is_worse_unless_the_number_is_neutral() -> None:
    was: dict[str, Value] = {
        "cycles": 3,
        "rate": 0.5,
        "attempts": 9,
        "resumed": "yes",
        "class": "length",
        "idle_seconds": 5.0,
    }
    now: dict[str, Value] = {
        "cycles": 4,
        "rate": 0.4,
        "attempts": 20,
        "resumed": "no",
        "class": "overflow",
        "idle_seconds": 500.0,
    }
    assert [(one.name, one.change) for one in shifts(was, now)] == [
        ("cycles", "worse"),
        ("rate", "better"),
        ("resumed", "worse"),
    ]
    assert not judged({"attempts": 3, "class": "x", "unknown": None})
    assert list(shifts({"rate": 0.1 + 0.2}, {"rate": 0.3})) == []


def test_neutral_measures_are_measures_that_detectors_have() -> None:
    folder = Path(__file__).parent.parent / "forensics" / "detectors"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    assert [name for name in sorted(NEUTRAL) if f'"{name}": ' not in text] == []


Rules = Callable[..., list[Ignore]]


def rules(*given_: Any) -> list[Ignore]:
    return rules_of(given_, "forensics.toml: ignore", {"compaction-loop", "no-summary"})


@pytest.mark.parametrize(
    ("rule", "hit"),
    [
        ({"detector": "compaction-loop"}, True),
        ({"detector": "compaction-*"}, True),
        ({"detector": "no-summary"}, False),
        ({"session": "s"}, True),
        ({"session": "t*"}, False),
        ({"path": "captures/*"}, True),
        ({"path": "*.log"}, False),
        ({"detector": "compaction-loop", "path": "*.log"}, False),
        ({"detector": "compaction-loop", "session": "?", "path": "captures/[ab].jsonl"}, True),
        ({"path": "copies/*"}, True),
    ],
)
def test_a_suppression_sets_aside_what_all_its_patterns_match(rule: dict[str, str], hit: bool) -> None:
    found = suppress([finding(also=["copies/a.jsonl"])], rules({**rule, "reason": "known"}), NOW)
    assert [(one.state, one.reason) for one in found.suppressed] == ([("suppressed", "known")] if hit else [])
    assert len(found.findings) == (not hit)
    assert [one.change for one in found.remarks] == ([] if hit else ["unused"])


def test_an_expired_suppression_suppresses_nothing_and_is_told() -> None:
    over = rules({"detector": "compaction-loop", "reason": "known", "expires": "2026-11-29"})
    found = suppress([finding()], over, NOW)
    assert [one.state for one in found.findings] == ["new"]
    assert [(one.change, one.name, one.message) for one in found.remarks] == [
        ("expired", "detector compaction-loop", "held through 2026-11-29; 1 of its findings count again")
    ]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (5, "5 does not fit; for example { detector"),
        ({"detector": "no-summary"}, "a suppression needs a reason"),
        ({"detector": "no-summary", "reason": " "}, "a suppression needs a reason"),
        ({"reason": "x"}, "names a detector, a session or a path"),
        ({"detectr": "no-summary", "reason": "x"}, "unknown key 'detectr'; did you mean detector?"),
        ({"detector": "no-sumary", "reason": "x"}, "unknown detector 'no-sumary'; did you mean no-summary?"),
        ({"path": 5, "reason": "x"}, "Expected `str | null`, got `int`"),
        ({"path": "x", "reason": "x", "expires": "soon"}, "expires: 'soon' does not fit; give a day as 2026-12-31"),
    ],
)
def test_a_suppression_that_says_too_little_is_refused(rule: Any, message: str) -> None:
    with pytest.raises(UsageError) as error:
        rules(rule)
    assert message in str(error.value)
