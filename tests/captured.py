"""The sample captures that locks and their self-test are tried on."""

CAPTURES = (
    "length.jsonl",
    "no-shrink.json",
    "no-summary.log",
    "two-failures.jsonl",
    "two-sessions.jsonl",
    "underflow.jsonl",
)
