from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("opencode-before", "prompt", "tool", "done") == ["proceed"] * 3


def test_recorded_b_ninety_seven_summaries_in_one_prompt(acts: Acts) -> None:
    said = acts("opencode-before", "prompt", *(["overflow", "summary"] * 97), "overflow")
    assert said == ["proceed", *(["compact", "replay"] * 97), "compact"]


def test_recorded_c_an_empty_summary_counts_as_one_and_the_loop_goes_on(acts: Acts) -> None:
    assert acts("opencode-before", *(["done+", "no summary"] * 28)) == ["compact", "continue"] * 28


def test_recorded_b4_a_summary_request_that_overflows_ends_the_run(acts: Acts) -> None:
    said = acts("opencode-before", "overflow", "summary", "overflow", "summary overflows", "prompt")
    assert said == ["compact", "replay", "compact", "show-error!", "proceed"]


def test_a_marker_that_nothing_consumed_makes_the_next_prompt_compact(acts: Acts) -> None:
    assert acts("opencode-before", "done+", "failed", "prompt", "summary") == [
        "compact",
        "show-error",
        "compact",
        "continue",
    ]
    assert acts("opencode-before", "done+", "aborted", "restart", "prompt")[-1] == "compact"


def test_a_restart_in_mid_compaction_leaves_the_marker(acts: Acts) -> None:
    assert acts("opencode-before", "overflow", "restart", "prompt") == ["compact", "stop", "compact"]


def test_recorded_d_e_f(acts: Acts) -> None:
    assert acts("opencode-before", "length") == ["stop"]
    assert acts("opencode-before", "budget+") == ["show-error"]
    said = acts("opencode-before", *(["transient", "elapsed"] * 5), "transient")
    assert said == ["wait", "retry"] * 5 + ["show-error"]
