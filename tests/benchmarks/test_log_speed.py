"""The time of scanning one large runtime log, as a ratio to `grep` on the same file.

`pytest -m benchmark` runs it. The yardstick is `grep -cE 'compaction|exited code'`. `FORENSICS_BENCHMARK_LOG_MB` sets
the size (300). Wall time of the whole process counts, the best of five, both measured in turns.

Two logs: one as a gateway writes it, mostly chatter with two per cent of budget checks and now and then a compaction;
and one that holds nothing but budget checks and compactions, the worst there is. The first is held to the ratio, the
second only to memory and to linear time: its ratio is printed.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

MEGABYTES = int(os.environ.get("FORENSICS_BENCHMARK_LOG_MB", "300"))
RATIO_TO_GREP = 3.0
MEMORY_MB = 400
WORDS = ["lorem", "ipsum", "dolor", "sit", "amet", "consetetur", "sadipscing", "elitr", "sed", "diam", "nonumy"]


def _compact(stage: str, chance: random.Random, tokens: int, **details: object) -> str:
    session = f"web:s_{chance.randrange(3):08x}-0000-4000-8000-000000000001"
    snapshot = {
        "tokens": tokens,
        "estimateSource": "estimator",
        "localEstimateTokens": tokens,
        "totalContextTokens": 128000,
        "maxContextTokens": 95232,
        "effectiveContextTokens": 95232,
        "maxOutputTokens": 32768,
        "warningRatio": 0.8,
        "blockingRatio": 0.9,
        "state": "ok",
        "ratio": tokens / 95232,
        "source": "local",
        "exact": False,
        "reservedOutputTokens": 32768,
    }
    payload = {"sessionId": session, "turnId": f"{chance.getrandbits(128):032x}", **details, "snapshot": snapshot}
    return f"[context:auto-compact] {stage} {json.dumps(payload, separators=(',', ':'))}"


def _attempt(chance: random.Random) -> list[str]:
    trigger = _compact("policy_trigger", chance, 90000, reason="blocking_threshold")
    started = trigger.replace("policy_trigger", "full_compaction_started")
    failed = started.replace("started", "no_summary").replace('"snapshot"', '"error":"terminated","snapshot"')
    return [trigger, started, failed]


def _chatter(chance: random.Random) -> str:
    words = " ".join(chance.choices(WORDS, k=chance.randint(2, 40)))
    number = chance.randrange(100_000)
    return chance.choice(
        [
            f"[router] decision: tier=standard, model=deepseek-flash, reason=sticky, elapsed={number}ms",
            f'[pilotdeck:memory] {{"event":"retrieve","tookMs":{number},"hits":3,"query":"{words}"}}',
            f"[always-on] tick workspace=w{number} state=idle next={number}ms",
            f"[tool] read_file finished path=C:\\work\\src\\module_{number}\\file.ts bytes={number} note={words}",
            f"    at async Object.execute (file:///C:/app/dist/src/tool/execute.js:{number}:7) {words}",
        ]
    )


def _log(path: Path, share: float) -> None:
    """Write a log with that share of budget checks, repeated to its size with a clock that goes round."""
    chance = random.Random(7)
    messages: list[str] = []
    while len(messages) < 60_000:
        if chance.random() >= share:
            messages.append(_chatter(chance))
        elif chance.random() < 0.02:
            messages += _attempt(chance)
        else:
            messages.append(_compact("policy_skip", chance, chance.randrange(5_000, 70_000), decisionType="skip"))
    lines = [
        f"2026-09-18T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.000Z [gateway] {message}\r\n"
        for at, message in enumerate(messages)
    ]
    block = "".join(lines).encode()
    with path.open("wb") as stream:
        stream.write(b"2026-09-18T00:00:00.000Z [gateway] spawn node pilotdeck.js server\r\n")
        for _ in range(-(-MEGABYTES * 1_000_000 // len(block))):
            stream.write(block)
        stream.write(b"2026-09-19T00:00:00.000Z [gateway] exited code=1 signal=null\r\n")


def _run(command: list[str], out: Path) -> tuple[float, float]:
    """Give the wall seconds and the greatest memory (MB) of a command."""
    with out.open("wb") as stream:  # grep stops at the first hit when its output is thrown away
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=stream, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        took = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in {0, 1}
    return took, usage.ru_maxrss / 1024


def _measure(path: Path, rounds: int) -> tuple[float, float, float]:
    """Give the best seconds of grep and of the scan, and the scan's memory (MB)."""
    grep = ["grep", "-cE", "compaction|exited code", str(path)]
    scan = [sys.executable, "-m", "forensics", "scan", "--format", "json", str(path)]
    out = path.with_suffix(".out")
    yardstick, ours, memory = [], [], []
    for _ in range(rounds):
        yardstick.append(_run(grep, out)[0])
        took, used = _run(scan, out)
        ours.append(took)
        memory.append(used)
    return min(yardstick), min(ours), max(memory)


@pytest.mark.benchmark
@pytest.mark.skipif(shutil.which("grep") is None or not hasattr(os, "wait4"), reason="needs grep and wait4")
@pytest.mark.parametrize(("kind", "share", "rounds"), [("chatter", 0.02, 5), ("checks", 1.0, 2)])
def test_a_large_log_is_scanned_within_a_few_times_of_grep(
    kind: str, share: float, rounds: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runtime.log"
    _log(path, share)
    yardstick, ours, memory = _measure(path, rounds)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{kind}: {path.stat().st_size / 1e6:.0f} MB, grep {yardstick:.2f} s, scan {ours:.2f} s,"
            f" ratio {ours / yardstick:.2f}, {memory:.0f} MB\n"
        )
    assert memory < MEMORY_MB
    if kind == "chatter":
        assert ours <= RATIO_TO_GREP * yardstick
