"""PilotDeck's auto-compaction of one session, stage by stage: which lines start an attempt, which end it, and how.

The order of the stages is that of `DefaultContextRuntime.tryAutoCompact`; the summary cooldown is that of
`CompactionEngine` (OpenBMB/PilotDeck).
"""

from functools import lru_cache
from typing import Any

from forensics.events import Event, Outcome, Trigger
from forensics.faults import classify
from forensics.parsers._pilotdeck_budget import Snapshot
from forensics.parsers._pilotdeck_stages import Details

COOLDOWN_MS = 60_000
"""`COMPACT_SUMMARY_FAILURE_COOLDOWN_MS`: after a failed summary the same error is repeated without a model call."""
_QUICK_MS = 5_000
"""A repeat asks no model: it takes no longer than estimating tokens and running hooks."""
_IN_COOLDOWN = "context summary is in cooldown"
_TIERS = frozenset({"post_summary_snip", "emergency_summary", "emergency_tool_projection", "emergency_head_truncate"})
_EMERGENCY = frozenset({"emergency_tool_projection", "emergency_head_truncate"})
_NO_SUMMARY = frozenset({"full_compaction_no_summary", "full_compaction_relaxed_no_summary"})
_PLAIN = frozenset({"policy_skip", "policy_trigger"})
_FOLLOW = _TIERS | {"full_compaction_completed", "full_compaction_skipped"}
_NOTHING = Snapshot()
_fault = lru_cache(256)(classify)
"""The same few errors come again and again."""


