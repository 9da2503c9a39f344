"""Atomic's side files about failed compactions, read on their own."""

from collections.abc import Iterator

from forensics.events import Event
from forensics.parse import HEAD_BYTES, Head, Source, parser
from forensics.parsers._pi_diagnostics import NAME, decode, event_of


def _recognised(head: Head) -> bool:
    if head.size > HEAD_BYTES or (head.first and "failureCategory" not in head.first):
        return False
    if b'"failureCategory"' not in head.data or not head.data.lstrip().startswith(b"{"):
        return False
    found, trouble = decode(head.data)
    return (found is not None and trouble is None) or NAME.match(head.path.name) is not None


@parser(
    "atomic",
    failures="yes",
    hides={"prompts", "replies", "errors", "length_stops", "aborted", "manual_continues"},
    when=_recognised,
)
def atomic_diagnostic(source: Source) -> Iterator[Event]:
    """One failed planner request of an Atomic compaction (`<session>-compaction-diagnostic-<ms>-<id>.json`).

    Where the session file stands beside it, the session's reading includes it and `scan` reads it there alone.
    """
    data = source.path.read_bytes()
    source.lines = data.count(b"\n") + (not data.endswith(b"\n"))
    name = NAME.match(source.path.name)
    session = name["session"].rpartition("_")[2] if name else source.path.stem
    yield Event(kind="session", session=session, line=1)
    diagnostic, trouble = decode(data.removeprefix(b"\xef\xbb\xbf"))
    if trouble is not None:
        source.reject(1, 0, trouble, salvaged=diagnostic is not None)
    if diagnostic is None:
        return
    source.records = 1
    event = event_of(diagnostic, session, source.path)
    event.line = 1
    yield event
