"""The report of `forensics replay` for a person: one screen a session."""

from collections.abc import Iterable, Iterator, Sequence

from forensics.replaying.replay_report import FIGURES, Document, PolicyReplay, SessionReplay, Swept, Total
from forensics.safe import plain

_HEADS = ("continues", "compactions", "summaries", "calls", "tokens", "dollars", "hours")
_UNKNOWN = "unknown"
_MARKS = {"equal": "=", "departs": "x", "undetermined": "?"}
_WHOLE = 5
"""Sessions shown whole; more are a line each."""
_BEYOND = "  (what a summary needs beyond the budget on record is not known; --natural gives the lengths you know)"


def to_text(report: Document) -> str:
    """Lay out the report; sessions without a decision are only counted."""
    shown = [one for one in report.sessions if one.decisions]
    parts = [_session(one) for one in shown] if len(shown) <= _WHOLE else [_lines(shown)]
    if len(shown) > 1:
        parts.append(_total(shown, report))
    quiet = len(report.sessions) - len(shown)
    tail = []
    if quiet:
        tail.append(f"{_count(quiet, 'session')} without a failed or cut reply or a compaction: nothing to decide")
    tail += [f"not read: {one.path}: {one.reason}" for one in report.skipped]
    text = "\n".join([*parts, *(["\n".join(tail) + "\n"] if tail else [])])
    return "".join(f"{plain(line)}\n" for line in text.splitlines())


def _lines(sessions: Sequence[SessionReplay]) -> str:
    rows = [("session", "decisions", "streak", "logic")]
    rows += [(one.session, f"{one.decisions:,}", str(one.streak.recoveries), one.ran) for one in sessions]
    return "\n".join([*_table(rows, 0), "(name one file to see its sessions whole)"]) + "\n"


def _session(one: SessionReplay) -> str:
    version = f" {one.version}" if one.version else ""
    lines = [
        f"{one.file}  session {one.session}  ({one.agent}{version})",
        f"  {one.ran[:1].upper()}{one.ran[1:]}.",
        f"  {_count(one.decisions, 'decision')}; {_streak(one)}; {_sizes(one)}",
        "",
        *_table(_agreement(one), 2),
        "",
        "  avoided from the first departure on, pessimistic to optimistic (negative: spent more)",
        *_table(_avoided(one.policies), 2),
    ]
    if one.steps:
        lines += ["", "  every decision: = equal, x departs, ? undetermined", *_table(_steps(one), 2)]
    if one.sweep:
        lines += _budgets(one.sweep)
    notes = [*one.notes, *dict.fromkeys(f"{p.policy}: {note}" for p in one.policies for note in p.notes)]
    return "\n".join([*lines, *(f"  note: {note}" for note in notes)]) + "\n"


def _streak(one: SessionReplay) -> str:
    found = one.streak
    if not found.recoveries:
        return "no automatic recovery without progress"
    return f"longest streak without progress {found.recoveries}{_where(found.lines, found.records)}"


def _where(lines: list[int] | None, records: list[str] | None) -> str:
    if lines:
        return f" at lines {lines[0]}-{lines[1]}"
    return f" from {records[0]} to {records[1]}" if records else ""


def _sizes(one: SessionReplay) -> str:
    known = {name: (size.tokens, size.basis) for name, size in one.sizes.items() if size.tokens is not None}
    words = {"cap": "window", "max_output": "output cap", "threshold": "threshold"}
    said = [f"{words[name]} {tokens:,} ({basis})" for name, (tokens, basis) in known.items() if name in words]
    if "threshold" not in known:
        low, high = known.get("under_to"), known.get("over_from")
        between = " to ".join(f"{size[0]:,}" for size in (low, high) if size)
        if between:
            said.append(f"threshold {'' if low and high else 'over ' if low else 'at most '}{between} (inferred)")
    missing = [words[name] for name in words if name not in known and not (name == "threshold" and len(said))]
    return ", ".join([*said, *([f"{' and '.join(missing)} unknown"] if missing else [])])


def _agreement(one: SessionReplay) -> Iterator[tuple[str, ...]]:
    yield ("policy", "equal", "departs", "open", "bounded", "first departure")
    for policy in one.policies:
        yield (
            policy.policy,
            str(policy.equal),
            str(policy.departures),
            str(policy.undetermined),
            _bounded(policy),
            _departure(policy),
        )


