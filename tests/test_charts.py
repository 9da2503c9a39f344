"""Figures: as SVG inside the page and beside a document, and as PNG; the same shapes and patterns in both."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.incident.model import MARK_WORDS, OUTCOMES, Incident
from forensics.reports import _charts, _figures, _marks, _svg
from forensics.reports._axes import round_steps, short, time_ticks

Build = Callable[..., Incident]
SVG = "{http://www.w3.org/2000/svg}"
HOUR = 3_600_000


def test_every_mark_has_its_own_shape_name_and_png_sign() -> None:
    shapes = [_marks.SHAPES[mark] for mark in MARK_WORDS]
    assert len(set(shapes)) == len(MARK_WORDS)
    assert len({_marks.LABELS[mark] for mark in MARK_WORDS}) == len(MARK_WORDS)
    png = {(_charts._SHAPES[mark], mark in _charts._HOLLOW) for mark in MARK_WORDS}
    assert len(png) == len(MARK_WORDS)
    assert len({_marks.PATTERNS[mark] for mark in OUTCOMES}) == len(OUTCOMES)


@pytest.mark.parametrize("narrow", [False, True])
def test_figures_are_xml_with_a_title_and_a_text(incident_of: Build, samples: Path, narrow: bool) -> None:
    made = incident_of(samples / "incidents" / "pilotdeck" / "runtime.log")
    for text in [_svg.timeline(one, narrow=narrow) for one in made.tracks] + [
        _svg.bars(one, narrow=narrow) for one in made.bars
    ]:
        root = ET.fromstring(text)
        assert root.attrib["role"] == "img"
        assert root.findtext(f"{SVG}title")
        assert root.findtext(f"{SVG}desc")
        width = float(root.attrib["width"])
        assert all(-12 <= float(one.attrib["x"]) <= width for one in root.iter(f"{SVG}text"))


def test_the_curve_reaches_the_recorded_peak(incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "pilotdeck" / "runtime.log")
    text = _svg.timeline(made.tracks[0])
    assert "peak 799,094" in text
    assert "cap 95,232" in text
    assert "compactions began from 101,715" in text
    assert "no summary 45" in text


def test_counts_of_the_bars_are_the_attempts(incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "pilotdeck" / "runtime.log")
    outcomes, dense = made.bars
    assert sum(counts.get("no-summary", 0) for _, counts in outcomes.rows) == 59
    assert sum(counts.get("unknown", 0) for _, counts in outcomes.rows) == 8
    assert max(counts["attempt"] for _, counts in dense.rows) == 3


def test_hostile_names_stay_text_in_a_figure(tmp_path: Path, incident_of: Build) -> None:
    path = tmp_path / "a.jsonl"
    name = "</title><script>alert(1)</script>$x^2$\x1b[31m\u202e'\"&"
    rows = [
        {"kind": "session", "session": name, "agent": name},
        {"kind": "reply", "session": name, "ts": 1_780_000_000_000, "stop": "done", "context": 10},
        {"kind": "reply", "session": name, "ts": 1_780_000_900_000, "stop": "error", "error": name},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    made = incident_of(path)
    for narrow in (False, True):
        root = ET.fromstring(_svg.timeline(made.tracks[0], narrow=narrow))
        assert not [one for one in root.iter() if one.tag.endswith("script")]
        assert "\x1b" not in ET.tostring(root, encoding="unicode")
    assert _charts.draw(made, tmp_path / "png") == {"session-1": "session-1.png"}


def test_png_files_are_written_for_every_figure(tmp_path: Path, incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "opencode-replo" / "opencode.db")
    names = _charts.draw(made, tmp_path / "charts")
    assert sorted(names) == ["bars-1", "session-1"]
    for name in names.values():
        data = (tmp_path / "charts" / name).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert int.from_bytes(data[16:20], "big") == 1296


def test_svg_files_bring_their_own_colours(tmp_path: Path, incident_of: Build, samples: Path) -> None:
    made = incident_of(samples / "incidents" / "atomic-1690" / "session.jsonl")
    names = _figures.write(made, tmp_path / "figures")
    text = (tmp_path / "figures" / names["session-1"]).read_text(encoding="utf-8")
    assert "prefers-color-scheme:dark" in text
    assert "class='paper'" in text
    ET.fromstring(text)


def test_round_steps_and_times() -> None:
    assert round_steps(847_000, 5) == [0, 200_000, 400_000, 600_000, 800_000]
    assert round_steps(3, 4) == [0, 1, 2, 3]
    assert round_steps(0, 4) == [0]
    assert [short(n) for n in (0, 850, 12_000, 1_500_000)] == ["0", "850", "12k", "1.5M"]
    start = 1_789_776_000_000  # 2026-09-19 00:00 UTC
    assert [words for _, words in time_ticks(start, start + 6 * HOUR, 6)] == [
        "00:00", "01:00", "02:00", "03:00", "04:00", "05:00", "06:00",
    ]  # fmt: skip
    assert time_ticks(start, start + 48 * HOUR, 4)[2][1] == "09-20"


def test_no_command_imports_drawing_or_templates_at_the_start() -> None:
    program = "import sys, forensics.cli; print([n for n in ('matplotlib', 'jinja2', 'polars') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
