"""The commands that accept findings as known."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forensics.cli import _common, _options
from forensics.cli._common import Paths, Quiet
from forensics.cli._help import Command, Group
from forensics.config import Settings, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.checking.baseline import Baseline, Changed, Seen
    from forensics.detect import Finding

    Change = Callable[[Baseline, list[Finding], Seen, int], Changed]

app = typer.Typer(
    help="Accept findings as known, so that `check` fails on what is new or worse.",
    rich_markup_mode=None,
    cls=Group,
)

Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why the new entries are accepted.")]
Expires = Annotated[
    str | None, typer.Option("--expires", metavar="DAY", help="Until when the new entries hold, as 2026-12-31.")
]
Unread = Annotated[
    bool, typer.Option("--unread", help="Take out entries of sessions that are not among the paths, too.")
]


@app.command("create", cls=Command)
def create(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    baseline: _options.BaselineFile = None,
    reason: Reason = None,
    expires: Expires = None,
    select: _options.Select = None,
    ignore: _options.Ignored = None,
    min_severity: _options.MinSeverity = None,
    cap: _options.Cap = None,
    set_: _options.Set = None,
    now: _options.Now = None,
    quiet: Quiet = False,
) -> None:
    """Write a new baseline of all that is found; refuses to replace one that is there."""
    from forensics.checking.baseline import empty, updated  # noqa: PLC0415  (not needed for --help)

    asked = _asked(set_, baseline=baseline, select=select, ignore=ignore, min_severity=min_severity, cap=cap, now=now)
    until = _day(expires)
    target = _file(asked)
    if target.exists():
        raise UsageError(f"{target}: is there already; take in what is new with: forensics baseline update")
    _write(paths, asked, empty(), lambda old, found, _, at: updated(old, found, at, reason, until), quiet=quiet)


@app.command("update", cls=Command)
def update(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    baseline: _options.BaselineFile = None,
    reason: Reason = None,
    expires: Expires = None,
    select: _options.Select = None,
    ignore: _options.Ignored = None,
    min_severity: _options.MinSeverity = None,
    cap: _options.Cap = None,
    set_: _options.Set = None,
    now: _options.Now = None,
    quiet: Quiet = False,
) -> None:
    """Take in what is new, and the measures as they are now. Reasons and days stay, and nothing is taken out.

    An entry whose day is over holds again only when --expires gives another.
    """
    from forensics.checking.baseline import load, updated  # noqa: PLC0415  (not needed for --help)

    asked = _asked(set_, baseline=baseline, select=select, ignore=ignore, min_severity=min_severity, cap=cap, now=now)
    until = _day(expires)
    old = load(_file(asked))
    _write(paths, asked, old, lambda old, found, _, at: updated(old, found, at, reason, until), quiet=quiet)


@app.command("prune", cls=Command)
def prune(  # noqa: PLR0917  (the options of the command)
    paths: Paths,
    baseline: _options.BaselineFile = None,
    unread: Unread = False,
    select: _options.Select = None,
    ignore: _options.Ignored = None,
    cap: _options.Cap = None,
    set_: _options.Set = None,
    now: _options.Now = None,
    quiet: Quiet = False,
) -> None:
    """Take out the entries whose findings no longer occur in the sessions that are read."""
    from forensics.checking.baseline import load, pruned  # noqa: PLC0415  (not needed for --help)

    asked = _asked(set_, baseline=baseline, select=select, ignore=ignore, cap=cap, now=now)
    old = load(_file(asked))
    _write(paths, asked, old, lambda old, found, seen, _: pruned(old, found, seen, unread=unread), quiet=quiet)


def _asked(set_: list[str] | None, **options: Any) -> Settings:
    return _options.asked_of(options, set_)


def _file(asked: Settings) -> Path:
    from forensics.checking.marks import baseline_file  # noqa: PLC0415  (not needed for --help)

    return baseline_file(asked)


def _day(value: str | None) -> str | None:
    from forensics.times import day  # noqa: PLC0415  (not needed for --help)

    try:
        return None if value is None else day(value)
    except ValueError as error:
        raise UsageError(f"--expires: {value!r} does not fit; {error}") from error


def _write(paths: list[str], asked: Settings, old: "Baseline", change: "Change", *, quiet: bool) -> None:
    """Read the paths, change the baseline and write it; leave it alone when the paths were not read whole."""
    from forensics.checking.baseline import Seen, dump  # noqa: PLC0415  (not needed for --help)
    from forensics.cli import _scanning  # noqa: PLC0415
    from forensics.cli._accepted import unaccepted  # noqa: PLC0415
    from forensics.saving import save  # noqa: PLC0415

    target = _file(asked)
    found = _scanning.gather(paths, {**asked, "quiet": quiet}, outputs=[target], repeatable=True)
    report = unaccepted(found, asked)
    result = report.summary.result
    if result.exit_code:
        _common.tell_unread(report.coverage.skipped)
        _common.complain(f"{result.reason} (exit {result.exit_code}); {target} is left as it was", "result")
        _common.finish(result.exit_code)
    seen = Seen(report.detectors, {one.session for one in report.sessions})
    changed = change(old, report.findings, seen, found.options.now or 0)
    try:
        save(target, dump(changed.baseline))
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}; choose another place") from error
    if not quiet:
        entries = len(changed.baseline.entries)
        words = ", ".join([f"{entries:,} {'entry' if entries == 1 else 'entries'}", *changed.told])
        _common.complain(f"{target}: {words}", "result")
