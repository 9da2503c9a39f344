"""Evidence in short form: what each row of a finding says, without the transcript's own words."""

from collections.abc import Iterable

from forensics.detect import Finding
from forensics.events import Event
from forensics.incident.model import Row
from forensics.reports._words import money
from forensics.timeline import File
from forensics.usage import Sample

MOST_ROWS = 12
ERROR = 1200
"""Characters of an error that are kept. What is shown is cut shorter, after secrets were removed: a secret that is
cut in two is none that can be told any more."""
_EXCERPT = 400
_UNSURE = 40


Place = int | str
"""What tells a row from the others of its file: its record's id; its line where it has none."""


def place_of(row: Event | Sample) -> Place | None:
    """Give a row's place. A line alone does not tell it: a whole document may stand on one."""
    return row.record if row.record is not None else row.line


def places_of(finding: Finding) -> list[Place]:
    """Give the places of a finding's rows."""
    return [*finding.records, *finding.lines]


def rows_by_place(file: File, findings: Iterable[Finding]) -> dict[Place, list[Event]]:
    """Give the rows that the findings point at, by place."""
    wanted = {place for one in findings for place in places_of(one)}
    found: dict[Place, list[Event]] = {}
    for event in _all(file):
        place = place_of(event)
        if place is not None and place in wanted:
            found.setdefault(place, []).append(event)
    lines = {event.line for rows in found.values() for event in rows}
    for session in file.sessions:
        for sample in session.samples:
            place = place_of(sample)
            if place is not None and place not in found and place not in lines and place in wanted:
                found[place] = [_row(sample, session.id)]
    return found


def _all(file: File) -> Iterable[Event]:
    yield from file.host
    for session in file.sessions:
        yield from session.events


def _row(sample: Sample, session: str) -> Event:
    return Event(
        kind="budget", session=session, line=sample.line, record=sample.record, ts=sample.ts, context=sample.context,
        messages=sample.messages, cap=sample.cap, total=sample.total, estimate=sample.estimate,
    )  # fmt: skip


def evidence(
    finding: Finding, places: dict[Place, list[Event]], *, excerpts: bool
) -> tuple[list[Row], int, list[Event]]:
    """Give a finding's rows in short form, how many more there are, and the rows themselves.

    Rows are those of the finding's session, and the host's; of many the first and the last ones.
    """
    found = [event for place in places_of(finding) for event in places.get(place, ())]
    if finding.lines:
        found = sorted((one for one in found if one.line in finding.lines), key=lambda one: one.line or 0)
    own = [event for event in found if event.session in {finding.session, None}] if finding.session else found
    own = [event for event in own if event.kind != "session"] or own  # a header that shares a row's line is no evidence
    shown = own if len(own) <= MOST_ROWS else [*own[: MOST_ROWS - 2], *own[-2:]]
    continues = finding.detector == "manual-continue"
    rows = [_short(event, quoted=continues, excerpts=excerpts) for event in shown]
    return rows, len(own) - len(shown), own


def _short(event: Event, *, quoted: bool, excerpts: bool) -> Row:
    return Row(
        line=event.line,
        record=event.record,
        ts=event.ts,
        words=words(event, quoted=quoted),
        text=_excerpt(event) if excerpts and event.text and event.kind != "session" else None,
    )


def _excerpt(event: Event) -> str:
    """Give the first words that are kept of a row's text; where it was cut, not the end, which may be half a secret."""
    text = event.text or ""
    cut = (event.size or 0) > len(text) or len(text) > _EXCERPT
    return whole_words(text[: _EXCERPT - _UNSURE] if cut else text, _EXCERPT, cut=cut)


def words(event: Event, *, quoted: bool = False) -> str:
    """Say in a few words what a row tells; `quoted`: the first words of a person's prompt are given."""
    parts = [_what(event, quoted=quoted), *_sizes(event)]
    if event.cost:
        parts.append(money(event.cost))
    text = ", ".join(part for part in parts if part)
    error = words_of(event)
    if error is None:
        return text
    inferred = ", inferred" if inferred_words(error) else ""
    return f"{text}{inferred}: {whole_words(error, ERROR)}"


