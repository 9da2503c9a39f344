"""What the settings say is accepted, for the commands that change or leave out what is."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from forensics.cli._scanning import Gathered, Output
from forensics.config import Settings
from forensics.marks import Rules, baseline_file, marker, rules_for, suppressions
from forensics.scan import Options
from forensics.summary import Mark, Report, Terms, summarise

__all__ = ["baseline_file", "marks", "own_files", "unaccepted"]


def own_files(asked: Settings, outputs: Iterable[Output]) -> list[Path]:
    """Give the files of this run that are no input: its reports and its baseline."""
    return [*(one.path for one in outputs if one.path), baseline_file(asked)]


def marks(asked: Settings, options: Options, paths: Sequence[str]) -> Mark:
    """Give what marks findings as known: suppressions, and the baseline that was asked for. Raises `UsageError`."""
    return marker(rules_for(asked, options, paths))


def unaccepted(found: Gathered, asked: Settings) -> Report:
    """Give all that was found and no suppression sets aside, whatever the baseline holds."""
    names = found.options.detectors or ()
    rules = Rules(now=found.options.now or 0, detectors=names, suppressions=suppressions(asked))
    terms = Terms(min_severity=asked.get("min-severity", "note"))
    return summarise(found.results, found.skipped, terms, names, marker(rules))
