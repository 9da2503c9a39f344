from collections.abc import Callable

Acts = Callable[..., list[str]]


def test_a_good_turn_needs_nothing(acts: Acts) -> None:
    assert acts("openclaw", "prompt", "tool", "done") == ["proceed"] * 3


def test_three_attempts_then_one_cut_then_the_end(acts: Acts) -> None:
    said = acts("openclaw", *(["overflow", "summary"] * 3), "overflow", "overflow")
    assert said == ["compact-and-retry", "continue"] * 3 + ["truncate!", "show-error!"]


def test_no_success_inside_the_run_resets_the_count(acts: Acts) -> None:
    said = acts(
        "openclaw", *(["overflow", "summary", "tool"] * 3), "overflow", "tool", "overflow", "prompt", "overflow"
    )
    assert said[-5:] == ["truncate!", "proceed", "show-error!", "proceed", "compact-and-retry"]


def test_a_failed_compaction_leads_to_the_cut_at_once(acts: Acts) -> None:
    assert acts("openclaw", "overflow", "failed", "overflow", "nothing") == [
        "compact-and-retry",
        "truncate!",
        "compact-and-retry",
        "show-error!",
    ]


def test_a_smaller_limit_is_an_option(acts: Acts) -> None:
    assert acts("openclaw", "overflow", "summary", "overflow", limit=1)[-1] == "truncate!"
