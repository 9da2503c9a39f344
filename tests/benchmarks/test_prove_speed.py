"""The time of proving a large policy: a million states within a minute.

`pytest -m benchmark` runs it. The policy is the reference with larger counters, all of whose properties hold.
Processor time of the whole proof counts: it uses one processor, and what else the machine does is not its doing.
"""

import time

import pytest

from forensics.prove import prove

STATES = 1_000_000
SECONDS = 60.0
LIMIT = 86
"""Recoveries in a row that the policy allows; its credit counts to three times as many."""


@pytest.mark.benchmark
def test_a_million_states_are_judged_within_a_minute() -> None:
    started = time.process_time()
    proof = prove("reference", {"limit": LIMIT})
    seconds = time.process_time() - started
    print(f"{proof.states:,} states judged in {seconds:.1f} s")  # noqa: T201  (what a benchmark is run for)
    assert proof.states >= STATES
    assert seconds < SECONDS
    assert all(judged.overall.holds for judged in proof.verdicts.values())
    assert proof.verdicts["bounded"].overall.figures["recoveries"] == LIMIT
    assert proof.verdicts["paced"].overall.figures == {"ratio": "1/3"}
