"""What each detector is registered as: the severity that lists and configuration show, and what it looks at."""

from forensics.detect import Within, detectors

REGISTERED = {
    "compaction-loop": ("error", "session"),
    "context-blowup": ("error", "file"),
    "crash-loop": ("error", "file"),
    "failure-loop": ("error", "session"),
    "ineffective-compaction": ("warning", "session"),
    "length-stop": ("warning", "session"),
    "manual-continue": ("error", "session"),
    "no-summary": ("error", "file"),
    "output-budget-underflow": ("error", "session"),
    "oversized-replay": ("error", "session"),
    "runaway-cost": ("warning", "session"),
    "silent-stall": ("error", "file"),
    "starved-summary": ("error", "file"),
    "usage-outlier": ("warning", "file"),
}


def test_each_detector_is_registered_as_it_is_published() -> None:
    assert {name: (one.severity, one.grain) for name, one in detectors().items()} == REGISTERED


LEAST_1 = {
    ("compaction-loop", "refills"),
    ("context-blowup", "ratio"),
    ("crash-loop", "exits"),
    ("failure-loop", "failures"),
    ("no-summary", "attempts"),
    ("oversized-replay", "replays"),
    ("starved-summary", "many"),
}
"""Options of which 0 would find what is not there."""


def test_an_option_of_which_0_makes_no_sense_begins_at_1() -> None:
    ranges = {(name, option): within for name, one in detectors().items() for option, within in one.ranges.items()}
    assert {option for option, within in ranges.items() if within.least == 1} == LEAST_1
    assert {within for option, within in ranges.items() if option not in LEAST_1} == {Within(0, 1)}
