"""The report's figures as PNG files, for places that take no SVG. matplotlib is imported only when they are asked for.

Shapes, patterns and order are those of the page's own figures; names of sessions are plain text, never formulas.
"""

import warnings
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.incident.model import Bars, Incident, Track
from forensics.reports._axes import date_of, round_steps, short, time_ticks
from forensics.reports._marks import LABELS, ORDER, label_of
from forensics.reports._words import money
from forensics.safe import plain
from forensics.saving import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS = 144
"""Dots per inch."""
_INK, _DIM, _GRID = "#1b1f24", "#57606a", "#e5e9ed"
_COLORS = {
    "summary": "#00795a", "dropped": "#3a8fc4", "no-summary": "#c4430a", "failed": "#a3427f", "error": "#c4430a",
    "cut": "#a3427f", "continue": "#5b2a86", "crash": "#a40e26", "attempt": "#0072b2",
}  # fmt: skip
_SHAPES = {
    "summary": "o", "dropped": "o", "no-summary": "x", "failed": "^", "aborted": "D", "skipped": "_", "unknown": "s",
    "error": "v", "cut": "v", "aborted-reply": "d", "continue": "D", "prompt": "|", "queued": "1", "crash": "*",
    "stopped": "p", "start": "2",
}  # fmt: skip
_HOLLOW = frozenset({"dropped", "aborted", "unknown", "cut", "stopped"})
_HATCHES = {"dropped": "--", "no-summary": "///", "failed": "\\\\\\", "aborted": "||", "skipped": "..", "unknown": "++"}
_LONGEST = 90


