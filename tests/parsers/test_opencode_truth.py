"""What each kind of opencode file shows of the recorded runs, held against what the model server saw.

The truth counts requests. `WHY` says, per kind of file, what that kind cannot show; each difference that a test
allows stands there, and is computed from the truth's own list of requests, never from what a parser gave.
"""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from forensics.attempts import attempts
from forensics.events import GOOD_STOPS, Event, fields
from forensics.parse import Source, read
from forensics.parsers._opencode_log import RETRIED
from forensics.timeline import File

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "recorded"
FileOf = Callable[[Path], File]
Truth = dict[str, Any]

WHY = {
    ("stored", "retries"): "of a request that was tried again only the last error is stored, and none if a try worked",
    ("run", "retries"): "as stored: what is tried again prints nothing",
    ("run", "unanswered"): "a summary that the end of the run cut off has printed nothing yet",
    ("log", "outcome"): "a log does not say whether a summary without an error had any text, or a reply was cut",
    ("log", "mid-stream"): "a stream that broke after it began logs no error: only the new try shows it",
    ("log file", "tail"): "when a process ends, the last lines that it logged do not reach the file",
    ("recordings", "cap"): "the earliest runs that reached the cap do not log the last, unanswered request",
}
TRANSIENT = frozenset({"rate429", "overloaded529", "overloaded503", "error500"})
BROKEN = frozenset({"drop", "malformed"})
SERVED = frozenset({"text", "tool", "plan"})
CUT = frozenset({"length", "length_empty"})
EMPTY_OR_CUT = frozenset({*CUT, "empty"})
UNANSWERED = frozenset({"cap", "unanswered"})


class Figures(NamedTuple):
    """What is compared."""

    overflow: int
    underflow: int
    transient: int
    broken: int
    length: int
    compactions: dict[str, int]


def _runs() -> list[Path]:
    return sorted(path.parent for path in CORPUS.glob("opencode-*/*/truth.json"))


run_of = pytest.mark.parametrize("run", _runs(), ids=lambda path: "-".join(path.parts[-2:]))


def _truth(run: Path) -> Truth:
    truth: Truth = json.loads((run / "truth.json").read_text(encoding="utf-8"))
    return truth


def _requests(truth: Truth, kind: str, *, stored: bool) -> list[str]:
    """Give the outcomes of a class of requests; `stored`: of tries in a row only the last, if it failed too."""
    found: list[str] = []
    for (_, name), group in groupby(truth["events"], key=lambda event: (event["step"], event["class"])):
        outcomes = [event["outcome"] for event in group]
        if name == kind:
            found += list(_last_tries(outcomes)) if stored else outcomes
    return found


def _last_tries(outcomes: list[str]) -> Iterable[str]:
    for outcome, following in zip(outcomes, [*outcomes[1:], None], strict=True):
        if outcome not in TRANSIENT | BROKEN or following is None:
            yield outcome


def _expected(truth: Truth, *, stored: bool) -> Figures:
    normal = Counter(_requests(truth, "normal", stored=stored))
    summary = Counter(_requests(truth, "summary", stored=stored))

    def count(of: "Counter[str]", names: Iterable[str]) -> int:
        return sum(of[name] for name in names)

    unanswered = count(summary, UNANSWERED)
    if truth["cap_reached"] and not unanswered and not count(normal, UNANSWERED):
        unanswered += 1  # WHY["recordings", "cap"]; all of those runs were in a summary
    known = SERVED | EMPTY_OR_CUT | UNANSWERED
    outcomes = {
        "summary": count(summary, SERVED),
        "no-summary": count(summary, EMPTY_OR_CUT),
        "failed": sum(number for name, number in summary.items() if name not in known),
        "unknown": unanswered,
    }
    return Figures(
        normal["overflow"],
        normal["underflow"],
        count(normal, TRANSIENT),
        count(normal, BROKEN),
        count(normal, CUT),
        {name: number for name, number in outcomes.items() if number},
    )


def _told(files: Iterable[File]) -> Figures:
    faults: Counter[str] = Counter()
    compactions: Counter[str] = Counter()
    length = 0
    for file in files:
        for session in file.sessions:
            faults.update(session.errors)
            length += session.length_stops
            compactions.update(attempt.outcome for attempt in attempts(session.events))
    return Figures(
        faults.pop("overflow", 0),
        faults.pop("output-budget", 0),
        faults.pop("rate-limit", 0) + faults.pop("overloaded", 0),
        faults.pop("transport", 0) + faults.pop("unknown", 0),
        length,
        dict(compactions),
    )


def _whole_exports(run: Path) -> list[Path]:
    return [path for path in sorted(run.glob("export_*.json")) if "truncated" not in path.name]


def _copied(run: Path, folder: Path) -> Path:
    """Copy the database, so that reading it leaves the recording as it is."""
    return Path(shutil.copy(run / "opencode.db", folder / "opencode.db"))


def _tree(export: Path, folder: Path) -> Path:
    """Write an export as the JSON tree that versions before 1.2 kept."""
    document = json.loads(export.read_text(encoding="utf-8"))
    info = document["info"]
    session = folder / "session" / "global" / f"{info['id']}.json"
    _write(session, info)
    for message in document["messages"]:
        _write(folder / "message" / info["id"] / f"{message['info']['id']}.json", message["info"])
        for part in message["parts"]:
            _write(folder / "part" / part["messageID"] / f"{part['id']}.json", part)
    return session


