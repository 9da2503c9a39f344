"""Turn a witness into a transcript: plain events on which `scan` finds what the proof says.

Sizes and times are made up but consistent: a window of 100,000 tokens, one reply a second, a summary in twenty, and
an hour until a person looks again. A loop is told several times over, so that detectors with thresholds see it.
"""

from collections.abc import Iterable

import msgspec

from forensics.events import Event, fields
from forensics.proof.environment import failed
from forensics.proof.verdict import Scene
from forensics.replay import COMPACTS, Signal

ROUNDS = 12
"""How often a loop is told: more than any detector's threshold."""

_START = 1_767_225_600_000
_SECOND, _HOUR = 1_000, 3_600_000
_WINDOW, _FULL, _ROOM = 100_000, 96_000, 20_000
_OUTPUT = {"none": 0, "some": 1_500, "full": 8_192}
_ERRORS = {
    "overflow": "prompt is too long: 131072 tokens > 100000 maximum",
    "output-budget": (
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead."
    ),
    "transient": "529 overloaded_error: Overloaded",
}
_FAULTS = {"overflow": "overflow", "output-budget": "output-budget", "transient": "overloaded"}
_TASK = "Add the headings table to the parser, and run the tests after every step."


def witness_events(scenes: Iterable[Scene], *, agent: str | None = None, rounds: int = ROUNDS) -> list[Event]:
    """Tell the scenes as events of one session; `agent` as its first row names it."""
    told = [scene for scene in scenes if scene.part != "instead"]
    prefix = [scene for scene in told if scene.part == "prefix"]
    cycle = [scene for scene in told if scene.part == "cycle"]
    script = _Script(agent)
    for scene in (*prefix, *(cycle * rounds if cycle else ())):
        script.play(scene)
    if cycle:
        script.breaks_off(rounds)
    else:
        script.person_returns()
    return script.events


def to_lines(events: Iterable[Event]) -> bytes:
    """Give the events as JSON lines of the plain format."""
    return b"".join(msgspec.json.encode(fields(event)) + b"\n" for event in events)


class _Script:
    """The session as it is written, and what its next row depends on."""

    def __init__(self, agent: str | None) -> None:
        self.events: list[Event] = []
        self.clock = _START
        self.last: Signal | None = None
        """The last reply, while the turn that it belongs to has not ended well."""
        self.context = _ROOM
        self.prompts = 0
        self.trigger: str | None = None
        self._add("session", agent=agent or "plain")

    def play(self, scene: Scene) -> None:
        signal = scene.signal
        if signal.kind == "prompt":
            self._prompt()
        elif signal.kind == "reply":
            self._reply(signal)
        elif signal.kind == "compacted":
            self._compacted(scene)
        elif signal.kind in {"elapsed", "tick"}:
            self.clock += 60 * _SECOND
        elif signal.kind == "restart":
            self._add("note", text="the process started again")
        self._act(scene)

    def person_returns(self) -> None:
        """Let a person find what was left, where something was: an hour later, with one word."""
        if self.last is None:
            return
        self._prompt()
        self._reply(Signal("reply", "done"))

    def breaks_off(self, rounds: int) -> None:
        """Say that the transcript ends here, and not the loop: no silence follows it."""
        self._add("note", text=f"record ends: it tells {rounds} rounds of an endless loop")

    def _prompt(self) -> None:
        self.prompts += 1
        self.clock += _HOUR if self.last is not None else 60 * _SECOND
        text = "continue" if self.last is not None else _TASK if self.prompts == 1 else f"Now step {self.prompts}."
        self._add("prompt", origin="human", text=text, size=len(text), digest=f"prompt-{self.prompts}")

    def _reply(self, signal: Signal) -> None:
        self.last = None if signal.stop == "done" else signal
        self.context = _FULL if signal.over else _ROOM
        if signal.stop == "error":
            fault = signal.fault or ""
            self._add("reply", stop="error", fault=_FAULTS[fault], error=_ERRORS[fault], cap=_cap(fault))
            return
        output = _OUTPUT[signal.output or "some"]
        self._add(
            "reply",
            stop=signal.stop,
            context=self.context,
            input=self.context - output,
            output=output,
            size=4 * output,
            text="The next part of the work." if output else None,
        )

    def _compacted(self, scene: Scene) -> None:
        signal = scene.signal
        self.clock += 20 * _SECOND
        before, made = self.context, signal.outcome == "summary"
        if made and signal.shrunk and signal.fits != "no":
            self.context = min(_ROOM, self.context // 2)
        outcome = {"nothing": "skipped"}.get(signal.outcome or "", signal.outcome)
        ends = scene.action in {"stop", "show-error", "proceed"}
        self._add(
            "compacted",
            trigger=self.trigger,
            outcome=outcome,
            before=before,
            after=self.context if made else None,
            fault="truncated-summary" if signal.outcome == "no-summary" else None,
            error=_error(signal),
            will_retry=False if scene.announced and ends else None,
            requests=0 if signal.outcome == "nothing" else 1,
        )
        if made and not failed(self.last):
            self.last = None

    def _act(self, scene: Scene) -> None:
        signal, action = scene.signal, scene.action
        if action in COMPACTS:
            full = signal.kind != "reply" or signal.fault != "overflow"
            self.trigger = self.trigger if signal.kind == "compacted" else "threshold" if full else "overflow"
            self._add("compact", trigger=self.trigger, before=self.context)
        elif action == "truncate":
            before, self.context = self.context, min(_ROOM, self.context // 2)
            cut = {"before": before, "after": self.context, "requests": 0}
            self._add("compacted", trigger="overflow", outcome="dropped", **cut)
        elif action == "replay":
            self._add("prompt", origin="replay", text=_TASK, size=4 * _WINDOW, digest="prompt-1")
        elif action == "wait":
            self._add("retry", fault="overloaded")
        elif scene.announced and action in {"stop", "show-error"}:
            self._add("note", text="recovery ended: no further attempt is made")

    def _add(self, kind: str, **columns: object) -> None:
        self.clock += _SECOND
        number = len(self.events) + 1
        row = {"kind": kind, "session": "witness", "record": f"w{number}", "ts": self.clock, **columns}
        self.events.append(msgspec.convert({name: value for name, value in row.items() if value is not None}, Event))


def _cap(fault: str) -> int | None:
    return _WINDOW if fault == "overflow" else None


def _error(signal: Signal) -> str | None:
    if signal.outcome == "no-summary":
        return "Summary model output was truncated at the token limit"
    if signal.outcome == "failed":
        return _ERRORS["overflow"] if signal.fault == "overflow" else "the summary request failed"
    return None