def _bounded(policy: PolicyReplay) -> str:
    verdict = policy.verdict
    if verdict.bounded is None:
        return _UNKNOWN
    if verdict.bounded:
        return f"in {_count(verdict.figure or 0, 'action')}"
    if verdict.cycle and verdict.figure:
        return f"no: cycle at lines {verdict.cycle[0]}-{verdict.cycle[1]}"
    return f"no: {verdict.figure:,} in a row here" if verdict.figure else "no"


def _departure(policy: PolicyReplay) -> str:
    found = policy.departs
    if found is None:
        return "" if policy.agrees == "consistent" else "nothing here tells"
    place = f"{found.line}: " if found.line is not None else f"{found.record}: " if found.record else ""
    return f"{place}recorded {found.recorded}, policy {found.policy}"


def _avoided(policies: Iterable[PolicyReplay]) -> Iterator[tuple[str, ...]]:
    yield ("policy", *_HEADS)
    for one in policies:
        figures = [one.counterfactual[f"{name}_avoided"] for name in FIGURES]
        if any(figure not in ([0, 0], [0.0, 0.0]) for figure in figures):
            yield (one.policy, *(_interval(name, figure) for name, figure in zip(FIGURES, figures, strict=True)))
        else:
            yield (one.policy, "nothing", *("" for _ in FIGURES[1:]))


def _interval(name: str, ends: list[float | None]) -> str:
    low, high = (_figure(name, end) for end in ends)
    return low if low == high else f"{low} to {high}"


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return _UNKNOWN
    if name == "dollars":
        return f"{'-' if value < 0 else ''}${abs(value):,.2f}"
    return f"{value:,.1f}" if name == "hours" else f"{value:,.0f}"


def _steps(one: SessionReplay) -> Iterator[tuple[str, ...]]:
    yield ("row", "told", "recorded", *(policy.policy for policy in one.policies))
    for step in one.steps:
        found = {answer.policy: f"{_MARKS[answer.agrees]} {answer.action}" for answer in step.answers}
        place = str(step.line) if step.line is not None else step.record or ""
        told = step.told[0] if len(step.told) == 1 else f"{step.told[0]}, or {_count(len(step.told) - 1, 'other')}"
        yield (place, told, step.recorded, *(found.get(policy.policy, "") for policy in one.policies))


def _budgets(rows: list[Swept]) -> list[str]:
    return ["", "  summaries cut off or empty, by output budget", *_table(_sweep(rows), 2), _BEYOND]


def _sweep(rows: list[Swept]) -> Iterator[tuple[str, ...]]:
    yield ("max output", "in force", "reasoning", "cut or empty")
    for row in rows:
        most, least = row.cut_or_empty
        figure = str(least) if most == least else f"{least} to {most}"
        yield (
            f"{row.max_output:,}",
            f"{row.in_force:,}",
            "on" if row.reasoning else "off",
            f"{figure} of {row.calls}",
        )


def _total(sessions: Sequence[SessionReplay], report: Document) -> str:
    rows: list[tuple[str, ...]] = [("policy", "sessions", "equal", "departs", "open", "bounded", *_HEADS)]
    rows += [_sum(one) for one in report.total]
    worst = max(sessions, key=lambda one: one.streak.recoveries)
    head = f"all {len(sessions)} sessions with decisions; longest streak {worst.streak.recoveries} in {worst.session}"
    return "\n".join([head, *_table(rows, 2), *(_budgets(report.sweep) if report.sweep else [])]) + "\n"


def _sum(one: Total) -> tuple[str, ...]:
    bounded = {True: f"in {one.verdict.figure}", False: "no", None: _UNKNOWN}[one.verdict.bounded]
    figures = [_interval(name, one.counterfactual[f"{name}_avoided"]) for name in FIGURES]
    counts = (one.sessions, one.equal, one.departures, one.undetermined)
    return (one.policy, *map(str, counts), bounded, *figures)


def _table(rows: Iterable[tuple[str, ...]], indent: int) -> Iterator[str]:
    found = list(rows)
    widths = [max(len(row[column]) for row in found) for column in range(len(found[0]))]
    for row in found:
        cells = [
            cell.ljust(width) if column in {0, len(row) - 1} or not _numeric(found, column) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield (" " * indent + "  ".join(cells)).rstrip()


def _numeric(rows: list[tuple[str, ...]], column: int) -> bool:
    return all(not row[column] or row[column][-1].isdigit() or row[column] == _UNKNOWN for row in rows[1:])


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