def _write(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _plain(events: list[Event], *without: str) -> list[dict[str, Any]]:
    return [{name: value for name, value in fields(event).items() if name not in without} for event in events]


@run_of
def test_the_database_shows_what_happened(run: Path, tmp_path: Path, file_of: FileOf) -> None:
    assert _told([file_of(_copied(run, tmp_path))]) == _expected(_truth(run), stored=True)


@run_of
def test_the_export_shows_what_happened(run: Path, file_of: FileOf) -> None:
    assert _told(map(file_of, _whole_exports(run))) == _expected(_truth(run), stored=True)


@run_of
def test_the_tree_tells_what_the_export_tells(run: Path, tmp_path: Path) -> None:
    (export,) = _whole_exports(run)
    source = Source(_tree(export, tmp_path))
    assert _plain(list(read(source)), "line") == _plain(list(read(Source(export))), "line")
    assert (source.malformed, source.notes) == ([], [])


@run_of
def test_the_run_lines_show_what_happened(run: Path, file_of: FileOf) -> None:
    expected = _expected(_truth(run), stored=True)
    expected.compactions.pop("unknown", None)  # WHY["run", "unanswered"]
    assert _told(map(file_of, sorted(run.glob("step*_stdout.txt")))) == expected


@run_of
def test_the_error_streams_log_shows_every_request(run: Path, file_of: FileOf) -> None:
    expected = _expected(_truth(run), stored=False)
    compactions = expected.compactions
    failed = compactions.pop("failed", 0)
    unseen = sum(compactions.values())  # WHY["log", "outcome"]
    shown = {"unknown": unseen, "failed": failed}
    told = _told(map(file_of, sorted(run.glob("step*_stderr.txt"))))
    assert told == expected._replace(length=0, compactions={name: n for name, n in shown.items() if n})


@run_of
def test_the_log_file_shows_no_more_than_the_error_stream(run: Path, file_of: FileOf) -> None:
    """WHY["log file", "tail"]."""
    stream = _told(map(file_of, sorted(run.glob("step*_stderr.txt"))))
    logged = _told(map(file_of, sorted(run.glob("log/*.log"))))
    assert all(shown <= whole for shown, whole in zip(logged[:5], stream[:5], strict=True))
    assert sum(logged.compactions.values()) <= sum(stream.compactions.values())


@run_of
def test_a_cut_export_is_the_beginning_of_the_whole_one(run: Path) -> None:
    for cut in sorted(run.glob("export_*.piped_truncated.json")):
        whole = list(read(Source(cut.with_name(cut.name.replace(".piped_truncated", "")))))
        source = Source(cut)
        part = list(read(source))
        # The last reply of the cut one may miss the marker that tells how it ended.
        assert _plain(part[:-1]) == _plain(whole[: len(part) - 1])
        assert (part[-1].record, part[-1].line) == (whole[len(part) - 1].record, whole[len(part) - 1].line)
        (mark,) = source.malformed
        following = [event.line for event in whole[len(part) :] if event.kind != "tool"]
        assert mark.line in following[:1]
        assert f"{cut.stat().st_size:,} bytes" in mark.reason


@run_of
def test_the_persons_prompts_are_told_from_the_agents(run: Path, tmp_path: Path, file_of: FileOf) -> None:
    (session,) = file_of(_copied(run, tmp_path)).sessions
    assert session.prompts == len(_truth(run)["steps"])


@run_of
def test_the_last_reply_to_each_prompt_is_as_the_turn_ended(run: Path, tmp_path: Path) -> None:
    truth = _truth(run)
    ended: list[Event | None] = []
    for event in read(Source(_copied(run, tmp_path))):
        if event.kind == "prompt" and event.origin == "human":
            ended.append(None)
        elif event.kind == "reply":
            ended[-1] = event
    failed = [
        step
        for step, reply in enumerate(ended, 1)
        if reply is None or reply.stop not in GOOD_STOPS or step in truth["killed_steps"]
    ]
    assert failed == sorted({*truth["failed_turns"], *truth["killed_steps"]})


@run_of
def test_replays_and_synthetic_prompts_follow_summaries(run: Path, tmp_path: Path) -> None:
    before: Event | None = None
    for event in read(Source(_copied(run, tmp_path))):
        if event.origin in {"replay", "synthetic"}:
            assert before is not None
            assert before.kind == "compacted"
        elif event.origin == "human":
            assert before is None or before.kind in {"session", "reply", "tool"} or before.outcome == "failed"
        before = event


def test_every_explanation_is_needed(corpus: Path, file_of: FileOf) -> None:
    """What no recording shows needs no excuse."""
    assert corpus.is_dir()
    needed: set[tuple[str, str]] = set()
    for run in _runs():
        truth = _truth(run)
        whole, kept = _expected(truth, stored=False), _expected(truth, stored=True)
        if (whole.transient, whole.broken) > (kept.transient, kept.broken):
            needed |= {("stored", "retries"), ("run", "retries")}
        if "unknown" in whole.compactions:
            needed.add(("run", "unanswered"))
            if not truth["summary_unanswered"]:
                needed.add(("recordings", "cap"))
        if whole.compactions.keys() & {"summary", "no-summary"} or whole.length:
            needed.add(("log", "outcome"))
        stream = [file_of(path) for path in sorted(run.glob("step*_stderr.txt"))]
        if any(event.text == RETRIED for file in stream for session in file.sessions for event in session.events):
            needed.add(("log", "mid-stream"))
        if _told(map(file_of, sorted(run.glob("log/*.log")))) != _told(stream):
            needed.add(("log file", "tail"))
    assert needed == set(WHY)
