"""Figures for notebooks: the ones of the incident reports, as SVG that Jupyter shows by itself."""

from pathlib import Path

from forensics.incident.model import Bars, Incident, Track
from forensics.reports import _figures, _svg
from forensics.saving import save


class Figure:
    """A figure as SVG text. Jupyter shows it; elsewhere `str(figure)` gives the text, `save` writes it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def _repr_svg_(self) -> str:
        return self._text

    def save(self, path: str | Path) -> None:
        """Write the figure to an .svg file. Raises `OSError`."""
        save(Path(path), self._text + "\n")


def timeline(track: Track, *, narrow: bool = False) -> Figure:
    """Draw a session: context against the cap, compactions by outcome, failures, prompts, exits, cost."""
    return Figure(_svg.timeline(track, narrow=narrow, style=_figures.style()))


def bars(chart: Bars, *, narrow: bool = False) -> Figure:
    """Draw counts per stretch of time as stacked bars."""
    return Figure(_svg.bars(chart, narrow=narrow, style=_figures.style()))


def png(incident: Incident, folder: str | Path) -> list[Path]:
    """Write every figure of a report as a PNG file into a folder, which is made. Raises `OSError`."""
    from forensics.reports import _charts  # noqa: PLC0415  (imports matplotlib)

    names = _charts.draw(incident, Path(folder))
    return [Path(folder) / name for name in names.values()]
