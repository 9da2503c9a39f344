from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("openclaw-2026-9", "prompt", "tool", "done") == ["proceed"] * 3


def test_recorded_b_the_second_attempt_finds_nothing_to_compact(acts: Acts) -> None:
    said = acts("openclaw-2026-9", "prompt", "overflow", "summary", "overflow", "nothing")
    assert said == ["proceed", "compact-and-retry", "continue", "compact-and-retry", "show-error!"]


def test_recorded_b3_progress_starts_the_count_again(acts: Acts) -> None:
    said = acts("openclaw-2026-9", *(["overflow", "summary", "tool"] * 12))
    assert said == ["compact-and-retry", "continue", "proceed"] * 12


def test_recorded_c_after_an_empty_summary_every_prompt_fails_before_its_turn(acts: Acts) -> None:
    said = acts("openclaw-2026-9", "done+", "no summary", *(["prompt after done+", "no summary"] * 2))
    assert said == ["compact", "proceed!", *(["compact", "show-error!"] * 2)]


def test_recorded_f_eight_requests_on_overload(acts: Acts) -> None:
    said = acts("openclaw-2026-9", *(["transient", "elapsed"] * 7), "transient")
    assert said == ["wait", "retry"] * 7 + ["show-error!"]


def test_without_progress_three_attempts(acts: Acts) -> None:
    assert acts("openclaw-2026-9", *(["overflow", "summary"] * 3), "overflow")[-1] == "show-error!"
