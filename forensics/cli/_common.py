"""What the commands share: their options, where they print, how they say that something is wrong."""

import contextlib
import errno
import gc
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from forensics.config import UsageError

if TYPE_CHECKING:
    from forensics.scan import Skipped

Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="Files, folders (with all in them), globs, or - for standard input."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only data and errors: no progress, no closing line.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Cut nothing; show tracebacks of internal errors.")]
Color = Annotated[
    str | None,
    typer.Option("--color", metavar="WHEN", help="auto, always or never; NO_COLOR and FORCE_COLOR are heard too."),
]
Strict = Annotated[
    bool | None,
    typer.Option("--strict/--no-strict", help="Exit 4 when any input was skipped or malformed.", show_default=False),
]
MOST_UNREAD = 5
REPORT_BUG = "please report it to the maintainers with what -v prints"


def complain(message: str, kind: str = "error") -> None:
    """Write one line for the user to standard error."""
    from forensics.safe import plain  # noqa: PLC0415  (only where there is something to say)

    aside(f"forensics: {kind}: {plain(message)}\n")


def tell_unread(skipped: "Iterable[Skipped]") -> None:
    """Say of what was not read why, where no report does; of what was passed over only where there is nothing else."""
    every = list(skipped)
    left = [one for one in every if one.kind not in {"same", "excluded"}] or every
    for one in left[:MOST_UNREAD]:
        complain(f"{one.path}: {one.reason}", "not read")
    if len(left) > MOST_UNREAD:
        complain(f"and {len(left) - MOST_UNREAD:,} more (forensics doctor tells all)", "not read")


def aside(text: str) -> None:
    """Write to standard error, if there is one that takes it."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def fill_descriptors() -> None:
    """Open what the program was started without, so that no file of ours takes the place of a standard stream."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number


def collect_seldom() -> None:
    """Look for garbage in cycles only now and then: rows have none, and looking costs a fifth of a scan's time."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    gc.enable()


def finish(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise typer.Exit(code)


def given(**options: Any) -> dict[str, Any]:
    """Give the options that were given on the command line, under their names in a configuration file."""
    return {
        name.strip("_").replace("_", "-"): value
        for name, value in options.items()
        if value is not None and value is not False and value != []
    } | {name.replace("_", "-"): value for name, value in options.items() if value is False and name in _TRISTATE}


_TRISTATE = frozenset({"strict", "exit_zero", "redact"})


def color_wanted(when: str | None, stream: Any, environment: Mapping[str, str] = os.environ) -> bool:
    """Decide on colour: the option, then NO_COLOR, FORCE_COLOR, TERM=dumb, then whether it is a terminal."""
    if when in {"always", "never"}:
        return when == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") not in {None, "", "0", "false"}:
        return True
    return environment.get("TERM") != "dumb" and is_terminal(stream)


def is_terminal(stream: Any) -> bool:
    """Whether a person looks at the stream."""
    return stream is not None and not stream.closed and bool(stream.isatty())


def width_of(stream: Any) -> int:
    """Give the columns of the screen; 100 where there is none and COLUMNS does not say."""
    return shutil.get_terminal_size((100, 24)).columns if is_terminal(stream) or os.environ.get("COLUMNS") else 100


def narrow(stream: Any) -> int | None:
    """Give the columns to fit text to: those of a screen, or COLUMNS; `None` where text goes to a file or a pipe."""
    return max(20, width_of(stream)) if is_terminal(stream) or os.environ.get("COLUMNS") else None


_SPELT = str.maketrans({"→": "->", "–": "-", "—": "-", "×": "x", "≤": "<=", "≥": ">=", "…": "...", "·": "-"})
"""What signs of ours become on a screen that has none of them."""


def encodes(text: str, stream: Any) -> bool:
    """Whether the stream can show the text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write(text: str | bytes) -> None:
    """Write data to standard output. Text goes out in the stream's encoding; a reader that has gone is no error.

    Raises `UsageError` where there is no standard output, or where it takes nothing.
    """
    if sys.stdout is None or sys.stdout.closed:
        raise UsageError("standard output is closed; leave it open, or send it to a file")
    if isinstance(text, str):
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        if not encodes(text, sys.stdout):
            text = text.translate(_SPELT)
        text = text.encode(encoding, "backslashreplace")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    except OSError as error:
        abandon_stdout()
        if error.errno not in {errno.EPIPE, errno.EINVAL}:  # Windows says EINVAL of a closed pipe
            raise UsageError(f"standard output cannot be written: {error.strerror}; write to another place") from error


def abandon_stdout() -> None:
    """Let what is still to be written go nowhere: the reader of the pipe is gone."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def spool(paths: Iterable[str]) -> Iterator[Path]:
    """Give a folder for a copy of standard input, removed afterwards; made only when `-` is asked for."""
    if "-" not in paths:
        yield Path()
        return
    from tempfile import TemporaryDirectory  # noqa: PLC0415  (2 ms of every start)

    with TemporaryDirectory(prefix="forensics-") as folder:
        if is_terminal(sys.stdin):
            complain("reading standard input; end it with Ctrl-D (Ctrl-Z and Enter on Windows)", "note")
        yield Path(folder)


def stdin() -> Any:
    """Give standard input as bytes, or `None` when there is none."""
    return None if sys.stdin is None else sys.stdin.buffer
