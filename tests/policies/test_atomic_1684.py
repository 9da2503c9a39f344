from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("atomic-1684", "prompt", "tool", "done") == ["proceed"] * 3


def test_a_cut_reply_is_continued_three_times_then_the_turn_ends_without_a_word(acts: Acts) -> None:
    assert acts("atomic-1684", "prompt", *(["length"] * 4)) == ["proceed", "continue", "continue", "continue", "stop"]


def test_review_point_a_the_counter_leaks_into_the_next_prompt(acts: Acts) -> None:
    assert acts("atomic-1684", *(["length"] * 4), "prompt", "length")[-1] == "stop"


def test_incident_2_the_counter_leaks_only_where_the_last_continuation_was_cut_too(acts: Acts) -> None:
    assert acts("atomic-1684", *(["length"] * 3), "done", "prompt", "length")[-1] == "continue"


def test_review_point_b_a_skipped_continuation_spends_the_counter(acts: Acts) -> None:
    said = acts("atomic-1684", *(["length", "skipped"] * 3), "length")
    assert said == ["continue", "proceed"] * 3 + ["stop"]


def test_a_reply_cut_without_output_is_not_continued(acts: Acts) -> None:
    assert acts("atomic-1684", "length, empty") == ["stop"]


def test_a_cut_reply_before_a_prompt_is_not_continued(acts: Acts) -> None:
    assert acts("atomic-1684", "prompt after length+", "summary") == ["compact", "proceed"]


def test_over_the_threshold_nothing_counts(acts: Acts) -> None:
    assert acts("atomic-1684", *(["length+", "summary"] * 5)) == ["compact-and-retry", "continue"] * 5
