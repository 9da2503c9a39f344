"""The program: its commands, what each run of one ends in, and its help pages."""

import importlib
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

import forensics
from forensics.cli import INTERRUPTED, _common
from forensics.cli._help import Command, Group, page
from forensics.config import UsageError
from forensics.plugins import PluginError

COMMANDS: dict[str, str] = {
    "scan": "scan",
    "check": "check",
    "baseline": "app",
    "lock": "lock",
    "diff": "diff",
    "report": "report",
    "timeline": "timeline",
    "capture": "capture",
    "read": "read",
    "replay": "replay",
    "prove": "prove",
    "list": "list_",
    "explain": "explain",
    "discover": "discover",
    "doctor": "doctor",
    "schema": "schema",
}
"""Each command in the order of the help page, and its function in the module of that name (`app`: a group)."""


def build(names: Iterable[str]) -> typer.Typer:
    """Make the program with these commands; only their modules are imported."""
    program = typer.Typer(
        name="forensics",
        help="Offline forensics of coding agents' recovery: what went wrong in their own transcripts and logs.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        cls=Group,
    )
    program.callback()(_program)
    for name in names:
        found = COMMANDS[name]
        module = importlib.import_module(f"forensics.cli.{name if found == 'app' else found}")
        if found == "app":
            program.add_typer(module.app, name=name)
        else:
            program.command(name, cls=Command)(getattr(module, found))
    return program


@cache
def app() -> typer.Typer:
    """Make the whole program."""
    return build(COMMANDS)


def _version(asked: bool) -> None:
    if asked:
        _common.write(f"forensics {forensics.__version__}\n")
        _common.finish(0)


def _program(
    _asked: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def flush() -> None:
    """Send out what waits to be written; a reader that has gone is no error."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        _common.abandon_stdout()


def run(arguments: Sequence[str]) -> int:
    """Run a command and give its exit code. Whatever goes wrong is told in one line on standard error."""
    if not arguments:
        _common.aside(help_pages()[""])
        return 2
    first = arguments[0]
    try:
        command = typer.main.get_command(build([first]) if first in COMMANDS else app())
        code: Any = command.main(list(arguments), prog_name="forensics", standalone_mode=False)
    except (PluginError, UsageError) as error:
        _common.complain(str(error))
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        _common.abandon_stdout()
        return 0
    except OSError as error:
        if error.filename is not None:
            return _failed(error, arguments)
        _common.abandon_stdout()  # a page of help, which typer writes itself
        _common.complain(f"standard output cannot be written: {error.strerror}; write to another place")
        return 2
    except Exception as error:  # noqa: BLE001  (the last resort: one line instead of a traceback)
        return _failed(error, arguments)
    if code == INTERRUPTED:
        _common.complain("interrupted", "note")
    return code if isinstance(code, int) else 0


_VERBOSE = frozenset({"scan", "check", "diff", "doctor", "discover", "prove"})
"""Commands that show the traceback of an internal error with `-v`; the others name its place."""


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


def _failed(error: Exception, arguments: Sequence[str]) -> int:
    if hasattr(error, "format_message"):  # a usage error of typer's own parser, which has moved between modules
        where = getattr(getattr(error, "ctx", None), "command_path", "forensics")
        _common.complain(f"{error.format_message().rstrip('.')}; see '{where} --help'")
        return 2
    told = _common.REPORT_BUG if arguments[0] in _VERBOSE else f"please report it to the maintainers ({_place(error)})"
    _common.complain(f"internal error: {type(error).__name__}: {str(error)[:200]}; {told}")
    if {"-v", "--verbose"} & set(arguments):
        import traceback  # noqa: PLC0415  (only where something broke)

        _common.aside("".join(traceback.format_exception(error)))
    return 2


def help_pages() -> dict[str, str]:
    """Render the help of each command (and of the program, under the empty name), the same on every machine."""
    command: Any = typer.main.get_command(app())
    pages = {"": page(command, "forensics") + "\n"}
    for name, one in command.commands.items():
        pages[name] = page(one, f"forensics {name}") + "\n"
        for inner, part in getattr(one, "commands", {}).items():
            pages[f"{name} {inner}"] = page(part, f"forensics {name} {inner}") + "\n"
    return pages
