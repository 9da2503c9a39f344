"""Decision points of hand-made and of recorded sessions, and how policies agree with them."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.events import Event
from forensics.parse import Source, read, recognise
from forensics.proof.environment import START, World, answers, follow
from forensics.proof.witness import witness_events
from forensics.prove import prove
from forensics.replay import Policy, Signal, find, policies, stepper
from forensics.replaying.conform import Conformance, conform
from forensics.replaying.decisions import Point, Sight, points, sight
from forensics.replaying.measures import Given
from forensics.timeline import File, Session

Make = Callable[[], Event]
SHOWN = Sight()
HIDDEN = Sight(failures=False, whole=False)


def session(*rows: Event, agent: str = "atomic") -> Session:
    made = Session("s", agent, "f")
    for line, row in enumerate(rows, 1):
        row.line = line
        made.add(row)
    made.close()
    return made


def prompt(text: str = "go") -> Event:
    return Event(kind="prompt", origin="human", text=text, size=len(text))


def reply(stop: str = "done", context: int | None = 1000, **more: object) -> Event:
    return msgspec.convert({"kind": "reply", "stop": stop, "context": context, **more}, Event)


def failed(fault: str) -> Event:
    return reply("error", None, fault=fault)


def compacted(outcome: str = "summary", **more: object) -> Event:
    return msgspec.convert({"kind": "compacted", "outcome": outcome, **more}, Event)


def judged(
    made: Session, name: str, seen: Sight = SHOWN, size: Given | None = None, **options: object
) -> tuple[int, int, int]:
    found = conform(points(made, seen, size), find(name), seen, {k.replace("_", "-"): v for k, v in options.items()})
    assert found.decisions == found.equal + found.undetermined + len(found.departures)
    return found.equal, found.undetermined, len(found.departures)


def departs(found: Conformance, made: list[Point]) -> tuple[int | None, str, tuple[str, ...]]:
    assert found.departs is not None
    return made[found.departs.at].row.line, found.departs.recorded, found.departs.policy


def test_an_uneventful_session_holds_no_decision() -> None:
    made = session(prompt(), reply("tool"), reply("tool"), reply("done"), prompt(), reply("done"))
    assert not any(point.decides for point in points(made, SHOWN))
    for name in policies():
        assert judged(made, name) == (0, 0, 0)


def test_a_recorded_compaction_says_that_the_context_was_over() -> None:
    made = session(prompt(), reply("done", 900), compacted(trigger="threshold"), prompt(), reply("done"))
    (point,) = [one for one in points(made, SHOWN) if one.row.line == 2]
    assert (point.signals, point.decides, point.basis, point.recorded) == (
        (Signal("reply", "done", over=True),),
        True,
        "recorded",
        "compact",
    )


def test_a_compaction_that_a_person_asked_for_decides_nothing() -> None:
    made = session(prompt(), reply("done"), compacted(trigger="manual"), prompt(), reply("done"))
    assert [one.kind for one in points(made, SHOWN)] == ["prompt", "reply", "manual", "prompt", "reply"]
    assert judged(made, "atomic-1690") == (0, 0, 0)


def test_whether_a_cut_reply_is_over_the_threshold_stays_open_where_nothing_tells() -> None:
    made = session(prompt(), reply("length", 900, output=50), prompt(), reply("tool", 10))
    (point,) = [one for one in points(made, HIDDEN) if one.decides]
    assert {one.over for one in point.signals} == {False}
    late = session(prompt(), reply("length", 900, output=50))
    (point,) = [one for one in points(late, HIDDEN) if one.decides]
    assert ({one.over for one in point.signals}, {one.output for one in point.signals}, point.basis) == (
        {True, False},
        {"some", "full"},
        "unknown",
    )


def test_the_window_and_the_reserve_of_the_user_settle_it() -> None:
    made = session(prompt(), reply("length", 900, output=50))
    (point,) = [one for one in points(made, HIDDEN, Given(1000, 50, 200)) if one.decides]
    assert point.signals == (Signal("reply", "length", over=True, output="full"),)
    (point,) = [one for one in points(made, HIDDEN, Given(1000, 60, 100)) if one.decides]
    assert point.signals == (Signal("reply", "length", output="some"),)


def test_a_compaction_that_the_format_hides_may_explain_what_came_next() -> None:
    made = session(prompt(), failed("overflow"), prompt(), reply("done"))
    assert judged(made, "pi") == (0, 0, 1)
    assert judged(made, "pi", HIDDEN) == (0, 1, 0)


def test_a_continuation_may_be_lost_where_a_new_process_read_the_prompt() -> None:
    """Atomic names the session when it starts: a prompt after the name is a new process's."""
    name = Event(kind="note", text="session name pi-workflows-parent-1")
    rows = [prompt(), failed("output-budget"), compacted(), prompt("continue"), reply("done")]
    assert judged(session(name, *rows), "atomic-1690", HIDDEN) == (1, 0, 1)
    assert judged(session(name, *rows[:3], name, *rows[3:]), "atomic-1690", HIDDEN) == (1, 1, 0)
    assert judged(session(*rows), "atomic-before", HIDDEN) == (2, 0, 0)


