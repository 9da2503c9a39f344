"""The cost of scanning many pi sessions, as a ratio to another program's on the same files.

`pytest -m benchmark` runs it. The yardstick is ccusage (`ccusage@20.0.24`), found on the PATH or named by `CCUSAGE`;
without it, a bare decode of every line by the same decoder, which no scan can beat. `FORENSICS_BENCHMARK_MB` sets the
size (500). CPU time of the whole process and its children counts, the best of three.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTES = int(os.environ.get("FORENSICS_BENCHMARK_MB", "500"))
RATIO_TO_CCUSAGE = 0.7
RATIO_TO_DECODE = 4.5
MEMORY_MB = 400
DECODE = """
import sys
from pathlib import Path
from forensics.parsers._pi_entries import ENTRIES
for path in sorted(Path(sys.argv[1]).rglob("*.jsonl")):
    with path.open("rb") as stream:
        records = [ENTRIES.decode(line) for line in stream]
"""


def _session(number: int, entries: int, chance: random.Random) -> str:
    """Make a v1 session in the proportions of real ones: a prompt, ten steps of a tool each, an answer, again."""
    name = f"00000000-0000-4000-8000-{number:012}"
    dumps = json.JSONEncoder(separators=(",", ":")).encode
    lines = [dumps({"type": "session", "id": name, "timestamp": "2025-12-09T00:00:00.000Z", "cwd": "/srv/x"})]
    for at in range(entries):
        time = f"2025-12-09T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.{at % 1000:03}Z"
        lines.append(dumps({"type": "message", "timestamp": time, "message": _message(at % 22, chance)}))
    return "\n".join(lines) + "\n"


def _message(step: int, chance: random.Random) -> dict[str, object]:
    words = " ".join(chance.choices(("shelf", "paint", "blue", "lamp", "plank", "screw"), k=chance.randint(20, 480)))
    text = [{"type": "text", "text": words}]
    if step == 0:
        return {"role": "user", "content": text, "timestamp": 1765238400000}
    if step % 2 == 0:
        return {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": text, "isError": False}
    read = chance.randint(10_000, 150_000)
    usage = {"input": 9, "output": 200, "cacheRead": read, "cacheWrite": 400, "totalTokens": read + 609}
    call = [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": words}}]
    return {
        "role": "assistant",
        "content": text if step == 21 else call,
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "usage": {**usage, "cost": {"input": 0.1, "output": 0.1, "cacheRead": 0.1, "cacheWrite": 0.1, "total": 0.4}},
        "stopReason": "stop" if step == 21 else "toolUse",
        "timestamp": 1765238400000,
    }


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home") / ".pi" / "agent" / "sessions" / "--srv-x--"
    folder.mkdir(parents=True)
    chance = random.Random(7)
    written = number = 0
    while written < MEGABYTES * 1_000_000:
        data = _session(number, 1000, chance)
        (folder / f"2025-12-09T00-00-00-000Z_{number}.jsonl").write_text(data, encoding="utf-8", newline="\n")
        written += len(data)
        number += 1
    return folder


def _cost(command: list[str], home: Path) -> tuple[float, float]:
    """Run a command three times; give the least CPU seconds, and the greatest resident size in MB."""
    resource = pytest.importorskip("resource")
    # The program refuses variables in its name that it does not know; and it is measured as it is installed, compiled.
    left_out = ("FORENSICS_", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    environment["HOME"] = str(home)
    costs = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


@pytest.mark.benchmark
def test_scanning_pi_sessions_costs_less_than_their_usage_report(
    sessions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = sessions.parents[3]
    ours, memory = _cost([sys.executable, "-m", "forensics", "scan", str(sessions), "--format", "json"], home)
    ccusage = os.environ.get("CCUSAGE") or shutil.which("ccusage")
    if ccusage:
        name, limit, command = "ccusage", RATIO_TO_CCUSAGE, [ccusage, "pi", "session", "--json", "--offline"]
    else:
        name, limit, command = "a bare decode", RATIO_TO_DECODE, [sys.executable, "-c", DECODE, str(sessions)]
    theirs, _ = _cost(command, home)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{MEGABYTES} MB of pi sessions: {ours:.2f} s CPU, {ours / theirs:.2f} x {name} ({theirs:.2f} s),"
            f" {memory:.0f} MB\n"
        )
    assert memory < MEMORY_MB
    assert ours / theirs <= limit
