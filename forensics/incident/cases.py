"""Findings as a reader wants them: by detector, worst first, with trigger, what kept it going, and the evidence."""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from forensics.detect import SEVERITIES, Finding, Value, detectors
from forensics.events import Event
from forensics.incident.evidence import Place, evidence, words
from forensics.incident.model import Case, Group
from forensics.reports._words import count, duration, money

Places = Mapping[str, dict[Place, list[Event]]]
"""By file: the rows that its findings point at."""
_WHY = "Why it is bad:"
_TODO = "What to do:"


def groups(findings: list[Finding], places: Places, *, excerpts: bool) -> list[Group]:
    """Put the findings into groups of one detector and severity, the worst group first."""
    found = []
    ordered = sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.detector))
    for (_, name), same in groupby(ordered, key=lambda one: (SEVERITIES.index(one.severity), one.detector)):
        found.append(_group(name, list(same), places, excerpts=excerpts))
    found.sort(key=_weight)
    taken: set[str] = set()
    for group in found:
        group.anchor = group.detector if group.detector not in taken else f"{group.detector}-{group.severity}"
        taken.add(group.anchor)
        for number, case in enumerate(group.cases, 1):
            case.anchor = f"{group.anchor}-{number}"
    return found


def _group(name: str, findings: list[Finding], places: Places, *, excerpts: bool) -> Group:
    known = detectors().get(name)
    what, why, todo = page_parts(known.page if known else "")
    return Group(
        anchor="",
        detector=name,
        severity=findings[0].severity,
        what=what,
        why=why,
        todo=todo,
        cases=[_case(one, places.get(one.file, {}), excerpts=excerpts) for one in findings],
    )


def page_parts(page: str) -> tuple[str, str, str | None]:
    """Give a detector's page in parts: what it finds, why it matters, what to do (`None` where it does not say)."""
    parts = [" ".join(part.replace("`", "").split()) for part in page.split("\n\n")]
    what = parts[0] if parts else ""
    told = [part for part in parts[1:] if not part.startswith((_TODO, "Measures:"))]
    why = told[0].removeprefix(_WHY).strip() if told else ""
    todo = next((part.removeprefix(_TODO).strip() for part in parts if part.startswith(_TODO)), None)
    return what, why[:1].upper() + why[1:], todo and todo[:1].upper() + todo[1:]


def _weight(group: Group) -> tuple[int, float, float, int, str]:
    cost = sum(number(case.finding, "cost") or 0.0 for case in group.cases)
    hours = sum(
        (number(case.finding, "hours") or 0.0) + (number(case.finding, "waiting_seconds") or 0.0) / 3600
        for case in group.cases
    )
    return SEVERITIES.index(group.severity), -cost, -hours, -len(group.cases), group.detector


def number(finding: Finding, name: str) -> float | None:
    """Give a measure that is a number; `None` when the finding has none or does not know it."""
    value: Value = finding.measures.get(name)
    return None if value is None or isinstance(value, (str, bool)) else value


def _case(finding: Finding, places: dict[Place, list[Event]], *, excerpts: bool) -> Case:
    rows, left, events = evidence(finding, places, excerpts=excerpts)
    return Case(
        anchor="",
        finding=finding,
        trigger=_trigger(events),
        sustained=list(sustained(finding)),
        evidence=rows,
        left_out=left,
    )


def _trigger(events: list[Event]) -> str | None:
    """Name the first row that something came of: a failure, a compaction or an exit."""
    first = next((one for one in events if one.kind in {"compact", "compacted", "exit"} or one.fault), None)
    return words(first) if first else None


def sustained(finding: Finding) -> Iterator[str]:
    """Say what kept a loop going and what each turn of it took, from the finding's own measures."""
    cycles = number(finding, "cycles") or number(finding, "compactions")
    if cycles and cycles > 1:
        yield from _per_cycle(finding, cycles)
    ended = finding.measures.get("ended_by")
    if isinstance(ended, str) and ended != "unknown":
        yield _ENDS.get(ended, f"It was ended by {ended}.")
    for name, told in _TOLD.items():
        value = number(finding, name)
        if value:
            yield told(value, finding)


_ENDS = {
    "progress": "It ended when a reply went through with room to spare.",
    "a person": "It ended when a person stepped in.",
    "nothing": "Nothing ended it: the record stops inside the loop.",
}


def _per_cycle(finding: Finding, cycles: float) -> Iterator[str]:
    cost, tokens, paid = (number(finding, name) for name in ("cost", "tokens", "paid"))
    each = []
    if cost:
        each.append(money(cost / (paid or cycles)))
    if tokens and finding.detector == "compaction-loop":
        each.append(f"{tokens / (paid or cycles):,.0f} tokens for the summary alone")
    if each:
        yield f"Each cycle took {' and '.join(each)}."
    period = number(finding, "period_seconds")
    if period:
        yield f"A new cycle began every {duration(period)} (median)."


def _stalled(value: float, finding: Finding) -> str:
    chain = number(finding, "chain")
    many = f", {chain:.0f} times in a row" if chain and chain > 1 else ""
    return f"Nothing went on by itself for {duration(value)}; a person had to write{many}."


_TOLD: dict[str, Callable[[float, Finding], str]] = {
    "waiting_seconds": _stalled,
    "idle_seconds": lambda value, _: f"Nothing was recorded for {duration(value)} afterwards.",
    "echoes": lambda value, _: (
        f"{value:.0f} of the attempts asked no model: an earlier failure is repeated in a cooldown."
    ),
    "immediate_respawn": lambda value, _: f"{value:.0f} of the new processes died within a second of their start.",
    "in_compaction_window": lambda value, _: (
        f"{value:.0f} of the exits {'lies' if value == 1 else 'lie'} close to a compaction:"
        " a correlation, the log does not say why the process died."
    ),
    "compactions_over": lambda value, _: f"{count(round(value), 'compaction')} left the context over its window.",
}
