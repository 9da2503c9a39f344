"""What each detector is registered as: the severity that lists and configuration show, and what it looks at."""

from forensics.detect import detectors

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
