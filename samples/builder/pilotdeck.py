"""Incident 5: one day of PilotDeck's runtime.log, as the desktop host on Windows writes it."""

import json
from pathlib import Path
from typing import Any

from common import iso, ms, number, sentences, uuid

TOTAL, RESERVED = 128_000, 32_768
CAP = TOTAL - RESERVED
LINES = 3_552
TRUNCATED = "Summary model output was truncated at the token limit"
EMPTY = "Summary model returned empty content"
BROKEN = "Provider stream ended before the summary was complete"
NODE = r"C:\Users\user\AppData\Local\Programs\PilotDeck\resources\node\node.exe"
GATEWAY = rf"{NODE} C:\Users\user\AppData\Local\Programs\PilotDeck\resources\runtime\dist\src\cli\pilotdeck.js server"
# One list per life of the gateway: the error of each real summary call, and how many attempts in its cooldown
# repeat it. 46 truncated, 8 empty, 5 broken; every life ends in a crash with one attempt more in flight.
LIVES: tuple[tuple[tuple[str, int], ...], ...] = (
    ((TRUNCATED, 2), (TRUNCATED, 2), (EMPTY, 1)),
    ((TRUNCATED, 2), (TRUNCATED, 2), (BROKEN, 0)),
    ((TRUNCATED, 2), (TRUNCATED, 1), (TRUNCATED, 2)),
    ((EMPTY, 2), (TRUNCATED, 2), (TRUNCATED, 0)),
    ((TRUNCATED, 2), (TRUNCATED, 2), (TRUNCATED, 1)),
    ((TRUNCATED, 2), (BROKEN, 1), (TRUNCATED, 1)),
    ((TRUNCATED, 1), (TRUNCATED, 1), (EMPTY, 2)),
    ((TRUNCATED, 1), (TRUNCATED, 1), (BROKEN, 1), (TRUNCATED, 0)),
)
RESPAWN_FAILURES = (0, 2, 0, 1, 1, 0, 2, 0)
PEAK_MESSAGES = (46, 665_361)
PEAK_PROMPT = (40, 523_388, 799_094)


