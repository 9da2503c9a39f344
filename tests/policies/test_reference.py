from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("reference", "prompt", "tool", "done") == ["proceed"] * 3


def test_an_overflow_is_compacted_once_and_a_second_one_ends_the_turn_aloud(acts: Acts) -> None:
    assert acts("reference", "overflow", "summary", "overflow") == ["compact-and-retry", "retry", "stop!"]


def test_a_failed_summary_is_tried_once_more_aloud(acts: Acts) -> None:
    said = acts("reference", "overflow", "no summary", "failed")
    assert said == ["compact-and-retry", "compact!", "stop!"]


def test_what_is_known_not_to_fit_is_not_sent(acts: Acts) -> None:
    assert acts("reference", "overflow", "summary too large") == ["compact-and-retry", "stop!"]


def test_a_cut_reply_is_continued_three_times(acts: Acts) -> None:
    assert acts("reference", *(["length"] * 4)) == ["continue"] * 3 + ["stop!"]


def test_an_output_budget_error_is_compacted_and_retried_wherever_it_comes(acts: Acts) -> None:
    assert acts("reference", "budget", "summary") == ["compact-and-retry", "retry"]


def test_credit_is_earned_by_good_replies(acts: Acts) -> None:
    thrashing = acts("reference", *(["overflow", "summary", "tool"] * 4), "overflow")
    assert thrashing[-1] == "stop!"
    working = acts("reference", *(["overflow", "summary", "tool", "tool", "tool"] * 9), "overflow")
    assert working[-1] == "compact-and-retry"


def test_a_skipped_continuation_is_given_back(acts: Acts) -> None:
    assert acts("reference", *(["length", "skipped"] * 9), "length")[-1] == "continue"


def test_a_prompt_forgets_everything(acts: Acts) -> None:
    assert acts("reference", *(["length"] * 4), "prompt", "length")[-1] == "continue"


def test_a_full_context_that_cannot_be_compacted_goes_on_aloud(acts: Acts) -> None:
    assert acts("reference", "tool+", "summary", "tool+", "tool") == [
        "compact-and-retry",
        "proceed",
        "proceed!",
        "proceed",
    ]


def test_transient_errors_are_waited_for(acts: Acts) -> None:
    assert acts("reference", *(["transient", "elapsed"] * 3), "transient") == ["wait", "retry"] * 3 + ["stop!"]
