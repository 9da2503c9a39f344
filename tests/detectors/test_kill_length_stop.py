"""The limits of the length-stop detector, each on both sides."""

import pytest

from tests.rows import failed, found, prompt, reply

REFUSAL = "I'm sorry, but I cannot assist with that."


def test_a_reply_that_failed_otherwise_is_no_length_stop() -> None:
    assert not found("length-stop", prompt(), failed("rate-limit"), prompt("continue"), reply())


@pytest.mark.parametrize(
    ("usage", "text", "fires"),
    [
        ({}, REFUSAL, False),
        ({"input": 10}, REFUSAL, True),
        ({"output": 10}, REFUSAL, True),
        ({"input": 10, "output": 10}, REFUSAL, True),
        ({}, "The fence is", True),
        ({}, None, True),
    ],
)
def test_only_a_canned_refusal_without_any_usage_is_none(usage: dict[str, int], text: str | None, fires: bool) -> None:
    assert bool(found("length-stop", prompt(), reply("length", text=text, **usage))) is fires


@pytest.mark.parametrize(
    ("sizes", "cap"), [((500, 500), 500), ((500, 501), None), ((None, None), None), ((0, 0), None)]
)
def test_the_limit_is_named_when_two_replies_were_cut_at_the_same_size(
    sizes: tuple[int | None, int | None], cap: int | None
) -> None:
    (finding,) = found("length-stop", prompt(), *(reply("length", output=size) for size in sizes))
    assert (finding.measures["stops"], finding.measures["output_cap"]) == (2, cap)


def test_the_limit_is_named_across_runs_and_never_by_a_reply_of_another_size() -> None:
    rows = (prompt(), reply("length", output=500), reply(), prompt(), reply("length", output=500), reply("length"))
    one, two = found("length-stop", *rows)
    assert (one.measures["output_cap"], two.measures["output_cap"]) == (500, 500)


def test_of_two_sizes_that_came_twice_in_a_run_the_greater_is_the_limit() -> None:
    """What was generated once was allowed: the limit is no less."""
    cut = (reply("length", output=size) for size in (500, 300, 500, 300))
    (finding,) = found("length-stop", prompt(), *cut)
    assert finding.measures["output_cap"] == 500


def test_who_went_on_decides_how_bad_it_is() -> None:
    (agent,) = found("length-stop", prompt(), reply("length"), reply("tool"))
    (person,) = found("length-stop", prompt(), reply("length"), prompt("continue"), reply())
    (nothing,) = found("length-stop", prompt(), reply("length"))
    (both,) = found("length-stop", prompt(), reply("length"), reply("length"), prompt("continue"), reply())
    assert [one.severity for one in (agent, person, nothing, both)] == ["note", "warning", "warning", "warning"]
    assert both.measures == {"stops": 2, "output_cap": None, "by_agent": 1, "by_person": 1, "by_nothing": 0}
    assert (nothing.lines, both.lines) == ([2], [2, 3, 4])
