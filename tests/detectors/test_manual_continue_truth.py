"""Manual continues in the recordings against what really happened, from every kind of file that each agent has.

The truth counts prompts by step: `continues_after_failure` are the steps whose prompt was typed to continue after a
step that failed. A finding's prompt must be exactly one of those, and none may be a continue after success or abort.
Steps that failed before a request was made (`continues_after_no_request`: PilotDeck refused an oversized message with
an error of its own) failed all the same, and the truth's own description counts them so for whoever asks whether the
turn failed.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forensics.detect import detect
from forensics.parse import NotRecognised, Source, Unreadable, read, recognise
from forensics.timeline import File

RECORDED = Path(__file__).parent.parent.parent.parent / "shared" / "corpus" / "recorded"
AGENTS = ("pi", "atomic", "openclaw", "opencode", "pilotdeck")
NOT_THE_AGENTS = {
    "truth.json",
    "scenario.json",
    "mock_requests.jsonl",
    "steps.jsonl",
    "gateway.jsonl",
    "rpc_stdin.jsonl",
}

KINDS = {
    "pi": {"pi", "pi-events"},
    "atomic": {"pi", "pi-events"},
    "openclaw": {"openclaw-db", "openclaw-log"},
    "opencode": {"opencode-db", "opencode-export", "opencode-log", "opencode-run"},
    "pilotdeck": {"pilotdeck-chat", "pilotdeck-log"},
}
"""The kinds of file that every run of an agent has."""

BLIND = {
    "pilotdeck-log": "the log holds no prompts at all",
    "opencode-log": "the log names no prompt's words, so nobody can tell a continue from new work",
    "openclaw-log": "the log names no prompt's words, so nobody can tell a continue from new work",
    "atomic-diagnostic": "a file beside the session that holds one failed compaction and no conversation",
}
"""Kinds of file that cannot show a manual continue at all."""

ONE_PROMPT = "each prompt of the run was a process of its own, and so is its stream: the failure lies in the one before"

GAVE_UP = "the turn failed before it sent a request, and its prompt is in `continues_after_no_request` of the truth"

EXPLAINED: dict[tuple[str, str], tuple[list[int], str]] = {
    ("atomic-cf3c2059-pre1690/d_length_continue", "pi"): (
        [3, 5, 6],
        "step 2's automatic continuation was sent and answered while the process was closing, and written to no file",
    ),
    ("opencode-1.18.33/e_underflow_continue_responses", "piped"): ([3], "the export lost its tail in a pipe"),
    ("opencode-1.18.33/h2_oversized_all_limited", "piped"): ([], "the export lost its tail in a pipe"),
    ("pilotdeck-1104fd9e-head/h_oversized_message", "pilotdeck-chat"): ([4], GAVE_UP),
    ("pilotdeck-v260806/h_oversized_message", "pilotdeck-chat"): ([4], GAVE_UP),
}
"""Run and kind of file: the steps that the file shows instead of the truth's, and why."""


def _files() -> Iterator[tuple[str, Path]]:
    for truth in sorted(RECORDED.glob("*/*/truth.json")):
        run = truth.parent
        if run.parent.name.startswith(AGENTS):
            for path in sorted(run.rglob("*")):
                named = path.name not in NOT_THE_AGENTS and not path.name.endswith((".bak", "stderr.txt"))
                if path.is_file() and named and "config" not in path.parts:
                    yield run.relative_to(RECORDED).as_posix(), path


def _steps(file: File) -> list[int]:
    """Give the steps, from 1, whose prompts the findings of the file are about."""
    steps: list[int] = []
    for finding in detect(file, ["manual-continue"]):
        session = next(one for one in file.sessions if one.id == finding.session)
        prompts = [event for event in session.events if event.kind == "prompt" and event.origin == "human"]
        steps.extend(
            step
            for step, prompt in enumerate(prompts, 1)
            if prompt.record in finding.records or (prompt.record is None and prompt.line in finding.lines)
        )
    return sorted(steps)


def _expected(run: str, path: Path, parser: str, truth: dict[str, Any]) -> tuple[list[int], str]:
    if parser in BLIND:
        return [], BLIND[parser]
    if path.name.startswith("step") and not run.endswith("_rpc"):
        return [], ONE_PROMPT
    kind = "piped" if "piped_truncated" in path.name else parser
    steps = sorted(truth["continues_after_failure"] + truth["continues_after_no_request"])
    return EXPLAINED.get((run, kind), (steps, "the truth"))


@pytest.mark.parametrize("run", sorted({run for run, _ in _files()}) or [None])
def test_every_kind_of_file_shows_the_continues_that_were_typed(run: str | None, corpus: Path) -> None:
    assert run is not None, f"no recordings in {corpus}"
    truth = json.loads((RECORDED / run / "truth.json").read_text(encoding="utf-8"))
    seen = set()
    for _, path in (one for one in _files() if one[0] == run):
        try:
            chosen = recognise(path)
            file = File(path.name, chosen.name, chosen.agent, log=chosen.log).build(read(Source(path), chosen))
        except (NotRecognised, Unreadable):
            continue
        wanted, reason = _expected(run, path, chosen.name, truth)
        assert _steps(file) == wanted, f"{path.relative_to(RECORDED)}: {reason}"
        seen.add(chosen.name)
    assert seen >= KINDS[run.split("-")[0]]


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (
            "reproductions/atomic_underflow_manual_continue/session.jsonl",
            [[5, 6, 7, 8], [11, 12, 13, 14], [17, 18, 19, 20]],
        ),
        ("reproductions/pi_length_manual_continue/session.jsonl", [[5, 6, 7], [7, 8, 9]]),
        ("reproductions/pi_clock_skew_branches/session.jsonl", []),
        ("reproductions/pi_identical_tool_calls/session.jsonl", []),
        ("reproductions/pi_truncated_summary/session.jsonl", []),
        ("real/pi-v1-large-session.jsonl", []),
        ("real/openclaw-length-cap-1.jsonl", []),
        ("real/opencode-length-stop.json", []),
    ],
)
def test_public_sessions(path: str, lines: list[list[int]], corpus: Path, file_of: Callable[[Path], File]) -> None:
    findings = detect(file_of(corpus / path), ["manual-continue"])
    assert [finding.lines for finding in findings] == lines


def test_three_empty_stops_took_three_messages(corpus: Path, file_of: Callable[[Path], File]) -> None:
    findings = detect(file_of(corpus / "reproductions" / "opencode_empty_stop" / "export.json"), ["manual-continue"])
    assert [(f.measures["class"], f.measures["streak"], f.measures["resumed"]) for f in findings] == [
        ("empty", 1, "no"),
        ("empty", 2, "no"),
        ("empty", 3, "yes"),
    ]
    assert findings[-1].records[-1] == "msg_f000f0001empty"


def test_a_prompt_that_openclaw_sent_again_itself_is_nobodys_continue(
    corpus: Path, file_of: Callable[[Path], File]
) -> None:
    findings = detect(file_of(corpus / "real" / "openclaw-zero-usage-1.jsonl"), ["manual-continue"])
    assert not [finding for finding in findings if 195 in finding.lines]
