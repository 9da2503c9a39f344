"""A document that stands on one line reports as the same document on many: rows are told by their records' ids."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.cli import run
from forensics.incident.model import Incident

Build = Callable[..., Incident]


@pytest.fixture
def one_line(tmp_path: Path, samples: Path) -> Path:
    text = (samples / "parsers" / "opencode_export.json").read_text(encoding="utf-8")
    path = tmp_path / "one.json"
    path.write_text(json.dumps(json.loads(text[text.index("{") :])), encoding="utf-8")
    return path


def told(made: Incident) -> list[tuple[str, list[str], str | None]]:
    cases = [case for group in made.groups for case in group.cases]
    return [(case.finding.id, [row.words for row in case.evidence], case.trigger) for case in cases]


def test_evidence_and_marks_are_those_of_the_document_on_many_lines(
    one_line: Path, samples: Path, incident_of: Build
) -> None:
    made, many = incident_of(one_line), incident_of(samples / "parsers" / "opencode_export.json")
    assert told(made) == told(many)
    assert [track.counts for track in made.tracks] == [track.counts for track in many.tracks]
    assert made.tracks[0].counts["continue"] == 1


def test_the_report_names_records_where_a_line_does_not_tell_them_apart(one_line: Path, incident_of: Build) -> None:
    from forensics.reports._incident_markdown import page  # noqa: PLC0415

    text = page(incident_of(one_line))
    assert "| record | time (UTC) | what the record says |" in text
    assert "| line | time (UTC) | what the record says |\n  | --- | --- | --- |\n  | 1 |" in text  # of a single record
    assert "lines 1 to 1" not in text


def test_the_timeline_names_records_where_a_line_does_not_tell_them_apart(
    one_line: Path, samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def places(path: Path) -> list[str]:
        assert run(["timeline", str(path), "--only", "prompts"]) == 0
        return [line[: line.index(":") - 2].strip() for line in capsys.readouterr().out.splitlines() if "▶" in line]

    assert len(places(one_line)) == len(set(places(one_line))) == 7
    assert all(place.startswith("1 ") for place in places(one_line))
    assert all(place.isdecimal() for place in places(samples / "parsers" / "opencode_export.json"))


def test_prompts_of_a_figure_are_those_of_the_scan_and_queued_ones_are_told_apart(
    samples: Path, incident_of: Build
) -> None:
    from forensics.reports._svg import told as words  # noqa: PLC0415

    made = incident_of(samples / "parsers" / "opencode_export.json")
    (track,) = made.tracks
    assert made.summary.prompts == 5
    assert (track.counts["continue"], track.counts["prompt"], track.counts["queued"]) == (1, 3, 1)
    assert "Person's prompts: 5, 1 of them to go on, 1 queued." in words(track)


def test_recorded_exports_of_one_line_have_the_continues_they_have(corpus: Path, incident_of: Build) -> None:
    made = incident_of(corpus / "real" / "opencode-export-2.json")
    counts = made.tracks[0].counts
    assert (counts["continue"], counts["prompt"], counts["queued"]) == (2, 29, 1)
    assert made.summary.prompts == 32
    made = incident_of(corpus / "real" / "opencode-export-1.json")
    counts = made.tracks[0].counts
    assert (counts["prompt"], counts["queued"], made.summary.prompts) == (60, 5, 65)
