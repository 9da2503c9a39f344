"""The command that writes down what recordings are held to."""

from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli import _common, _options
from forensics.cli._common import Quiet
from forensics.config import UsageError

if TYPE_CHECKING:
    from forensics.checking.shape import Shape
    from forensics.inputs import Found


def lock(
    captures: Annotated[
        list[str], typer.Argument(metavar="CAPTURE", help="Recordings to hold to what they are now; folders, globs.")
    ],
    cap: _options.Cap = None,
    set_: _options.Set = None,
    now: _options.Now = None,
    quiet: Quiet = False,
) -> None:
    """Write beside each recording what `check` holds it to: a short text file of its structure, to be committed.

    It holds the sessions, prompts, compactions and their outcomes, manual continues, streaks, failures, the greatest
    context and the findings by place, and no ids, lines, times or sizes: a second recording of the same thing fits.
    Writing it again accepts another state.
    """
    asked = _options.asked_of({"cap": cap, "now": now, "quiet": quiet}, set_)
    from forensics.check import structure  # noqa: PLC0415  (not needed for --help)
    from forensics.checking.lock import place  # noqa: PLC0415
    from forensics.cli import _scanning  # noqa: PLC0415
    from forensics.inputs import WouldOverwrite  # noqa: PLC0415
    from forensics.summary import summarise  # noqa: PLC0415

    if "-" in captures:
        raise UsageError("lock: - has no place for a lock beside it; give a file")
    found = _scanning.gather(captures, asked, repeatable=True)
    report = summarise(found.results, found.skipped)
    result = report.summary.result
    if result.exit_code:
        _common.tell_unread(report.coverage.skipped)
        _common.complain(f"{result.reason} (exit {result.exit_code}); no lock was written", "result")
        _common.finish(result.exit_code)
    for one in found.files:
        if found.inputs.holds(place(one.path)):
            raise UsageError(f"lock: {WouldOverwrite(place(one.path))}")
    written = 0
    for one in found.files:
        now_ = structure(one, found.options)
        if now_ is not None:
            _write(one, now_[0], quiet=quiet)
            written += 1
    if not quiet:
        left = len(found.files) - written
        _common.complain(f"{written:,} written, {left:,} not read as recordings (exit 0)", "result")


def _write(found: "Found", shape: "Shape", *, quiet: bool) -> None:
    from forensics.checking.lock import compare, dump, load, place  # noqa: PLC0415  (not needed for --help)
    from forensics.saving import save  # noqa: PLC0415

    target = place(found.path)
    told = "new"
    if target.is_file():
        try:
            differences = compare(load(target), shape)
        except UsageError:
            told = "in the place of what was no lock"
        else:
            told = "; ".join(f"{one.name}, {one.change}: {one.message}" for one in differences) or "as before"
    try:
        save(target, dump(shape, found.path.name))
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from error
    if not quiet:
        _common.complain(f"{target}: {told}", "lock")
