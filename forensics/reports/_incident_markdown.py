"""The incident report as GitHub-flavoured Markdown: tables that render, cut honestly at GitHub's limit."""

from collections.abc import Iterator, Sequence

from forensics.incident.model import Case, Group, Impact, Incident, Piece
from forensics.reports import _page
from forensics.reports._inline import inline as markdown
from forensics.reports._svg import bars_told, told
from forensics.reports._words import by_line, count, measures, places, span, sparkline

MOST = 65_000
"""Characters; GitHub takes 65,536 in one comment."""
_ROOM = 400
_MOST_ROWS = 6
_MOST_CASES = 60


def page(incident: Incident, figures: dict[str, str] | None = None) -> str:
    """Write the document; `figures` gives the file of each figure by its anchor, relative to the document."""
    head = "".join([*_head(incident), *_impact(incident), *_timeline(incident, figures or {})])
    tail = "".join([*_replays(incident), *_coverage(incident), *_appendix(incident)])
    tail_short = "".join([*_replays(incident), *_coverage(incident, most=20), *_appendix(incident, most=20)])
    room = MOST - _ROOM - len(head)
    if len(tail) > room // 2:
        tail = tail_short if len(tail_short) <= room // 2 else _appendix_cut(incident)
    room -= len(tail)
    body, left = _fitting(_findings(incident.groups, _page.no_findings(incident)), room)
    if left:
        body += (
            f"\n*{left:,} of {incident.summary.findings:,} findings are left out here for GitHub's limit of one"
            " comment; the HTML and JSON reports hold them all.*\n"
        )
    return head + body + tail


def _fitting(parts: Iterator[tuple[int, str]], room: int) -> tuple[str, int]:
    """Take (findings, text) parts in order while they fit; give the text, and the findings that did not fit."""
    taken: list[str] = []
    left = 0
    for findings, text in parts:
        if left or len(text) > room:
            left += findings
            continue
        room -= len(text)
        taken.append(text)
    return "".join(taken), left


def _head(incident: Incident) -> Iterator[str]:
    yield f"# {markdown(incident.title)}\n\n{markdown(_page.when(incident))}\n\n"
    for at, sentence in enumerate(incident.paragraph):
        text = "".join(map(_piece, sentence))
        yield f"**{text.strip()}**" if at == 0 else f" {text}"
    yield "\n\n"


def _piece(piece: Piece) -> str:
    text = markdown(piece.text)
    return f"[{text}](#{piece.ref})" if piece.ref else text


def _anchor(name: str) -> str:
    return f'<a name="{name}"></a>'


def _impact(incident: Incident) -> Iterator[str]:
    if not incident.impact:
        return
    yield "## Impact\n\n| metric | value | basis | evidence |\n| --- | --- | --- | --- |\n"
    for row in incident.impact:
        metric = markdown(_page.shorten(row.metric, _page.MOST_METRIC))
        yield f"| {metric} | {markdown(row.value)} | {row.basis} | {_evidence(row)} |\n"
    yield "\n"


def _evidence(row: Impact) -> str:
    parts = [" ".join(f"[{markdown(one)}](#{one})" for one in row.refs)] if row.refs else []
    parts += [markdown(row.where)] if row.where else []
    parts += [f"({markdown(row.note)})"] if row.note else []
    return " ".join(parts)


def _timeline(incident: Incident, figures: dict[str, str]) -> Iterator[str]:
    if not incident.tracks and not incident.bars:
        return
    yield "## Timeline\n\n"
    for track in incident.tracks:
        yield f"### {markdown(track.title)}\n\n"
        if track.anchor in figures:
            yield f"![{markdown(told(track))}]({figures[track.anchor]})\n\n"
        elif track.points:
            sizes = [value for _, value in track.points]
            yield f"`{sparkline(sizes, track.cap, width=80)}`\n\n"
        yield f"{markdown(told(track, titled=False))}\n\n"
        yield from (f"{markdown(line)}\n\n" for line in _page.track_lines(track))
    if incident.tracks_left_out:
        yield f"*{markdown(_page.left_out_words(incident))}*\n\n"
    for chart in incident.bars:
        if chart.anchor in figures:
            yield f"![{markdown(bars_told(chart))}]({figures[chart.anchor]})\n\n"
        yield f"{markdown(bars_told(chart))}\n\n"


def _findings(groups: Sequence[Group], nothing: str) -> Iterator[tuple[int, str]]:
    yield 0, "## Findings, worst first\n"
    if not groups:
        yield 0, f"\n{nothing}\n"
    for group in groups:
        many = f" × {len(group.cases)}" if len(group.cases) > 1 else ""
        text = f"\n### {_anchor(group.anchor)}{group.severity}: {markdown(group.detector)}{many}\n\n"
        text += f"**Why it matters.** {markdown(group.why or group.what)}\n\n"
        if group.todo:
            text += f"**What to do.** {markdown(group.todo)}\n\n"
        yield 0, text
        yield from ((1, _case(case, rows=at < _MOST_CASES)) for at, case in enumerate(group.cases))


def _case(case: Case, *, rows: bool) -> str:
    one = case.finding
    told_of = [markdown(f"{one.file}:{places(one)}"), markdown(span(one.start, one.end))]
    told_of += [f"session {markdown(one.session)}"] if one.session else []
    lines = [
        f"- {_anchor(case.anchor)}**{markdown(_page.sentence(one.message))}**",
        f"  {', '.join(filter(None, told_of))}",
    ]
    figures = markdown("; ".join(measures(one)))
    lines += [f"  {figures}"] if figures else []
    lines += [f"  Trigger: {markdown(_page.shorten(case.trigger, _page.MOST_WORDS))}"] if case.trigger else []
    lines += [f"  {markdown(' '.join(case.sustained))}"] if case.sustained else []
    text = "  \n".join(lines) + "\n"
    if rows and case.evidence:
        text += "\n" + "".join(_rows(case)) + "\n"
    return text


