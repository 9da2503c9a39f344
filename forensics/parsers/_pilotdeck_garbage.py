"""List the lines of a PilotDeck log that no program wrote, also those that nobody looks at otherwise."""

from forensics.parse import Malformed, Source
from forensics.tolerant import damage


def list_garbage(source: Source, data: bytes, offset: int, number: int) -> None:
    """List the lines of a block that are not UTF-8, but for those that are listed already.

    The block begins at that byte offset, with that line. Nearly always one look at all of it is enough.
    """
    try:
        if data.isascii() or data.decode():
            return
    except UnicodeDecodeError:
        pass
    for line, text in enumerate(data.split(b"\n"), number):
        reason = damage(text)
        if reason is not None and not source.is_listed(line):
            source.reject(line, offset, reason)
        offset += len(text) + 1


def is_garbage(bad: Malformed) -> bool:
    """Tell what `list_garbage` lists, which is not listed again where a reader of the line has done so."""
    return bad.reason.startswith("invalid UTF-8")
