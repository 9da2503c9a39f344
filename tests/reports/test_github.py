from collections.abc import Callable

from forensics.detect import Finding
from forensics.reports import render
from forensics.summary import Report

MakeFinding = Callable[..., Finding]


def test_no_finding_is_no_annotation_but_a_result(report_of: Callable[..., Report]) -> None:
    lines = render("github", report_of([])).splitlines()
    assert lines == [
        "::warning file=logs/c.jsonl,title=not read::Permission denied",
        (
            "forensics: read 1 file, 400 lines, 399 records, 4.9 KiB, 1 malformed line (1 salvaged), 1 not recognised, "
            "1 not readable; read 1 file, 399 records, nothing found"
        ),
    ]


def test_severities_map_to_commands_with_the_first_range(
    report_of: Callable[..., Report], finding_of: MakeFinding
) -> None:
    report = report_of(
        [
            finding_of(lines=[5, 6, 9]),
            finding_of(id="1" * 16 + "/v1", severity="warning"),
            finding_of(id="2" * 16 + "/v1", severity="note", lines=[], session=None, measures={}),
            finding_of(id="3" * 16 + "/v1", state="baselined"),
        ]
    )
    lines = render("github", report).splitlines()
    assert lines[0].startswith("::error file=logs/a.jsonl,line=5,endLine=6,title=manual-continue::a reply failed")
    assert lines[1].startswith("::warning file=logs/a.jsonl,line=387,endLine=390,title=manual-continue::")
    assert lines[2] == "::notice file=logs/a.jsonl,title=manual-continue::a reply failed, and a person had to write"
    assert sum(line.startswith("::error") for line in lines) == 1


def test_hostile_text_starts_no_command_of_its_own(hostile: Report) -> None:
    lines = render("github", hostile).splitlines()
    assert [line[:8] for line in lines] == ["::error ", "::warnin", "forensic"]
    head = lines[0].split("::")[1]
    assert head.count(",") == 3
    assert "%3A%3Aerror%3A%3Ainjected" in head
    assert "\x1b" not in lines[0]
