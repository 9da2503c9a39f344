"""`opencode export`: one session as one JSON document."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from forensics.events import Event
from forensics.parse import Head, Source, is_quotation, parser, writer
from forensics.parse import Piece as Kept
from forensics.parsers._opencode import Conversation, session_event
from forensics.parsers._opencode_capture import MARKS, PREFIXES, RULES, parts, write_document
from forensics.parsers._opencode_document import START, Piece, Trouble, end_of, pieces
from forensics.parsers._opencode_shapes import Info, Message, Part, Place, SessionInfo, decoded
from forensics.patterns import later

_WHEN = later(rb'"created"\s*:\s*(\d{1,18})\b')
_OWNER = later(rb'"sessionID"\s*:\s*"([^"\\]{1,200})"')
_SESSION = later(rb'"id"\s*:\s*"ses')


class _Key(msgspec.Struct):
    info: Info


class _Export(msgspec.Struct):
    info: Info
    parts: list[Part] = []


_INFO = msgspec.json.Decoder(SessionInfo)
_KEY = msgspec.json.Decoder(_Key)
_MESSAGE = msgspec.json.Decoder(_Export)


def _recognised(head: Head) -> bool:
    # A terminal's words may stand before the document, but not a page of them.
    start = START.search(head.near, 0, 20000)
    if start is None or is_quotation([line for line in head.near[: start.start()].split(b"\n") if line.strip()]):
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
    session: SessionInfo | None = None
    cut = False
    line: int | None = None
    messages: list[tuple[tuple[int, str], Piece]] = []
    for piece in pieces(data, start.start()):
        if isinstance(piece, Trouble):
            source.reject(piece.line, piece.offset, piece.reason)
            cut = True
        elif session is None:
            line = piece.line
            place = Place(piece.line, piece.offset, "session")
            session = decoded(source, data[piece.offset : piece.end], _INFO, place) or SessionInfo()
        else:
            messages.append((_order(data[piece.offset : piece.end]), piece))
    messages.sort()
    session = session or SessionInfo()
    if session.id is None:
        named = _OWNER.search(data)
        session.id = named.group(1).decode(errors="replace") if named else "(unknown)"
    yield session_event(session, line)
    conversation = Conversation(session, source.unknown)
    for _, piece in messages:
        place = Place(piece.line, piece.offset, "message")
        doubts = source.doubts
        message = decoded(source, data[piece.offset : piece.end], _MESSAGE, place)
        if message is not None:
            source.records += 1 + len(message.parts)
            doubted = source.doubts > doubts
            _compare(source, message, piece, session.id)
            yield from conversation.add(Message(message.info, message.parts, piece.line, doubted))
    yield from conversation.close(cut=cut or any(not bad.salvaged for bad in source.malformed))
    if note := conversation.spent.difference(session):
        source.notes.append(note)


def _compare(source: Source, message: _Export, piece: Piece, session: str) -> None:
    """Say where a message names another session, or a part another message: they are read as they stand."""
    info = message.info
    if info.session_id not in {None, session}:
        source.reject(piece.line, piece.offset, f"message {info.id}: it names another session", salvaged=True)
    if strangers := sum(part.message_id not in {None, info.id} for part in message.parts):
        reason = f"message {info.id}: parts that name another message: {strangers}"
        source.reject(piece.line, piece.offset, reason, salvaged=True)


def _order(data: bytes) -> tuple[int, str]:
    """Give what a message is sorted by, without decoding the rest of it."""
    try:
        return Message(_KEY.decode(data).info).order
    except (msgspec.DecodeError, RecursionError):
        found = _WHEN.search(data)
        return int(found.group(1)) if found else 0, ""


@writer(opencode_export, suffix=".json", pieces=parts, rules=RULES, marks=MARKS, prefixes=PREFIXES, lined=False)
def opencode_export_writer(kept: Sequence[Kept], target: Path) -> None:
    """Write a document as `opencode export` lays it out."""
    write_document(kept, target)
