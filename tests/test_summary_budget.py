"""Summaries by output budget, and how each endpoint is asked not to reason."""

from pathlib import Path

import msgspec
import pytest

from forensics.events import Event
from forensics.replaying.decisions import Point, Sight, points
from forensics.replaying.optout import FORMATS, opt_out
from forensics.replaying.replay_sums import swept
from forensics.replaying.replays import Asked, replay_file
from forensics.replaying.summary_budget import Attempts, Row, attempts, in_force, sweep
from forensics.timeline import Session

SWEEP = (4_000, 6_000, 12_000, 16_000, 24_000)


def _points(*outcomes: dict[str, object]) -> list[Point]:
    made = Session("s", "pilotdeck", "f")
    for one in outcomes:
        made.add(msgspec.convert({"kind": "compacted", **one}, Event))
    made.close()
    return points(made, Sight())


CUT = {"outcome": "no-summary", "fault": "truncated-summary", "requests": 1}
EMPTY = {"outcome": "no-summary", "fault": "empty-summary", "requests": 1}
ECHO = {**CUT, "requests": 0}
BROKEN = {"outcome": "no-summary", "fault": "transport", "requests": 1}


def _made(output: int, reasoning: int = 0) -> dict[str, object]:
    return {"outcome": "summary", "requests": 1, "output": output, "reasoning": reasoning}


def test_calls_are_counted_and_echoes_are_not() -> None:
    assert attempts(_points(CUT, ECHO, EMPTY, BROKEN, _made(900), _made(2_500, 600))) == Attempts(5, 2, 1, (900, 1_900))


def test_the_budget_of_the_fix_is_the_smaller_of_what_is_asked_and_two_fifths_of_the_context() -> None:
    assert [in_force(16_000, context) for context in (95_232, 20_000, None)] == [16_000, 8_000, 16_000]
    assert in_force(1_536, 95_232) == 1_536
    assert in_force(1_536, 3_000) == 1_200


def test_what_is_not_on_record_stays_an_interval() -> None:
    found = attempts(_points(CUT, CUT, EMPTY))
    assert sweep(found, (4_000, 16_000), 95_232) == [
        Row(4_000, 4_000, True, 3, 3, 3),
        Row(4_000, 4_000, False, 0, 3, 3),
        Row(16_000, 16_000, True, 0, 3, 3),
        Row(16_000, 16_000, False, 0, 3, 3),
    ]


def test_the_lengths_of_successes_narrow_it_without_reasoning() -> None:
    found = attempts(_points(CUT, EMPTY, _made(667), _made(1_869)))
    assert [(row.least, row.most) for row in sweep(found, (600, 1_000, 4_000), None) if not row.reasoning] == [
        (2, 2),
        (0, 2),
        (0, 0),
    ]


def test_the_table_of_the_incident(samples: Path) -> None:
    """39 calls: 27 cut or empty, 4 broken streams, and 8 in flight when the gateway went."""
    log = samples / "incidents" / "pilotdeck" / "runtime.log"
    found = swept(replay_file(log, "runtime.log", Asked(budgets=SWEEP)).sessions)
    rows = [(row.max_output, row.in_force, row.reasoning, row.cut_or_empty, row.calls) for row in found]
    assert rows == [
        (4_000, 4_000, True, [27, 27], 39),
        (4_000, 4_000, False, [27, 0], 39),
        (6_000, 6_000, True, [27, 0], 39),
        (6_000, 6_000, False, [27, 0], 39),
        (12_000, 12_000, True, [27, 0], 39),
        (12_000, 12_000, False, [27, 0], 39),
        (16_000, 16_000, True, [27, 0], 39),
        (16_000, 16_000, False, [27, 0], 39),
        (24_000, 24_000, True, [27, 0], 39),
        (24_000, 24_000, False, [27, 0], 39),
    ]
    known = swept(replay_file(log, "runtime.log", Asked(budgets=SWEEP, natural=(667, 1_869))).sessions)
    assert [row.cut_or_empty for row in known if not row.reasoning] == [[0, 0]] * 5


@pytest.mark.parametrize(
    ("format_", "wire"),
    [
        ("openai", {"reasoning_effort": "none"}),
        ("anthropic", {"thinking": {"type": "disabled"}}),
        ("thinking-type", {"thinking": {"type": "disabled"}}),
        ("qwen-cloud", {"enable_thinking": False}),
        ("qwen-local", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("openrouter", {"reasoning": {"enabled": False}}),
        ("google", None),
        ("server-default", None),
        ("always-thinking", None),
        ("an endpoint that nobody listed", {"reasoning_effort": "none"}),
    ],
)
def test_each_endpoint_spells_the_opt_out_its_own_way(format_: str, wire: dict[str, object] | None) -> None:
    assert opt_out(format_) == wire
    assert opt_out(format_, fixed=False) is None


def test_a_model_that_always_reasons_cannot_be_asked() -> None:
    assert opt_out("openai", "kimi-k3-turbo") is None
    assert opt_out("openai", "moonshot/GLM-5.3-air") is None
    assert opt_out("openai", "glm-5.2") == {"reasoning_effort": "none"}
    assert [name for name, one in FORMATS.items() if one.wire is None] == [
        "google",
        "server-default",
        "always-thinking",
    ]
