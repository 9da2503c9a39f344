"""Incidents 1 and 2: Atomic sessions (pi session JSONL, version 3, July 2026)."""

import json
from pathlib import Path
from typing import Any

from common import iso, ms, number, sentences, token, uuid

WINDOW = 272_000
RESERVE = 16_384
OUTPUT_CAP = 8_192
UNDERFLOW = (
    "OpenAI API error (400): "
    '{"message":"Invalid \'max_output_tokens\': integer below minimum value. '
    'Expected a value >= 16, but got 1 instead.",'
    '"code":"invalid_request_body"}'
)
PRICES = {"input": 1.25e-6, "output": 10e-6, "cacheRead": 0.125e-6}


class Session:
    """A session being written, one JSON object a line; every entry's parent is the one before."""

    def __init__(self, name: str, start: str, context: int) -> None:
        self.name = name
        self.now = ms(start)
        self.context = context
        self.last: str | None = None
        self.rows: list[dict[str, Any]] = []
        self.words = sentences()
        self.rows.append(
            {"type": "session", "version": 3, "id": uuid(name), "timestamp": iso(self.now), "cwd": "/home/user/ledger"}
        )
        self.entry("model_change", provider="openai", modelId="gpt-5.1-codex")
        self.entry("thinking_level_change", thinkingLevel="medium")
        self.entry("session_info", name=f"pi-workflows-parent-{token(name, 8)}")

    def entry(self, kind: str, **fields: Any) -> str:
        """Append an entry and give its id."""
        name = token(f"{self.name}:{len(self.rows)}", 8)
        self.rows.append({"type": kind, "id": name, "parentId": self.last, "timestamp": iso(self.now), **fields})
        self.last = name
        return name

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * 1000)

    def user(self, text: str, after: float = 40) -> None:
        """A person writes."""
        self.wait(after)
        content = [{"type": "text", "text": text}]
        self.entry("message", message={"role": "user", "content": content, "timestamp": self.now - 4})

    def reply(self, stop: str, content: list[Any], output: int, *, grow: int = 0, error: str | None = None) -> None:
        """The model replies; a failed reply has no usage."""
        started = self.now
        self.wait(number(f"{self.name}:{len(self.rows)}:seconds", 3000, 21000) / 1000 if error is None else 0.8)
        self.context += grow
        failed = stop in {"error", "aborted"}
        fresh = 0 if failed else min(grow + 300, self.context - output)
        usage: dict[str, Any] = {
            "input": fresh,
            "output": 0 if failed else output,
            "cacheRead": 0 if failed else self.context - fresh - output,
            "cacheWrite": 0,
            "totalTokens": 0 if failed else self.context,
        }
        cost = {key: round(usage[key] * price, 8) for key, price in PRICES.items()}
        usage["cost"] = {**cost, "cacheWrite": 0, "total": round(sum(cost.values()), 8)}
        message = {
            "role": "assistant",
            "content": content,
            "api": "openai-responses",
            "provider": "openai",
            "model": "gpt-5.1-codex",
            "usage": usage,
            "stopReason": stop,
            "timestamp": started,
        }
        if error:
            message["errorMessage"] = error
        self.entry("message", message=message)

    def step(self, grow: int) -> None:
        """One tool call and its result: two lines."""
        call = f"call_{token(f'{self.name}:{len(self.rows)}:call', 12)}"
        path = f"src/part_{len(self.rows) % 37}.py"
        content = [{"type": "toolCall", "id": call, "name": "read", "arguments": {"path": path}}]
        self.reply("toolUse", content, 60, grow=grow)
        self.wait(0.3)
        text = [{"type": "text", "text": f"{path}: {next(self.words)}"}]
        self.entry(
            "message",
            message={
                "role": "toolResult",
                "toolCallId": call,
                "toolName": "read",
                "content": text,
                "isError": False,
                "timestamp": self.now - 2,
            },
        )

    def done(self, grow: int = 500) -> None:
        """The model ends its turn."""
        self.reply("stop", [{"type": "text", "text": next(self.words)}], 120, grow=grow)

    def fail(self, error: str) -> None:
        """The provider refuses the request."""
        self.reply("error", [], 0, error=error)

    def compact(self, share: float = 0.49) -> None:
        """Atomic's deletion-based compaction: no summary, by design."""
        before = self.context
        self.context = round(before * share)
        self.wait(38.5)
        targets = [{"kind": "entry", "entryId": token(f"{self.name}:{at}", 8)} for at in range(4, 8)]
        self.entry(
            "context_compaction",
            promptVersion=1,
            deletedTargets=targets,
            protectedEntryIds=[self.last],
            stats={
                "objectsBefore": 240,
                "objectsAfter": 118,
                "objectsDeleted": 122,
                "tokensBefore": before,
                "tokensAfter": self.context,
                "percentReduction": round(100 * (1 - share), 1),
            },
        )

    def work(self, line: int, context: int | None = None) -> None:
        """Work with tools until the next entry will stand at `line`, growing evenly to `context` tokens."""
        todo = line - 1 - len(self.rows)
        if todo % 2:
            self.entry("session_info", name="ledger import")
        for left in range(todo // 2, 0, -1):
            self.step(400 if context is None else (context - self.context) // left)

    def write(self, path: Path) -> None:
        """Write the session, ending lines with 0x0A alone."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in self.rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def underflow(folder: Path) -> None:
    """Incident 1: error, compaction, a person's "continue", the agent resumes, at four places."""
    log = Session("atomic-1690", "2026-07-07T08:12:04.117", 21_400)
    log.user("Read the importer and write down what each module is for.")
    log.work(60)
    log.done()
    log.user("Now move the date handling into one module, with tests.", 95)
    log.work(150)
    log.reply("aborted", [], 0, error="Request was aborted.")
    log.user("continue", 12)
    log.work(200)
    log.done()
    log.user("Continue with the second half of the list: the export, then the yearly file\u2028and its totals.", 240)
    log.work(387, WINDOW - 1)
    _stall(log, "Continue", 13 * 60 + 20)
    log.work(480)
    log.done()
    log.user("Add a column for the currency and run everything again.", 61)
    log.work(520)
    log.fail('429 {"error":{"message":"Rate limit reached for requests","type":"rate_limit_error"}}')
    log.wait(2)
    log.fail('429 {"error":{"message":"Rate limit reached for requests","type":"rate_limit_error"}}')
    log.wait(4)
    log.work(560, WINDOW - RESERVE + 800)
    log.done()
    log.compact()
    log.user("Good. Next, make the report readable on paper as well.", 300)
    log.work(694, WINDOW - 1)
    _stall(log, "continue", 47 * 60 + 5)
    log.work(760)
    log.done()
    log.user("Write the upgrade notes for the people who use the old columns.", 33)
    log.work(886, WINDOW - 1)
    _stall(log, "continue", 4 * 60 + 11)
    log.work(960)
    log.done()
    log.user("Then check every fixture once more and list what changed.", 52)
    log.work(1085, WINDOW - 1)
    _stall(log, "Continue", 86 * 60)
    log.work(1131)
    log.done()
    log.write(folder / "session.jsonl")
    healthy(folder, "atomic-1690-healthy")


def _stall(log: Session, word: str, seconds: float) -> None:
    log.fail(UNDERFLOW)
    log.compact()
    log.user(word, seconds)
    log.step(400)


def healthy(folder: Path, name: str) -> None:
    """A long session whose compactions work and whose retries recover by themselves."""
    log = Session(name, "2026-07-11T09:00:00.000", 20_000)
    log.user("Rename the helper and mend its callers.")
    log.work(90, WINDOW - RESERVE + 1500)
    log.done()
    log.compact()
    log.user("Now write a test for each caller.", 75)
    log.work(120)
    log.fail("529 overloaded_error: Overloaded")
    log.wait(2)
    log.work(180, WINDOW - RESERVE + 900)
    log.done()
    log.compact()
    log.user("Continue with the documentation.", 130)
    log.work(200)
    log.done()
    log.write(folder / "healthy.jsonl")


def length(folder: Path) -> None:
    """Incident 2: a reply cut at the output limit below the compaction threshold, and a person's "continue"."""
    log = Session("atomic-1684", "2026-07-02T13:30:00.000", 30_000)
    log.user("Write the whole specification of the import format.")
    log.work(20)
    _cut(log)
    log.user("continue", 190)
    log.work(32)
    _cut(log)
    log.user("weiter", 44)
    _cut(log)
    log.user("please go on", 610)
    log.work(60)
    log.done()
    log.user("Continue with the appendix: the error codes.", 30)
    log.work(80)
    log.done()
    log.write(folder / "session.jsonl")
    _leak(folder)
    healthy(folder, "atomic-1684-healthy")


def _leak(folder: Path) -> None:
    """After #1684 alone: three automatic continuations, and a counter that the next prompt inherits."""
    log = Session("atomic-1684-leak", "2026-07-08T18:00:00.000", 30_000)
    log.user("Write the chapter on migrations.")
    log.work(14)
    for _ in range(4):
        _cut(log)
    log.user("continue", 300)
    _cut(log)
    log.user("continue", 120)
    log.work(40)
    log.done()
    log.write(folder / "counter-leak.jsonl")


def _cut(log: Session) -> None:
    text = " ".join(next(log.words) for _ in range(3))[:-20]
    log.reply("length", [{"type": "text", "text": text}], OUTPUT_CAP, grow=OUTPUT_CAP + 200)
