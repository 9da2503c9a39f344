"""The reports: one file each, found by looking into this folder. Each has `render(report, style) -> str`."""

import pkgutil
import sys
from functools import cache
from typing import Any

import msgspec

from forensics import plugins
from forensics.summary import FailOn, Report

SHARED = frozenset({"github", "html", "junit", "markdown", "sarif"})
"""Formats made to leave the machine: they are redacted unless the user says otherwise."""
BINARY = frozenset({"parquet"})
_MODULES = {"table": "text"}


class Style(msgspec.Struct, kw_only=True, frozen=True):
    """How text is laid out: columns of the screen, colour, nothing cut, only ASCII, only what fails.

    `failing`: leave out all but what makes the run fail, as --fail-on has it; `None` shows everything.
    """

    width: int = 100
    color: bool = False
    verbose: bool = False
    ascii: bool = False
    failing: FailOn | None = None


@cache
def formats() -> tuple[str, ...]:
    """Give the names of the formats, sorted."""
    names = {_MODULES[name]: name for name in _MODULES}
    found = (one.name for one in pkgutil.iter_modules(__path__) if not one.name.startswith("_"))
    return tuple(sorted(names.get(name, name) for name in found))


def render(name: str, report: Report, style: Style | None = None) -> str:
    """Write the report in a format, as text that ends in a line end (or is empty)."""
    text: str = _module(name).render(report, style or Style())
    return text


def content(name: str, report: Report, style: Style | None = None) -> bytes:
    """Write the report in a format, as bytes: also in one that is no text (`BINARY`)."""
    made: str | bytes = _module(name).render(report, style or Style())
    return made if isinstance(made, bytes) else made.encode("utf-8", "backslashreplace")


def _module(name: str) -> Any:
    return plugins.load_one(sys.modules[__name__], _MODULES.get(name, name))
