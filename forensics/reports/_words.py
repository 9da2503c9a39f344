"""Words for figures: what the reports that people read have in common."""

import math
from collections.abc import Iterable, Iterator

from forensics.detect import Basis, Finding, Value
from forensics.remark import Remark
from forensics.summary import Coverage, Report
from forensics.times import moment

_TOKENS = frozenset({"peak", "cap", "value", "plausible", "before", "after", "context", "budget"})
_UNITS = frozenset({"seconds", "hours", "minutes"})
_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = "._-=+*%#"


def minute(ms: int | None) -> str:
    """Give a time for the eye: `2026-07-09 10:00:00`."""
    time = moment(ms)
    return "unknown time" if time is None else time.strftime("%Y-%m-%d %H:%M:%S")


def span(start: int | None, end: int | None) -> str:
    """Give a stretch of time, the day once where it is one day."""
    first, last = minute(start), minute(end)
    if moment(start) is None and moment(end) is None:
        return ""
    if first == last:
        return first
    return f"{first} - {last[11:] if first[:10] == last[:10] else last}"


def ranges(lines: Iterable[int]) -> list[tuple[int, int]]:
    """Compress sorted line numbers: 387, 388, 389, 390 is (387, 390)."""
    found: list[tuple[int, int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found


def places(finding: Finding, most: int = 4) -> str:
    """Say where the evidence is: `387-390,394`, or the ids of its records; ends only where there are many.

    Several records on one line are told by their ids: a whole document may stand on it.
    """
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in ranges(finding.lines)]
    if not by_line(finding):
        parts, most = finding.records, max(most // 2, 3)
    if len(parts) > most:
        parts = [*parts[: most - 1], f"...({len(parts) - most} more)...", parts[-1]]
    return ",".join(parts)


def by_line(finding: Finding) -> bool:
    """Whether lines tell a finding's rows apart."""
    return bool(finding.lines) and (len(finding.lines) > 1 or len(finding.records) < 2)


def count(number: int, noun: str) -> str:
    """Give a number with its noun: `1,204 records`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def plural(number: int, one: str, many: str) -> str:
    """Give a number with a noun whose plural is no `s`."""
    return f"{number:,} {one if number == 1 else many}"


def size(number: int) -> str:
    """Give bytes in the unit that suits."""
    amount = float(number)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{number:,} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def duration(seconds: float) -> str:
    """Give a time span in its two greatest units."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    for unit, inner, length, part in (("d", "h", 86400, 3600), ("h", "min", 3600, 60), ("min", "s", 60, 1)):
        if whole >= length:
            rest = whole % length // part
            return f"{whole // length} {unit} {rest} {inner}" if rest else f"{whole // length} {unit}"
    return f"{whole} s"


def hours(number: float) -> str:
    """Give hours, those below one in smaller units."""
    return f"{number:,.1f} h" if abs(number) >= 1 else duration(number * 3600)


def money(dollars: float) -> str:
    """Give dollars to the cent, a smaller sum with three digits that tell it."""
    if dollars == 0 or abs(dollars) >= 0.01:
        return f"${dollars:,.2f}"
    digits = 2 - math.floor(math.log10(abs(dollars)))
    return "$" + f"{dollars:.{digits}f}".rstrip("0")


def times_of(ratio: float) -> str:
    """Give a ratio with one digit, with two where one would hide that it is not 1."""
    return f"{ratio:,.2f}" if f"{ratio:.1f}" == "1.0" and ratio != 1 else f"{ratio:,.1f}"


def unpriced(report: Report) -> str:
    """Say how many sessions have no cost on record, where others have one; nothing where all have."""
    known: dict[tuple[str, str], bool] = {}
    for one in report.sessions:
        known[one.agent, one.session] = known.get((one.agent, one.session), False) or one.cost is not None
    without = len(known) - sum(known.values())
    if not without or without == len(known):
        return ""
    return f"{without:,} of {count(len(known), 'session')} {'has' if without == 1 else 'have'} no cost on record"


def figure(name: str, value: Value) -> str:
    """Give a measure's value with its unit, which its name tells."""
    if value is None:
        return "unknown"
    if isinstance(value, str):
        return value
    last = name.rsplit("_", 1)[-1]
    if last == "seconds":
        return duration(value)
    if last in {"hours", "minutes"}:
        return hours(value if last == "hours" else value / 60)
    if last in {"cost", "dollars"}:
        return money(value)
    if {"rate", "share"} & set(name.split("_")):
        return f"{value:.0%}"
    if last == "ratio":
        return f"{value:,.2f} x"
    number = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return f"{number} tokens" if name in _TOKENS else number


def label(name: str) -> str:
    """Give a measure's name in words; the unit is left to the value."""
    words = name.split("_")
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in _UNITS else words)


def measures(finding: Finding, marks: dict[Basis, str] | None = None) -> Iterator[str]:
    """Give each measure in words: name, value, interval if it has one, its basis where it was not observed.

    The basis is a word in brackets, or one of the `marks`.
    """
    for name, value in finding.measures.items():
        words = f"{label(name)} {figure(name, value)}"
        basis: Basis = "observed" if value is None else finding.bases.get(name, "observed")
        if basis != "observed" and marks is not None:
            words += marks[basis]
        if name in finding.intervals:
            low, high = (figure(name, bound) for bound in finding.intervals[name])
            words += f" ({low} to {high})"
        yield words if basis == "observed" or marks is not None else f"{words} [{basis}]"


def sparkline(contexts: list[int], cap: int | None, *, width: int = 60, ascii_only: bool = False) -> str:
    """Draw context sizes as at most `width` blocks; the cap is the top, or the peak where that is higher."""
    blocks = _ASCII_BLOCKS if ascii_only else _BLOCKS
    top = max([*contexts, cap or 0, 1])
    step = max(1, -(-len(contexts) // max(width, 1)))
    heights = [max(contexts[at : at + step]) for at in range(0, len(contexts), step)]
    return "".join(blocks[min(len(blocks) - 1, one * len(blocks) // top)] for one in heights)


def coverage_line(coverage: Coverage) -> str:
    """Say what was read, and what was not, in one line."""
    parts = [f"read {count(coverage.files, 'file')}"]
    if coverage.lines:
        parts.append(count(coverage.lines, "line"))
    parts += [count(coverage.records, "record"), size(coverage.bytes)]
    if coverage.malformed:
        parts.append(f"{count(coverage.malformed, 'malformed line')} ({coverage.salvaged:,} salvaged)")
    if coverage.duplicates:
        parts.append(count(coverage.duplicates, "duplicate"))
    if coverage.unrecognised:
        parts.append(f"{coverage.unrecognised:,} not recognised")
    if coverage.unreadable:
        parts.append(f"{coverage.unreadable:,} not readable")
    return ", ".join(parts)


def totals_line(report: Report) -> str:
    """Say what the sessions hold together."""
    total = report.summary
    parts = [count(total.sessions, "session")]
    if total.prompts is not None:
        parts.append(count(total.prompts, "prompt"))
    if total.replies is not None:
        parts.append(plural(total.replies, "reply", "replies"))
    errors = total.errors or {}
    if failed := sum(errors.values()):
        parts.append(f"{count(failed, 'error')} ({', '.join(f'{n} {name}' for name, n in errors.items())})")
    if total.length_stops:
        parts.append(count(total.length_stops, "length stop"))
    if total.compactions.attempts:
        parts.append(f"{count(total.compactions.attempts, 'compaction')} ({_outcomes(report)})")
    elif total.compactions.attempts is None:
        parts.append("compactions unknown")
    if total.manual_continues:
        parts.append(count(total.manual_continues, "manual continue"))
    if total.waiting_seconds:
        parts.append(f"waited {duration(total.waiting_seconds)}")
    if total.cost is not None:
        parts.append(figure("cost", total.cost))
    return ", ".join(parts)


def _outcomes(report: Report) -> str:
    counts = report.summary.compactions
    named = [
        (counts.summaries, "with a summary"),
        (counts.dropped, "by dropping"),
        (counts.no_summary, "without a summary"),
        (counts.failed, "failed"),
        (counts.aborted, "aborted"),
        (counts.skipped, "skipped"),
        (counts.unknown, "unknown"),
    ]
    words = [f"{n:,} {name}" for n, name in named if n]
    if counts.failed is None:
        words.append("failures not recorded")
    return ", ".join(words)


def blind_spots(coverage: Coverage) -> list[str]:
    """Say what the files that were read cannot show: a sentence, with a number of files for each kind of gap."""
    told: list[str] = []
    for gap, words in (("no", "cannot show them"), ("partly", "in part")):
        parsers = [one.parser for one in coverage.inputs if one.failures_observable == gap]
        if parsers:
            verb = "" if gap == "no" else "shows them " if len(parsers) == 1 else "show them "
            told.append(f"{count(len(parsers), 'file')} {verb}{words} ({', '.join(sorted(set(parsers)))})")
    return [f"failed compactions: {', '.join(told)}: their rate is unknown there"] if told else []


def headline(finding: Finding) -> str:
    """Give a finding in one line of plain words, for formats that have one field for it."""
    told = "; ".join(measures(finding))
    return f"{finding.message} ({told})" if told else finding.message


_TOPICS = {"ignore": "suppression"}
_QUIET = frozenset({"held", "unseen"})


def remark(one: Remark) -> str:
    """Give a remark in one line: what it is about, how it stands, which."""
    where = ", ".join(part for part in (one.file, f"session {one.session}" if one.session else None) if part)
    name = "" if one.topic == "baseline" else f" {one.name}"
    return f"{_TOPICS.get(one.topic, one.topic)}{name}, {one.change}: {one.message}" + (f" ({where})" if where else "")


def telling(remarks: Iterable[Remark]) -> list[Remark]:
    """Leave out the remarks that say no more than that all is well, or was not looked at."""
    return [one for one in remarks if one.fails or one.topic == "mutation" or one.change not in _QUIET]


def accepting(remarks: Iterable[Remark]) -> list[str]:
    """Give the commands that accept what a check found, each once."""
    return list(dict.fromkeys(one.accept for one in remarks if one.accept))
