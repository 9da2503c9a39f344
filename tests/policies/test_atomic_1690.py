from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("atomic-1690", "prompt", "tool", "done") == ["proceed"] * 3


def test_recorded_e_all_three_rounds_resume_by_themselves(acts: Acts) -> None:
    said = acts("atomic-1690", "prompt", *(["budget+", "summary", "tool"] * 3))
    assert said == ["proceed", *(["compact-and-retry", "continue", "proceed"] * 3)]


def test_recorded_e2_a_second_error_in_a_row_ends_in_silence(acts: Acts) -> None:
    said = acts("atomic-1690", "prompt", "budget+", "summary", "budget+", "prompt", "budget+")
    assert said == ["proceed", "compact-and-retry", "continue", "stop", "proceed", "stop"]


def test_review_point_d_below_the_threshold_the_error_waits(acts: Acts) -> None:
    assert acts("atomic-1690", "budget") == ["stop"]


def test_review_point_e_a_failed_compaction_spends_the_attempt(acts: Acts) -> None:
    assert acts("atomic-1690", "budget+", "failed", "prompt", "budget+") == [
        "compact-and-retry",
        "proceed!",
        "proceed",
        "stop!",
    ]


def test_the_attempt_is_spent_before_a_prompt_too_where_nothing_is_continued(acts: Acts) -> None:
    assert acts("atomic-1690", "prompt after budget+", "failed", "budget+") == ["compact", "proceed!", "stop!"]
