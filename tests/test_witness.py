"""The loop closes: what the proof says, told as a transcript, is what the detectors find."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.parse import recognise
from forensics.proof.environment import CLASSES, FaultClass
from forensics.proof.terms import Property
from forensics.proof.verdict import Verdict
from forensics.proof.witness import ROUNDS, to_lines, witness_events
from forensics.prove import prove
from forensics.replay import policies
from forensics.timeline import File

Found = Callable[[Verdict], list[Finding]]


@pytest.fixture
def found(tmp_path: Path, file_of: Callable[[Path], File]) -> Found:
    def run(verdict: Verdict) -> list[Finding]:
        path = tmp_path / "witness.jsonl"
        path.write_bytes(to_lines(witness_events(verdict.witness)))
        assert recognise(path).name == "plain"
        return detect(file_of(path))

    return run


def _errors(findings: list[Finding]) -> set[str]:
    return {one.detector for one in findings if one.severity == "error"}


def test_a_bound_that_holds_tells_a_transcript_in_which_nothing_loops(found: Found) -> None:
    for kind in CLASSES:
        findings = found(prove("reference").verdicts["bounded"].by_fault[kind])
        assert "compaction-loop" not in {one.detector for one in findings if one.severity == "error"}


LOOPS: list[tuple[str, FaultClass]] = [
    (name, kind)
    for name in sorted(policies())
    for kind in CLASSES
    if kind != "transient" and not prove(name).verdicts["bounded"].by_fault[kind].holds
]


@pytest.mark.parametrize(("name", "kind"), LOOPS)
def test_an_unbounded_recovery_is_a_compaction_loop(name: str, kind: FaultClass, found: Found) -> None:
    findings = found(prove(name).verdicts["bounded"].by_fault[kind])
    loop = next(one for one in findings if one.detector == "compaction-loop")
    assert loop.severity == "error"
    assert loop.measures["cycles"] in {ROUNDS, ROUNDS + 1}


@pytest.mark.parametrize(("name", "kind"), LOOPS)
def test_a_transcript_that_stops_telling_a_loop_is_no_silence(
    name: str, kind: FaultClass, tmp_path: Path, file_of: Callable[[Path], File]
) -> None:
    path = tmp_path / "witness.jsonl"
    path.write_bytes(to_lines(witness_events(prove(name).verdicts["bounded"].by_fault[kind].witness)))
    file = file_of(path)
    file.now = 4_102_444_800_000
    assert not detect(file, ["silent-stall"])


UNPACED: list[tuple[str, FaultClass]] = [
    (name, kind)
    for name in sorted(policies())
    for kind in ("overflow", "context", "output-budget")
    if not prove(name).verdicts["paced"].by_fault[kind].holds
]


@pytest.mark.parametrize(("name", "kind"), UNPACED)
def test_a_recovery_that_is_not_paced_is_a_compaction_loop_too(name: str, kind: FaultClass, found: Found) -> None:
    assert "compaction-loop" in _errors(found(prove(name).verdicts["paced"].by_fault[kind]))


RETRIES = [name for name in sorted(policies()) if not prove(name).verdicts["bounded"].by_fault["transient"].holds]


@pytest.mark.parametrize("name", RETRIES)
def test_unbounded_retries_are_a_failure_loop(name: str, found: Found) -> None:
    assert "failure-loop" in _errors(found(prove(name).verdicts["bounded"].by_fault["transient"]))


IDLE: list[tuple[str, Property, FaultClass]] = [
    (name, prop, kind)
    for name in sorted(policies())
    for prop in ("hands-free", "loud")
    for kind in ("length", "output-budget")
    if not prove(name).verdicts[prop].by_fault[kind].holds
]


@pytest.mark.parametrize(("name", "prop", "kind"), IDLE)
def test_what_waits_for_a_person_is_a_manual_continue(
    name: str, prop: Property, kind: FaultClass, found: Found
) -> None:
    findings = found(prove(name).verdicts[prop].by_fault[kind])
    assert _errors(findings) & {"manual-continue", "silent-stall", "no-summary", "output-budget-underflow"}


def test_recorded_opencode_replays_the_same_message(found: Found) -> None:
    findings = found(prove("opencode-before").verdicts["bounded"].by_fault["overflow"])
    replay = next(one for one in findings if one.detector == "oversized-replay")
    assert (replay.measures["replays"], replay.measures["compactions"]) == (ROUNDS, ROUNDS)


def test_an_unbounded_series_of_failed_summaries_is_a_no_summary_finding(found: Found) -> None:
    verdict = prove("pi").verdicts["bounded"].by_fault["context"]
    failing = verdict._replace(
        witness=tuple(
            scene._replace(signal=scene.signal._replace(outcome="no-summary", fits="unknown"))
            if scene.signal.kind == "compacted"
            else scene
            for scene in verdict.witness
        )
    )
    assert {"no-summary", "compaction-loop"} <= _errors(found(failing))


def test_incident_1_as_a_transcript_has_the_lines_of_the_incident(found: Found) -> None:
    verdict = prove("atomic-before", assumptions=["errors-over-threshold"]).verdicts["hands-free"]
    finding = next(one for one in found(verdict.by_fault["output-budget"]) if one.detector == "manual-continue")
    assert finding.lines == [3, 5, 6, 7]
    assert finding.measures["class"] == "output-budget"
    assert finding.measures["compacted"] == "yes"


def test_a_transcript_begins_with_its_session_and_times_never_go_back() -> None:
    events = witness_events(prove("kilo").verdicts["bounded"].overall.witness, agent="kilo")
    assert (events[0].kind, events[0].agent) == ("session", "kilo")
    times = [event.ts for event in events]
    assert times == sorted(times, key=lambda time: time or 0)
    assert len({event.record for event in events}) == len(events)
