"""What a check has to say beyond the findings: a baseline's entries, suppressions, locks, expectations."""

from collections import Counter
from typing import Literal

import msgspec

Topic = Literal["baseline", "ignore", "lock", "expectation", "mutation"]
"""What the remark is about."""

Change = Literal[
    "new", "worse", "better", "gone", "changed", "broken", "unjudged", "held", "expired", "unused", "unseen"
]
"""How it stands. `changed`: different, and neither better nor worse. `broken`: does not hold. `unjudged`: cannot be
judged from what was read. `held`: holds. `unused`: matches nothing. `unseen`: concerns what was not read."""

_WORDS: dict[Topic, tuple[str, str]] = {
    "baseline": ("baseline entry", "baseline entries"),
    "ignore": ("suppression", "suppressions"),
    "lock": ("difference from a lock", "differences from locks"),
    "expectation": ("expectation does not hold", "expectations do not hold"),
    "mutation": ("failed test of a lock", "failed tests of locks"),
}


class Remark(msgspec.Struct, kw_only=True, frozen=True):
    """One thing that a check says. Those that fail decide the exit code together with the findings."""

    topic: Topic
    change: Change
    fails: bool
    name: str
    """What it is about: an expectation's key, a figure of a lock, a fingerprint."""
    message: str
    file: str | None = None
    session: str | None = None
    accept: str | None = None
    """The command that accepts the change."""


def failing(remarks: list[Remark]) -> list[str]:
    """Count the remarks that fail in words, by topic: `2 expectations do not hold`."""
    dark = sum(one.fails and one.topic == "expectation" and one.change == "unjudged" for one in remarks)
    counts: Counter[Topic] = Counter(one.topic for one in remarks if one.fails)
    counts["expectation"] -= dark
    words = [f"{n:,} {_WORDS[topic][n > 1]}" for topic, n in sorted(counts.items()) if n]
    return [*words, f"{dark:,} expectation{'' if dark == 1 else 's'} cannot be judged"] if dark else words
