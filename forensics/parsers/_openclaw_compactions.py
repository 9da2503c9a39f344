"""The entries of OpenClaw's log that tell of compactions."""

import re
from typing import TYPE_CHECKING

from forensics.parsers._openclaw_lines import Entry
from forensics.parsers._openclaw_names import count_of, fields_of, flag
from forensics.parsers._openclaw_runs import UNATTRIBUTED, Runs
from forensics.patterns import later
from forensics.sane import figure

if TYPE_CHECKING:
    from collections.abc import Callable

_RESULT = later(r"compaction (?:succeeded|failed|did not \w+) for \S+?(?:: |; |$)(.*)", re.DOTALL)
_EMBEDDED = later(r"embedded run (?:auto-|manual )compaction (start|complete|skipped|failed|aborted|incomplete|end)\b")
_LIMIT = later(r"\((\d+)ms\)")
_PREFLIGHT = "Preflight compaction required but failed:"


class Compactions:
    """A handler per kind of entry; `marks` says which words each goes by, the first that matches wins."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.marks: tuple[tuple[str, Callable[[Entry], None]], ...] = (
            ("preflightCompaction failed:", self._explained),
            ("preflightCompaction skipped:", self._explained),
            (_PREFLIGHT, self._preflight_failed),
            ("[context-overflow-diag]", self._overflow),
            ("context overflow detected (attempt", self._overflow_attempt),
            ("[compaction-diag] start", self._diag_start),
            ("[compaction-diag] end", self._diag_end),
            ("auto-compaction succeeded for", self._result),
            ("auto-compaction failed for", self._result),
            ("[timeout-compaction] LLM timed out", self._timeout_attempt),
            ("[timeout-compaction] compaction", self._result),
            ("embedded run auto-compaction", self._embedded),
            ("embedded run manual compaction", self._embedded),
            ("embedded run compaction end", self._embedded),
            ("writing compaction boundary", runs.fallback),
            ("cancelling compaction", runs.cancelled),
            ("compaction retry aggregate timeout", self._timed_out),
        )

    def _overflow(self, entry: Entry) -> None:
        fields = fields_of(entry)
        session = self.runs.session_of(entry, fields) or UNATTRIBUTED
        tokens = count_of(fields.get("compactionTokens"))
        self.runs.pressed = (session, tokens if tokens is not None else count_of(fields.get("observedTokens")))

    def _overflow_attempt(self, entry: Entry) -> None:
        session, tokens = self.runs.pressed or (self.runs.only() or UNATTRIBUTED, None)
        self.runs.begin(entry, session, "overflow", tokens)

    def _timeout_attempt(self, entry: Entry) -> None:
        self.runs.begin(entry, self.runs.session_of(entry, {}) or UNATTRIBUTED, "timeout", None)

    def _diag_start(self, entry: Entry) -> None:
        fields = fields_of(entry)
        session = self.runs.session_of(entry, {**fields, "runId": None}) or UNATTRIBUTED
        tokens = count_of(fields.get("pre.estTokens"))
        self.runs.begin(entry, session, str(fields.get("trigger")), tokens, str(fields.get("diagId")))

    def _diag_end(self, entry: Entry) -> None:
        fields = fields_of(entry)
        session = self.runs.session_of(entry, {**fields, "runId": None}) or UNATTRIBUTED
        open_one = self.runs.attempts.get(session)
        before = open_one.tokens if open_one is not None and open_one.end is None else None
        reason = fields.get("detail") or fields.get("reason")
        event = self.runs.finish(entry, session, made=fields.get("outcome") == "compacted", words=f"reason={reason}")
        after = count_of(fields.get("post.estTokens"))
        if before is not None and after is not None:
            event.before, event.after = before, after

    def _result(self, entry: Entry) -> None:
        match = _RESULT.search(entry.text)
        session = self._last_compacted(entry)
        made = "compaction succeeded for" in entry.text
        one = self.runs.attempts.get(session)
        if one is None or one.end is None or not self.runs.is_held(one.end):
            self.runs.finish(entry, session, made=made, words=match[1] if match else None)
        elif not made:
            self.runs.explain(session, match[1] if match else None)
        one = self.runs.attempts[session]
        if one.end is not None:
            one.end.will_retry = "retrying prompt" in entry.text

    def _last_compacted(self, entry: Entry) -> str:
        """Name the session of a result, which the entry does not: the one just compacted, or the only one at it."""
        held = [name for name, one in self.runs.attempts.items() if one.end is not None and self.runs.is_held(one.end)]
        at_it = [name for name, one in self.runs.attempts.items() if one.end is None]
        names = held[-1:] or at_it
        if len(names) > 1:
            self.runs.source.notes.append(
                f"line {entry.line}: {len(names)} sessions were compacting; the result is told of the first"
            )
        return names[0] if names else (self.runs.pressed or (UNATTRIBUTED,))[0]

    def _embedded(self, entry: Entry) -> None:
        match = _EMBEDDED.search(entry.text)
        event = entry.data.get("event")
        if match is None and event != "embedded_run_compaction_end":
            return
        fields = fields_of(entry)
        session = self.runs.session_of(entry, fields) or UNATTRIBUTED
        what = match[1] if match else "end"
        if what == "start":
            self.runs.begin(entry, session, str(fields.get("reason")), None)
            return
        made = fields.get("completed") is True or what == "complete"
        words = fields.get("outcomeReason") or fields.get("errorMessage") or fields.get("reasonDetail")
        row = self.runs.finish(entry, session, made=made, words=str(words or fields.get("reasonClass") or what))
        row.will_retry = flag(fields.get("willRetry"))
        if not made and what in {"skipped", "aborted"}:
            row.outcome = "skipped" if what == "skipped" else "aborted"

    def _explained(self, entry: Entry) -> None:
        session = self.runs.session_of(entry, fields_of(entry))
        if session is not None:
            self.runs.explain(session, entry.text.partition("reason=")[2] or None)

    def _preflight_failed(self, entry: Entry) -> None:
        words = entry.text.partition(_PREFLIGHT)[2].strip().strip('"') or None
        failed = self.runs.just_failed(entry.ts)
        if failed is not None:
            self.runs.explain(failed, words)
            return
        session = self.runs.session_of(entry, fields_of(entry)) or UNATTRIBUTED
        row = self.runs.finish(entry, session, made=False, words=words)
        row.trigger = "threshold"

    def _timed_out(self, entry: Entry) -> None:
        match = _LIMIT.search(entry.text)
        session = self.runs.session_of(entry, fields_of(entry)) or UNATTRIBUTED
        self.runs.timed_out(entry, session, figure(match[1]) if match else None)
