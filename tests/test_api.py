"""The public interface: read, detect, report, replay, prove, plots."""

from pathlib import Path

import polars as pl
import pytest

from forensics import api

LOG = Path("incidents") / "atomic-1690" / "session.jsonl"


def test_reading_gives_the_event_table(samples: Path) -> None:
    events = api.read(samples / LOG)
    assert events.shape == (1131, 40)
    assert events.filter(pl.col("line") == 388)["before"].to_list() == [271_999]
    assert events["ts"].dtype == pl.Datetime("ms", "UTC")


def test_files_in_no_known_format_are_left_out(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words\n")
    assert api.read(tmp_path).height == 0
    assert api.read(tmp_path / "a.txt", samples / "parsers" / "plain.jsonl").height == 7


def test_detecting_gives_findings_and_coverage(samples: Path) -> None:
    report = api.detect(samples / LOG, select=["manual-continue"])
    assert [one.lines[0] for one in report.findings] == [387, 694, 886, 1085]
    assert report.coverage.files == 1
    table = api.findings(report)
    assert table["waiting_seconds"].to_list() == [838.5, 2863.5, 289.5, 5198.5]
    assert table["lines"].to_list()[0] == [387, 388, 389, 390]


def test_options_reach_the_detectors(samples: Path) -> None:
    report = api.detect(samples / "incidents" / "pilotdeck" / "runtime.log", options={"crash-loop": {"exits": 100}})
    assert not [one for one in report.findings if one.detector == "crash-loop"]


def test_a_report_is_redacted_unless_it_is_not_to_be(samples: Path) -> None:
    assert api.report(samples / LOG).redacted
    assert not api.report(samples / LOG, redact=False).redacted


def test_a_report_becomes_a_page_and_a_document(samples: Path) -> None:
    made = api.report(samples / LOG)
    assert api.html(made).startswith("<!doctype html>")
    assert api.markdown(made).startswith("# Incident report: Atomic, 2026-07-07")


def test_figures_show_themselves_in_a_notebook(samples: Path, tmp_path: Path) -> None:
    made = api.report(samples / LOG)
    figure = api.plots.timeline(made.tracks[0])
    assert figure._repr_svg_().startswith("<svg")
    figure.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == str(figure) + "\n"
    assert str(api.plots.bars(made.bars[0])).startswith("<svg")
    assert [path.suffix for path in api.plots.png(made, tmp_path / "png")] == [".png", ".png"]


def test_replaying_and_proving(samples: Path) -> None:
    (session,) = api.replay(samples / LOG, policies=["atomic-1690"])
    assert [(one.policy, one.agrees) for one in session.policies] == [("atomic-1690", "departs")]
    assert api.prove("reference").verdicts["bounded"].overall.holds
    assert "reference" in api.policies()


def test_a_path_that_is_not_there_is_told() -> None:
    with pytest.raises(api.NoSuchInput):
        api.read("no-such-file.jsonl")
