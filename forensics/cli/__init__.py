"""The command line: the only place that prints or exits.

Nothing is imported before `main` runs, so that Ctrl-C is answered from the first moment on.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import typer

INTERRUPTED = 130

__all__ = ["INTERRUPTED", "app", "help_pages", "main", "run"]


def main() -> NoReturn:
    """Run the command line."""
    try:
        gc.disable()  # while modules are loaded; `collect_seldom` turns it on again
        from forensics.cli import _common, _main  # noqa: PLC0415  (Ctrl-C meanwhile is caught here)

        _common.fill_descriptors()
        _common.collect_seldom()
        code = _main.run(sys.argv[1:])
        _main.flush()
    except KeyboardInterrupt:
        code = _interrupted()
    _deaf()
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit without taking every object apart first, unless there are child processes to wait for: 20 ms of a scan."""
    if "multiprocessing" not in sys.modules and sys.gettrace() is None and sys.getprofile() is None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)


def _interrupted() -> int:
    """Say so without any module of ours: it may not have been imported yet."""
    _deaf()
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write("forensics: note: interrupted\n")
            sys.stderr.flush()
    return INTERRUPTED


def _deaf() -> None:
    """Hear no further Ctrl-C: the exit code stands."""
    import signal  # noqa: PLC0415  (first needed at the end)

    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def run(arguments: Sequence[str]) -> int:
    """Run a command and give its exit code. Whatever goes wrong is told in one line on standard error."""
    from forensics.cli import _main  # noqa: PLC0415  (see above)

    return _main.run(arguments)


def app() -> "typer.Typer":
    """Make the whole program."""
    from forensics.cli import _main  # noqa: PLC0415  (see above)

    return _main.app()


def help_pages() -> dict[str, str]:
    """Render the help of each command (and of the program, under the empty name), the same on every machine."""
    from forensics.cli import _main  # noqa: PLC0415  (see above)

    return _main.help_pages()
