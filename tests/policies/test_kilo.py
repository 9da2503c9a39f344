from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("kilo", "prompt", "tool", "done") == ["proceed"] * 3


def test_three_compactions_in_a_run_whatever_came_between(acts: Acts) -> None:
    said = acts("kilo", *(["overflow", "summary", "tool", "tool"] * 3), "overflow", "prompt", "overflow")
    assert said[-3:] == ["show-error!", "proceed", "compact"]


def test_issue_9763_a_healthy_long_run_is_ended_too(acts: Acts) -> None:
    assert acts("kilo", *(["tool+", "summary", "tool"] * 3), "tool+")[-1] == "show-error!"


def test_markers_found_before_a_request_count_as_well(acts: Acts) -> None:
    said = acts("kilo", "prompt after done+", "summary", *(["overflow", "summary"] * 2), "overflow")
    assert said[-1] == "show-error!"


def test_transient_errors_have_no_limit(acts: Acts) -> None:
    assert acts("kilo", *(["transient", "elapsed"] * 30)) == ["wait", "retry"] * 30