class Compactor:
    """The state of one session's auto-compaction. `take` gives the rows of a line, in order."""

    def __init__(self, session: str, *, fresh: bool) -> None:
        self.session = session
        self._cooldown = Cooldown(fresh=fresh)
        self._trigger: Trigger = "unknown"
        self.turn = ""
        """The turn of the last line."""
        self._start: Event | None = None
        self._held: list[Event] = []
        """The end that a later line may still overrule, and the rows after it."""
        self._calls: int | None = 1
        """Model calls of the attempt so far, `None` when that cannot be told."""
        self._emergency = False
        """A second, shorter summary was made."""
        self._cut = False
        """The messages were cut further after the summary was measured."""

    @property
    def running(self) -> bool:
        """Whether an attempt has started and not ended."""
        return self._start is not None

    def take(self, stage: str, details: Details, line: int, ts: int | None) -> list[Event]:
        """Give the rows of a line; those that a later line may overrule are held back."""
        rows = self.flush() if self._held and not (stage in _FOLLOW and details.turnId == self.turn) else []
        self.turn = details.turnId
        if stage == "policy_skip":  # before every request: most of what such a log says
            (self._held or rows).append(self._measured(stage, details, line, ts))
        elif stage == "full_compaction_started":
            rows.append(self._started(details, line, ts))
        elif stage in _NO_SUMMARY:
            self._no_summary(stage, details, line, ts)
        elif stage == "full_compaction_completed":
            rows += self._completed(details, line, ts)
        elif stage == "full_compaction_skipped":
            rows += self._skipped(details, line, ts)
        else:
            self._tier(stage, details)
            (self._held or rows).append(self._measured(stage, details, line, ts))
        return rows

    def flush(self) -> list[Event]:
        """Let go of the rows held back: the end stands as it was written."""
        rows, self._held = self._held, []
        if rows and rows[0].outcome == "skipped":
            rows[0].requests = self._calls
        return rows

    def fail(self, error: str, line: int, ts: int | None, *, overflow: bool) -> list[Event]:
        """Take an exception that broke auto-compaction off; a note when no attempt was running."""
        rows = self.flush()
        if not self.running:
            return [*rows, self._note("auto-compaction failed", line, ts, error=error)]
        fault = _fault(error)
        self._calls = None
        end = self._end("aborted" if fault == "cancelled" else "failed", line, ts, error=error, fault=fault)
        if overflow:
            end.trigger = "overflow"
        return [*rows, end]

    def restart(self) -> list[Event]:
        """Take the process's end: what was held stands, an attempt in flight stays open, the cooldown is forgotten."""
        rows = self.flush()
        self._start = None
        self._trigger = "unknown"
        self._cooldown = Cooldown(fresh=True)
        return rows

    def _started(self, details: Details, line: int, ts: int | None) -> Event:
        start = (details.snapshot or _NOTHING).row("compact", self.session, line, ts)
        start.trigger = self._trigger
        self._start = start
        self._calls = 1
        self._emergency = self._cut = False
        return start

    def _no_summary(self, stage: str, details: Details, line: int, ts: int | None) -> None:
        error, before = details.error, details.preTokens
        if error is None and details.reason is None:  # a torn line: it may have been either
            self._calls = None
            end = self._end("unknown", line, ts, before=before, messages=before)
        elif error is None:
            self._calls = 0
            end = self._end("skipped", line, ts, before=before, messages=before, text=details.reason)
        else:
            asked = self._cooldown.failed(error, ts, self._start.ts if self._start else None)
            earlier = 1 if stage == "full_compaction_relaxed_no_summary" else 0
            self._calls = None if asked is None else asked + earlier
            fault = _fault(error)
            end = self._end("no-summary", line, ts, before=before, messages=before, error=error, fault=fault)
        self._held = [end]

    def _completed(self, details: Details, line: int, ts: int | None) -> list[Event]:
        ended = self._held[0] if self._held else None
        if not details.summarySucceeded and ended is not None and ended.outcome == "no-summary":
            note = self._note("full_compaction_completed without a summary", line, ts, details)
            return [*self.flush(), note]
        rows, self._held = self._held, []
        if ended is not None:
            words = ended.text or "full_compaction_no_summary"
            rows[0] = self._note(words, ended.line, ended.ts, error=ended.error, fault=ended.fault)
        outcome: Outcome = "unknown"
        if details.summarySucceeded:
            outcome = "summary"
            self._cooldown.succeeded()
        elif details.summarySucceeded is False:
            outcome = "no-summary" if ended is None else "dropped"
        after = None if self._cut or outcome != "summary" else details.postTokens
        before = details.preTokens
        columns = _size(details)
        return [*rows, self._end(outcome, line, ts, before=before, messages=before, after=after, **columns)]

    def _skipped(self, details: Details, line: int, ts: int | None) -> list[Event]:
        if self._held:
            return [*self.flush(), self._note("full_compaction_skipped", line, ts, details)]
        return [self._end("skipped", line, ts, text=details.reason, **_size(details))]

    def _end(self, outcome: Outcome, line: int, ts: int | None, **columns: Any) -> Event:
        self._start = None
        return Event(
            kind="compacted",
            session=self.session,
            line=line,
            ts=ts,
            outcome=outcome,
            requests=self._calls,
            **columns,
        )

    def _tier(self, stage: str, details: Details) -> None:
        if stage == "policy_trigger":
            self._trigger = "threshold"
        elif stage == "manual_force":
            self._trigger = "manual"
        elif stage in {"full_compaction_relaxed_retry", "emergency_summary"}:
            self._calls = None if self._calls is None else self._calls + 1
            self._emergency = True
            self._cut = False
        elif stage == "post_summary_snip":
            self._cut = self._cut or details.applied is not False
        elif stage in _EMERGENCY:
            self._cut = self._cut or details.rewritten != 0
            cooling = bool(self._held) and self._held[0].outcome == "no-summary"
            if not self._emergency and not cooling:
                self._calls = None  # an emergency summary may have been asked for and failed: no line says so

    def _measured(self, stage: str, details: Details, line: int, ts: int | None) -> Event:
        if stage.startswith("context_overflow"):
            return self._note(stage, line, ts, details, error=details.diagnostic or stage, fault="overflow")
        snapshot = details.snapshot or details.relaxedSnapshot
        if snapshot is None:
            return self._note(stage, line, ts, error=details.error)
        return snapshot.row("budget", self.session, line, ts, None if stage in _PLAIN else stage)

    def _note(
        self, text: str, line: int | None, ts: int | None, details: Details | None = None, **columns: Any
    ) -> Event:
        sizes = _size(details) if details else {}
        return Event(kind="note", session=self.session, line=line, ts=ts, text=text, **sizes, **columns)


class Cooldown:
    """Tell a summary request that failed from the repeats of its error, which ask no model."""

    def __init__(self, *, fresh: bool) -> None:
        self._fresh = fresh
        """Nothing lies before what was seen, so that a first failure cannot be a repeat."""
        self._error: str | None = None
        self._ts: int | None = None

    def succeeded(self) -> None:
        """Take a summary: the cooldown is over."""
        self._error = None
        self._fresh = True

    def failed(self, error: str, ts: int | None, started: int | None) -> int | None:
        """Give the model calls behind a failure: 1, 0 for a repeat, `None` where the log cannot tell.

        `started` is when the attempt began. A repeat comes within the cooldown, in the same words, and at once.
        """
        if error == _IN_COOLDOWN:
            return 0
        slow = ts is not None and started is not None and ts - started > _QUICK_MS
        if self._error is None:
            asked = 1 if self._fresh or slow else None
        elif error != self._error:
            asked = 1
        elif ts is None or self._ts is None:
            asked = None
        elif ts - self._ts >= COOLDOWN_MS:
            asked = 1
        else:
            asked = None if slow else 0
        if asked or self._error is None:
            self._error, self._ts = error, ts
        return asked


def _size(details: Details) -> dict[str, Any]:
    """Give the whole prompt's size and window, without the calibration figures that the budget rows have."""
    columns = details.snapshot.columns() if details.snapshot else {}
    return {name: columns.get(name) for name in ("context", "cap", "cap_source")}