class Log:
    """A runtime.log being written. Lines carry the time at which the host received them."""

    def __init__(self, start: str) -> None:
        self.now = ms(start)
        self.lines: list[str] = []
        self.words = sentences()

    def host(self, text: str) -> None:
        """A line of the host itself."""
        self.lines.append(f"{iso(self.now)} {text}")

    def gateway(self, text: str) -> None:
        """A line that the gateway printed."""
        self.host(f"[gateway] {text}")

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * 1000)

    def event(self, stage: str, session: str, turn: str, *, cut: int = 0, **fields: Any) -> None:
        """An event of the compactor; `cut` splits its line where a pipe's chunk ended."""
        body = json.dumps({"sessionId": session, "turnId": turn, **fields}, separators=(",", ":"))
        text = f"[context:auto-compact] {stage} {body}"
        if cut:
            self.gateway(text[:cut])
            self.wait(0.001)
            text = text[cut:]
        self.gateway(text)

    def write(self, path: Path) -> None:
        """Write the log with the line ends of Windows."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(("\r\n".join(self.lines) + "\r\n").encode())

    def noise(self, at: int) -> None:
        """A line that means nothing here."""
        kind = at % 6
        if kind == 0:
            self.gateway("[router] decision: tier=main, model=deepseek-flash, reason=default")
        elif kind == 1:
            self.host(f"[server] \x1b[32mGET\x1b[0m /api/sessions 200 {number(f'n{at}', 2, 40)}ms")
        elif kind == 2:
            self.gateway(f'[pilotdeck:memory] {{"op":"recall","hits":{at % 5},"ms":{number(f"m{at}", 3, 90)}}}')
        elif kind == 3:
            self.gateway(f"[always-on] tick {at}: {next(self.words)}")
        elif kind == 4:
            self.gateway("[cron] nothing due")
        else:
            self.gateway(f"[openai-stream] chunk text \ufffd{at % 10} ms=12")


def snapshot(tokens: int, **more: Any) -> dict[str, Any]:
    """The token budget as the gateway prints it."""
    ratio = tokens / CAP
    return {
        "tokens": tokens,
        "estimateSource": "estimator",
        **more,
        "totalContextTokens": TOTAL,
        "maxContextTokens": CAP,
        "effectiveContextTokens": CAP,
        "maxOutputTokens": RESERVED,
        "warningRatio": 0.8,
        "blockingRatio": 0.9,
        "state": "blocking" if ratio >= 0.9 else "warning" if ratio >= 0.8 else "ok",
        "ratio": ratio,
        "source": "calibrated" if more else "local",
        "exact": False,
        "reservedOutputTokens": RESERVED,
    }


class Day:
    """The day of the incident: attempts are numbered through, so that the peaks stand at known ones."""

    def __init__(self) -> None:
        self.log = Log("2026-09-19T00:40:12.004")
        self.sessions = [f"web:s_{uuid(f'pilotdeck-{i}')}" for i in range(3)]
        self.attempt = 0
        self.turn = 0
        self.filler = 0

    def sizes(self) -> tuple[int, int]:
        """Tokens of the messages alone and of the whole prompt at this attempt."""
        if self.attempt == PEAK_MESSAGES[0]:
            return PEAK_MESSAGES[1], PEAK_MESSAGES[1] + 9_341
        if self.attempt == PEAK_PROMPT[0]:
            return PEAK_PROMPT[1], PEAK_PROMPT[2]
        own = self.attempt if self.attempt < 50 else self.attempt - 46
        messages = 92_168 + own * 11_300 + number(f"size{self.attempt}", 0, 900)
        return messages, messages + 9_341

    def start(self, cut: int = 0) -> tuple[str, str, int]:
        """A trigger, the pruning before the summary, and the start of the summary call."""
        session = self.sessions[0] if self.attempt < 50 else self.sessions[1 + self.attempt % 2]
        self.turn += 1
        turn = uuid(f"turn-{self.turn}")
        messages, tokens = self.sizes()
        local = messages + 9_341
        more: dict[str, Any] = {}
        if tokens != local:
            more = {
                "localEstimateTokens": local,
                "calibrationActualInputTokens": 47_320 * 689,
                "calibrationEstimatedInputTokens": 47_320,
            }
        seen = snapshot(tokens, **more)
        count = 41 + 6 * self.attempt
        reserve = {"messages": count, "reservedOutputTokens": RESERVED}
        self.log.event("policy_trigger", session, turn, cut=cut, reason="blocking_threshold", snapshot=seen, **reserve)
        self.log.wait(0.007)
        self.log.event("pre_summary_prune", session, turn, rewritten=0, rewrittenBytes=0, snapshot=seen)
        self.log.wait(0.007)
        self.log.event("full_compaction_started", session, turn, messages=count, snapshot=seen)
        self.attempt += 1
        return session, turn, messages

    def failed(self, error: str, seconds: float, cut: int = 0) -> None:
        """An attempt that makes no summary."""
        session, turn, messages = self.start(cut)
        self.log.wait(seconds)
        self.log.event("full_compaction_no_summary", session, turn, error=error, preTokens=messages)

    def quiet(self, lines: int, seconds: float) -> None:
        """Other lines of the day, a healthy session's budget checks among them."""
        for _ in range(lines):
            self.log.wait(seconds / lines)
            self.filler += 1
            if self.filler % 23 == 0:
                tokens = number(f"skip{self.filler}", 9_000, 52_000)
                turn = uuid(f"quiet-{self.filler}")
                fields = {"decisionType": "skip", "snapshot": snapshot(tokens)}
                self.log.event("policy_skip", self.sessions[2], turn, **fields)
            elif self.filler % 711 == 0:
                self.log.gateway("[context:auto-compact] policy_skip")
            else:
                self.log.noise(self.filler)

    def spawn(self) -> None:
        """The host starts the gateway."""
        self.log.gateway(f"spawn {GATEWAY}")

    def exit(self) -> None:
        """The gateway is gone; with telemetry off nothing says why."""
        self.log.gateway("exited code=1 signal=null")

    def life(self, index: int) -> None:
        """One life of the gateway, from its start to its crash, and the starts that failed at once after it."""
        self.spawn()
        self.log.wait(3.3)
        self.log.gateway("PilotDeck server listening: http://127.0.0.1:18789")
        self.quiet(180, 2400)
        for group, (error, echoes) in enumerate(LIVES[index]):
            self.failed(error, 12 + (index + group) % 9, cut=330 if group == 1 and index % 3 == 0 else 0)
            for echo in range(echoes):
                self.log.wait(10 if echo else 9)
                self.failed(error, 0.007)
            self.quiet(60, 1500)
        self.start()
        self.log.wait(5.2 + index % 4)
        self.exit()
        for _ in range(RESPAWN_FAILURES[index]):
            self.log.wait(1.7)
            self.spawn()
            self.log.wait(0.052)
            self.log.gateway("listen EADDRINUSE: address already in use 127.0.0.1:18789")
            self.log.wait(0.009)
            self.exit()
        self.log.wait(40)