def draw(incident: Incident, folder: Path) -> dict[str, str]:
    """Write every figure of the report into the folder, which is made; give the files' names by anchor.

    Raises `OSError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a sign that the font does not have is drawn as a box
        for track in incident.tracks:
            names[track.anchor] = _save(_timeline(track), folder, track.anchor)
        for chart in incident.bars:
            names[chart.anchor] = _save(_bars(chart), folder, chart.anchor)
    return names


def _save(figure: "Figure", folder: Path, anchor: str) -> str:
    name = f"{anchor}.png"
    data = BytesIO()
    figure.savefig(data, format="png", dpi=DOTS, metadata={"Software": None})
    save(folder / name, data.getvalue())
    return name


def _figure(height: float) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  (takes half a second to import)
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(9, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _title(axes: "Axes", text: str) -> None:
    shown = plain(text)
    shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
    axes.set_title(shown, loc="left", fontsize=10, color=_INK, parse_math=False)


def _timeline(track: Track) -> "Figure":
    marks = [mark for mark in ORDER if track.counts.get(mark)]
    below = 0.27 * len(marks) + 0.55
    figure = _figure((2.6 if track.points else 0.3) + below + (0.6 if track.spent else 0))
    heights = [*([2.4] if track.points else []), *([below] if marks else []), *([0.6] if track.spent else [])]
    grid = figure.add_gridspec(max(len(heights), 1), 1, height_ratios=heights or [1], hspace=0.03)
    all_axes = [figure.add_subplot(grid[at]) for at in range(max(len(heights), 1))]
    rest = list(all_axes)
    if track.points:
        _curve(rest.pop(0), track)
    if marks:
        _rows(rest.pop(0), track, marks)
    if track.spent:
        _spent(rest.pop(0), track)
    _title(all_axes[0], track.title)
    for axes in all_axes:
        axes.set_xlim(track.start, max(track.end, track.start + 1))
        axes.tick_params(labelsize=8, colors=_DIM, length=3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xticks([])
    _times(all_axes[-1], track.start, track.end, timed=track.timed)
    return figure


def _times(axes: "Axes", start: int, end: int, *, timed: bool) -> None:
    ticks = (
        time_ticks(start, end, 9)
        if timed
        else [(start + one, f"{start + one:,}") for one in round_steps(end - start, 6)]
    )
    axes.set_xticks([at for at, _ in ticks], [words for _, words in ticks])
    axes.set_xlabel(f"{date_of(start)}, UTC" if timed else "row of the session (no times on record)",
                    fontsize=8, color=_DIM, loc="right")  # fmt: skip


def _curve(axes: "Axes", track: Track) -> None:
    xs, ys = zip(*track.points, strict=True)
    axes.fill_between(xs, ys, color="#0072b2", alpha=0.12, linewidth=0)
    axes.plot(xs, ys, color="#0072b2", linewidth=1.3, marker="o" if len(xs) == 1 else None, markersize=3)
    caps = track.caps or ([(track.start, track.cap)] if track.cap else [])
    if caps:
        ends = [*(x for x, _ in caps[1:]), track.end]
        starts = [track.start, *(x for x, _ in caps[1:])]
        axes.hlines([cap for _, cap in caps], starts, ends, colors="#b3410a", linestyles="dashed", linewidth=1.3)
        axes.annotate(f"cap {caps[-1][1]:,}", (1, caps[-1][1]), xycoords=("axes fraction", "data"), ha="right",
                      va="bottom", fontsize=8, color="#b3410a")  # fmt: skip
    if track.begins is not None:
        axes.axhline(track.begins, color=_DIM, linestyle="dotted", linewidth=1)
        axes.annotate(f"compactions began from {track.begins:,}", (0.005, track.begins),
                      xycoords=("axes fraction", "data"), va="bottom", fontsize=7.5, color=_DIM)  # fmt: skip
    if track.peak:
        axes.annotate(f"peak {track.peak[1]:,}", track.peak, fontsize=8, color=_INK, weight="bold",
                      ha="right" if track.peak[0] * 2 > track.start + track.end else "left", va="bottom")  # fmt: skip
    greatest = max([*ys, *(cap for _, cap in caps)])
    axes.set_ylim(0, greatest * 1.1 or 1)
    axes.set_yticks(round_steps(greatest, 4), [short(value) for value in round_steps(greatest, 4)])
    axes.grid(axis="y", color=_GRID, linewidth=0.8)
    axes.set_ylabel("tokens in the context", fontsize=8, color=_DIM)


def _rows(axes: "Axes", track: Track, marks: list[str]) -> None:
    for at, mark in enumerate(marks):
        pins = [pin for pin in track.pins if pin.mark == mark]
        color = _COLORS.get(mark, "#6e7781")
        sizes = [22 + 6 * (pin.count.bit_length() - 1) for pin in pins]
        style: dict[str, Any] = {"marker": _SHAPES[mark], "s": sizes, "linewidths": 1.3, "clip_on": False, "zorder": 3}
        filled: dict[str, Any] = {"facecolors": "white", "edgecolors": color} if mark in _HOLLOW else {"color": color}
        axes.scatter([(pin.x + pin.last) / 2 for pin in pins], [at] * len(pins), **style, **filled)
    axes.set_yticks(range(len(marks)), [f"{label_of(mark, track.counts)} {track.counts[mark]:,}" for mark in marks])
    axes.set_ylim(len(marks) - 0.4, -0.6)
    axes.grid(axis="y", color=_GRID, linewidth=0.8)


def _spent(axes: "Axes", track: Track) -> None:
    xs = [track.start, *(x for x, _ in track.spent), track.end]
    ys = [0.0, *(value for _, value in track.spent), track.spent[-1][1]]
    axes.fill_between(xs, ys, step="post", color="#b58900", alpha=0.4, linewidth=1)
    axes.set_yticks([])
    axes.set_ylim(0, max(ys) or 1)
    axes.set_ylabel(
        "spent\n\\" + money(track.spent[-1][1]), fontsize=8, color=_DIM, rotation=0, ha="right", va="center"
    )


def _bars(chart: Bars) -> "Figure":
    figure = _figure(2.2)
    axes = figure.add_subplot()
    base = dict.fromkeys((at for at, _ in chart.rows), 0)
    found = {mark for _, counts in chart.rows for mark in counts}
    for mark in [*(one for one in ORDER if one in found), *(["attempt"] if "attempt" in found else [])]:
        rows = [(at, counts[mark]) for at, counts in chart.rows if counts.get(mark)]
        axes.bar(
            [at + chart.step / 2 for at, _ in rows], [n for _, n in rows], width=chart.step * 0.94,
            bottom=[base[at] for at, _ in rows], color=_COLORS.get(mark, "#6e7781"), hatch=_HATCHES.get(mark),
            edgecolor="white", linewidth=0, label=f"{LABELS[mark]} {sum(n for _, n in rows):,}",
        )  # fmt: skip
        for at, number in rows:
            base[at] += number
    _title(axes, chart.title)
    if "attempt" not in found:
        axes.legend(fontsize=8, frameon=False, ncols=4, loc="lower right", bbox_to_anchor=(1, 1))
    most = max(base.values(), default=1)
    axes.set_yticks(round_steps(most, 4), [short(value) for value in round_steps(most, 4)])
    axes.tick_params(labelsize=8, colors=_DIM, length=3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    end = chart.start + chart.step * chart.steps
    axes.set_xlim(chart.start, end)
    _times(axes, chart.start, end, timed=True)
    return figure
