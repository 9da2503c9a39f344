"""The first paragraph: plain words first, then the numbers. Every clause comes from a finding or a total by rule."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from forensics.incident.cases import number
from forensics.incident.model import Case, Group, Piece
from forensics.incident.names import display
from forensics.incident.once import once
from forensics.reports._words import blind_spots, count, duration, minute, money, plural, unpriced
from forensics.summary import Report

MOST_CLAUSES = 3
MOST_SENTENCES = 5
Sentence = list[Piece]


def paragraph(report: Report, groups: list[Group]) -> list[Sentence]:
    """Say what happened, when, how long and how bad."""
    if not report.coverage.files:
        return [[_said("Nothing was read, so nothing can be said of what happened.")]]
    if not groups:
        return [*_nothing(report)]
    groups = _once(groups)
    return [_plain(report, groups), *_numbers(groups), *_money(report), *_limits(report)]


def _once(groups: list[Group]) -> list[Group]:
    """Leave out what another file tells of the same session more fully, whatever group it stands in."""
    by_detector: defaultdict[str, list[Case]] = defaultdict(list)
    for group in groups:
        by_detector[group.detector].extend(group.cases)
    kept = {id(case) for cases in by_detector.values() for case in once(cases)}
    found = [replace(group, cases=[case for case in group.cases if id(case) in kept]) for group in groups]
    return [group for group in found if group.cases]


_NUMBER = re.compile(r"\$?\d+(?:,\d{3})*(?:\.\d+)?(?:\s?%| times\b| h\b| min\b| s\b| tokens\b)?")


def _said(text: str, ref: str | None = None) -> Piece:
    return Piece(text=text, ref=ref)


def _linked(text: str, ref: str) -> Sentence:
    """Link the numbers of a text to what they rest on; all of it where it holds none."""
    pieces: Sentence = []
    end = 0
    for found in _NUMBER.finditer(text):
        if found.start() > end:
            pieces.append(_said(text[end : found.start()]))
        pieces.append(_said(found[0], ref))
        end = found.end()
    if end < len(text):
        pieces.append(_said(text[end:], None if pieces else ref))
    return pieces


def _nothing(report: Report) -> Iterator[Sentence]:
    replies = "" if report.summary.replies is None else f" with {plural(report.summary.replies, 'reply', 'replies')}"
    read = f"{count(report.summary.sessions, 'session')}{replies}"
    if not report.coverage.records:
        yield [_said("The files hold no records, so there was nothing to find.", "coverage")]
        return
    yield [_said("Nothing went wrong that these detectors look for: "), _said(read, "coverage"), _said(" were read.")]
    yield from _limits(report)


def _plain(report: Report, groups: list[Group]) -> Sentence:
    """Give the plain words: when, who, and the worst of what happened."""
    start, end = report.summary.start, report.summary.end
    cases = [case for group in groups for case in group.cases]
    times = [ts for case in cases for ts in (case.finding.start, case.finding.end) if ts is not None]
    sentence = [_said(_when(min(times, default=start), max(times, default=end)))]
    worst = groups[0].severity
    clauses = [(words, group) for group in groups if (words := _clause(group))]
    told = [one for one in clauses if one[1].severity == worst][:MOST_CLAUSES] or clauses[:1]
    if not told:
        found = count(len(cases), "finding")
        return [*sentence, _said(f"{_who(groups)} ran into "), _said(found, groups[0].anchor), _said(".")]
    alone = len(_agents(groups)) == 1
    if alone:
        sentence.append(_said(f"{_who(groups)} "))
    for at, (words, group) in enumerate(told):
        last = at == len(told) - 1
        joint = "" if at == 0 else ("; " if not alone else " and " if last else ", ")
        who = "" if alone else f"{_who([group])} "
        sentence += [_said(joint + who)] if joint + who else []
        sentence += _linked(words if len(_agents([group])) == 1 else words.replace(" its ", " their "), group.anchor)
    return [*sentence, _said(".")]


def _agents(groups: list[Group]) -> list[str]:
    return sorted({case.finding.agent for group in groups for case in group.cases})


def _who(groups: list[Group]) -> str:
    names = [display(name) for name in _agents(groups)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _when(first: int | None, last: int | None) -> str:
    if first is None or last is None:
        return "At a time that is not on record, "
    if first == last:
        return f"At {minute(first)} UTC, "
    end = minute(last) if minute(first)[:10] != minute(last)[:10] else minute(last)[11:]
    return f"Between {minute(first)} and {end} UTC ({duration((last - first) / 1000)}), "


def _clause(group: Group) -> str | None:
    rule = _CLAUSES.get(group.detector)
    return rule(group) if rule else None


def _total(group: Group, name: str) -> float:
    return sum(number(case.finding, name) or 0 for case in group.cases)


def _has(group: Group, name: str, value: str) -> bool:
    return all(case.finding.measures.get(name) == value for case in group.cases)


def _loop(group: Group) -> str:
    if _has(group, "kind", "failed"):
        return "tried again and again to compact its context and could not"
    return "compacted its context again and again without getting any further"


def _continues(group: Group) -> str:
    times = len(group.cases)
    often = "once" if times == 1 else "twice" if times == 2 else f"{times:,} times"
    return f"stopped working {often} until a person told it to go on"


_CLAUSES: dict[str, Callable[[Group], str]] = {
    "compaction-loop": _loop,
    "oversized-replay": lambda _: "kept sending the same message again, to no avail",
    "manual-continue": _continues,
    "silent-stall": lambda _: "fell silent in the middle of its work",
    "no-summary": lambda _: "could not make the summaries that its compactions need",
    "starved-summary": lambda _: "cut its summaries off before they were whole",
    "context-blowup": lambda _: "let its context grow beyond what the model takes",
    "crash-loop": lambda _: "kept exiting with an error and being started anew",
    "output-budget-underflow": lambda _: "asked the provider for an output budget that it refuses",
    "length-stop": lambda _: "had replies cut off at the output limit",
    "runaway-cost": lambda _: "spent more on recovery than on work",
    "ineffective-compaction": lambda _: "compacted its context without making room",
    "usage-outlier": lambda _: "recorded token counts that cannot be right",
}
"""What the agent did, in words that follow its name. A detector that is not here is told by its finding's message."""