def words_of(event: Event) -> str | None:
    """Give an error's words: the provider's or the agent's, else what is known of a reply that failed without any."""
    if event.error:
        return event.error
    own = event.kind == "reply" and event.text is not None and inferred_words(event.text)
    return event.text if own else None


def inferred_words(error: str) -> bool:
    """Whether an error's words are no provider's or agent's: a reply whose end nobody recorded has none of them."""
    return error.startswith(_OWN_WORDS)


_OWN_WORDS = ("no end recorded:", "the request was made again;")
"""How the words begin that stand where a record gives none."""


def _what(event: Event, *, quoted: bool) -> str:
    kind = event.kind
    if kind == "reply":
        ended = {"done": "reply ended well", "tool": "reply ended with a tool call", None: "reply"}
        name = ended.get(event.stop) or _ENDED[event.stop or "empty"]
        return f"{name} ({event.fault})" if event.fault else name
    if kind == "prompt":
        return _prompt(event, quoted=quoted)
    if kind == "compact":
        why = f" ({event.trigger})" if event.trigger and event.trigger != "unknown" else ""
        return f"compaction started{why}"
    if kind == "compacted":
        fault = f", {event.fault}" if event.fault else ""
        asked = {None: "", 0: ", without asking a model", 1: ""}.get(
            event.requests, f", {event.requests} model requests"
        )
        return f"compaction ended: {(event.outcome or 'unknown').replace('-', ' ')}{fault}{asked}"
    if kind == "exit":
        code = "without a code" if event.code is None else f"with code {event.code}"
        return f"{event.tool or 'process'} exited {code}"
    names = {
        "spawn": f"{event.tool or 'process'} started", "budget": "budget check",
        "tool": f"tool call {event.tool or ''}".strip(), "session": "session begins", "model": "model chosen",
        "retry": "automatic retry",
    }  # fmt: skip
    return names.get(kind, kind)


_ENDED = {
    "length": "reply cut at the output limit",
    "error": "reply failed",
    "aborted": "reply aborted by the person",
    "filtered": "reply filtered",
    "empty": "reply ended with nothing to see",
}


def _prompt(event: Event, *, quoted: bool) -> str:
    who = {
        "human": "prompt by a person", "synthetic": "prompt by the agent itself", "replay": "earlier prompt sent again",
        "queued": "queued prompt by a person",
    }.get(event.origin or "", "prompt, its writer not on record")  # fmt: skip
    if not (quoted and event.text and event.origin in {"human", "queued"}):
        return who
    first = " ".join(event.text.split()[:5])
    return f"{who}: “{first}{'' if first == ' '.join(event.text.split()) else ' …'}”"


def _sizes(event: Event) -> Iterable[str]:
    if event.kind == "compacted" and event.before is not None and event.after is not None:
        yield f"{event.before:,} to {event.after:,} tokens"
    elif event.messages is not None and event.context is None:
        yield f"messages alone {event.messages:,} tokens"
    elif event.before is not None:
        yield f"{event.before:,} tokens before"
    if event.context is not None:
        yield f"context {event.context:,} tokens" + (f" of {event.cap:,}" if event.cap else "")
    if event.total is not None and event.estimate is not None:
        yield f"reported {event.total:,} where its own estimate is {event.estimate:,}"
    elif event.estimate is not None and event.fault == "overflow":
        yield f"the refused request had {event.estimate:,} tokens"


def whole_words(text: str, most: int, *, cut: bool = False) -> str:
    """Give a text in one line, cut between words; `cut`: it is already, so its last word is left out."""
    line = " ".join(text.split())
    if len(line) > most:
        line, cut = line[:most], True
    return line.rpartition(" ")[0] + " …" if cut else line
