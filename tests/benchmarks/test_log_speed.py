"""The time of scanning one large runtime log, as a ratio to `grep` on the same file.

`pytest -m benchmark` runs it. The yardstick is `grep -cE 'compaction|exited code'`. `FORENSICS_BENCHMARK_LOG_MB` sets
the size (300). Wall time of the whole process counts, the best of several, both measured in turns. Processor time of
both processes is told beside it: on a machine with other work it is the steadier of the two.

Four logs, from quiet to busy. `chatter`: mostly other lines, two per cent budget checks and now and then a compaction.
`attempts`: the same, and three per cent of the lines belong to failing compactions. `gateway`: in the proportions of
the logs that real gateways wrote in recorded runs, in which four lines of five are about compaction; these runs had no
router, memory or web server, whose lines thin them out elsewhere. `checks`: nothing but budget checks and compactions.
`chatter` is held to the ratio. A line that gives a row costs about as much as a hundred others, so the logs that have
more of them are held to memory alone; their ratios are printed.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

MEGABYTES = int(os.environ.get("FORENSICS_BENCHMARK_LOG_MB", "300"))
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("FORENSICS_")}
"""The program refuses a variable of its prefix that it does not know."""
RATIO_TO_GREP = 3.0
MEMORY_MB = 400
WORDS = ["lorem", "ipsum", "dolor", "sit", "amet", "consetetur", "sadipscing", "elitr", "sed", "diam", "nonumy"]


Maker = Callable[[random.Random], list[str]]


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


def _check(chance: random.Random) -> list[str]:
    return [_compact("policy_skip", chance, chance.randrange(5_000, 70_000), decisionType="skip")]


def _attempt(chance: random.Random) -> list[str]:
    trigger = _compact("policy_trigger", chance, 90000, reason="blocking_threshold")
    started = trigger.replace("policy_trigger", "full_compaction_started")
    failed = started.replace("started", "no_summary").replace('"snapshot"', '"error":"terminated","snapshot"')
    return [trigger, started, failed]


def _stages(*names: str) -> Maker:
    """Give what makes the lines of one compaction, all of one turn."""

    def make(chance: random.Random) -> list[str]:
        first = _compact(names[0], chance, 90000, reason="blocking_threshold", summarySucceeded=True, preTokens=80000)
        lines = [first.replace(names[0], name, 1) for name in names]
        error = '"error":"Summary model returned empty content","snapshot":'
        return [line.replace('"snapshot":', error) if "no_summary" in line else line for line in lines]

    return make


def _boot(chance: random.Random) -> list[str]:
    return [
        '[telemetry] shutdown snapshot {"queued":0,"sent":0,"sendFailures":0,"retries":0,"dropped":0,"queueDepth":0}',
        "exited code=0 signal=null",
        "spawn node pilotdeck.js server",
        f"(node:{chance.randrange(30_000)}) ExperimentalWarning: SQLite is an experimental feature",
        "PilotDeck server listening: http://127.0.0.1:18789",
        "WebSocket: ws://127.0.0.1:18789/ws",
        "Token: /home/user/.pilotdeck/server-token",
    ]


_PRUNED = ("policy_trigger", "pre_summary_prune")
_FAILED = (*_PRUNED, "full_compaction_started", "full_compaction_no_summary")
_CUT = (*_FAILED, "emergency_tool_projection", "emergency_head_truncate", "full_compaction_completed")
_DONE = (*_PRUNED, "full_compaction_started", "post_summary_snip", "full_compaction_completed")


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


def _one(chance: random.Random) -> list[str]:
    return [_chatter(chance)]


LOGS: dict[str, list[tuple[float, Maker]]] = {
    "chatter": [(0.98, _one), (0.0196, _check), (0.0004, _attempt)],
    "attempts": [(0.97, _one), (0.02, _check), (0.01, _attempt)],
    # How often each came in 19 recorded runs of three builds: 822 lines.
    "gateway": [
        (214, _check),
        (96, _stages(*_FAILED)),
        (4, _stages(*_CUT)),
        (5, _stages(*_DONE)),
        (13, _stages(*_PRUNED)),
        (19, _boot),
    ],
    "checks": [(0.98, _check), (0.02, _attempt)],
}
"""Per log what it is made of, each with how often it comes."""


def _log(path: Path, kind: str) -> None:
    """Write a log, 60 000 lines of it repeated to its size with a clock that goes round."""
    chance = random.Random(7)
    weights, makers = zip(*LOGS[kind], strict=True)
    messages: list[str] = []
    while len(messages) < 60_000:
        (make,) = chance.choices(makers, weights)
        messages += make(chance)
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


class Cost(NamedTuple):
    """What a command took: wall and processor seconds, its greatest memory (MB)."""

    wall: float
    cpu: float
    memory: float


def _run(command: list[str], out: Path) -> Cost:
    with out.open("wb") as stream:  # grep stops at the first hit when its output is thrown away
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=stream, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        _, status, usage = os.wait4(child.pid, 0)
        took = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode in {0, 1}
    return Cost(took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _measure(path: Path, rounds: int) -> tuple[Cost, Cost]:
    """Give the best of grep and of the scan, but the greatest memory."""
    grep = ["grep", "-cE", "compaction|exited code", str(path)]
    scan = [sys.executable, "-m", "forensics", "scan", "--format", "json", str(path)]
    out = path.with_suffix(".out")
    yardstick, ours = [], []
    for _ in range(rounds):
        yardstick.append(_run(grep, out))
        ours.append(_run(scan, out))
    return _best(yardstick), _best(ours)


def _best(costs: list[Cost]) -> Cost:
    walls, cpus, memories = zip(*costs, strict=True)
    return Cost(min(walls), min(cpus), max(memories))


@pytest.mark.benchmark
@pytest.mark.skipif(shutil.which("grep") is None or not hasattr(os, "wait4"), reason="needs grep and wait4")
@pytest.mark.parametrize(("kind", "rounds"), [("chatter", 5), ("attempts", 5), ("gateway", 2), ("checks", 2)])
def test_a_large_log_is_scanned_within_a_few_times_of_grep(
    kind: str, rounds: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runtime.log"
    _log(path, kind)
    yardstick, ours = _measure(path, rounds)
    wall, cpu = ours.wall / yardstick.wall, ours.cpu / yardstick.cpu
    with capsys.disabled():
        sys.stdout.write(
            f"\n{kind}: {path.stat().st_size / 1e6:.0f} MB, grep {yardstick.wall:.2f} s, scan {ours.wall:.2f} s,"
            f" ratio {wall:.2f} (processor time {cpu:.2f}), {ours.memory:.0f} MB\n"
        )
    assert ours.memory < MEMORY_MB
    if kind == "chatter":
        assert wall <= RATIO_TO_GREP
