from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.detect import Finding, detect
from forensics.parse import Source, parsers, read
from forensics.timeline import File


@pytest.fixture
def findings(samples: Path, file_of: Callable[[Path], File]) -> list[Finding]:
    return detect(file_of(samples / "detectors" / "length_stop.jsonl"), ["length-stop"])


def _of(findings: list[Finding], session: str) -> list[Finding]:
    return [finding for finding in findings if finding.session == session]


def test_nothing_fires_on_the_quiet_sessions(findings: list[Finding]) -> None:
    assert not [finding for finding in findings if (finding.session or "").startswith("quiet")]


@pytest.mark.parametrize(("session", "lines"), [("note-tool-call", [11, 13]), ("note-automatic", [16, 17])])
def test_a_cut_reply_after_which_the_agent_went_on_is_a_note(
    findings: list[Finding], session: str, lines: list[int]
) -> None:
    (finding,) = _of(findings, session)
    assert (finding.severity, finding.lines) == ("note", lines)
    assert (finding.measures["by_agent"], finding.measures["by_person"]) == (1, 0)
    assert finding.measures["output_cap"] is None


def test_a_limit_is_that_of_the_replies_that_reached_it(tmp_path: Path) -> None:
    """A reply of 4,122 tokens was once said to be cut at the limit of 8,192."""
    rows = ['{"kind":"session","session":"s"}', '{"kind":"prompt","session":"s","origin":"human","text":"draw"}']
    for output in (8192, 4122, 8192):
        rows.append(f'{{"kind":"reply","session":"s","stop":"length","context":9000,"output":{output}}}')
        rows.append('{"kind":"prompt","session":"s","origin":"human","text":"go on"}')
    path = tmp_path / "cut.jsonl"
    path.write_text("\n".join(rows) + "\n")
    file = File(path.name, "plain", "plain").build(read(Source(path), parsers()["plain"]))
    (finding,) = detect(file, ["length-stop"])
    assert finding.message == (
        "3 replies in a row were cut, 2 of them at the output limit of 8,192 tokens: a person had to write after 3"
    )
    assert finding.measures["output_cap"] == 8192


def test_a_run_of_cut_replies_is_one_finding_and_names_the_limit(findings: list[Finding]) -> None:
    chain, end = _of(findings, "fires-chain")
    assert (chain.severity, chain.lines) == ("warning", [21, 22, 23, 24])
    assert chain.message == (
        "2 replies in a row were cut at the output limit of 8,192 tokens: a person had to write after 2"
    )
    assert chain.measures == {"stops": 2, "output_cap": 8192, "by_agent": 0, "by_person": 2, "by_nothing": 0}
    assert (end.lines, end.measures["output_cap"], end.measures["by_nothing"]) == ([27], None, 1)
