"""What the recordings should make each detector say: from their own `truth.json`, and from a hand-kept table.

Nothing here comes from what the program finds. A place is a run and a kind of its files. Where a kind of file does
not hold what would show it, the place is left out, with the reason.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

CORPUS = Path(__file__).parent.parent.parent / "shared" / "corpus"
RECORDED = CORPUS / "recorded"
AGENTS = ("pi-", "atomic-", "openclaw-", "opencode-", "pilotdeck-")
TALKS = frozenset(
    {"pi", "pi-events", "openclaw-db", "opencode-db", "opencode-export", "opencode-run", "pilotdeck-chat"}
)
"""Kinds of file that hold replies."""
WHOLE = frozenset({"pi", "openclaw-db", "opencode-db", "opencode-export", "pilotdeck-chat"})
"""Kinds of file that hold a session from one prompt to the next; a stream of one prompt's process does not."""
ATTEMPTS = frozenset({"pi-events", "opencode-db", "opencode-export", "pilotdeck-log"})
"""Kinds of file that hold compactions that failed."""

_LOST = "what happened was written to no file of this kind"
_CALLED_GOOD = "the agent of that version took the cut summary for a good one"
_STOPS_WRITING = "the stream of each prompt ends with the start of its last compaction"
_UNSAID = "the error's words name the missing plan, not that the answer was cut"
_OLD_LOG = "builds before August 2026 write no line about compactions"
_LEFT_OUT: dict[tuple[str, str, str], str] = {
    ("manual-continue", "atomic-cf3c2059-pre1690/d_length_continue", "pi"): _LOST,
    ("no-summary", "pi-0.73.1/c2_truncated_summary", "pi-events"): _CALLED_GOOD,
    ("starved-summary", "pi-0.73.1/c2_truncated_summary", "pi-events"): _CALLED_GOOD,
    ("no-summary", "pi-0.73.1/c_empty_summary", "pi-events"): _STOPS_WRITING,
    ("starved-summary", "pi-0.73.1/c_empty_summary", "pi-events"): _STOPS_WRITING,
    ("compaction-loop", "pi-0.73.1/c_empty_summary", "pi-events"): _STOPS_WRITING,
    ("starved-summary", "atomic-7c87ed1d-pr1690/c_empty_summary", "pi-events"): _UNSAID,
    ("starved-summary", "atomic-cf3c2059-pre1690/c_empty_summary", "pi-events"): _UNSAID,
    ("starved-summary", "atomic-cf3c2059-pre1690/c2_truncated_summary", "pi-events"): _UNSAID,
    ("no-summary", "pilotdeck-974404a1-2026-07-07/c_empty_summary", "pilotdeck-log"): _OLD_LOG,
    ("starved-summary", "pilotdeck-974404a1-2026-07-07/c_empty_summary", "pilotdeck-log"): _OLD_LOG,
    ("compaction-loop", "pilotdeck-974404a1-2026-07-07/c_empty_summary", "pilotdeck-log"): _OLD_LOG,
}
"""Detector, run and kind of file that are not judged, and why."""
_ECHOES = "31 attempts or more without a summary, most of which asked no model (cooldown): requests do not show them"
_BY_HAND: dict[tuple[str, str, str], tuple[bool, str]] = {
    ("compaction-loop", "pilotdeck-v260806/c4_growth_no_summary", "pilotdeck-log"): (True, _ECHOES),
    ("compaction-loop", "pilotdeck-v260806/c5_growth_summary_dropped", "pilotdeck-log"): (True, _ECHOES),
    ("compaction-loop", "pilotdeck-v260806/c6_client_gone_in_compaction", "pilotdeck-log"): (True, _ECHOES),
    ("no-summary", "pi-0.73.1/c_empty_summary", "pi"): (True, "that version writes a hollow summary into the session"),
}
"""Detector, run and kind of file that the requests do not tell, after the corpus' own description of the runs."""

Places = Iterator[tuple[str, str, bool]]
"""Detector, kind of file, whether it must fire."""

REPRODUCTIONS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "atomic_underflow_manual_continue/session.jsonl": (
        frozenset({"manual-continue", "output-budget-underflow"}),
        frozenset({"compaction-loop", "context-blowup", "no-summary", "crash-loop"}),
    ),
    "jsonl_bom_crlf/session.jsonl": (frozenset(), frozenset({"manual-continue", "compaction-loop", "context-blowup"})),
    "openclaw_safeguard_timeouts/openclaw-2026-05-06.log": (frozenset({"no-summary"}), frozenset({"crash-loop"})),
    "opencode_empty_stop/export.json": (
        frozenset({"manual-continue"}),
        frozenset({"compaction-loop", "no-summary", "length-stop", "context-blowup"}),
    ),
    "pi_clock_skew_branches/session.jsonl": (frozenset({"length-stop"}), frozenset({"manual-continue"})),
    "pi_cumulative_totaltokens/session.jsonl": (frozenset({"usage-outlier"}), frozenset({"context-blowup"})),
    "pi_identical_tool_calls/session.jsonl": (frozenset(), frozenset({"manual-continue", "compaction-loop"})),
    "pi_length_manual_continue/session.jsonl": (
        frozenset({"length-stop", "manual-continue"}),
        frozenset({"no-summary", "compaction-loop"}),
    ),
    "pi_truncated_summary/session.jsonl": (frozenset({"no-summary"}), frozenset({"manual-continue", "context-blowup"})),
    "pilotdeck_no_summary_crash/runtime.log": (
        frozenset({"no-summary", "starved-summary", "context-blowup", "crash-loop"}),
        frozenset({"manual-continue"}),
    ),
}
"""Small files modelled on public reports: what must fire and what must not, after the `expected.md` beside each."""


