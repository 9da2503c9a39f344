"""OpenClaw's logs: the file log (`/tmp/openclaw/openclaw-*.log`) and what its gateway prints."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from forensics.events import Event, Fault
from forensics.faults import window
from forensics.parse import Head, Source, parser
from forensics.parsers._openclaw_compactions import Compactions
from forensics.parsers._openclaw_host import Host
from forensics.parsers._openclaw_lines import Entry, entries, is_console_log, is_file_log
from forensics.parsers._openclaw_names import count_of, fields_of, flag
from forensics.parsers._openclaw_runs import UNATTRIBUTED, Runs
from forensics.parsers._pi import STOPS, TEXT_LIMIT, fault_of
from forensics.patterns import later

_RUN_ENDED = later(r"\brun (\S+) ended with stopReason=(\w+)")
_ERROR = later(r"\berror=(.*?)(?: rawError=(.*))?$", re.DOTALL)
_ENDED = "recovery ended: "
_REASONS: dict[str, Fault] = {
    "context_overflow": "overflow",
    "rate_limit": "rate-limit",
    "overloaded": "overloaded",
    "billing": "quota",
    "auth": "auth",
    "auth_permanent": "auth",
    "timeout": "transport",
    "format": "invalid-request",
    "model_not_found": "model",
}


def _recognised(head: Head) -> bool:
    return is_file_log(head) or is_console_log(head)


@parser("openclaw", failures="yes", log=True, hides={"prompts", "manual_continues"}, when=_recognised)
def openclaw_log(source: Source) -> Iterator[Event]:
    """OpenClaw's log: its JSON lines under `/tmp/openclaw`, and the lines its gateway prints.

    It shows compaction attempts with what came of them, failed requests, retries, and the gateway's starts and ends.
    A log holds nobody's words: its prompts are of unknown origin. What is written depends on the log level; requests
    inside a compaction are counted only where the debug level logs them. Entries that name no session go to the only
    one at work, compactions of none to the session `unattributed`. A budget's size is OpenClaw's own `estimate` of the
    prompt, which can be a fifth above what the provider counts.
    """
    reader = _Reader(source)
    for entry in entries(source):
        reader.read(entry)
        yield from reader.runs.settled()
    yield from reader.runs.flush()


class _Reader:
    """One handler per kind of entry."""

    def __init__(self, source: Source) -> None:
        self.runs = Runs(source)
        self._asked: set[str] = set()
        self._failed: set[str] = set()
        self._host = Host()
        self._marks: tuple[tuple[str, Callable[[Entry], None]], ...] = (
            ("session state:", self._state),
            ("[model-fetch] start", self._request),
            ("embedded run start:", self._introduced),
            ("embedded run tool start:", self._tool),
            ("embedded run agent end", self._agent_end),
            ("ended with stopReason=", self._run_ended),
            ("embedded run done:", self._run_done),
            ("[context-overflow-precheck]", self._budget),
            *Compactions(self.runs).marks,
            ("using pre-compaction snapshot", self._rolled_back),
            ("transient same-model retry", self._retry),
            ("transient retry window elapsed", self._gave_up),
            ("[context-overflow-recovery] exhausted", self._gave_up),
            ("[context-overflow-recovery]", self._noted),
            ("insufficient_output_budget", self._noted),
        )

    def read(self, entry: Entry) -> None:
        self.runs.pass_on(entry)
        row = self._host.row(entry)
        if row is not None:
            self.runs.add(row)
        text = entry.text
        handler = next((handler for mark, handler in self._marks if mark in text), None)
        if handler is not None:
            handler(entry)

    def _row(self, entry: Entry, kind: str, session: str | None, **columns: Any) -> None:
        self.runs.add(
            Event(kind=kind, session=session or UNATTRIBUTED, line=entry.line, ts=entry.ts, **columns)  # type: ignore[arg-type]
        )

    def _introduced(self, entry: Entry) -> None:
        self.runs.session_of(entry, fields_of(entry))

    def _state(self, entry: Entry) -> None:
        fields = fields_of(entry)
        session = self.runs.session_of(entry, fields)
        if session is None:
            return
        if fields.get("new") == "processing" and fields.get("prev") != "processing":
            self.runs.working.add(session)
            self._row(entry, "prompt", session, origin="unknown")
        elif fields.get("new") == "idle":
            self.runs.working.discard(session)
            self._asked.discard(session)

    def _request(self, entry: Entry) -> None:
        self.runs.counts_requests = True
        session = self.runs.session_of(entry, {})
        if session is None:
            for one in self.runs.attempts.values():
                one.requests = one.requests if one.end is not None else None
            return
        attempt = self.runs.attempts.get(session)
        if attempt is None or attempt.end is not None:
            self._asked.add(session)
        elif attempt.requests is not None:
            attempt.requests += 1

    def _tool(self, entry: Entry) -> None:
        fields = fields_of(entry)
        session = self.runs.session_of(entry, fields)
        if session in self._asked:
            self._asked.discard(session)
            self._row(entry, "reply", session, stop="tool")
        self._row(entry, "tool", session, tool=fields.get("tool"))

    def _agent_end(self, entry: Entry) -> None:
        fields = fields_of(entry)
        run = str(fields.get("runId"))
        session = self.runs.session_of(entry, fields)
        if flag(fields.get("isError")) is not True:
            self._failed.discard(run)
            return
        self._failed.add(run)
        self._asked.discard(session or "")
        match = _ERROR.search(entry.text)
        words = fields.get("rawErrorPreview") or (match and (match[2] or match[1])) or fields.get("error")
        error = str(words) if words else None
        fault = fault_of(error) if error else "unknown"
        if fault == "unknown":
            fault = _REASONS.get(str(fields.get("failoverReason")), fault)
        used, cap = window(error) if error and fault == "overflow" else (None, None)
        self._row(
            entry,
            "reply",
            session,
            stop="error",
            fault=fault,
            error=error,
            estimate=used,
            cap=cap,
            cap_source="error text" if cap else None,
            provider=fields.get("provider"),
            model=fields.get("model"),
        )

    def _run_ended(self, entry: Entry) -> None:
        match = _RUN_ENDED.search(entry.text)
        if match is None:
            return
        run, reason = match.groups()
        session = self.runs.session_of(entry, {"runId": run})
        self._asked.discard(session or "")
        if reason != "error" or run not in self._failed:
            self._row(entry, "reply", session, stop=STOPS.get(reason), text=f"stopReason={reason}")
        self._failed.discard(run)

    def _run_done(self, entry: Entry) -> None:
        fields = fields_of(entry)
        if fields.get("aborted") == "true":
            self._row(entry, "reply", self.runs.session_of(entry, fields), stop="aborted")

    def _budget(self, entry: Entry) -> None:
        fields = fields_of(entry)
        estimate, cap = count_of(fields.get("estimatedPromptTokens")), count_of(fields.get("contextTokenBudget"))
        if estimate is not None:
            self._row(
                entry,
                "budget",
                self.runs.session_of(entry, fields),
                estimate=estimate,
                cap=cap,
                cap_source="recorded" if cap else None,
                text=f"route={fields.get('route')}",
            )

    def _retry(self, entry: Entry) -> None:
        fields = fields_of(entry)
        reason = str(fields.get("reason", "")).rstrip(":")
        session = self.runs.session_of(entry, {})
        self._row(entry, "retry", session, fault=_REASONS.get(reason, "unknown"), text=entry.text[:TEXT_LIMIT])

    def _gave_up(self, entry: Entry) -> None:
        session = self.runs.session_of(entry, {}) or (self.runs.pressed or (None,))[0]
        self._row(entry, "note", session, text=f"{_ENDED}{entry.text}"[:TEXT_LIMIT], error=entry.text)

    def _rolled_back(self, entry: Entry) -> None:
        last = self.runs.rolled_back
        session = last.session if last is not None and last.ts == entry.ts else self.runs.session_of(entry, {})
        self._row(entry, "note", session, text=entry.text[:TEXT_LIMIT])

    def _noted(self, entry: Entry) -> None:
        self._row(entry, "note", self.runs.session_of(entry, {}), text=entry.text[:TEXT_LIMIT])
