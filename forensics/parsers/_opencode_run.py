"""One session's lines of `opencode run --format json` as events: which steps are replies, which are summaries."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from forensics.events import Event, Kind, Trigger
from forensics.parsers._opencode_rules import SUMMARY_LIMIT, TEXT_LIMIT, closing, count_finish, digest, judged, tool
from forensics.parsers._opencode_shapes import Part, Problem, whole
from forensics.parsers._opencode_usage import Failing, blame, failing, fill, usage
from forensics.sane import Millis

if TYPE_CHECKING:
    from collections import Counter


class Row(msgspec.Struct, gc=False, rename={"session_id": "sessionID"}):
    """A printed line."""

    type: str = ""
    timestamp: Millis | None = None
    session_id: str | None = None
    part: Part | None = None
    error: Problem | None = None


class Step:
    """A provider step: its parts so far, and the lines on which it began and ended."""

    def __init__(self, line: int, record: str | None, ts: int | None) -> None:
        self.line = line
        self.record = record
        self.began = ts
        self.last = line
        self.ts = ts
        self.finish: str | None = None
        self.parts: list[Part] = []

    @property
    def text(self) -> str:
        """What it says."""
        texts = (part.text for part in self.parts if part.type == "text")
        return "\n".join(text for text in texts if text and text.strip())


class Run:
    """What one session's lines say so far."""

    def __init__(self, session: str, unknown: "Counter[str]") -> None:
        self._session = session
        self._unknown = unknown
        self._step: Step | None = None
        """The step being printed."""
        self._done: Step | None = None
        """The last finished step, as long as it may turn out to be a summary."""
        self._failed: tuple[int, int | None, Failing] | None = None
        """An error after a reply that ended the work: a summary's, unless a step follows."""
        self._after_overflow = False
        self._work_ended = False
        self.inferred = 0
        """Compactions so far, none of which a line names."""

    def add(self, line: int, row: Row) -> Iterator[Event]:
        """Take the next line."""
        ts = whole(row.timestamp)
        part = row.part
        if row.type == "error":
            yield from self._error(line, ts, row.error)
        elif part is None:
            return
        elif part.synthetic:
            yield from self._told(summary=True)
            prompt = self._event("prompt", line, ts, part.message_id)
            prompt.origin = "synthetic"
            if part.text:
                prompt.size, prompt.text, prompt.digest = len(part.text), part.text[:TEXT_LIMIT], digest(part.text)
            yield prompt
        else:
            if self._step is None or (part.message_id is not None and part.message_id != self._step.record):
                yield from self._told()
                yield from self._unfinished()
                self._step = Step(line, part.message_id, ts)
            yield from self._grow(self._step, line, ts, part)

    def close(self) -> Iterator[Event]:
        """End of the file."""
        if self._failed is not None:
            line, ts, why = self._failed
            yield self._compacted(line, ts, None, why, "threshold")
            self._failed = None
        yield from self._told()
        yield from self._unfinished()

    def _grow(self, step: Step, line: int, ts: int | None, part: Part) -> Iterator[Event]:
        step.parts.append(part)
        step.last, step.ts = line, ts
        if part.type == "tool":
            yield tool(part, self._session, line, ts)
        elif part.type == "step-finish":
            step.finish = part.reason or "unknown"
            count_finish(step.finish, self._unknown)
            self._step, self._done = None, step

    def _error(self, line: int, ts: int | None, problem: Problem | None) -> Iterator[Event]:
        yield from self._told()
        why = failing(problem) if problem is not None else Failing("error", "unknown", None)
        step, self._step = self._step, None
        record = step.record if step else None
        if self._after_overflow:
            self._after_overflow = False
            yield self._compacted(line, ts, record, why, "overflow")
        elif self._work_ended and step is None:
            self._failed = (line, ts, why)
        else:
            yield self._failed_reply(line, ts, record, why)

    def _failed_reply(self, line: int, ts: int | None, record: str | None, why: Failing) -> Event:
        self._after_overflow = why.fault == "overflow"
        self._work_ended = False
        reply = self._event("reply", line, ts, record)
        reply.stop, reply.fault, reply.error = why
        blame(reply)
        return reply

    def _compacted(self, line: int, ts: int | None, record: str | None, why: Failing, trigger: Trigger) -> Event:
        self.inferred += 1
        event = self._event("compacted", line, ts, record)
        event.trigger = trigger
        event.outcome = "aborted" if why.stop == "aborted" else "failed"
        event.fault, event.error = why.fault, why.words
        blame(event)
        return event

    def _told(self, *, summary: bool = False) -> Iterator[Event]:
        """Say what the last finished step was; `summary`: what follows shows that it was one."""
        if self._failed is not None and not summary:
            # A step follows the error, so it was a reply's, of a run of its own.
            line, ts, why = self._failed
            self._failed = None
            yield self._failed_reply(line, ts, None, why)
        step, self._done = self._done, None
        if step is None:
            return
        if summary or self._after_overflow:
            yield from self._summary(step)
            self._after_overflow = self._work_ended = False
            return
        self._work_ended = step.finish != "tool-calls"
        reply = self._event("reply", step.last, step.ts, step.record)
        shown = bool(step.text) or any(part.type in {"tool", "file", "patch"} for part in step.parts)
        reply.stop, reply.fault, reply.error = closing(step.finish or "", shown=shown)
        self._fill(reply, step, TEXT_LIMIT)
        yield reply

    def _summary(self, step: Step) -> Iterator[Event]:
        self.inferred += 1
        start = self._event("compact", step.line, step.began, step.record)
        start.trigger = "overflow" if self._after_overflow else "threshold"
        yield start
        end = self._event("compacted", step.last, step.ts, step.record)
        self._fill(end, step, SUMMARY_LIMIT)
        end.context = None
        end.outcome, why = judged(step.finish or "", step.text)
        end.fault = why.fault
        yield end

    def _unfinished(self) -> Iterator[Event]:
        step, self._step = self._step, None
        if step is not None and not self._after_overflow:
            reply = self._event("reply", step.last, step.ts, step.record)
            text = step.text
            reply.size, reply.text = len(text), text[:TEXT_LIMIT] or None
            yield reply

    def _fill(self, event: Event, step: Step, limit: int) -> None:
        fill(event, usage([part for part in step.parts if part.type == "step-finish"], None, None))
        text = step.text
        event.size = len(text)
        if text:
            event.text, event.digest = text[:limit], digest(text)

    def _event(self, kind: Kind, line: int, ts: int | None, record: str | None) -> Event:
        return Event(kind=kind, session=self._session, line=line, record=record, ts=ts)