def runs() -> list[str]:
    """Give the recorded runs of agents whose files are read."""
    found = (path.parent.relative_to(RECORDED).as_posix() for path in RECORDED.glob("*/*/truth.json"))
    return sorted(run for run in found if run.startswith(AGENTS))


def truth_of(run: str) -> dict[str, Any]:
    """Read a run's ground truth."""
    found: dict[str, Any] = json.loads((RECORDED / run / "truth.json").read_text(encoding="utf-8"))
    return found


def expected(run: str, truth: Mapping[str, Any]) -> Places:
    """Give what each detector must say of each kind of file of a run; what is not judged is not given."""
    told = {(detector, kind): fires for detector, kind, fires in _all(run, truth)}
    told |= {(detector, kind): fires for (detector, of, kind), (fires, _) in _BY_HAND.items() if of == run}
    for (detector, kind), fires in sorted(told.items()):
        if (detector, run, kind) not in _LEFT_OUT:
            yield detector, kind, fires


def _all(run: str, truth: Mapping[str, Any]) -> Places:
    continues = bool(truth["continues_after_failure"] or truth["continues_after_no_request"])
    kinds = WHOLE | ({"pi-events"} if run.endswith("_rpc") else set())
    yield from (("manual-continue", kind, continues) for kind in kinds)
    yield from (("length-stop", kind, truth["length_stops"] + truth["length_empty"] > 0) for kind in TALKS)
    yield from (("output-budget-underflow", kind, truth["underflow_errors"] > 0) for kind in TALKS)
    yield from _summaries(run, truth)
    for kind in sorted(ATTEMPTS):
        streams = kind == "pi-events" and not run.endswith("_rpc")
        yield "compaction-loop", kind, any(loops(part, truth) for part in _parts(truth["events"], apart=streams))
    replays = run.startswith("opencode") and "/b_overflow_loop" in run
    yield from (("oversized-replay", kind, replays) for kind in WHOLE)
    if not run.startswith("pi-0.73"):  # three tries of the provider's library below each that its record shows
        refused = _refused(truth["events"]) >= 10
        yield from (("failure-loop", kind, refused) for kind in WHOLE)
    # No gateway of a recorded run exited with an error, and none of the runs cost anything (corpus, README).
    yield from (("crash-loop", kind, False) for kind in ("pilotdeck-log", "openclaw-log"))
    yield from (("runaway-cost", kind, False) for kind in TALKS)


def _parts(events: list[dict[str, Any]], *, apart: bool) -> Iterator[list[dict[str, Any]]]:
    """Give the requests as one list, or those of each prompt `apart`: its process has a stream of its own."""
    if not apart:
        yield events
        return
    for step in sorted({one["step"] for one in events}):
        yield [one for one in events if one["step"] == step]


def _summaries(run: str, truth: Mapping[str, Any]) -> Places:
    """Judge summaries by what was answered; that a plan of Atomic's planner was any good, no request tells."""
    missed = truth["summary_empty_or_cut"] + truth["summary_errors"] > 0
    asked = [one for one in truth["events"] if one["class"] == "summary"]
    starved = any(one["outcome"] in {"length", "length_empty"} for one in asked)
    for kind in sorted(ATTEMPTS):
        if missed or not (run.startswith("atomic") and asked):
            yield "no-summary", kind, missed
        yield "starved-summary", kind, starved


class _Gap(NamedTuple):
    """What lay between two attempts: answers that went well, and whether the work failed or a prompt was typed."""

    good: int
    failed: bool
    prompted: bool


def loops(events: list[dict[str, Any]], truth: Mapping[str, Any]) -> bool:
    """Whether the requests, as the model's side saw them, hold compactions in a row without progress between.

    Requests for a summary within one prompt and with no other request between are one attempt. No answer that went
    well between two of them, though work failed, is no progress; where every summary is useless, three attempts
    within three answers each are a loop too, and so are four that each left room for at most three answers to a
    single prompt.
    """
    asked = [one for one in events if one["class"] == "summary"]
    gaps = list(_gaps(events, {*truth["failed_turns"], *truth["turns_without_normal_request"]}))
    if any(not gap.good and gap.failed for gap in gaps):
        return True
    if not any(one["outcome"] in {"text", "plan"} for one in asked):
        return _longest([gap.good <= 3 for gap in gaps]) >= 2
    return _longest([0 < gap.good <= 3 and not gap.prompted for gap in gaps]) >= 3


def _gaps(events: list[dict[str, Any]], failed_steps: set[int]) -> Iterator[_Gap]:
    last: int | None = None
    """The prompt in which the last attempt was made."""
    good, failed, open_ = 0, False, False
    for one in events:
        if one["class"] == "summary":
            if last is not None and (not open_ or one["step"] != last):
                prompted = one["step"] != last
                yield _Gap(good, failed or (prompted and last in failed_steps), prompted)
            if not open_ or one["step"] != last:
                good, failed = 0, False
            open_, last = True, one["step"]
        elif one["class"] == "normal":
            open_ = False
            good += one["outcome"] in {"text", "tool"}
            failed = failed or one["outcome"] == "overflow"


def _refused(events: list[dict[str, Any]]) -> int:
    """Give the most requests of one prompt that failed in a row, with no summary between."""
    most = run = 0
    step: int | None = None
    for one in events:
        failed = one["class"] == "normal" and one["outcome"] not in {"text", "tool", "length"}
        run = (run if one["step"] == step else 0) + 1 if failed else 0
        step = one["step"]
        most = max(most, run)
    return most


def _longest(flags: list[bool]) -> int:
    most = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        most = max(most, run)
    return most
