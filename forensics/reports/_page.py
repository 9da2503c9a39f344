"""The incident report's strings, ready to be set into a page: what each form shows is decided here once."""

from collections.abc import Iterator
from typing import Any

from forensics.detect import SEVERITIES
from forensics.incident.model import Case, Clock, Group, Incident, Replay, Row, Track
from forensics.incident.names import display
from forensics.reports._svg import refused_words, stretch
from forensics.reports._words import by_line, count, coverage_line, duration, figure, label, minute, money, places, span
from forensics.scan import Input, SessionTotals
from forensics.times import moment

MOST_MARKS = 400
MOST_WORDS = 320
MOST_METRIC = 200
MOST_TEXT = 280
MOST_SESSIONS = 1000
MOST_MALFORMED = 500
Strings = dict[str, Any]


def when(incident: Incident) -> str:
    """Give the report's stretch of time, and what it covers."""
    total = incident.summary
    time = span(total.start, total.end)
    parts = [f"{time} UTC"] if time else []
    parts.append(count(total.sessions, "session"))
    parts.append(count(total.findings, "finding"))
    return ", ".join(parts)


def contents(incident: Incident) -> list[tuple[str, str]]:
    """Give the sections with their anchors."""
    found = [("summary", "What happened"), ("impact", "Impact")]
    if incident.tracks or incident.bars:
        found.append(("timeline", "Timeline"))
    found.append(("findings", f"Findings ({incident.summary.findings:,})"))
    if incident.replays:
        found.append(("replay", "Replay"))
    return [*found, ("coverage", "Coverage"), ("appendix", "Appendix")]


def track_caption(track: Track) -> str:
    """Give the stretch that a figure shows, and its peak."""
    time = stretch(track.start, track.end, timed=track.timed) + (" UTC" if track.timed else ", no times")
    if track.peak is None:
        return time
    cap = f" of {track.cap:,}" if track.cap else ""
    return f"{time}; context peak {track.peak[1]:,}{cap} tokens{refused_words(track)}"


def track_lines(track: Track) -> list[str]:
    """Say what a figure cannot show by itself: gaps, clocks, thinning."""
    lines = []
    if track.gaps:
        longest = sorted(track.gaps, key=lambda gap: gap.start - gap.end)[:3]
        told = "; ".join(
            f"{duration((gap.end - gap.start) / 1000)} from {minute(gap.start)}, ended by {gap.then}" for gap in longest
        )
        stretches = "stretch" if track.gaps_in_all == 1 else "stretches"
        more = f" The longest: {told}." if track.gaps_in_all > len(longest) else f" {told[:1].upper()}{told[1:]}."
        lines.append(f"{track.gaps_in_all:,} {stretches} of 15 minutes or more without a row.{more}")
    lines += clock_lines(track)
    if track.measured > len(track.points):
        lines.append(
            f"{track.measured:,} measured rows, thinned out for drawing;"
            " the least and the greatest of each stretch are kept."
        )
    return lines


def clock_lines(track: Track) -> Iterator[str]:
    """Say how the files' clocks stand to the first one's: which were moved, which fit, of which nothing is known."""
    first = track.files[0]
    for clock in track.clocks:
        if clock.offset:
            told = f"{count(clock.matched, 'event')} that both files record ({_within(clock)})"
            yield f"{clock.file}: times moved by {clock.offset / 1000:+.3f} s, estimated from {told}."
    fit = [f"{one.file} ({count(one.matched, 'event')} {_within(one)})" for one in track.clocks if one.offset == 0]
    if fit:
        yield f"Times as recorded, which fits what {first} records too: {', '.join(fit)}."
    alone = [clock.file for clock in track.clocks if clock.offset is None]
    if alone:
        clocks, times = ("its clock", "its times are") if len(alone) == 1 else ("their clocks", "their times are")
        yield f"{', '.join(alone)}: {clocks} cannot be held against the other file's, {times} as recorded."


def _within(clock: Clock) -> str:
    return f"within {(clock.spread or 0) / 1000:.3f} s"


def mark_rows(track: Track) -> tuple[list[Strings], int]:
    """Give the figure's marks as table rows in the order of time, and how many are left out."""
    pins = sorted(track.pins, key=lambda pin: (pin.x, pin.lane, pin.mark))
    rows = [
        {"when": stretch(pin.x, pin.last, timed=track.timed), "what": pin.words, "count": pin.count}
        for pin in pins[:MOST_MARKS]
    ]
    return rows, len(pins) - len(rows)


def shorten(text: str, most: int) -> str:
    """Cut a text that is long; only what has been redacted may be cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def index(incident: Incident) -> Iterator[Strings]:
    """Give every finding as a table row."""
    for group in incident.groups:
        for case in group.cases:
            one = case.finding
            yield {
                "rank": SEVERITIES.index(one.severity),
                "severity": one.severity,
                "anchor": case.anchor,
                "start": "" if one.start is None else one.start,
                "when": "" if one.start is None else minute(one.start),
                "place": f"{one.file}:{places(one)}",
                "message": one.message,
            }


def group_strings(group: Group) -> Strings:
    """Give a group's strings."""
    return {
        "anchor": group.anchor,
        "severity": group.severity,
        "detector": group.detector,
        "why": group.why or group.what,
        "todo": group.todo,
        "cases": [case_strings(case) for case in group.cases],
    }


