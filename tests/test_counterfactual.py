"""What another policy would have saved: exact figures for the five incidents, and the rules on small sessions."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forensics.events import Event
from forensics.parse import Source, read, recognise
from forensics.replay import find
from forensics.replaying.conform import conform
from forensics.replaying.counterfactual import counterfactual
from forensics.replaying.decisions import Point, Sight, points, sight
from forensics.replaying.episodes import Cost
from forensics.replaying.growth import Lived, recorded, relive
from forensics.replaying.replay_report import PolicyReplay
from forensics.replaying.replays import Asked, replay_file
from forensics.timeline import File, Session

Figures = dict[str, list[float | None]]
Policies = Callable[[str], dict[str, PolicyReplay]]

NAMES = ("manual_continues", "compactions", "paid_summaries", "model_calls", "tokens", "dollars", "hours")


def row(kind: str, **fields: Any) -> Event:
    return msgspec.convert({"kind": kind, **fields}, Event)


def session(*rows: Event, agent: str = "atomic") -> Session:
    made = Session("s", agent, "f")
    for line, one in enumerate(rows, 1):
        one.line = line
        made.add(one)
    made.close()
    return made


def avoided(made: Session, name: str, seen: Sight | None = None) -> Figures:
    look = seen or Sight()
    found = points(made, look)
    other = counterfactual(made, found, conform(found, find(name), look), look)
    figures = {one: list(other.interval(one)) for one in NAMES}
    return {one: ends for one, ends in figures.items() if ends != [0, 0]}


@pytest.fixture
def incident(samples: Path) -> Policies:
    def run(name: str) -> dict[str, PolicyReplay]:
        (one,) = replay_file(samples / "incidents" / name, name, Asked()).sessions
        return {policy.policy: policy for policy in one.policies}

    return run


def shown(policy: PolicyReplay) -> Figures:
    changed = {name: ends for name, ends in policy.counterfactual.items() if any(end != 0 for end in ends)}
    return {name.removesuffix("_avoided"): ends for name, ends in changed.items()}


def test_a_policy_that_conforms_changes_nothing() -> None:
    made = session(row("prompt", origin="human"), row("reply", stop="error", fault="output-budget"))
    assert avoided(made, "atomic-before") == {}


def test_a_continue_saves_a_person_if_it_works_and_costs_a_request_if_it_does_not() -> None:
    rows = [
        row("prompt", origin="human", ts=0),
        row("reply", stop="length", output=9, context=50, input=41, cost=0.5, ts=1_000),
        row("prompt", origin="human", ts=3_601_000),
        row("reply", stop="done", context=60, ts=3_602_000),
    ]
    assert avoided(session(*rows), "atomic-1684") == {
        "manual_continues": [0, 1],
        "model_calls": [-3, 0],
        "tokens": [-150, 0],
        "dollars": [-1.5, 0.0],
        "hours": [0.0, 1.0],
    }


def test_what_a_policy_stops_is_saved_for_certain() -> None:
    summary = {"outcome": "summary", "trigger": "overflow", "input": 100, "output": 10, "cost": 0.25}
    rows = [row("prompt", origin="human", ts=0)]
    for turn in range(4):
        rows += [
            row("reply", stop="error", fault="overflow", ts=turn * 60_000 + 1_000),
            row("compacted", **summary, ts=turn * 60_000 + 31_000),
        ]
    assert avoided(session(*rows, agent="opencode"), "opencode-37584") == {
        "compactions": [2, 2],
        "paid_summaries": [2, 2],
        "model_calls": [3, 3],
        "tokens": [220, 220],
        "dollars": [0.5, 0.5],
        "hours": [0.025, 0.025],
    }


def test_a_policy_that_stops_what_went_on_well_costs_a_person() -> None:
    rows = [
        row("prompt", origin="human"),
        row("reply", stop="length", output=9, context=50),
        row("reply", stop="done", context=60),
        row("prompt", origin="human"),
        row("reply", stop="done", context=70),
    ]
    assert avoided(session(*rows), "atomic-before")["manual_continues"] == [-1, -1]


def test_where_prompts_are_hidden_a_person_may_have_written_at_once() -> None:
    rows = [row("prompt", origin="human", ts=0)]
    for turn in range(4):
        rows += [
            row("reply", stop="error", fault="overflow", ts=turn * 1000),
            row("compacted", outcome="summary", trigger="overflow", ts=turn * 1000 + 500),
        ]
    found = avoided(session(*rows, agent="opencode"), "opencode-37584", Sight(prompts=False))
    assert found["compactions"] == [0, 2]


def test_unknown_prices_stay_unknown() -> None:
    rows = [row("prompt", origin="human")]
    for _ in range(3):
        rows += [row("reply", stop="error", fault="overflow"), row("compacted", outcome="summary", trigger="overflow")]
    found = avoided(session(*rows, agent="opencode"), "opencode-replo")
    assert (found["compactions"], found["tokens"], found["dollars"]) == ([2, 2], [None, None], [None, None])
    assert found["hours"] == [None, None]


def test_a_policy_without_an_end_has_no_pessimistic_figures() -> None:
    rows = [
        row("prompt", origin="human"),
        row("reply", stop="error", fault="overflow"),
        row("prompt", origin="human"),
        row("reply", stop="done", context=9),
    ]
    found = avoided(session(*rows, agent="opencode"), "opencode-before")
    assert found["manual_continues"] == [None, 1]


def test_a_cost_taken_from_itself_is_nothing() -> None:
    cost = Cost(manual_continues=1, tokens=5, dollars=0.5, looping=1.0)
    assert cost.less(cost) == Cost()


def test_incident_1690_four_of_four_continues_automatic(incident: Policies) -> None:
    found = incident("atomic-1690/session.jsonl")
    for name in ("atomic-1690", "atomic-head", "reference"):
        assert shown(found[name]) == {"manual_continues": [0, 4], "model_calls": [-4, 0], "hours": [0.0, 2.51]}
        assert found[name].notes == ["goes on by itself at 4 of 4 places where a person had to write"]
    assert shown(found["atomic-before"]) == {}


def test_incident_1684_three_of_three(incident: Policies) -> None:
    found = incident("atomic-1684/session.jsonl")["atomic-1684"]
    assert shown(found) == {
        "manual_continues": [0, 3],
        "model_calls": [-8, 0],
        "tokens": [-398_280, 0],
        "dollars": [-0.775181, 0.0],
        "hours": [0.0, 0.234444],
    }
    assert (found.verdict.bounded, found.verdict.figure) == (True, 3)


def test_incident_replo_2145_cycles_become_one_summary(incident: Policies) -> None:
    """At most two summaries, says the report; here no summary was made before the message, so it is one."""
    found = incident("opencode-replo/opencode.db")
    before, fixed = found["opencode-before"], found["opencode-replo"]
    assert shown(fixed) == {
        "compactions": [2144, 2144],
        "paid_summaries": [2144, 2144],
        "model_calls": [4288, 4288],
        "tokens": [1_246_184_540, 1_246_184_540],
        "dollars": [295.862, 295.862],
        "hours": [12.793449, 12.793449],
    }
    assert (fixed.verdict.bounded, fixed.verdict.figure) == (True, 1)
    assert (before.verdict.bounded, before.verdict.figure, before.verdict.cycle) == (False, 2145, None)
    assert before.verdict.records == ["msg_ffe6fc864018LqlR4PcJXbh5Ye", "msg_0012ede4d31btFIWuIAbpNWVEg"]


def test_incident_37584_thirty_five_end_at_the_third(incident: Policies) -> None:
    found = incident("opencode-37584/export.json")
    assert shown(found["opencode-37584"]) == {
        "compactions": [33, 33],
        "paid_summaries": [33, 33],
        "model_calls": [66, 66],
        "tokens": [3_401_178, 3_401_178],
        "dollars": [10.23, 10.23],
        "hours": [1.061951, 1.061951],
    }
    assert shown(found["opencode-37584 (a third summary)"])["paid_summaries"] == [32, 32]
    before = found["opencode-before"].verdict
    assert (before.bounded, before.figure, before.cycle) == (False, 35, [985, 5801])


def test_incident_pilotdeck_a_larger_budget_bounds_nothing(samples: Path) -> None:
    sessions = replay_file(samples / "incidents" / "pilotdeck" / "runtime.log", "runtime.log", Asked()).sessions
    found = [{policy.policy: policy for policy in one.policies} for one in sessions]
    after = [one["pilotdeck-after"] for one in found]
    assert [one.counterfactual["compactions_avoided"] for one in after] == [[4, 4], [34, 37], [4, 4]]
    assert [one.counterfactual["paid_summaries_avoided"] for one in after] == [[3, 3], [7, 11], [4, 4]]
    assert [one.counterfactual["dollars_avoided"] for one in after] == [[None, None]] * 3
    assert [one.verdict.bounded for one in after] == [False] * 3
    assert "bounds nothing by itself: a context that stays full is compacted for ever" in after[1].notes
    assert any("correlated" in note for note in after[1].notes)
    assert after[1].notes[0].startswith("largest prompt 799,094 tokens, then 313,252 to 587,731")
    assert [one["pilotdeck-before"].verdict.cycle for one in found] == [[2579, 3185], [189, 2330], [2393, 3248]]
    assert [one.streak.recoveries for one in sessions] == [8, 50, 9]


def _log(*sizes: int, minutes: int = 2) -> list[Point]:
    def made() -> Iterator[Event]:
        for at, size in enumerate(sizes):
            yield row("compact", trigger="threshold", context=size, cap=1000, ts=at * minutes * 60_000)
            yield row(
                "compacted", outcome="no-summary", fault="empty-summary", messages=size - 100, requests=1,
                ts=at * minutes * 60_000 + 500,
            )  # fmt: skip

    return points(session(*made(), agent="pilotdeck"), Sight(prompts=False, replies=False, cuts=True))


def test_the_logic_on_record_lives_the_day_as_recorded(samples: Path) -> None:
    """The check of the method: where each failed summary fails again and nothing is cut, the record comes back."""
    log = samples / "incidents" / "pilotdeck" / "runtime.log"
    chosen = recognise(log)
    file = File("runtime.log", chosen.name, chosen.agent, log=True).build(read(Source(log), chosen))
    for one in file.sessions:
        made = points(one, sight(chosen, "yes"), None, file.host)
        assert relive(made, 95_232, succeed=False, emergency=False) == recorded(made)


def test_a_summary_leaves_the_target_and_an_emergency_cut_a_tenth() -> None:
    made = _log(950, 1200, 1500, 1900)
    assert relive(made, 1000, succeed=True, emergency=True) == Lived(3, 3, 1150)
    assert relive(made, 1000, succeed=False, emergency=True) == Lived(2, 2, 1135)


def test_without_sizes_nothing_is_lived_again() -> None:
    made = points(session(row("compacted", outcome="failed", fault="transport"), agent="pilotdeck"), Sight())
    assert relive(made, 1000, succeed=True, emergency=True) is None
