"""A brief reading leaves out tool rows between others, and nothing that a scan tells changes by it."""

from pathlib import Path

import pytest

from forensics.detect import detect
from forensics.parse import Source, read, recognise
from forensics.scan import totals
from forensics.timeline import File


def _looked_at(path: Path, *, brief: bool) -> tuple[int, list[object], list[object]]:
    chosen = recognise(path)
    events = list(read(Source(path, brief=brief), chosen))
    file = File(path.name, chosen.name, chosen.agent).build(events)
    findings = detect(file)
    continues = {
        session.id: [one for one in findings if (one.detector, one.session) == ("manual-continue", session.id)]
        for session in file.sessions
    }
    figures = [(session.id, session.end, totals(session, continues[session.id])) for session in file.sessions]
    return (
        sum(event.kind == "tool" for event in events),
        list(findings),
        [(name, end, {**{f: getattr(one, f) for f in one.__struct_fields__}, "rows": 0}) for name, end, one in figures],
    )


@pytest.mark.parametrize(
    "name",
    ["incidents/atomic-1690/session.jsonl", "incidents/atomic-1684/counter-leak.jsonl"],
    ids=["stalls", "length"],
)
def test_a_brief_reading_of_a_sample_tells_the_same(samples: Path, name: str) -> None:
    whole, brief = _looked_at(samples / name, brief=False), _looked_at(samples / name, brief=True)
    assert whole[0] > brief[0] == 0
    assert whole[1:] == brief[1:]


def _tools(path: Path, parents: str) -> list[int | None]:
    """Write a prompt and three tool results with these parents, and give the tool rows of a brief reading."""
    rows = ['{"type":"session","version":3,"id":"s","timestamp":"2026-07-01T10:00:00.000Z","cwd":"/w"}']
    for at, (name, parent) in enumerate(zip("abcd", parents, strict=True), 1):
        role = "user" if name == "a" else "toolResult"
        link = "null" if parent == "-" else f'"{parent}"'
        message = f'{{"role":"{role}","content":[],"toolName":"read"}}'
        time = f"2026-07-01T10:00:0{at}.000Z"
        rows.append(f'{{"type":"message","id":"{name}","parentId":{link},"timestamp":"{time}","message":{message}}}')
    path.write_text("\n".join(rows) + "\n")
    return [event.line for event in read(Source(path, brief=True)) if event.kind == "tool"]


def test_the_tool_row_that_ends_a_file_stays(tmp_path: Path) -> None:
    assert _tools(tmp_path / "line.jsonl", "-abc") == [5]


def test_a_file_with_branches_is_read_whole(tmp_path: Path) -> None:
    assert sorted(line or 0 for line in _tools(tmp_path / "tree.jsonl", "-aac")) == [3, 4, 5]


def test_a_brief_reading_of_every_recorded_session_tells_the_same(corpus: Path) -> None:
    paths = [
        path for agent in ("pi", "atomic") for path in sorted(corpus.glob(f"recorded/{agent}-*/*/session/*.jsonl"))
    ]
    assert len(paths) > 40
    for path in [*paths, *sorted(corpus.glob("real/pi-*.jsonl")), *sorted(corpus.glob("real/openclaw-*.jsonl"))]:
        assert _looked_at(path, brief=False)[1:] == _looked_at(path, brief=True)[1:], path