def _numbers(groups: list[Group]) -> Iterator[Sentence]:
    """Give the finding of most weight of each group, worst first."""
    for group in groups[:MOST_SENTENCES]:
        case = max(group.cases, key=lambda one: number(one.finding, "cycles") or number(one.finding, "ratio") or 0)
        if group.detector == "manual-continue":
            yield _waiting(group)
            continue
        more = len(group.cases) - 1
        text = case.finding.message[:1].upper() + case.finding.message[1:]
        pieces = _linked(text.rstrip("."), case.anchor)
        if more:
            pieces += [_said(" (and "), _said(f"{more:,} more", group.anchor), _said(" of this kind)")]
        yield [*pieces, _said(".")]


def _waiting(group: Group) -> Sentence:
    waited = _total(group, "waiting_seconds")
    times = count(len(group.cases), "message")
    classes = sorted({str(one) for case in group.cases if (one := case.finding.measures.get("class")) is not None})
    reasons = f" ({', '.join(classes)})" if classes else ""
    pieces = [
        _said("A person had to type "),
        _said(times, group.anchor),
        _said(f" to get work going again after it broke off{reasons}"),
    ]
    if waited:
        pieces += [_said("; "), _said(duration(waited), group.anchor), _said(" passed waiting")]
    return [*pieces, _said(".")]


def _money(report: Report) -> Iterator[Sentence]:
    if report.summary.cost is not None:
        without = unpriced(report)
        rest = f"; {without}" if without else ""
        yield [_said("The files record "), _said(money(report.summary.cost), "sessions"), _said(f" in all{rest}.")]


def _limits(report: Report) -> Iterator[Sentence]:
    for one in blind_spots(report.coverage):
        yield [_said(one[:1].upper() + one[1:], "coverage"), _said(".")]
