"""Write the generated blocks of README.md from the program itself: `python tests/readme.py`; a test checks them.

Run it from a checkout, in an environment with the test extra. A block stands between `<!-- generated: NAME -->` and
`<!-- end -->`.
"""

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from forensics.cli import app, help_pages
from forensics.detect import detectors
from forensics.parse import parsers

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
_BLOCK = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def scan_output() -> str:
    """The terminal's view of one incident."""
    words = "scan samples/incidents/pilotdeck/runtime.log --select no-summary,crash-loop,context-blowup,usage-outlier"
    result = CliRunner().invoke(app(), [*words.split(), "--color", "never"], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return _fenced(f"$ forensics {words}\n{result.stdout}")


def help_text() -> str:
    """Every command's help."""
    pages = help_pages()
    whole = _fenced(pages.pop(""))
    parts = [
        f"<details><summary><code>forensics {name}</code></summary>\n\n{_fenced(text)}\n</details>\n"
        for name, text in pages.items()
    ]
    return f"{whole}\n{''.join(parts)}"


def detector_table() -> str:
    """Every detector with the first sentence of its page."""
    rows = [f"| `{one.name}` | {one.severity} | {_first(one.page)} |" for one in detectors().values()]
    return "\n".join(["| detector | severity | finds |", "|---|---|---|", *rows, ""])


def parser_table() -> str:
    """Every parser with the first sentence of its page."""
    rows = [f"| `{one.name}` | {one.agent} | {one.failures} | {_first(one.page)} |" for one in parsers().values()]
    header = ["| parser | agent | shows failed compactions | reads |", "|---|---|---|---|"]
    return "\n".join([*header, *rows, ""])


def verdicts() -> str:
    """The verdicts on every policy, as a test keeps them, with their reasons."""
    table, _, reasons = (ROOT / "tests" / "verdicts.md").read_text(encoding="utf-8").partition("\n\n")
    return f"{table}\n\n<details><summary>Each verdict with its reason</summary>\n\n{reasons.strip()}\n\n</details>\n"


def claims() -> str:
    """What the proofs say of the claims in the incidents' reports, as a test keeps it."""
    path = ROOT / "tests" / "test_verdicts.py"
    spec = importlib.util.spec_from_file_location("verdicts_kept", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = ["| claim | verdict | policy | assuming | reason |", "|---|---|---|---|---|"]
    for claim, verdict, policy, prop, fault, assumptions, _holds, reason in module.CLAIMS:
        given = ", ".join(f"`{one}`" for one in assumptions) or "nothing"
        rows.append(f"| {claim} | {verdict} | `{policy}`, {prop}, {fault} | {given} | {reason} |")
    return "\n".join([*rows, ""])


def scorecard() -> str:
    """Precision and recall of the detectors, as they are kept."""
    sys.path.insert(0, str(ROOT))
    try:
        from tests.scorecard import scorecard_table  # noqa: PLC0415  (the checkout is no installed package)
    finally:
        sys.path.remove(str(ROOT))
    return scorecard_table().rstrip() + "\n"


def _first(page: str) -> str:
    paragraph = " ".join(page.strip().split("\n\n")[0].split())
    return paragraph.replace("|", "\\|")


BLOCKS: dict[str, Callable[[], str]] = {
    "scan": scan_output,
    "help": help_text,
    "detectors": detector_table,
    "parsers": parser_table,
    "verdicts": verdicts,
    "claims": claims,
    "scorecard": scorecard,
}


def render(text: str) -> str:
    """Give the README with every block written anew."""
    return _BLOCK.sub(lambda match: f"{match[1]}{BLOCKS[match['name']]()}{match[3]}", text)


if __name__ == "__main__":
    written = render(README.read_text(encoding="utf-8"))
    README.write_text(written, encoding="utf-8", newline="\n")
    sys.stdout.write(f"wrote {README.name}\n")