def test_without_names_only_a_second_continuation_after_a_prompt_may_be_lost() -> None:
    """Recorded in print mode: the process waits for one; `d_length_continue` of head loses a second at each prompt."""
    cut = {"output": 9, "context": 50}
    first = [prompt(), reply("length", **cut), prompt("continue"), reply("done", 60)]
    assert judged(session(*first), "atomic-1690", HIDDEN) == (0, 0, 1)
    assert judged(session(*first), "pi", HIDDEN) == (1, 0, 0)
    second = [prompt(), reply("length", **cut), reply("length", **cut), prompt("continue"), reply("done", 60)]
    assert judged(session(*second), "atomic-1690", HIDDEN) == (1, 1, 0)


def test_the_agents_own_word_decides_though_the_session_ends() -> None:
    made = session(prompt(), failed("output-budget"), compacted(trigger="threshold", will_retry=True))
    assert judged(made, "atomic-1690") == (2, 0, 0)
    assert judged(made, "atomic-before") == (1, 0, 1)
    told = session(prompt(), failed("output-budget"), compacted(trigger="threshold", will_retry=False))
    assert judged(told, "atomic-1690") == (1, 0, 1)
    assert judged(told, "atomic-before") == (2, 0, 0)


def test_a_promise_before_a_prompt_means_nothing() -> None:
    """Recorded in `b_overflow_loop` of Atomic: `willRetry` is true, but the prompt takes the turn."""
    made = session(compacted(trigger="overflow", will_retry=True), prompt(), reply("done"))
    assert judged(made, "atomic-1690") == (1, 0, 0)


def test_after_a_departure_the_policy_stands_where_the_record_is() -> None:
    rows = [prompt(), failed("overflow"), prompt(), failed("overflow"), compacted(trigger="overflow"), reply("done")]
    made = session(*rows)
    listed = points(made, SHOWN)
    found = conform(listed, find("pi"), SHOWN)
    assert departs(found, listed) == (2, "nothing until a person wrote", ("compact-and-retry",))
    assert (found.equal, found.undetermined, len(found.departures)) == (2, 0, 1)


def test_a_refused_or_aborted_reply_is_no_decision_of_a_policy() -> None:
    for event in (failed("auth"), reply("aborted", None), reply("empty")):
        made = session(prompt(), event, prompt(), reply("done"))
        assert judged(made, "atomic-1690") == (0, 0, 0)


def test_an_error_of_unknown_class_leaves_open_what_the_policy_was_told() -> None:
    made = session(prompt(), failed("unknown"), reply("done"), agent="pilotdeck")
    assert judged(made, "pilotdeck-before") == (0, 1, 0)


@pytest.mark.parametrize("name", sorted(policies()))
def test_no_state_changes_any_more_after_sixteen_good_replies(name: str) -> None:
    """So the middle of a run of good replies, which a session does not keep, can be told as sixteen of them."""
    one = find(name)
    step = stepper(one)
    good = Signal("reply", "tool")
    for state in _states(one):
        for _ in range(16):
            state = step(state, good).state  # noqa: PLW2901  (the state goes on)
        assert step(state, good).state == state


def _states(one: Policy, most: int = 3_000) -> list[object]:
    world = World()
    step = stepper(one)
    seen = {(one.start, START)}
    queue = [(one.start, START)]
    while queue and len(seen) < most:
        state, asked = queue.pop()
        for signal in answers(asked, world):
            answer = step(state, signal)
            pair = (answer.state, follow(asked, signal, answer.action, answer.announced, world))
            if pair not in seen:
                seen.add(pair)
                queue.append(pair)
    return [state for state, _ in seen]


@given(st.lists(st.sampled_from(["done", "tool", "length", "overflow", "budget", "rate", "made", "none", "ask"])))
def test_any_order_of_rows_can_be_followed(words: list[str]) -> None:
    kinds: dict[str, Make] = {
        "done": lambda: reply("done"),
        "tool": lambda: reply("tool"),
        "length": lambda: reply("length", output=9),
        "overflow": lambda: failed("overflow"),
        "budget": lambda: failed("output-budget"),
        "rate": lambda: failed("rate-limit"),
        "made": compacted,
        "none": lambda: compacted("no-summary"),
        "ask": prompt,
    }
    made = session(*(kinds[word]() for word in words))
    for seen in (SHOWN, HIDDEN):
        for name in ("atomic-1690", "opencode-before", "pilotdeck-head", "reference"):
            judged(made, name, seen)


def _load(path: Path) -> tuple[Session, Sight]:
    chosen = recognise(path)
    source = Source(path)
    file = File(path.name, chosen.name, chosen.agent, log=chosen.log).build(read(source, chosen))
    return file.sessions[0], sight(chosen, source.failures or chosen.failures)


