from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("opencode-replo", "prompt", "tool", "done") == ["proceed"] * 3


def test_incident_3_a_second_overflow_without_a_finished_step_is_an_error_row(acts: Acts) -> None:
    assert acts("opencode-replo", "overflow", "summary", "overflow") == ["compact", "replay", "show-error!"]


def test_the_stall_is_read_from_the_rows_so_a_new_prompt_does_not_clear_it(acts: Acts) -> None:
    said = acts("opencode-replo", "overflow", "summary", "overflow", "prompt", "overflow", "prompt", "done", "overflow")
    assert said[3:] == ["proceed", "show-error!", "proceed", "proceed", "compact"]


def test_a_message_larger_than_the_window_is_not_replayed(acts: Acts) -> None:
    assert acts("opencode-replo", "overflow", "summary too large") == ["compact", "show-error!"]


def test_compactions_over_the_threshold_are_not_checked(acts: Acts) -> None:
    assert acts("opencode-replo", *(["done+", "no summary"] * 28)) == ["compact", "continue"] * 28
