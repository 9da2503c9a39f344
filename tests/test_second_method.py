"""What a scan says does not depend on what a session keeps: a second one, that keeps every row, says the same.

Of a long run of good replies a session keeps the ends (`Session._keep_ends`), and a brief reading not even the rows
between. Files that nobody made by hand, such as ones with lost, doubled and changed lines, are held to that here.
"""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.events import Event
from forensics.scan import Options, Result, look
from forensics.timeline import Session

SAMPLES = Path(__file__).parents[1] / "samples"
_TEXTS = {".jsonl", ".log", ".json"}
_LONG = 250
_FIGURES = re.compile(rb"\d{3,6}")
_NAMES = re.compile(rb'"(?:usage|tokens|stopReason|reason|finish|input|timestamp)"')


def _said(path: Path, *, brief: bool = False) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    result: Result = look(path, "file", Options(now=1_800_000_000_000), brief=brief)[0]
    findings = [
        {name: getattr(one, name) for name in one.__struct_fields__ if name != "times"} for one in result.findings
    ]
    return findings, [{name: getattr(one, name) for name in one.__struct_fields__} for one in result.sessions]


def _keep_all(session: Session, event: Event) -> None:
    session.events.append(event)


def _hold(path: Path) -> None:
    usual, brief = _said(path), _said(path, brief=True)
    assert brief == usual
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "_keep_ends", _keep_all)
        assert _said(path) == usual


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.suffix in _TEXTS and path.stat().st_size < 2 << 20)


@pytest.mark.parametrize("path", _files(SAMPLES), ids=lambda path: path.relative_to(SAMPLES).as_posix())
def test_a_sample_says_the_same_whatever_is_kept_of_it(path: Path) -> None:
    _hold(path)


def test_every_recording_says_the_same_whatever_is_kept_of_it(corpus: Path) -> None:
    paths = _files(corpus)
    assert len(paths) > 500
    for path in paths:
        _hold(path)


def _changed(path: Path, chance: random.Random) -> bytes:
    """Give some lines of a file, with a few that are lost, doubled, in another place, or say something else."""
    lines = path.read_bytes().split(b"\n")
    start = chance.randrange(max(1, len(lines) - _LONG))
    lines = lines[:3] + lines[max(3, start) : start + _LONG]
    for _ in range(chance.choice([1, 2, 4, 10, 40])):
        at, other = (chance.randrange(1, len(lines)) for _ in range(2)) if len(lines) > 2 else (0, 0)
        kind = chance.randrange(6)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(other, lines[at])
        elif kind == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 3:
            lines[at:at] = lines[max(1, at - 6) : at]
        elif kind == 4:
            lines[at] = _put(lines[at], _FIGURES, chance.choice([b"0", b"5", b"50000", b"190000", b"900000"]), chance)
        else:
            lines[at] = _put(lines[at], _NAMES, b'"other"', chance)
        if len(lines) < 2:
            break
    return b"\n".join(lines)


def _put(line: bytes, pattern: re.Pattern[bytes], text: bytes, chance: random.Random) -> bytes:
    found = list(pattern.finditer(line))
    if not found:
        return line
    match = chance.choice(found)
    return line[: match.start()] + text + line[match.end() :]


@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=300)
def test_a_damaged_file_says_the_same_whatever_is_kept_of_it(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = random.Random(seed)
    source = chance.choice(_files(SAMPLES))
    path = tmp_path_factory.getbasetemp() / f"changed{source.suffix}"
    path.write_bytes(_changed(source, chance))
    _hold(path)
