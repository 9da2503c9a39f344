"""The command that shows the page of a parser, a detector or a policy."""

from typing import Annotated

import typer

from forensics.cli import _common
from forensics.cli._plugins import Page, pages
from forensics.config import UsageError, nearest


def explain(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from `forensics list`.")],
) -> None:
    """Explain a detector, a parser or a policy: what it does, why it matters, its options."""
    found = [page for group in pages().values() for page in group]
    wanted = [page for page in found if page.name == name.replace("_", "-")]
    if not wanted:
        raise UsageError(f"explain: there is no {name!r}; {nearest(name, {page.name for page in found})}")
    _common.write("\n".join(map(_shown, wanted)))


def _shown(page: Page) -> str:
    facts = "".join(f"{name}: {value}\n" for name, value in page.facts.items())
    parts = [f"{page.name} ({page.kind})\n{facts}", f"{page.page.strip()}\n"]
    if page.options:
        how = f"--set {page.name}.OPTION=VALUE, or [tool.forensics.{page.name}]" if page.kind == "detector" else ""
        rows = "".join(f"  {name} = {_toml(value)}\n" for name, value in page.options.items())
        parts.append(f"Options{f' ({how})' if how else ''}\n{rows}")
    return "\n".join(parts)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, frozenset)):
        return "[" + ", ".join(f'"{one}"' for one in sorted(value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
