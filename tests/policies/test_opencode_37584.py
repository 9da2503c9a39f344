from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("opencode-37584", "prompt", "tool", "done") == ["proceed"] * 3


def test_the_third_overflow_fails_with_two_summaries_paid(acts: Acts) -> None:
    said = acts("opencode-37584", *(["overflow", "summary"] * 2), "overflow")
    assert said == ["compact", "replay", "compact", "replay", "show-error!"]


def test_or_the_fourth_with_three(acts: Acts) -> None:
    said = acts("opencode-37584", *(["overflow", "summary"] * 3), "overflow", fail_on_third=False)
    assert said == ["compact", "replay"] * 3 + ["show-error!"]


def test_any_other_result_resets_the_count_and_so_does_a_prompt(acts: Acts) -> None:
    assert acts("opencode-37584", *(["overflow", "summary"] * 2), "tool", "overflow")[-1] == "compact"
    assert acts("opencode-37584", *(["overflow", "summary"] * 2), "overflow", "prompt", "overflow")[-1] == "compact"


def test_steps_that_finish_over_the_threshold_count_or_not(acts: Acts) -> None:
    assert acts("opencode-37584", *(["done+", "no summary"] * 2), "done+")[-1] == "show-error!"
    said = acts("opencode-37584", *(["done+", "no summary"] * 28), count_threshold=False)
    assert said == ["compact", "continue"] * 28
