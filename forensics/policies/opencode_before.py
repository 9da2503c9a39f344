"""opencode as released."""

from forensics.policies._opencode import ASSUME, Answer, Loop, loop
from forensics.replay import Signal, policy


@policy(start=Loop(), agent="opencode", assume=ASSUME)
def opencode_before(state: Loop, signal: Signal) -> Answer:
    """Opencode 1.2.15 to 1.18.33, the newest recorded: no attempt is counted and no summary is checked.

    An overflow compacts and replays the message, a full context compacts and continues, and an empty or cut summary
    counts as one. Only a summary request that itself overflows ends it. A summary that fails otherwise leaves its
    marker behind: every later prompt compacts instead of answering. Source: read; recorded: 98 overflows and 97 paid
    summaries in one prompt, and 28 rounds of empty summary and synthetic continue.
    """
    return loop(state, signal)
