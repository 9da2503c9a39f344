from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("pilotdeck-before", "prompt", "tool", "done") == ["proceed"] * 3


def test_recorded_c4_a_failed_summary_is_skipped_in_silence_and_tried_again_after_the_cooldown(acts: Acts) -> None:
    said = acts("pilotdeck-before", "tool+", "no summary", "tool+", "tool+", "tick", "tool+")
    assert said == ["compact", "proceed", "proceed", "proceed", "proceed", "compact"]


def test_a_new_prompt_keeps_the_cooldown_and_a_restart_loses_it(acts: Acts) -> None:
    assert acts("pilotdeck-before", "tool+", "failed", "prompt after done+")[-1] == "proceed"
    assert acts("pilotdeck-before", "tool+", "failed", "restart", "prompt after done+")[-1] == "compact"


def test_recorded_b_seventy_four_overflows_at_once(acts: Acts) -> None:
    assert acts("pilotdeck-before", "prompt", *(["overflow, unseen"] * 74)) == ["proceed", *(["truncate"] * 74)]


def test_on_an_overflow_it_compacts_at_most_once(acts: Acts) -> None:
    said = acts("pilotdeck-before", "overflow", "summary", "overflow", "tool", "overflow")
    assert said == ["compact-and-retry", "retry", "truncate", "proceed", "truncate"]


def test_recorded_h_a_summary_that_leaves_the_context_too_large_ends_the_turn_aloud(acts: Acts) -> None:
    """Refuted by the recording of v260806: it was taken to go on, as if only head checked the size."""
    assert acts("pilotdeck-before", "tool+", "summary too large") == ["compact", "show-error!"]
