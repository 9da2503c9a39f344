"""`opencode export`: one session as one JSON document."""

import re
from collections.abc import Iterator

import msgspec

from forensics.events import Event
from forensics.parse import Head, Source, parser
from forensics.parsers._opencode import Conversation, session_event
from forensics.parsers._opencode_document import START, Trouble, end_of, pieces
from forensics.parsers._opencode_shapes import Info, Message, Part, Place, SessionInfo, decoded

_SESSION = re.compile(rb'"id"\s*:\s*"ses')


class _Export(msgspec.Struct):
    info: Info
    parts: list[Part] = []


_INFO = msgspec.json.Decoder(SessionInfo)
_MESSAGE = msgspec.json.Decoder(_Export)


def _recognised(head: Head) -> bool:
    # A terminal's words may stand before the document, but not a page of them.
    start = START.search(head.near, 0, 20000)
    if start is None:
        return False
    at = head.data.index(b"{", start.start() + 1)
    end = end_of(head.data, at)
    if end is None:
        return _SESSION.search(head.data, at) is not None
    try:
        info = _INFO.decode(head.data[at:end])
    except (msgspec.DecodeError, RecursionError):
        return _SESSION.search(head.data, at, end) is not None
    return info.id is not None and info.version is not None and info.time is not None and info.time.created is not None


@parser("opencode", failures="yes", when=_recognised)
def opencode_export(source: Source) -> Iterator[Event]:
    """One session as `opencode export` prints it, with or without its captured first line ("Exporting session: ...").

    A message's line is the one on which its object begins; in a document without line breaks every line is 1 and
    the message ids tell. An export to a pipe loses its tail at a multiple of 64 KiB: every whole message before the
    cut is read, and the cut is listed. What shows and what does not is as in the database (`opencode-db`);
    messages that `--sanitize` blanked keep their tokens, times and errors, but not their texts.
    """
    data = source.path.read_bytes()
    source.lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    start = START.search(data)
    if start is None:
        return
    if before := data[: start.start()].strip(b"\xef\xbb\xbf\r\n\t "):
        source.notes.append(f"passed over before the document: {before[:80].decode(errors='replace')!r}")
    found = pieces(data, start.start())
    session = SessionInfo()
    messages: list[Message] = []
    first: int | None = None
    for piece in found:
        if isinstance(piece, Trouble):
            source.reject(piece.line, piece.offset, piece.reason)
        elif first is None:
            first = piece.line
            session = decoded(source, piece.data, _INFO, Place(piece.line, piece.offset, "session")) or session
        else:
            message = decoded(source, piece.data, _MESSAGE, Place(piece.line, piece.offset, "message"))
            if message is not None:
                messages.append(Message(message.info, message.parts, piece.line))
    session.id = session.id or next((m.info.session_id for m in messages if m.info.session_id), None)
    source.records += len(messages) + sum(len(message.parts) for message in messages)
    yield from _told(source, session, first, messages, cut=bool(source.malformed))


def _told(
    source: Source, session: SessionInfo, line: int | None, messages: list[Message], *, cut: bool
) -> Iterator[Event]:
    """Yield a session's events, its messages sorted by time."""
    yield session_event(session, line)
    conversation = Conversation(session, source.unknown)
    messages.sort(key=lambda message: message.order)
    for message in messages:
        yield from conversation.add(message)
    yield from conversation.close(cut=cut)
    if note := conversation.spent.difference(session):
        source.notes.append(note)
