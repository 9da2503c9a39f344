"""One session's log lines as events: a log tells when each request began, and what stopped those that failed."""

from collections.abc import Iterator

from forensics.events import Event, Kind, Stop, Trigger
from forensics.faults import classify
from forensics.parsers._opencode_log_lines import Entry
from forensics.parsers._opencode_usage import blame

RETRIED = "the request was made again; the log does not say why"


class Request:
    """A model request in flight: a reply's, or a summary's."""

    def __init__(self, entry: Entry, record: str | None) -> None:
        self.line = entry.line
        self.ts = entry.ts
        self.record = record
        self.provider = entry.fields.get("providerID")
        self.model = entry.fields.get("modelID")
        self.summary = entry.fields.get("agent") == "compaction"
        self.error: Entry | None = None
        self.ended: Entry | None = None
        """The line that shows that it ended without an error."""
        self.made = 1


class Loop:
    """One session's run loop, as its lines tell it."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._request: Request | None = None
        self._record: str | None = None
        self._trigger: Trigger = "unknown"

    def add(self, entry: Entry) -> Iterator[Event]:
        """Take the next line about this session."""
        message = entry.message
        if message == "loop":
            yield from self._iteration(entry)
        elif message == "exiting loop":
            if self._request is not None:
                self._request.ended = entry
            yield from self._settle("done")
        elif message == "process":
            yield from self._process(entry)
        elif entry.fields.get("small") == "true":
            return
        elif message == "stream":
            yield from self._stream(entry)
        elif message == "stream error" and self._request is not None:
            self._request.error = entry

    def close(self) -> Iterator[Event]:
        """End of the log."""
        yield from self._settle("done")

    def _iteration(self, entry: Entry) -> Iterator[Event]:
        if entry.fields.get("step") == "0":
            yield from self._settle("done")
            self._trigger = "unknown"
            yield Event(kind="prompt", session=self._session, line=entry.line, ts=entry.ts, origin="unknown")
        elif self._request is not None:
            self._request.ended = entry

    def _process(self, entry: Entry) -> Iterator[Event]:
        if not entry.error:
            self._record = entry.fields.get("messageID")
            return
        if self._request is not None:
            self._request.error = entry
            self._request.ended = None
        yield from self._settle("done")

    def _stream(self, entry: Entry) -> Iterator[Event]:
        before = self._request
        summary = entry.fields.get("agent") == "compaction"
        again = before is not None and before.ended is None and before.summary == summary
        if again and before is not None and summary:
            before.made += 1
            before.error = None
            return
        if again and before is not None:
            yield self._failed(before)
            self._request = None
            yield Event(kind="retry", session=self._session, line=entry.line, ts=entry.ts, record=before.record)
        yield from self._settle("done" if summary else "tool")
        self._request = Request(entry, self._record)
        if summary:
            start = self._event("compact", self._request, entry.line, entry.ts)
            start.trigger = self._trigger
            yield start

    def _settle(self, good: Stop) -> Iterator[Event]:
        """Say how the request ended; `good` is what a reply is that ended without an error."""
        request, self._request = self._request, None
        if request is None:
            return
        if request.summary:
            yield from self._compacted(request)
            return
        if request.error is not None:
            yield self._failed(request)
            return
        end = request.ended
        reply = self._event("reply", request, request.line, end.ts if end else request.ts)
        if end is not None:
            reply.stop = good
            self._trigger = "threshold"
        yield reply

    def _failed(self, request: Request) -> Event:
        error = request.error
        reply = self._event("reply", request, error.line if error else request.line, error.ts if error else request.ts)
        reply.stop = "error"
        self._blame(reply, error)
        self._trigger = "overflow" if reply.fault == "overflow" else "unknown"
        return reply

    def _compacted(self, request: Request) -> Iterator[Event]:
        error = request.error
        last = error or request.ended
        if last is None:
            return
        end = self._event("compacted", request, last.line, last.ts)
        end.requests = request.made
        if error is None:
            end.outcome = "unknown"
        else:
            self._blame(end, error)
            end.outcome = "aborted" if end.fault == "cancelled" else "failed"
        self._trigger = "unknown"
        yield end

    def _blame(self, event: Event, error: Entry | None) -> None:
        if error is None:
            event.fault, event.text = "unknown", RETRIED
            return
        words = error.fields.get("error") or error.fields.get("error.error")
        event.fault, event.error = classify(words), words
        if event.stop == "error" and event.fault == "cancelled":
            event.stop = "aborted"
        blame(event)

    def _event(self, kind: Kind, request: Request, line: int, ts: int | None) -> Event:
        event = Event(kind=kind, session=self._session, line=line, record=request.record, ts=ts)
        event.provider, event.model = request.provider, request.model
        return event