def case_strings(case: Case) -> Strings:
    """Give a finding's strings."""
    one = case.finding
    doubts = [] if one.confidence == "high" else [f"{one.confidence} confidence"]
    doubts += [] if one.state == "new" else [one.state]
    lined = by_line(one)
    return {
        "anchor": case.anchor,
        "message": sentence(one.message),
        "when": span(one.start, one.end),
        "place": f"{one.file}:{places(one, 12)}",
        "session": one.session,
        "doubt": ", ".join(doubts),
        "also": ", ".join(one.also[:4]) + (f" and {len(one.also) - 4} more" if len(one.also) > 4 else ""),
        "facts": list(_facts(case)),
        "trigger": case.trigger and shorten(case.trigger, MOST_WORDS).rstrip("."),
        "sustained": " ".join(case.sustained),
        "unit": "Line" if lined else "Record",
        "left_out": case.left_out,
        "rows": [
            {
                "place": row_place(row, lined=lined),
                "when": "" if row.ts is None else exact(row.ts),
                "words": shorten(row.words, MOST_WORDS),
                "text": row.text and shorten(row.text, MOST_TEXT),
            }
            for row in case.evidence
        ],
    }


def row_place(row: Row, *, lined: bool) -> str:
    """Give the place of a row of evidence; `lined`: by its line, where it has one."""
    if row.line is not None and (lined or row.record is None):
        return f"{row.line}"
    return row.record or ""


def exact(ms: int) -> str:
    """Give a time to the millisecond."""
    time = moment(ms)
    return "" if time is None else f"{minute(ms)}.{time.microsecond // 1000:03d}"


def sentence(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]


def _facts(case: Case) -> Iterator[Strings]:
    one = case.finding
    for name, value in one.measures.items():
        if value is None and name not in one.intervals:
            continue
        shown = figure(name, value)
        if name in one.intervals:
            low, high = (figure(name, bound) for bound in one.intervals[name])
            shown += f" ({low} to {high})"
        yield {"label": label(name), "value": shown, "basis": one.bases.get(name, "observed")}
    unknown = [label(name) for name, value in one.measures.items() if value is None and name not in one.intervals]
    if unknown:
        yield {"label": "unknown:", "value": "", "basis": ", ".join(unknown)}


def input_strings(one: Input) -> Strings:
    """Give the strings of a file that was read."""
    unknown = [f"{kind} × {times:,}" for kind, times in one.unknown.items()]
    notes = [f"unknown records: {', '.join(unknown[:8])}{' …' if len(unknown) > 8 else ''}"] if unknown else []
    notes += one.notes
    if one.duplicates:
        notes.append(f"{count(one.duplicates, 'duplicate')} counted once")
    if one.companions:
        notes.append(f"read together with {', '.join(one.companions)}")
    bad = f"{len(one.malformed):,}" + (f" ({one.salvaged:,} salvaged)" if one.salvaged else "")
    return {
        "path": one.path,
        "parser": one.parser,
        "lines": "none" if one.lines is None else f"{one.lines:,}",
        "lines_v": "" if one.lines is None else one.lines,
        "records": f"{one.records:,}",
        "records_v": one.records,
        "malformed": bad,
        "malformed_v": len(one.malformed),
        "observable": one.failures_observable,
        "notes": "; ".join(notes),
    }


def session_strings(one: SessionTotals) -> Strings:
    """Give the strings of a session's totals."""
    failed = None if one.errors is None else sum(one.errors.values())
    version = f" {one.version}" if one.version else ""
    ratio = "" if one.peak_ratio is None else f" ({one.peak_ratio:.2f} ×)"
    return {
        "name": f"{one.agent}{version}, {one.session}",
        "file": one.file,
        "when": "" if one.start is None else minute(one.start),
        "start_v": "" if one.start is None else one.start,
        "prompts": _known(one.prompts),
        "prompts_v": "" if one.prompts is None else one.prompts,
        "replies": _known(one.replies),
        "replies_v": "" if one.replies is None else one.replies,
        "failed": _known(failed),
        "failed_v": "" if failed is None else failed,
        "compactions": _known(one.compactions.attempts),
        "compactions_v": "" if one.compactions.attempts is None else one.compactions.attempts,
        "peak": "unknown" if one.peak_context is None else f"{one.peak_context:,}{ratio}",
        "peak_v": "" if one.peak_context is None else one.peak_context,
        "cost": "unknown" if one.cost is None else money(one.cost),
        "cost_v": "" if one.cost is None else one.cost,
    }


def _known(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def coverage_words(incident: Incident) -> str:
    """Say what was read in a sentence."""
    return sentence(coverage_line(incident.coverage)) + "."


def no_findings(incident: Incident) -> str:
    """Say why there are no findings: nothing was found, or nothing was looked at."""
    if not incident.coverage.files:
        return "Nothing was read, so nothing was looked for."
    return "None of the detectors that ran found anything."


def replay_title(one: Replay) -> str:
    """Name a replay: several files may show a session, and each is replayed for itself."""
    return f"{display(one.agent)}, session {one.session} in {one.file}"


def not_replayed(incident: Incident) -> str:
    """Say how many sessions with findings have no replay here; empty when all have one."""
    left = incident.replays_left_out
    if not left:
        return ""
    more = "1 more session with findings is" if left == 1 else f"{left:,} more sessions with findings are"
    return f"{more} not replayed here."


def left_out_words(incident: Incident) -> str:
    """Say how many sessions have no figure; empty when all have one."""
    left = incident.tracks_left_out
    if not left:
        return ""
    more = "1 more session has" if left == 1 else f"{left:,} more sessions have"
    return f"{more} no figure here: those with the worst findings are shown."


def privacy_words(incident: Incident) -> str:
    """Say what was done to make the report fit to be shared."""
    if not incident.redacted:
        return "Nothing was redacted: look through it before you share it."
    kept = (
        "Excerpts of the transcript are in it, secrets removed."
        if incident.excerpts
        else "Of the transcripts it holds no text but error messages and the first words of a person's continue."
    )
    return f"Personal details and secrets are replaced, the same thing always by the same name. {kept}"
