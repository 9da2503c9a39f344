"""Help pages: laid out here, so that they are the same with every version of the libraries below."""

import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from typer.core import TyperCommand, TyperGroup

from forensics.cli import _common

WIDTH = 100


class Command(TyperCommand):
    """A command with our help page."""

    def get_help(self, ctx: Any) -> str:
        """Give the page at the width of the screen."""
        return page(self, ctx.command_path, _width())


class Group(TyperGroup):
    """The program with our help page."""

    def get_help(self, ctx: Any) -> str:
        """Give the page at the width of the screen."""
        return page(self, ctx.command_path, _width())


def _width() -> int:
    return min(WIDTH, max(40, _common.width_of(None)))


def page(command: Any, path: str, width: int = WIDTH) -> str:
    """Give the help page of a command: usage, description, arguments, options, and a group's commands."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    commands = getattr(command, "commands", {})
    usage = [path, "[OPTIONS]", *map(_argument, arguments), *(["COMMAND ..."] if commands else [])]
    parts = [f"Usage: {' '.join(usage)}", *_description(command.help or "", width)]
    if arguments:
        parts.append(_section("Arguments", [(_argument(one), one.help or "") for one in arguments], width))
    rows = [(_option(one), one.help or "") for one in options]
    parts.append(_section("Options", [*rows, ("-h, --help", "Show this page.")], width))
    if commands:
        parts.append(_section("Commands", [(name, _first(one)) for name, one in commands.items()], width))
    return "\n\n".join(parts)


def _argument(one: Any) -> str:
    name = (one.metavar or one.name.upper()).strip("[]")
    name = f"{name}..." if one.nargs == -1 else name
    return name if one.required else f"[{name}]"


def _option(one: Any) -> str:
    short = [name for name in one.opts if not name.startswith("--")]
    long = [name for name in one.opts if name.startswith("--")]
    names = ", ".join([*short, *long]) if short else f"    {', '.join(long)}"
    if one.secondary_opts:
        names += f" / {one.secondary_opts[0]}"
    return names if one.is_flag or not one.metavar else f"{names} {one.metavar}"


def _first(command: Any) -> str:
    return inspect.cleandoc(command.help or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")


def _description(text: str, width: int) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        yield textwrap.fill(paragraph, width, initial_indent="  ", subsequent_indent="  ")


def _section(title: str, rows: list[tuple[str, str]], width: int) -> str:
    column = min(max(len(name) for name, _ in rows), width // 3) + 4
    lines = [f"{title}:"]
    for name, text in rows:
        wrapped = textwrap.wrap(text, width - column) or [""]
        head = f"  {name}".ljust(column)
        fits = len(name) <= column - 4
        lines.append((head + wrapped.pop(0)).rstrip() if fits else head)
        lines += [" " * column + line for line in wrapped]
    return "\n".join(lines)
