from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("opencode-v2", "prompt", "tool", "done") == ["proceed"] * 3


def test_one_overflow_recovery_per_step(acts: Acts) -> None:
    assert acts("opencode-v2", "overflow", "summary", "overflow") == ["compact-and-retry", "retry", "show-error"]
    assert acts("opencode-v2", "overflow", "summary", "tool", "overflow")[-1] == "compact-and-retry"


def test_a_rejected_summary_is_asked_for_once_more_then_the_step_fails(acts: Acts) -> None:
    assert acts("opencode-v2", "tool+", "no summary", "no summary") == ["compact", "compact", "show-error!"]


def test_threshold_compactions_across_steps_have_no_counter(acts: Acts) -> None:
    assert acts("opencode-v2", *(["tool+", "summary"] * 9)) == ["compact", "proceed"] * 9


def test_a_finished_reply_over_the_threshold_is_compacted_before_the_next_prompt(acts: Acts) -> None:
    assert acts("opencode-v2", "done+", "prompt after done+", "summary") == ["proceed", "compact", "proceed"]
