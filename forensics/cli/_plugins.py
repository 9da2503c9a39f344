"""The pages of parsers, detectors and policies, as `list` and `explain` show them."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple

from forensics import plugins
from forensics.detect import detectors
from forensics.parse import parsers

FOLDERS = ("parsers", "detectors", "policies")


class Page(NamedTuple):
    """What is said of one plug-in: its docstring, and its options with their defaults."""

    kind: str
    name: str
    page: str
    facts: dict[str, str]
    options: dict[str, Any]

    @property
    def summary(self) -> str:
        """The first sentence of the page."""
        return self.page.split("\n\n", maxsplit=1)[0].replace("\n", " ")


def pages() -> dict[str, list[Page]]:
    """Give the pages by folder, sorted by name."""
    readers = [
        Page("parser", one.name, inspect.cleandoc(one.page), _parser_facts(one), {}) for one in parsers().values()
    ]
    finders = [
        Page("detector", one.name, one.page, {"severity": one.severity, "looks at": f"each {one.grain}"}, one.options)
        for one in detectors().values()
    ]
    return {"parsers": readers, "detectors": finders, "policies": _policies()}


def _parser_facts(one: Any) -> dict[str, str]:
    return {"agent": one.agent, "shows failed compactions": one.failures}


def _policies() -> list[Page]:
    folder = importlib.import_module("forensics.policies")
    found = []
    for module in pkgutil.iter_modules(folder.__path__):
        if module.name.startswith("_"):
            continue
        function: Callable[..., Any] | None = getattr(plugins.load_one(folder, module.name), module.name, None)
        if function is not None:
            name = module.name.replace("_", "-")
            found.append(Page("policy", name, inspect.getdoc(function) or "", {}, _options(function)))
    return sorted(found, key=lambda page: page.name)


def _options(function: Callable[..., Any]) -> dict[str, Any]:
    return {
        parameter.name.replace("_", "-"): parameter.default
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