def test_incident_1690_ran_the_logic_before_it(samples: Path) -> None:
    made, seen = _load(samples / "incidents" / "atomic-1690" / "session.jsonl")
    listed = points(made, seen)
    for name in ("atomic-before", "atomic-1684"):
        assert conform(listed, find(name), seen).departures == []
    found = conform(listed, find("atomic-1690"), seen)
    assert departs(found, listed) == (388, "nothing until a person wrote", ("continue",))
    assert [listed[one.at].row.line for one in found.departures] == [388, 695, 887, 1086]


def test_incident_1684_ran_the_logic_before_it(samples: Path) -> None:
    made, seen = _load(samples / "incidents" / "atomic-1684" / "session.jsonl")
    listed = points(made, seen)
    assert conform(listed, find("atomic-before"), seen).equal == 3
    found = conform(listed, find("atomic-1684"), seen)
    assert [listed[one.at].row.line for one in found.departures] == [20, 32, 34]
    assert departs(found, listed) == (20, "nothing until a person wrote", ("continue",))


def test_the_counter_leak_is_the_logic_of_1684_alone(samples: Path) -> None:
    made, seen = _load(samples / "incidents" / "atomic-1684" / "counter-leak.jsonl")
    listed = points(made, seen, Given(cap=272_000))
    assert judged(made, "atomic-1684", seen, Given(cap=272_000)) == (5, 0, 0)
    found = conform(listed, find("atomic-before"), seen)
    assert departs(found, listed) == (14, "went on", ("stop",))


def test_a_compaction_after_a_finished_turn_may_be_a_persons_where_the_file_does_not_say_why_it_ran() -> None:
    """Recorded in `i_user_abort_rpc` of pi 1.6: 9,926 tokens of 16,000, and a person's /compact."""
    made = session(prompt(), reply("done", 900), compacted(), prompt(), reply("done"))
    found = points(made, HIDDEN)
    assert [(one.kind, one.perhaps, len(one.signals)) for one in found[1:3]] == [
        ("reply", False, 2),
        ("compacted", True, 1),
    ]
    assert judged(made, "pi", HIDDEN) == (1, 0, 0)


def test_a_compaction_after_a_failure_is_the_agents_own() -> None:
    made = session(prompt(), failed("output-budget"), compacted(), prompt(), reply("done"))
    found = points(made, HIDDEN)
    assert [(one.perhaps, one.basis) for one in found if one.decides] == [(False, "inferred"), (False, "recorded")]


def test_a_compaction_written_right_before_a_prompt_waited_for_it() -> None:
    def at(ts: int) -> list[bool | None]:
        rows = [prompt(), failed("overflow"), compacted(), prompt(), reply("done")]
        for row, when in zip(rows, (0, 1000, 5000, ts, ts + 10), strict=True):
            row.ts = when
        return [one.early for one in points(session(*rows), HIDDEN) if one.kind == "compacted"]

    assert at(5_003) == [True]
    assert at(5_800) == [False]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(policies()))
def test_the_witness_of_a_loop_conforms_to_the_policy_that_it_is_of(name: str) -> None:
    """A second method for both: what the prover found and wrote as a transcript, the replay finds to be the policy."""
    policy = find(name)
    verdicts = prove(policy).verdicts
    for judged_so in (verdicts["bounded"], verdicts["paced"]):
        for verdict in (judged_so.overall, *judged_so.by_fault.values()):
            if verdict.holds:
                continue
            (made,) = File("w", "plain", "plain").build(witness_events(verdict.witness, agent=name)).sessions
            found = conform(points(made, SHOWN), policy, SHOWN)
            assert found.departures == []
            assert found.equal + found.undetermined == found.decisions


def test_a_context_cut_without_a_summary_is_the_truncation_that_a_policy_makes() -> None:
    rows = [prompt(), failed("overflow"), compacted("dropped"), reply("done"), prompt()]
    assert judged(session(*rows, agent="pilotdeck"), "pilotdeck-head") == (2, 0, 0)
    assert judged(session(*rows), "atomic-1690") == (2, 0, 0)


def test_a_preflight_that_fails_ends_the_turn_aloud_at_every_prompt() -> None:
    """OpenClaw after an empty summary: stuck, and each prompt pays for a summary again."""
    seen = Sight(announced=True, preflight=True)
    stuck = [
        prompt(),
        Event(kind="compact", trigger="threshold"),
        compacted("no-summary", trigger="threshold", will_retry=False),
        Event(kind="note", text="recovery ended: preflight compaction required but failed"),
    ]
    made = session(
        prompt(), reply("done", 900), *stuck, *msgspec.json.decode(msgspec.json.encode(stuck), type=list[Event])
    )
    assert judged(made, "openclaw-2026-9", seen) == (4, 0, 0)
    assert judged(made, "openclaw", seen) == (2, 0, 2)
