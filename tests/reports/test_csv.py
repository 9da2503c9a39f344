import csv
import io
from collections.abc import Callable

from forensics.detect import Finding
from forensics.reports import render
from forensics.summary import Report

MakeFinding = Callable[..., Finding]


def rows(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render("csv", report), newline="")))


def test_no_finding_is_the_header_alone(report_of: Callable[..., Report]) -> None:
    assert render("csv", report_of([])) == (
        "id,detector,severity,confidence,state,agent,file,session,start,end,lines,records,message\r\n"
    )


def test_a_finding_is_a_row_with_its_measures(report: Report) -> None:
    assert rows(report) == [
        {
            "id": "0123456789abcdef/v1",
            "detector": "manual-continue",
            "severity": "error",
            "confidence": "high",
            "state": "new",
            "agent": "demo",
            "file": "logs/a.jsonl",
            "session": "s1",
            "start": "2026-07-09T10:00:00.000Z",
            "end": "2026-07-09T10:13:30.500Z",
            "lines": "387-390",
            "records": "r1 r2",
            "message": "a reply failed, and a person had to write",
            "rate": "",
            "rate_basis": "inferred",
            "waiting_seconds": "810.5",
            "waiting_seconds_basis": "derived",
        }
    ]


def test_no_cell_is_a_formula(report_of: Callable[..., Report], finding_of: MakeFinding) -> None:
    starts = ("=cmd()", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\r=1", "\n=1")
    report = report_of([finding_of(id=f"{at:016x}/v1", message=text) for at, text in enumerate(starts)])
    cells = [row["message"] for row in rows(report)]
    assert all(cell.startswith("'") for cell in cells)
    assert len(cells) == len(starts)


def test_hostile_text_stays_in_its_cell(hostile: Report) -> None:
    (row,) = rows(hostile)
    assert row["message"].startswith("\\x1b[31mred")
    assert "\x1b" not in render("csv", hostile)
