from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("atomic-head", "prompt", "tool", "done") == ["proceed"] * 3


def test_a_compaction_in_mid_turn_goes_on_by_itself(acts: Acts) -> None:
    assert acts("atomic-head", "tool+", "summary", "tool+", "failed") == ["compact", "proceed", "compact", "proceed!"]


def test_recorded_e_an_error_right_after_the_boundary_waits(acts: Acts) -> None:
    assert acts("atomic-head", "tool+", "summary", "budget+", "prompt", "budget+") == [
        "compact",
        "proceed",
        "stop",
        "proceed",
        "stop",
    ]


def test_a_reply_cut_below_the_output_cap_is_compacted_once_then_the_end_is_announced(acts: Acts) -> None:
    assert acts("atomic-head", "length", "summary", "length") == ["compact-and-retry", "continue", "stop!"]


def test_where_nothing_can_be_compacted_it_is_continued_directly(acts: Acts) -> None:
    assert acts("atomic-head", "length", "nothing", "length") == ["compact-and-retry", "continue", "stop!"]


def test_a_reply_cut_at_the_cap_is_continued_three_times_below_the_threshold(acts: Acts) -> None:
    assert acts("atomic-head", *(["length at cap"] * 4)) == ["continue"] * 3 + ["stop"]


def test_over_the_threshold_it_is_compacted_without_a_counter(acts: Acts) -> None:
    assert acts("atomic-head", *(["length at cap+", "summary"] * 5)) == ["compact-and-retry", "continue"] * 5


def test_the_fresh_rung_discards_the_conversation_after_an_overflow(acts: Acts) -> None:
    assert acts("atomic-head", "overflow", "no summary", "overflow") == ["compact-and-retry", "truncate", "show-error!"]
