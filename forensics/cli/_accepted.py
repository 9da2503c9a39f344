"""What the settings say is accepted: the baseline's file and the suppressions."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from forensics import baseline
from forensics.cli._scanning import Gathered, Output
from forensics.config import Settings
from forensics.detect import detectors
from forensics.ignores import rules_of
from forensics.marks import Judge, Known, Rules, marker
from forensics.scan import Options
from forensics.summary import Mark, Report, Terms, summarise


def own_files(asked: Settings, outputs: Iterable[Output]) -> list[Path]:
    """Give the files of this run that are no input: its reports and its baseline."""
    return [*(one.path for one in outputs if one.path), baseline_file(asked)]


def baseline_file(asked: Settings) -> Path:
    """Give the baseline's place: as asked for, else in the present folder."""
    return Path(asked.get("baseline", baseline.NAME))


def marks(
    asked: Settings,
    options: Options,
    paths: Sequence[str],
    *,
    check: bool = False,
    judge: Judge | None = None,
    known: Known = frozenset(),
) -> Mark:
    """Read the baseline and the suppressions. `check` uses a baseline in the present folder unasked.

    Raises `UsageError`.
    """
    file = baseline_file(asked)
    wanted = "baseline" in asked or (check and file.is_file())
    place, given = asked.get("suppress", ("", ()))
    rules = Rules(
        now=options.now or 0,
        detectors=options.detectors or (),
        suppressions=tuple(rules_of(given, place, detectors())),
        baseline=baseline.load(file) if wanted else None,
        accept=command(file, paths, "update" if wanted else "create") if wanted or check else "",
    )
    return marker(rules, judge, known)


def command(file: Path, paths: Sequence[str], what: str) -> str:
    """Give the command that accepts what was found, as it can be pasted into a shell."""
    where = [] if file == Path(baseline.NAME) else ["--baseline", file.as_posix()]
    return shlex.join(["forensics", "baseline", what, *where, *paths])


def unaccepted(found: Gathered, asked: Settings) -> Report:
    """Give all that was found and no suppression sets aside, whatever the baseline holds."""
    place, given = asked.get("suppress", ("", ()))
    rules = Rules(
        now=found.options.now or 0,
        detectors=found.options.detectors or (),
        suppressions=tuple(rules_of(given, place, detectors())),
    )
    terms = Terms(min_severity=asked.get("min-severity", "note"))
    return summarise(found.results, found.skipped, terms, rules.detectors, marker(rules))
