from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("pi", "prompt", "tool", "done") == ["proceed"] * 3


def test_recorded_b_one_compaction_and_retry_then_an_announced_end(acts: Acts) -> None:
    assert acts("pi", "overflow", "summary", "overflow") == ["compact-and-retry", "continue", "show-error!"]


def test_recorded_b_the_next_prompt_finds_nothing_to_compact_and_says_nothing(acts: Acts) -> None:
    assert acts("pi", "prompt", "overflow", "nothing") == ["proceed", "compact-and-retry", "proceed"]


def test_recorded_b3_twelve_rounds_in_one_prompt(acts: Acts) -> None:
    said = acts("pi", "prompt", *(["tool", "overflow", "summary"] * 12))
    assert said == ["proceed", *(["proceed", "compact-and-retry", "continue"] * 12)]


def test_recorded_c_a_failed_summary_in_mid_turn_is_told_and_tried_again_at_the_next_step(acts: Acts) -> None:
    assert acts("pi", "tool+", "no summary", "done+", "no summary") == ["compact", "proceed!"] * 2


def test_0_73_writes_an_empty_summary_and_does_not_compact_in_mid_turn(acts: Acts) -> None:
    assert acts("pi", "tool+", "done+", "no summary", mid_turn=False, hollow=True) == ["proceed", "compact", "proceed"]


def test_recorded_d_and_e_a_cut_reply_and_an_underflow_wait(acts: Acts) -> None:
    assert acts("pi", "length") == ["stop"]
    assert acts("pi", "budget+", "summary", "prompt", "budget+") == ["compact", "proceed", "proceed", "stop"]


def test_recorded_f_four_requests(acts: Acts) -> None:
    assert acts("pi", *(["transient", "elapsed"] * 3), "transient") == ["wait", "retry"] * 3 + ["stop!"]
