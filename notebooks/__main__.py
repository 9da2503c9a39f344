"""Write the notebooks from what stands here: `python notebooks`. A test checks that they are what this writes.

Each walks through one published incident on its sample: load, detect, plot, replay, prove, report.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent


class Incident(NamedTuple):
    """What differs from notebook to notebook."""

    file: str
    title: str
    story: str
    sample: str
    look: tuple[str, str]
    """What to look at in the event table, and the expression for it."""
    detector: str
    detail: tuple[str, str]
    policies: tuple[str, str]
    """The policy before the fix, and after it."""
    fault: str
    """The class of failure that the incident is about."""
    properties: tuple[str, ...]
    question: str


INCIDENTS = (
    Incident(
        file="atomic-1690",
        title="A refused output budget, and a person who types “continue”",
        story="In a session of Atomic a request asked for one output token and was refused (bastani-inc/atomic#1690)."
        " The session compacted its context and then sat idle until the person wrote “continue”: four times in one"
        " morning, at lines 387-390, 694-697, 886-889 and 1085-1088.",
        sample="atomic-1690/session.jsonl",
        look=(
            "The rows around the first of the four places: the refused reply, the compaction, the person's prompt, the"
            " reply that goes on.",
            'events.filter(pl.col("line").is_between(385, 390)).select(\n'
            '    "line", "ts", "kind", "stop", "fault", "before", "after", "text"\n)',
        ),
        detector="manual-continue",
        detail=(
            "Four findings, and the time that nobody worked:",
            '[(one.lines, one.measures["waiting_seconds"]) for one in found]',
        ),
        policies=("atomic-1684", "atomic-1690"),
        fault="output-budget",
        properties=("hands-free", "bounded", "loud"),
        question="Does the fix go on by itself wherever such an error strikes, and is it bounded? (In this session it"
        " does: see the replay. An error below the compaction threshold it does not continue.)",
    ),
    Incident(
        file="atomic-1684",
        title="A reply cut at the output limit, below the compaction threshold",
        story="A reply that was cut at its output limit was continued only if the context was also full"
        " (bastani-inc/atomic#1684). Below the threshold the task stopped, and the person had to write.",
        sample="atomic-1684/session.jsonl",
        look=(
            "Replies by how they ended:",
            'events.filter(pl.col("kind") == "reply").group_by("stop").len().sort("stop")',
        ),
        detector="length-stop",
        detail=(
            "Who went on after the cut replies:",
            '[(one.lines, one.measures["by_agent"], one.measures["by_person"]) for one in found]',
        ),
        policies=("atomic-before", "atomic-1684"),
        fault="length",
        properties=("hands-free", "bounded", "fresh"),
        question="Does the fix continue by itself, and does each prompt begin with a fresh counter?",
    ),
    Incident(
        file="opencode-replo",
        title="A message larger than the window, sent again for ever",
        story="One session of opencode made 2,145 cycles in 12.8 hours for $296: the context overflowed, a summary"
        " was made, the same message was sent again, and the context overflowed.",
        sample="opencode-replo/opencode.db",
        look=(
            "What the database holds:",
            'events.group_by("kind").len().sort("kind")',
        ),
        detector="compaction-loop",
        detail=(
            "The loop, its length and its cost:",
            '[(one.measures["cycles"], one.measures["hours"], one.measures["cost"]) for one in found]',
        ),
        policies=("opencode-before", "opencode-replo"),
        fault="overflow",
        properties=("bounded", "contained"),
        question="How many summaries does the fixed logic pay for, at most?",
    ),
    Incident(
        file="opencode-37584",
        title="Compactions that each succeed and do not help",
        story="35 compactions in a row, each with a summary, each followed by an overflow of the next request"
        " (anomalyco/opencode#37584). No error ends such a loop: every step of it succeeds.",
        sample="opencode-37584/export.json",
        look=(
            "The compactions, first and last:",
            'events.filter(pl.col("kind") == "compacted").select("ts", "outcome", "total", "cost")',
        ),
        detector="compaction-loop",
        detail=(
            "The loop, its length and its cost:",
            '[(one.measures["cycles"], one.measures["hours"], one.measures["cost"]) for one in found]',
        ),
        policies=("opencode-before", "opencode-37584"),
        fault="overflow",
        properties=("bounded", "paced"),
        question="What does a counter of consecutive cycles bound?",
    ),
    Incident(
        file="pilotdeck",
        title="Summaries without room to be written, and a gateway that exits",
        story="One day of a PilotDeck runtime.log: 67 compaction attempts, 59 without a summary, and 14 exits of the"
        " gateway with code 1. That the exits lie close to compactions is a correlation: the log does not say why the"
        " process died.",
        sample="pilotdeck/runtime.log",
        look=(
            "Compactions by outcome and reason:",
            'events.filter(pl.col("kind") == "compacted").group_by("outcome", "fault").len().sort("len")',
        ),
        detector="no-summary",
        detail=(
            "Attempts, attempts without a summary, and the rate with its 95 % interval:",
            '[(one.measures["attempts"], one.measures["no_summary"], one.intervals["rate"]) for one in found]',
        ),
        policies=("pilotdeck-before", "reference"),
        fault="context",
        properties=("bounded", "contained", "loud"),
        question="The fix makes summaries succeed; does anything bound the attempts when they do not?",
    ),
)


def document(one: Incident) -> dict[str, Any]:
    """Give a notebook as its file holds it."""
    needs = "import polars as pl\n\n" if "pl." in one.look[1] else ""
    cells = [
        _text(f"# {one.title}\n\n{one.story}\n\nEverything runs offline, on a sample that was made for this project."),
        _code(
            f"from pathlib import Path\n\n{needs}from forensics import api\n\n"
            'root = next(one for one in (Path.cwd(), *Path.cwd().parents) if (one / "samples").is_dir())\n'
            f'path = root / "samples" / "incidents" / "{one.sample}"'
        ),
        _text("## Load\n\nThe event table has a row for each thing that happened; unknown is null, never 0."),
        _code("events = api.read(path)\nevents.shape"),
        _text(one.look[0]),
        _code(one.look[1]),
        _text("## Detect"),
        _code("scan = api.detect(path)\nscan.summary.by_detector"),
        _text(one.detail[0]),
        _code(f'found = [one for one in scan.findings if one.detector == "{one.detector}"]\n{one.detail[1]}'),
        _text("## Plot\n\nThe figure of the incident report: shapes and rows tell the marks apart, not colour alone."),
        _code("report = api.report(path)\napi.plots.timeline(report.tracks[0])"),
        _text(
            "## Replay\n\nThe same record under other recovery policies. Past the first decision that differs the"
            " answer is a range, from pessimistic (the same failure comes again) to optimistic (the next recorded"
            " outcome)."
        ),
        _code(
            "for session in api.replay(path):\n"
            "    print(session.session, session.ran)\n"
            "    for policy in session.policies:\n"
            '        print(f"  {policy.policy:32} {policy.agrees:12} {policy.equal} of {policy.decisions} decisions")'
        ),
        _text(
            f"## Prove\n\n{one.question} Every state that the policy can reach is walked, with failures of one class"
            f" alone: {one.fault}."
        ),
        _code(
            f"proofs = {{name: api.prove(name) for name in {_tuple(one.policies)}}}\n"
            f"for name in {_tuple(one.properties)}:\n"
            "    for policy, proof in proofs.items():\n"
            f'        verdict = proof.verdicts[name].by_fault["{one.fault}"]\n'
            "        print(f\"{name:12} {policy:18} {'holds' if verdict.holds else 'lost'}: {verdict.reason}\")"
        ),
        _text("## Report\n\nThe same as `forensics report PATH -o report.html`; personal details are replaced."),
        _code(
            'for sentence in report.paragraph:\n    print("".join(piece.text for piece in sentence))\n\n'
            "page = api.html(report)\nlen(page)"
        ),
    ]
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _tuple(names: tuple[str, ...]) -> str:
    return "(" + ", ".join(f'"{name}"' for name in names) + ")"


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str) -> dict[str, Any]:
    lines = source.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}


def text(one: Incident) -> str:
    """Give a notebook's file as text."""
    return json.dumps(document(one), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write all of them."""
    for one in INCIDENTS:
        (FOLDER / f"{one.file}.ipynb").write_text(text(one), encoding="utf-8")


if __name__ == "__main__":
    main()
