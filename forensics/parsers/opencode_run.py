"""The lines that `opencode run --format json` prints."""

from collections.abc import Iterator
from typing import Any

import msgspec

from forensics.events import Event
from forensics.parse import Head, Source, parser
from forensics.parsers._opencode_run import Row, Run
from forensics.parsers._opencode_shapes import whole

_TYPES = frozenset({"tool_use", "step_start", "step_finish", "text", "reasoning", "error"})
_DECODER = msgspec.json.Decoder(Row)


def _recognised(head: Head) -> bool:
    return head.is_json_lines(_is_row)


def _is_row(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return (
        isinstance(kind, str)
        and kind in _TYPES
        and isinstance(record.get("timestamp"), int)
        and isinstance(record.get("sessionID"), str)
        and (isinstance(record.get("part"), dict) or isinstance(record.get("error"), dict))
    )


@parser("opencode", failures="partly", hides={"prompts", "manual_continues"}, when=_recognised)
def opencode_run(source: Source) -> Iterator[Event]:
    """Lines that `opencode run --format json` prints: the steps and errors of one prompt's run.

    The person's prompt is not in it, nor the requests that opencode tries again (only the last error of a row of
    them), nor child sessions. A summary's step looks like any other; it is told from a reply where opencode's loop
    leaves no other reading: the step or error right after an overflow, the step right before the prompt that
    opencode writes to itself ("Continue if you have next steps"), an error after a reply that had ended the work.
    So a failed compaction after a reply that called tools is read as a failed reply. Summaries are inferred, then,
    and a compaction that the end of the run cut off does not show.
    """
    runs: dict[str, Run] = {}
    for line, row in source.decoded(_DECODER):
        if row.type not in _TYPES or row.session_id is None:
            source.unknown[row.type or "(none)"] += 1
            continue
        if row.part is None and row.type != "error":
            source.doubt(line, f"a line of type {row.type} without a part")
        run = runs.get(row.session_id)
        if run is None:
            run = runs[row.session_id] = Run(row.session_id, source.unknown)
            yield Event(kind="session", session=row.session_id, line=line, ts=whole(row.timestamp))
        yield from run.add(line, row)
    for run in runs.values():
        yield from run.close()
    if inferred := sum(run.inferred for run in runs.values()):
        source.notes.append(f"{inferred} compactions are inferred from the order of steps and errors")
