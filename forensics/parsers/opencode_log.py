"""opencode's log files."""

from collections.abc import Iterator

from forensics.events import Event
from forensics.parse import Head, Source, parser
from forensics.parsers._opencode_log import Loop
from forensics.parsers._opencode_log_lines import entries
from forensics.patterns import later

_NOTE = (
    "a log does not say how a reply or a summary came out: replies without an error are taken as good (cut and empty "
    "ones do not show), summaries without an error are unknown"
)
_LINE = later(
    rb"timestamp=\S+ level=\w+ run=[0-9a-f]{8} message="
    rb"|(?:INFO|ERROR|WARN|DEBUG) +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d \+\d+ms service=[\w.-]+ "
)
_OWN = later(
    rb"(?m)^(?:timestamp=\S+ level=\w+ run=[0-9a-f]{8} message=(?:\"creating instance\" directory="
    rb"|\"llm runtime selected\" |\"project copy refresh started\" |.* (?:session\.)?id=ses_)"
    rb"|(?:INFO|ERROR|WARN|DEBUG) +[-0-9T:]{19} \+\d+ms service=(?:default version=\S+ args=\[.*\] opencode"
    rb"|bus type=[\w.-]+ (?:publishing|subscribing)|.* (?:sessionID|id)=ses_|session id=ses_))"
)


def _recognised(head: Head) -> bool:
    return head.is_log(_LINE, _OWN)


@parser(
    "opencode",
    failures="partly",
    hides={"prompts", "errors", "length_stops", "aborted", "manual_continues"},
    when=_recognised,
)
def opencode_log(source: Source) -> Iterator[Event]:
    """Log of opencode, in both its formats (`log/*.log`, or what `--print-logs` writes to the error stream).

    Each request shows as a `stream` line: with its error if it had one, as often as it was made again. Each summary
    attempt is an `agent=compaction` line. The person's words are not in it, nor usage, nor how a reply or a summary
    came out unless it failed: a reply without an error is taken as good, a summary without one as unknown. A
    prompt's origin is unknown (a program may have sent it). When a process ends, opencode loses the last lines it
    logged to its file: the last request of a run, and its error, may be missing. Where a run shows none at all the
    number of replies is unknown.
    """
    known: dict[str, Loop] = {}
    last: Loop | None = None
    version: str | None = None
    begun: set[str | None] = set()
    lost = 0
    for entry in entries(source):
        fields = entry.fields
        if entry.message == "created":
            name = fields.get("id")
            version = fields.get("version") or version
            if name is not None and name.startswith("ses") and name not in known:
                parent = fields.get("parentID")
                known[name] = Loop(name)
                yield Event(
                    kind="session",
                    session=name,
                    line=entry.line,
                    record=name,
                    ts=entry.ts,
                    version=fields.get("version"),
                    parent=None if parent in {None, "undefined"} else parent,
                )
            continue
        session = entry.session
        # The old format's `process` lines name no session: they belong to the request before them.
        loop = last if session is None else known.get(session)
        if loop is None:
            if session is None:
                continue
            loop = known[session] = Loop(session)
            yield Event(kind="session", session=session, line=entry.line, record=session, ts=entry.ts)
        if entry.message in {"stream", "stream error"} and fields.get("small") != "true":
            last = loop
            begun.discard(session)
        elif entry.message == "loop" and fields.get("step") == "0":
            lost += session in begun
            begun.add(session)
        yield from loop.add(entry)
    for loop in known.values():
        yield from loop.close()
    if lost := lost + len(begun):
        source.hides.add("replies")
        runs = "run shows" if lost == 1 else "runs show"
        source.notes.append(f"{lost} {runs} no request: how many replies came is unknown")
    if known:
        source.notes.append(_NOTE)
