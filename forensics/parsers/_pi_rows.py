"""The entries of a pi family session file, each turned into its event."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Raw

from forensics.events import Event
from forensics.faults import classify
from forensics.parse import Batch, Source
from forensics.parsers._pi import (
    NO_RAW,
    NOTHING,
    TEXT_LIMIT,
    Message,
    ToolMessage,
    blocks,
    digest_of,
    is_atomics,
    is_model_reply,
    reply,
    size_of,
    text_of,
    told_time,
    tool,
)
from forensics.parsers._pi_entries import ENTRIES, USUAL, Entry
from forensics.parsers._pi_prompt import is_machine, prompt_of
from forensics.parsers._pi_summary import details_of, dropped, spent, summarised, verbatim
from forensics.parsers._pi_tree import Branch, Tree
from forensics.patterns import later
from forensics.tolerant import canonical, salvage

_MINUTE = 60_000
_CLOCK_NOTES = 5
_SESSION_FILE = later(r"_([A-Za-z0-9][A-Za-z0-9._-]*?)\.jsonl$")
_HOMES = {".atomic": "atomic", ".openclaw": "openclaw", ".clawdbot": "openclaw"}
VERBATIM = "verbatim-lines"


class _PromptError(msgspec.Struct, gc=False):
    error: str | None = None


_PROMPT_ERROR = msgspec.json.Decoder(_PromptError)


class Reader:
    """Reads one file's entries in file order; `header` is the session row, completed when the agent shows itself."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.trees: list[Tree] = []
        self.session = source.path.name.partition(".jsonl")[0]
        self.header = Event(kind="session", session=self.session)
        self.restating = False
        """The agent showed itself after the header was passed on."""
        self.last = 0
        """The time of the row before."""
        self.last_reply: int | None = None
        self.broken: str | None = None
        """Why the next reply was cut off, where a row before it says so."""
        self.internal = False
        """A workflow's session: no person writes to it."""
        self._back: list[str] = []
        self._kinds: dict[str, int] = {}
        self._versions: dict[str, set[str]] = {}
        """What was said under an id that came with several contents."""
        self._said: dict[int, dict[str, set[str]]] = {}
        """The records of the lines that were looked at again last, by their ids."""
        self._copied: tuple[int, int] | None = None
        """A line, and an earlier one that is the same."""
        self._handlers: dict[str, Callable[[Event, Entry], Event | None]] = {
            "model_change": self._model,
            "context_window_change": self._window,
            "thinking_level_change": self._thinking,
            "compaction": self._compaction,
            "context_compaction": self._context_compaction,
            "custom": self._custom,
            "custom_message": self._custom_message,
            "context_edit": self._note,
            "branch_summary": self._note,
            "label": self._note,
            "session_info": self._session_info,
            "session_summary": self._session_summary,
        }

    def abandoned(self) -> dict[str, Branch]:
        """Map the entries read so far that lie off the live branch to their branches."""
        return {record: branch for tree in self.trees for record, branch in tree.abandoned().items()}

    def rows(self, *, held: bool) -> Iterator[Event]:
        """Yield an event per entry that is one. `held`: the caller keeps them all before it passes any on."""
        for line, entry in chain.from_iterable(zip(*batch, strict=True) for batch in self.batches()):
            ts = told_time(entry.timestamp, self.source, line, entry.id)
            if entry.id is not None and not self.is_new(entry, entry.id, line):
                continue
            self.mind_clock(line, entry, ts)
            event = self.told(line, entry, ts)
            if event is not None:
                yield event
                if not held:
                    yield from self.restated(line)
        yield from self.end(held=held)

    def mind_clock(self, line: int, entry: Entry, ts: int | None) -> bool:
        """Note a time that lies before that of the row before it, and say whether it does; the header's may."""
        if ts is None:
            return False
        back = self.last - ts if entry.type != "session" else 0
        if back > 0:
            self._back.append(f"line {line}: the clock went back by {back / 1000:g} s; file order is kept")
        self.last = ts
        return back > 0

    def restated(self, line: int | None) -> Iterator[Event]:
        """Name the agent once more when only a row after the header told it."""
        if self.restating:
            self.restating = False
            yield Event(kind="session", session=self.session, line=line, agent=self.header.agent)

    def told(self, line: int, entry: Entry, ts: int | None) -> Event | None:
        """Give the event of an entry; `None` for one that is none."""
        message = entry.message
        if message is None or entry.type != "message":
            return self._entry(entry, line, ts)
        if message.role == "toolResult":
            self.look_at(entry.id, message)
            return self._result(line, entry.id, ts, message)
        if message.role != "assistant":
            return self._message(message, Event(kind="note", session=self.session, line=line, record=entry.id, ts=ts))
        event = reply(message, self.source, self.session, line, entry.id, ts=ts)
        if event.context is None or message.provider == "openclaw" or self.broken is not None:
            event = self._odd(message, event)
        if event.kind == "reply":
            self.last_reply = ts
        return event

    def _result(self, line: int, record: str | None, ts: int | None, message: Message) -> Event:
        event = Event(kind="tool", session=self.session, line=line, record=record, ts=ts, tool=message.tool_name)
        if message.is_error:
            event.stop = "error"
        return event

    def batches(self) -> Iterator[Batch[Entry]]:
        """Give the file's entries; when the first is no header, one that takes its place comes before it."""
        begun = False
        for batch in self.source.batches(ENTRIES, USUAL):
            if not begun and batch.records:
                begun = True
                if batch.records[0].type != "session":
                    line = batch.lines[0]
                    self.source.notes.append(
                        f"line {line}: the file does not begin with a session record; its name is taken"
                    )
                    yield Batch([line], [Entry(type="session", id=self.session)])
            yield batch

    def are_new(self, lines: Sequence[int], records: list[Entry]) -> bool:
        """Take rows into the tree at once, as `is_new` does one by one.

        Where one has an id that is known, or begins a session, none is taken and the answer is no.
        """
        ids = [one.id for one in records]
        if ids.count(None) == len(ids):
            return True
        if not self.trees or (Entry in map(type, records) and any(one.type == "session" for one in records)):
            return False
        return self.trees[-1].extend(ids, [one.parent_id for one in records], lines)

    def is_new(self, entry: Entry, record: str, line: int) -> bool:
        """Take the next entry with an id into the tree; say whether it is none that was written again as it was."""
        tree = self.trees[-1] if self.trees else None
        if tree is None:
            return True
        if record in tree:
            return self._differs(record, tree.line_of(record), line)
        if entry.type != "session":
            tree.add(record, entry.parent_id, line)
            return True
        return record != tree.session or self._differs(record, tree.line, line)

    def _differs(self, record: str, first: int, line: int) -> bool:
        """Tell a record of a known id that says something else from one that is written again as it was."""
        if self._is_again(record, first, line):
            self.source.duplicates += 1
            return False
        self.source.doubt(line, f"the id of line {first} again, with other content: both are kept")
        return True

    def _is_again(self, record: str, first: int, line: int) -> bool:
        """Hold records of one id against each other; a line is read again once, however many records it has."""
        if (line, first) == self._copied:
            return True
        if first != line and line not in self._said and self._at(line) == self._at(first):
            self._copied = line, first
            return True
        said = self._records_of(line).get(record, set())
        if first == line:
            return len(said) == 1
        known = self._versions.setdefault(record, set(self._records_of(first).get(record, ())))
        again = bool(said) and said <= known
        known |= said
        return again

    def _at(self, line: int) -> bytes:
        return self.source.line_at(line)[1]

    def _records_of(self, line: int) -> dict[str, set[str]]:
        found = self._said.pop(line, None)
        if found is None:
            found = {}
            for value in salvage(self._at(line)).values:
                if isinstance(value, dict):
                    found.setdefault(str(value.get("id")), set()).add(canonical(value))
            for old in list(self._said)[:-1]:
                del self._said[old]
        self._said[line] = found
        return found

    def end(self, *, held: bool) -> Iterator[Event]:
        """Settle what only the whole file shows."""
        home = home_of(self.source.path) if self.trees and self.header.agent is None else None
        if home is not None:
            self._is(home)
            if not held:
                yield Event(kind="session", session=self.session, agent=home)
        self._finish()

    def _begin(self, line: int, entry: Entry, ts: int | None) -> Event:
        self.session = entry.id or self.session
        self.last = 0  # older entries may have been copied into a newer session
        origin = entry.parent_session or entry.branched_from
        self.header = Event(kind="session", session=self.session, line=line, ts=ts, parent=_parent(origin))
        if not self.trees or self.trees[-1].session != self.session:
            self.trees.append(Tree(self.session, line))
        self.internal = bytes(entry.workflow) not in NOTHING
        if self.internal:
            self._is("atomic")
        return self.header

    def _is(self, agent: str) -> None:
        if self.header.agent is None:
            self.header.agent = agent
            self.restating = True

    def look_at(self, record: str | None, message: Message | ToolMessage) -> None:
        """Atomic's tools say where a text was read and how long a command took; pi's do not."""
        if record is not None and self.header.agent is None and is_atomics(message):
            self._is("atomic")

    def _odd(self, message: Message, event: Event) -> Event:
        """Tell rows that only look like a reply from replies, and why OpenClaw cut one off, where it says so before."""
        if not is_model_reply(message):
            self._is("openclaw")
            text = f"not a model's reply ({message.model if message.api != 'cli' else 'cli notice'})"
            note = Event(
                kind="note", session=event.session, line=event.line, record=event.record, ts=event.ts, text=text
            )
            note.model, note.api = message.model, message.api
            return note
        fault = classify(self.broken)
        if event.stop == "aborted" and self.broken is not None and fault not in {"cancelled", "unknown"}:
            event.stop, event.error, event.fault = "error", self.broken, fault  # it was not the person
        self.broken = None
        return event

    def _message(self, message: Message, event: Event) -> Event | None:
        role = message.role
        if role == "user":
            return self._prompt(event, message.content, message.provenance)
        if role == "bashExecution":
            return tool(message, event.session or "", event.line, event.record, event.ts)
        if role in {"custom", "hookMessage"}:
            event.text = message.custom_type
        elif role in {"branchSummary", "compactionSummary", "system"}:
            event.text = role
        else:
            self.source.unknown[f"message:{role}"] += 1
            return None
        return event

    def _prompt(self, event: Event, content: Raw, provenance: Raw) -> Event:
        found = blocks(content, self.source, event.line, event.record)
        told = bytes(provenance) not in NOTHING
        machine = told and is_machine(provenance, self.source, event.line, event.record)
        prompt = prompt_of(text_of(found), machine=machine)
        if told or prompt.sent is not None:
            self._is("openclaw")
        event.kind = "prompt"
        event.origin = "synthetic" if self.internal else prompt.origin
        event.text = prompt.text[:TEXT_LIMIT]
        event.size = size_of(found)
        event.digest = digest_of(prompt.text.strip() or bytes(content).decode(errors="replace"))
        if prompt.sent is not None and (event.ts is None or prompt.sent < event.ts):
            event.sent = prompt.sent
            surely = prompt.sent + (_MINUTE if prompt.to_the_minute else 1000)
            if event.origin == "human" and self.last_reply is not None and surely <= self.last_reply:
                event.origin = "queued"
        return event

    def _entry(self, entry: Entry, line: int, ts: int | None) -> Event | None:
        if entry.type == "session":
            return self._begin(line, entry, ts)
        handler = self._handlers.get(entry.type)
        if handler is None:
            self.source.unknown[entry.type or "(no type)"] += 1
            return None
        return handler(Event(kind="note", session=self.session, line=line, record=entry.id, ts=ts), entry)

    def _note(self, event: Event, entry: Entry) -> Event:
        event.text = f"{entry.type} {entry.target_id}" if entry.target_id else entry.type
        return event

    def _session_info(self, event: Event, entry: Entry) -> Event:
        if entry.name and entry.name.startswith("pi-workflows-"):
            self._is("atomic")
        event.text = f"session name {entry.name or '(cleared)'}"
        return event

    def _session_summary(self, event: Event, entry: Entry) -> Event:
        self._is("atomic")
        return self._note(event, entry)

    def _model(self, event: Event, entry: Entry) -> Event:
        event.kind, event.provider, event.model = "model", entry.provider, entry.model_id
        return event

    def _window(self, event: Event, entry: Entry) -> Event:
        self._is("atomic")
        event.kind = "model"
        if entry.context_window:
            event.cap, event.cap_source = entry.context_window, "recorded"
        return event

    def _thinking(self, event: Event, entry: Entry) -> Event:
        event.text = f"thinking level {entry.thinking_level}"
        return event

    def _custom(self, event: Event, entry: Entry) -> Event:
        name = entry.custom_type or ""
        event.text = name
        if name.startswith("openclaw") or name == "model-snapshot":
            self._is("openclaw")
        if name == "openclaw:prompt-error":
            data = self.source.inner(entry.data, _PROMPT_ERROR, event.line, "data", event.record)
            event.error = data.error if data is not None else None
            event.fault = classify(event.error)
            self.broken = event.error
        return event

    def _custom_message(self, event: Event, entry: Entry) -> Event:
        if bytes(entry.protected_reconciliation) not in NOTHING:  # a message that Atomic held back and delivers now
            self._is("atomic")
            self._prompt(event, entry.content, NO_RAW)
            event.origin = "synthetic"
            return event
        if (entry.custom_type or "").startswith("openclaw"):
            self._is("openclaw")
        event.text = entry.custom_type
        return event

    def _compaction(self, event: Event, entry: Entry) -> Event:
        event.kind = "compacted"
        details = details_of(entry.details, self.source, event.line, event.record)
        if details.strategy == VERBATIM:
            self._is("atomic")
            verbatim(event, details, entry.summary, entry.tokens_before)
        else:
            spent(summarised(event, entry.summary, entry.tokens_before), entry.usage)
        self._count(details.strategy or "summary", event)
        return event

    def _context_compaction(self, event: Event, entry: Entry) -> Event:
        self._is("atomic")
        event.kind = "compacted"
        self._count("dropped", dropped(event, entry.stats, self.source))
        return event

    def _count(self, kind: str, event: Event) -> None:
        self._kinds[kind] = self._kinds.get(kind, 0) + 1
        if event.outcome == "no-summary":
            self.source.failures = "partly"

    def _finish(self) -> None:
        self.source.notes.extend(self._back[:_CLOCK_NOTES])
        if len(self._back) > _CLOCK_NOTES:
            self.source.notes.append(f"the clock went back {len(self._back) - _CLOCK_NOTES} more times")
        kinds = self._kinds
        if "dropped" in kinds and VERBATIM in kinds:
            self.source.notes.append(
                f"{kinds['dropped']} context_compaction and {kinds[VERBATIM]} verbatim-lines records: Atomic up to"
                " 14 July 2026 passes over the latter, later versions over the former, so what the model was shown"
                " depends on the version that read the file"
            )
        elif "summary" in kinds and len(kinds) > 1:
            self.source.notes.append(
                f"{kinds['summary']} compaction records with a summary: Atomic passes over them, pi does not"
            )


def home_of(path: Path) -> str | None:
    """Name the agent whose own folder a file stands in, for a file that holds nothing that pi would not write."""
    return next((_HOMES[part] for part in path.absolute().parts if part in _HOMES), None)


def _parent(path: str | None) -> str | None:
    """Name the session that a file continues: its id where the path ends as session files do, else the file's name."""
    if not path:
        return None
    name = re.split(r"[/\\]", path)[-1]
    match = _SESSION_FILE.search(name)
    return match[1] if match else name.removesuffix(".jsonl")
