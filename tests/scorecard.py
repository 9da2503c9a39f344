"""How right the detectors are, measured on labelled sessions: `python -m tests.scorecard` prints it.

Precision: of the findings, how many are true. Recall: of what is wrong, how much is found. A case is a session (or a
kind of a run's files) and a detector, and its label says whether the detector must fire there. Labels of the samples
stand in `samples/detectors/labels.json`, those of the recordings come from their ground truth (`scorecard_truth`).
`--write` keeps the figures in `tests/scorecard.json`, which the gate holds later runs against.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from forensics.detect import detect, detectors
from forensics.parse import NotRecognised, Source, Unreadable, read, recognise
from forensics.timeline import File
from tests.scorecard_truth import CORPUS, RECORDED, REPRODUCTIONS, expected, runs, truth_of

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "samples" / "detectors"
KEPT = ROOT / "tests" / "scorecard.json"
HOST = "(host)"
LATER = 1_893_456_000_000
"""2030-01-01: when the samples are looked at, so that no session is still open."""
NOT_THE_AGENTS = frozenset(
    {"truth.json", "scenario.json", "mock_requests.jsonl", "steps.jsonl", "gateway.jsonl", "rpc_stdin.jsonl"}
)

Kind = Literal["samples", "recordings"]
Figures = dict[str, dict[str, list[int]]]
"""Set of sessions to detector to [true findings, false ones, missed ones, rightly silent]."""


class Case(NamedTuple):
    """A detector in one place: whether it must fire there, and whether it does."""

    kind: Kind
    place: str
    detector: str
    expected: bool
    fired: bool


def cases() -> Iterator[Case]:
    """Give every labelled case; those of the corpus only where it stands beside the checkout."""
    yield from samples()
    if RECORDED.is_dir():
        yield from recordings()


@cache
def labels() -> dict[str, dict[str, list[str]]]:
    """Give sample file to session to the detectors that must fire; with a `?` one that is not judged there."""
    found: dict[str, dict[str, list[str]]] = json.loads((SAMPLES / "labels.json").read_text(encoding="utf-8"))
    return found


def samples() -> Iterator[Case]:
    """Give the cases of the detectors' samples: every session against every detector."""
    for name, sessions in labels().items():
        fired = _fired(SAMPLES / name, LATER)
        for session, wanted in sessions.items():
            for detector in detectors():
                if f"{detector}?" not in wanted:
                    place = f"samples/detectors/{name} {session}"
                    yield Case("samples", place, detector, detector in wanted, (session, detector) in fired)


def recordings() -> Iterator[Case]:
    """Give the cases of the recorded runs, by kind of file, and of the reproductions."""
    for run in runs():
        fired = _by_kind(RECORDED / run)
        for detector, kind, fires in expected(run, truth_of(run)):
            if kind in fired:
                yield Case("recordings", f"recorded/{run} {kind}", detector, fires, detector in fired[kind])
    for name, (wanted, unwanted) in REPRODUCTIONS.items():
        found = {detector for _, detector in _fired(CORPUS / "reproductions" / name, None)}
        for detector in sorted(wanted | unwanted):
            yield Case("recordings", f"reproductions/{name}", detector, detector in wanted, detector in found)


def _fired(path: Path, now: int | None) -> set[tuple[str, str]]:
    chosen = recognise(path)
    file = File(path.name, chosen.name, chosen.agent, log=chosen.log).build(read(Source(path), chosen))
    file.now, file.touched = now, now
    return {(one.session or HOST, one.detector) for one in detect(file)}


def _by_kind(folder: Path) -> dict[str, set[str]]:
    """Give kind of file to the detectors that fire in any file of that kind; cut copies and backups left out."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("*")):
        copy = path.name.endswith((".bak", "stderr.txt")) or "piped_truncated" in path.name
        if not path.is_file() or copy or path.name in NOT_THE_AGENTS or "config" in path.parts:
            continue
        try:
            kind = recognise(path).name
            found[kind] |= {detector for _, detector in _fired(path, None)}
        except (NotRecognised, Unreadable):
            continue
    return dict(found)


def tally(found: Iterable[Case]) -> Figures:
    """Count the cases by set and detector."""
    figures: Figures = {}
    for one in found:
        counts = figures.setdefault(one.kind, {}).setdefault(one.detector, [0, 0, 0, 0])
        counts[(0 if one.fired else 2) if one.expected else (1 if one.fired else 3)] += 1
    return {kind: dict(sorted(rows.items())) for kind, rows in sorted(figures.items())}


def precision(counts: list[int]) -> float | None:
    """Give the share of findings that are true; `None` where there are none."""
    true, false, _, _ = counts
    return true / (true + false) if true + false else None


def recall(counts: list[int]) -> float | None:
    """Give the share of what is wrong that is found; `None` where nothing is wrong."""
    true, _, missed, _ = counts
    return true / (true + missed) if true + missed else None


def kept() -> Figures:
    """Give the figures that are committed."""
    found: Figures = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def scorecard_table(figures: Figures | None = None) -> str:
    """Give precision and recall per detector as a Markdown table: of the committed figures unless others are given."""
    figures = kept() if figures is None else figures
    rows = [
        "| detector | samples: precision | recall | recordings: precision | recall |",
        "|---|---|---|---|---|",
    ]
    for name in detectors():
        cells = [cell for kind in ("samples", "recordings") for cell in _cells(figures.get(kind, {}).get(name))]
        rows.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _cells(counts: list[int] | None) -> tuple[str, str]:
    if counts is None:
        return "not labelled", ""
    true, false, missed, _ = counts
    return _share(precision(counts), true, true + false), _share(recall(counts), true, true + missed)


def _share(value: float | None, part: int, whole: int) -> str:
    return "no case" if value is None else f"{value:.3g} ({part} of {whole})"


def confusions(found: Iterable[Case]) -> list[str]:
    """Say each case in which a detector is wrong, by place."""
    return [
        f"{one.place}: {one.detector} {'fires and must not' if one.fired else 'must fire and does not'}"
        for one in sorted(found)
        if one.expected != one.fired
    ]


def main(arguments: list[str]) -> int:
    """Print the scorecard; with `--write` keep its figures."""
    found = list(cases())
    figures = tally(found)
    sys.stdout.write(scorecard_table(figures))
    wrong = confusions(found)
    sys.stdout.write(f"\n{len(found):,} labelled cases, {len(wrong)} wrong\n" + "".join(f"{one}\n" for one in wrong))
    if "--write" in arguments:
        merged = (kept() if KEPT.is_file() else {}) | figures
        KEPT.write_text(_laid_out(merged), encoding="utf-8", newline="\n")
    return 0


def _laid_out(figures: Figures) -> str:
    rows = {
        kind: ",\n".join(f"    {json.dumps(name)}: {json.dumps(counts)}" for name, counts in rows.items())
        for kind, rows in figures.items()
    }
    return "{\n" + ",\n".join(f'  "{kind}": {{\n{text}\n  }}' for kind, text in rows.items()) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
