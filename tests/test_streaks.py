"""The longest run of recoveries without progress, and whether a policy bounds it."""

from collections.abc import Mapping

import msgspec

from forensics.events import Event
from forensics.replay import find
from forensics.replaying.conform import conform
from forensics.replaying.decisions import Sight, points
from forensics.replaying.streaks import Standing, longest, standing
from forensics.timeline import Session

Row = Mapping[str, object]
OVERFLOW = {"kind": "reply", "stop": "error", "fault": "overflow"}
SUMMARY = {"kind": "compacted", "outcome": "summary", "trigger": "overflow"}
GOOD = {"kind": "reply", "stop": "tool", "context": 10}
CUT = {"kind": "reply", "stop": "length", "output": 5, "context": 10}
ASK = {"kind": "prompt", "origin": "human"}


def _session(*rows: Row, agent: str = "opencode") -> Session:
    made = Session("s", agent, "f")
    for line, one in enumerate(rows, 1):
        made.add(msgspec.convert({**one, "line": line}, Event))
    made.close()
    return made


def _streak(*rows: Row) -> tuple[int, int | None, int | None]:
    found = longest(points(_session(*rows), Sight()))
    return found.length, found.first.line if found.first else None, found.last.line if found.last else None


def _stands(policy: str, *rows: Row, agent: str = "opencode") -> Standing:
    made = points(_session(*rows, agent=agent), Sight())
    return standing(made, conform(made, find(policy), Sight()), longest(made))


def test_an_uneventful_session_has_no_streak() -> None:
    assert _streak(ASK, GOOD, GOOD) == (0, None, None)


def test_compactions_count_until_a_good_reply_or_a_person() -> None:
    rounds = [OVERFLOW, SUMMARY]
    assert _streak(ASK, *rounds, *rounds, OVERFLOW) == (2, 2, 5)
    assert _streak(ASK, *rounds, GOOD, *rounds, *rounds, *rounds) == (3, 5, 10)
    assert _streak(ASK, *rounds, ASK, *rounds) == (1, 2, 3)


def test_a_request_that_follows_a_cut_reply_is_a_recovery() -> None:
    assert _streak(ASK, CUT, CUT, GOOD) == (1, 2, 3)


def test_an_endless_policy_is_shown_by_the_lines_of_the_record() -> None:
    found = _stands("opencode-before", ASK, *([OVERFLOW, SUMMARY] * 5))
    assert (found.bounded, found.figure, found.by_fault) == (False, 5, {"overflow": False})
    assert found.cycle is not None
    assert found.cycle.first is not None
    assert found.cycle.first.line == 2
    assert found.words == "overflow over the threshold → compact, summary → replay, for ever, without delay"


def test_a_bounded_policy_has_its_figure_and_no_cycle() -> None:
    found = _stands("opencode-replo", ASK, *([OVERFLOW, SUMMARY] * 5))
    assert (found.bounded, found.figure, found.cycle, found.by_fault) == (True, 1, None, {"overflow": True})


def test_an_endless_policy_that_the_record_departs_from_has_no_lines() -> None:
    found = _stands("opencode-before", ASK, OVERFLOW, ASK, OVERFLOW, ASK, GOOD)
    assert (found.bounded, found.figure, found.cycle) == (False, None, None)


def test_what_the_record_says_of_its_failures_may_be_supposed() -> None:
    """A cut reply below the threshold alone: atomic-1684 bounds that, though not one above it."""
    found = _stands("atomic-1684", ASK, CUT, CUT, ASK, CUT, GOOD, agent="atomic")
    assert (found.bounded, found.figure, found.assumptions) == (True, 3, ("errors-under-threshold",))


def test_nothing_failed() -> None:
    assert _stands("reference", ASK, GOOD) == Standing(True, 0, None, "nothing failed", {}, ())
