from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("pilotdeck-head", "prompt", "tool", "done") == ["proceed"] * 3


def test_a_failed_summary_is_followed_by_a_cut_in_memory(acts: Acts) -> None:
    assert acts("pilotdeck-head", "tool+", "no summary", "tool+") == ["compact", "truncate", "truncate"]


def test_recorded_b_seventy_five_overflows_without_a_delay(acts: Acts) -> None:
    assert acts("pilotdeck-head", "prompt", *(["overflow, unseen"] * 75)) == ["proceed", *(["truncate"] * 75)]


def test_recorded_d_a_cut_reply_is_resumed_six_times_in_a_row(acts: Acts) -> None:
    said = acts("pilotdeck-head", *(["length"] * 5), "length, empty", "done")
    assert said == ["continue"] * 6 + ["proceed"]


def test_fifty_recoveries_in_a_turn_then_an_announced_end(acts: Acts) -> None:
    assert acts("pilotdeck-head", *(["length"] * 51))[-2:] == ["continue", "stop!"]


def test_three_empty_replies_in_a_row_end_it(acts: Acts) -> None:
    assert acts("pilotdeck-head", *(["length, empty"] * 3)) == ["continue", "continue", "stop!"]


def test_a_context_that_still_does_not_fit_is_an_announced_error(acts: Acts) -> None:
    assert acts("pilotdeck-head", "tool+", "summary too large") == ["compact", "show-error!"]


def test_recorded_f_three_requests(acts: Acts) -> None:
    said = acts("pilotdeck-head", *(["transient", "elapsed"] * 2), "transient")
    assert said == ["wait", "retry"] * 2 + ["show-error"]