def incident(folder: Path) -> None:
    """The day: 67 attempts, 59 without a summary, 14 exits."""
    day = Day()
    log = day.log
    log.host(
        r"PilotDeck Desktop runtime starting from C:\Users\user\AppData\Local\Programs\PilotDeck\resources\runtime"
    )
    log.host(r"PilotDeck home ready at C:\Users\user\.pilotdeck")
    log.host(f"[server] spawn {NODE} server/index.js")
    log.wait(4.7)
    log.host("PilotDeck Web UI ready: http://127.0.0.1:3001")
    for index in range(len(LIVES)):
        day.life(index)
    day.spawn()
    log.wait(3.1)
    log.gateway("PilotDeck server listening: http://127.0.0.1:18789")
    day.quiet(LINES - len(log.lines), 1800)
    log.write(folder / "runtime.log")
    _healthy(folder)


def _healthy(folder: Path) -> None:
    """A day on which every attempt makes a summary, and one clean end."""
    log = Log("2026-09-26T07:00:00.000")
    session = f"web:s_{uuid('pilotdeck-healthy')}"
    log.host(
        r"PilotDeck Desktop runtime starting from C:\Users\user\AppData\Local\Programs\PilotDeck\resources\runtime"
    )
    log.gateway(f"spawn {GATEWAY}")
    log.wait(3.2)
    log.gateway("PilotDeck server listening: http://127.0.0.1:18789")
    for round_ in range(6):
        for at in range(30):
            log.wait(40)
            turn = uuid(f"healthy-{round_}-{at}")
            if at % 3 == 0:
                log.event("policy_skip", session, turn, decisionType="skip", snapshot=snapshot(24_000 + at * 1_700))
            else:
                log.noise(round_ * 30 + at)
        turn = uuid(f"healthy-{round_}")
        before = snapshot(86_900 + round_ * 210)
        reserve = {"messages": 40, "reservedOutputTokens": RESERVED}
        log.event("policy_trigger", session, turn, reason="blocking_threshold", snapshot=before, **reserve)
        log.event("pre_summary_prune", session, turn, rewritten=0, rewrittenBytes=0, snapshot=before)
        log.event("full_compaction_started", session, turn, messages=40, snapshot=before)
        log.wait(21)
        done = {
            "summarySucceeded": True,
            "summaryGenerated": True,
            "checkpointMerged": False,
            "targetPostTokens": 57_139,
        }
        sizes = {"preTokens": 78_000 + round_ * 200, "postTokens": 18_400 + round_ * 310}
        log.event("full_compaction_completed", session, turn, snapshot=snapshot(27_741), **done, **sizes)
    log.gateway(
        '[telemetry] shutdown snapshot {"queued":0,"sent":0,"sendFailures":0,"retries":0,"dropped":0,"queueDepth":0}'
    )
    log.gateway("exited code=0 signal=null")
    log.host("PilotDeck Desktop runtime stopped")
    log.write(folder / "healthy.log")
