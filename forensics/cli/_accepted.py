"""What the settings say is accepted, for the commands that change or leave out what is."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from forensics.checking.marks import Rules, baseline_file, marker, rules_for, suppressions
from forensics.cli._scanning import Gathered, Output
from forensics.config import Settings, UsageError
from forensics.inputs import same_file
from forensics.scan import Options
from forensics.summary import Mark, Report, Terms, summarise

__all__ = ["apart_from_baseline", "baseline_file", "marks", "own_files", "unaccepted"]


def own_files(asked: Settings, outputs: Iterable[Output]) -> tuple[list[Path], list[Path]]:
    """Give the files of this run that are no input: its baseline, and what it writes. Raises `UsageError`."""
    return [baseline_file(asked)], apart_from_baseline(asked, [one.path for one in outputs if one.path])


def apart_from_baseline(asked: Settings, written: list[Path]) -> list[Path]:
    """Give the files that a run writes. Raises `UsageError` when one is the baseline."""
    held = baseline_file(asked)
    for path in written:
        if same_file(path, held):
            raise UsageError(f"--output: {path}: is the baseline, and would be overwritten; write to another place")
    return written


def marks(asked: Settings, options: Options, paths: Sequence[str]) -> Mark:
    """Give what marks findings as known: suppressions, and the baseline that was asked for. Raises `UsageError`."""
    return marker(rules_for(asked, options, paths))


def unaccepted(found: Gathered, asked: Settings) -> Report:
    """Give all that was found and no suppression sets aside, whatever the baseline holds."""
    names = found.options.detectors or ()
    rules = Rules(now=found.options.now or 0, detectors=names, suppressions=suppressions(asked))
    terms = Terms(min_severity=asked.get("min-severity", "note"))
    return summarise(found.results, found.skipped, terms, names, marker(rules))
