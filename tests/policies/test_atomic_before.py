from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("atomic-before", "prompt", "tool", "done") == ["proceed"] * 3


def test_incident_1_an_output_budget_error_compacts_and_then_sits_idle(acts: Acts) -> None:
    assert acts("atomic-before", "prompt", "tool", "budget+", "summary") == ["proceed", "proceed", "compact", "proceed"]


def test_recorded_e2_after_the_boundary_the_same_error_finds_no_usage_and_nothing_happens(acts: Acts) -> None:
    said = acts("atomic-before", "prompt", "budget+", "summary", "prompt", "budget+", "prompt", "budget+")
    assert said == ["proceed", "compact", "proceed", "proceed", "stop", "proceed", "stop"]


def test_incident_2_a_cut_reply_below_the_threshold_is_a_dead_end(acts: Acts) -> None:
    assert acts("atomic-before", "prompt", "length") == ["proceed", "stop"]
    assert acts("atomic-before", "prompt", "length+", "summary") == ["proceed", "compact-and-retry", "continue"]


def test_recorded_b_one_retry_per_overflow_then_an_announced_end_and_a_prompt_forgives(acts: Acts) -> None:
    said = acts("atomic-before", "prompt", "overflow", "summary", "overflow", "prompt", "overflow")
    assert said == ["proceed", "compact-and-retry", "continue", "show-error!", "proceed", "compact-and-retry"]


def test_recorded_b3_a_good_step_resets_the_overflow_flag(acts: Acts) -> None:
    said = acts("atomic-before", "overflow", "summary", "tool", "overflow", "summary", "tool", "overflow")
    assert said == ["compact-and-retry", "continue", "proceed"] * 2 + ["compact-and-retry"]


def test_recorded_f_three_retries_then_an_announced_end(acts: Acts) -> None:
    assert acts("atomic-before", *(["transient", "elapsed"] * 3), "transient") == ["wait", "retry"] * 3 + ["stop!"]
