"""opencode's older storage: a folder of JSON files."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from forensics.events import Event
from forensics.parse import Head, Source, parser
from forensics.parsers._opencode import Conversation, session_event
from forensics.parsers._opencode_shapes import Info, Message, Part, Place, SessionInfo, decoded
from forensics.tolerant import salvage

_SESSION = msgspec.json.Decoder(SessionInfo)
_INFO = msgspec.json.Decoder(Info)
_PART = msgspec.json.Decoder(Part)
T = TypeVar("T", bound=msgspec.Struct)


class _Folders(NamedTuple):
    """Where a session's messages lie, and where the parts of a message do."""

    messages: Path
    parts: Path


def _recognised(head: Head) -> bool:
    if head.first and not str(head.first.get("id")).startswith("ses"):
        return False
    if not head.near.lstrip().startswith(b"{") or b'"ses' not in head.near or len(head.data) + 3 < head.size:
        return False
    try:
        record = msgspec.json.decode(head.data)
    except (msgspec.DecodeError, RecursionError):
        found = salvage(head.data.replace(b"\n", b" ")).values
        record = found[0] if len(found) == 1 else None
    if not isinstance(record, dict) or "role" in record or "sessionID" in record:
        return False
    name, time = record.get("id"), record.get("time")
    return (
        isinstance(name, str)
        and name.startswith("ses")
        and isinstance(time, dict)
        and "created" in time
        and isinstance(record.get("version"), str)
        and isinstance(record.get("title"), str)
    )


@parser("opencode", failures="yes", when=_recognised)
def opencode_tree(source: Source) -> Iterator[Event]:
    """One session of opencode's JSON tree (until February 2026; it stays on disk after the move to SQLite).

    The file is the session's own (`storage/session/<project>/<session>.json`, or in mid 2025
    `project/<name>/storage/session/info/<session>.json`); its messages and parts are read from the `message` and
    `part` folders beside it. Evidence is given as message ids, each of which is a file's name. What shows and what
    does not is as in the database (`opencode-db`); versions before August 2025 wrote no word on why a reply ended.
    """
    data = source.path.read_bytes()
    source.lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    source.records += 1
    session = decoded(source, data, _SESSION, Place(1, 0)) or SessionInfo()
    session.id = session.id or source.path.stem
    yield session_event(session, 1)
    folders = _folders(source.path, session.id)
    if folders is None:
        source.notes.append("no message folder beside it: the session's messages are not here")
        return
    messages = list(_messages(source, folders, session.id))
    messages.sort(key=lambda message: message.order)
    conversation = Conversation(session, source.unknown)
    for message in messages:
        yield from conversation.add(message)
    yield from conversation.close()


def _folders(path: Path, session: str) -> _Folders | None:
    """Find the folders of either layout from where the session's file lies."""
    inner = path.parent.parent
    candidates = (
        _Folders(inner.parent / "message" / session, inner.parent / "part"),
        _Folders(inner / "message" / session, inner / "part" / session),
    )
    return next((folders for folders in candidates if folders.messages.is_dir()), None)


def _messages(source: Source, folders: _Folders, session: str) -> Iterator[Message]:
    for path in _files(source, folders.messages):
        doubts = source.doubts
        info = _read(source, path, _INFO)
        if info is not None:
            parts = list(_parts(source, folders.parts / path.stem))
            doubted = source.doubts > doubts
            yield Message(_owned(source, info, path, session), parts, doubted=doubted)


def _owned(source: Source, info: Info, path: Path, session: str) -> Info:
    """Give a message its file's name for an id, and say where it names another id or another session."""
    if info.id not in {None, path.stem} or info.session_id not in {None, session}:
        source.reject(1, 0, "it names another id or another session", salvaged=True, of=_name(path))
    info.id = path.stem
    return info


def _parts(source: Source, folder: Path) -> Iterator[Part]:
    for path in _files(source, folder):
        if (part := _read(source, path, _PART)) is not None:
            part.id = part.id or path.stem
            yield part


def _files(source: Source, folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    found = sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())
    source.companions.extend(found)
    return found


def _read(source: Source, path: Path, decoder: "msgspec.json.Decoder[T]") -> T | None:
    source.records += 1
    name = _name(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        source.reject(1, 0, error.strerror or str(error), of=name)
        return None
    return decoded(source, data, decoder, Place(1, 0, of=name))


def _name(path: Path) -> str:
    return "/".join(path.parts[-3:])
