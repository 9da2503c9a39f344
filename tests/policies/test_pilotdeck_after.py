from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("pilotdeck-after", "prompt", "tool", "done") == ["proceed"] * 3


def test_incident_5_the_budget_changes_no_step_of_what_follows_a_failure(acts: Acts) -> None:
    runs = [
        ["tool+", "no summary", "tool+", "tick", "tool+", "summary"],
        ["overflow", "failed", "overflow", "overflow"],
        ["length", "length+", "no summary", "length, empty"],
    ]
    assert [acts("pilotdeck-after", *run) for run in runs] == [acts("pilotdeck-head", *run) for run in runs]
