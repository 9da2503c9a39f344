"""The report's figures as SVG files that stand alone, for a document that cannot hold them itself."""

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from forensics.incident.model import Incident
from forensics.reports import _svg
from forensics.saving import save


def write(incident: Incident, folder: Path) -> dict[str, str]:
    """Write every figure into the folder, which is made; give the files' names by anchor. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, str] = {}
    drawn = [(one.anchor, _svg.timeline(one, style=style())) for one in incident.tracks]
    drawn += [(one.anchor, _svg.bars(one, style=style())) for one in incident.bars]
    for anchor, text in drawn:
        names[anchor] = f"{anchor}.svg"
        save(folder / names[anchor], text + "\n")
    return names


@cache
def style() -> str:
    """Give the style sheet of a figure that stands alone: the page's colours, for light and dark."""
    folder = files("forensics.reports").joinpath("templates")
    colours = re.match(r".*?\}\n.*?\}\}\n", folder.joinpath("report.css").read_text(encoding="utf-8"), re.DOTALL)
    own = folder.joinpath("figure.css").read_text(encoding="utf-8")
    return (colours[0] if colours else "") + own
