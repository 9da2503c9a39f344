"""Fifty kinds of secrets and personal details in every field of every format: none is in what is made to be shared.

And injections in every field: they come out inert in HTML, Markdown, terminal, CSV and XML.
"""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from forensics.cli import run
from forensics.redact import Redactor
from tests.planting import INJECTIONS, KINDS, plant

SAMPLES = Path(__file__).parent.parent / "samples"
INPUTS = [
    *sorted(path for path in (SAMPLES / "parsers").iterdir() if path.suffix not in {".py", ".sql"}),
    SAMPLES / "detectors" / "crash_loop_fires.jsonl",
    SAMPLES / "detectors" / "manual_continue.jsonl",
    SAMPLES / "incidents" / "atomic-1690" / "session.jsonl",
    SAMPLES / "incidents" / "atomic-1684" / "counter-leak.jsonl",
    SAMPLES / "incidents" / "pilotdeck" / "runtime.log",
    SAMPLES / "incidents" / "opencode-37584" / "export.json",
]
SHARED = ("markdown", "html", "sarif", "junit", "github")
ASKED = ("table", "json", "jsonl", "csv", "timesketch", "parquet")
FOLDER = "zephyrine ann.planted@corp-planted.io sk-proj-plantedabcdefghijklmnop"


def made(path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[tuple[str, bytes]]:
    """Give every shareable output of every command, by its name."""
    outputs = [f"-o{name}={folder / f'scan.{name}'}" for name in (*SHARED, *ASKED)]
    run(["scan", str(path), "--redact", "-q", *outputs])
    capsys.readouterr()
    for name in (*SHARED, *ASKED):
        yield f"scan {name}", (folder / f"scan.{name}").read_bytes()
    for name in SHARED:
        run(["scan", str(path), "-q", "-f", name])
        yield f"scan {name} by default", capsys.readouterr().out.encode()
    forms = [f"-o{folder / f'report.{name}'}" for name in ("html", "md", "json")]
    run(["report", str(path), "-q", *forms])
    for name in ("html", "md", "json"):
        yield f"report {name}", (folder / f"report.{name}").read_bytes()
    for figure in sorted((folder / "report-figures").glob("*")):
        yield f"report figure {figure.name}", figure.read_bytes()
    run(["report", str(path), "-q", "--with-excerpts", f"-o{folder / 'excerpts.html'}"])
    yield "report with excerpts", (folder / "excerpts.html").read_bytes()
    for name in ("csv", "jsonl", "timesketch", "parquet"):
        run(["read", str(path), "-q", "--redact", "-f", name, "-o", str(folder / f"events.{name}")])
        yield f"read {name}", (folder / f"events.{name}").read_bytes()
    capsys.readouterr()
    if path.is_file():
        run(["timeline", str(path), "--redact"])
        yield "timeline", capsys.readouterr().out.encode()


def readable(name: str, data: bytes) -> str:
    """Give what a reader of the output sees as text."""
    if name.endswith("parquet"):
        return pl.read_parquet(io.BytesIO(data)).write_json()
    return data.decode()


@pytest.mark.slow
@pytest.mark.parametrize("source", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_planted_is_in_any_shareable_output(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    things = [thing for thing, _ in KINDS.values()]
    target = tmp_path / FOLDER / source.name
    assert plant(source, target, things)
    folder = tmp_path / "out"
    folder.mkdir()
    for name, data in made(target, folder, capsys):
        text = readable(name, data).lower()
        flat = re.sub(r"\s+", " ", text)
        found = [kind for kind, (_, needle) in KINDS.items() if needle.lower() in text or needle.lower() in flat]
        assert not found, f"{name}: {found}"


def test_the_planted_files_are_still_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else the test above would look at empty outputs."""
    read = 0
    for source in INPUTS:
        plant(source, tmp_path / source.name, [thing for thing, _ in KINDS.values()])
        code = run(["scan", str(tmp_path / source.name), "-q", "-f", "json"])
        out = capsys.readouterr().out
        read += code == 0 and json.loads(out)["summary"]["sessions"] > 0
    assert read >= len(INPUTS) - 4  # two hold a process alone, of old logs the lines tell the sessions


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frame", ["{}", "error: {} (400)", '{{"k": "{}"}}', "see {}, please", "id-{}", "a\n{}\nb"])
def test_every_kind_goes_wherever_it_stands(kind: str, frame: str) -> None:
    thing, needle = KINDS[kind]
    redactor = Redactor()
    redactor.learn([thing, "/home/zephyrine/x"])
    text = redactor.text(frame.format(thing))
    assert needle.lower() not in text.lower()
    again = Redactor()
    again.learn(text)
    assert again.text(text) == text


def test_there_are_fifty_kinds() -> None:
    assert len(KINDS) >= 50


def test_paths_are_relative_to_the_scans_root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        plant(SAMPLES / "parsers" / "plain.jsonl", tmp_path / "secret-project" / name / "a.jsonl", ["x"])
    run(["scan", str(tmp_path / "secret-project"), "-q", "-f", "markdown"])
    out = capsys.readouterr().out
    assert "secret" not in out
    assert str(tmp_path) not in out


@pytest.mark.slow
@pytest.mark.parametrize("source", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_injections_come_out_inert(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "in" / source.name
    plant(source, target, INJECTIONS)
    folder = tmp_path / "out"
    folder.mkdir()
    for name, data in made(target, folder, capsys):
        text = readable(name, data)
        if not name.endswith(("parquet", "json", "jsonl", "timesketch")):  # data for programs, not for eyes
            assert "\x1b" not in text, name
            assert "\u202e" not in text, name
        if "html" in name or "excerpts" in name:
            assert "<script>alert" not in text
            assert "<img" not in text
            assert text.count("<script>") == 1
            assert "49" not in re.findall(r"\{\{ 7 \* 7 \}\} (\d+)", text)
        if name == "scan github":
            assert all(line.startswith("::") or not line.startswith("::error file=a") for line in text.splitlines())
            assert "\n::error file=a::injected" not in text
        if name.endswith("csv"):
            rows = list(csv.reader(io.StringIO(text)))
            assert not [cell for row in rows for cell in row if cell.lstrip()[:1] in {"=", "@"}]
        if name.endswith("junit") or "figure" in name:
            assert not [one for one in ET.fromstring(text).iter() if one.tag.endswith("script")]