def _rows(case: Case) -> Iterator[str]:
    shown = case.evidence[:_MOST_ROWS]
    lined = by_line(case.finding)
    unit = "line" if lined else "record"
    yield f"  | {unit} | time (UTC) | what the record says |\n  | --- | --- | --- |\n"
    for row in shown:
        place = _page.row_place(row, lined=lined)
        text = f" *{markdown(_page.shorten(row.text, _page.MOST_TEXT))}*" if row.text else ""
        time = "" if row.ts is None else _page.exact(row.ts)
        words = markdown(_page.shorten(row.words, _page.MOST_WORDS))
        yield f"  | {markdown(place)} | {markdown(time)} | {words}{text} |\n"
    left = case.left_out + len(case.evidence) - len(shown)
    if left:
        yield f"\n  *{count(left, 'more row')} of evidence*\n"


def _replays(incident: Incident) -> Iterator[str]:
    if not incident.replays:
        return
    yield "\n## Replay: what other recovery policies would have done\n\n"
    yield (
        "Every figure here is simulated, from pessimistic (the same failure comes again) to optimistic (the next"
        " recorded outcome); the verdict is proved by walking every state of the policy.\n"
    )
    for one in incident.replays:
        yield f"\n### {markdown(_page.replay_title(one))}\n\n"
        yield f"By its record the agent {markdown(one.ran)}. On record: {markdown(one.recoveries)}.\n\n"
        yield "| policy | decisions that are the policy's | proof | would have been avoided |\n"
        yield "| --- | --- | --- | --- |\n"
        for other in one.others:
            avoided = "; ".join(f"{name}: {value}" for name, value in other.avoided) or "nothing"
            cells = (other.policy, other.decisions, other.verdict, "; ".join([avoided, *other.notes]))
            yield "| " + " | ".join(map(markdown, cells)) + " |\n"
        yield "".join(f"\n*{markdown(note)}*\n" for note in one.notes)
    if incident.replays_left_out:
        yield f"\n*{_page.not_replayed(incident)}*\n"


def _coverage(incident: Incident, most: int = 200) -> Iterator[str]:
    coverage = incident.coverage
    yield f"\n## {_anchor('coverage')}Coverage\n\n{markdown(_page.coverage_words(incident))}\n\n"
    yield from (f"- {markdown(line)}\n" for line in (*incident.limits, *incident.remarks))
    if coverage.inputs:
        yield "\n| file | format | lines | records | malformed | shows failed compactions | unknown or noted |\n"
        yield "| --- | --- | --: | --: | --: | --- | --- |\n"
        for one in map(_page.input_strings, coverage.inputs[:most]):
            names = ("path", "parser", "lines", "records", "malformed", "observable", "notes")
            yield "| " + " | ".join(markdown(str(one[name])) for name in names) + " |\n"
        yield _more(len(coverage.inputs) - most, "file")
    if coverage.skipped:
        yield "\n| not read | why |\n| --- | --- |\n"
        yield from (f"| {markdown(one.path)} | {markdown(one.reason)} |\n" for one in coverage.skipped[:most])
        yield _more(len(coverage.skipped) - most, "input")
    if incident.sessions:
        yield f"\n{_anchor('sessions')}\n\n"
        yield "| session | file | from (UTC) | prompts | replies | failed | compactions | peak context | cost |\n"
        yield "| --- | --- | --- | --: | --: | --: | --: | --: | --: |\n"
        for row in map(_page.session_strings, incident.sessions[:most]):
            cells = ("name", "file", "when", "prompts", "replies", "failed", "compactions", "peak", "cost")
            yield "| " + " | ".join(markdown(str(row[name])) for name in cells) + " |\n"
        yield _more(len(incident.sessions) - most, "session")


def _more(left: int, what: str) -> str:
    return f"\n*{count(left, f'more {what}')}*\n" if left > 0 else ""


def _appendix(incident: Incident, most: int = 100) -> Iterator[str]:
    options = "; ".join(f"{name} = {value}" for name, value in incident.options.items())
    yield f"\n## Appendix\n\nMade by forensics {markdown(incident.tool.version)}"
    yield f" with {markdown(options)}" if options else ""
    yield f". {markdown(_page.privacy_words(incident))}\n"
    if incident.digests:
        yield "\n| file | bytes | SHA-256 |\n| --- | --: | --- |\n"
        for one in incident.digests[:most]:
            yield f"| {markdown(one.path)} | {one.bytes:,} | {one.sha256 or 'could not be read again'} |\n"
        yield _more(len(incident.digests) - most, "file")
    for definition in incident.definitions:
        yield f"\n<details><summary>{markdown(definition.name)}</summary>\n\n"
        yield "".join(f"{markdown(' '.join(part.split()))}\n\n" for part in definition.page.split("\n\n"))
        options = ", ".join(f"{name} = {value}" for name, value in definition.options.items())
        yield f"Options: {markdown(options)}\n\n" if options else ""
        yield "</details>\n"


def _appendix_cut(incident: Incident) -> str:
    return (
        f"\n## {_anchor('coverage')}Coverage\n\n{markdown(_page.coverage_words(incident))}\n\n"
        "*The lists of files and sessions are left out here for GitHub's limit of one comment; the HTML and JSON"
        " reports hold them.*\n"
    )
