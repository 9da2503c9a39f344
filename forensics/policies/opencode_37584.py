"""opencode with the fix of pull request 37584."""

from forensics.policies._opencode import ASSUME, Answer, Loop, loop
from forensics.replay import Signal, policy


@policy(start=Loop(), agent="opencode", assume=ASSUME)
def opencode_37584(
    state: Loop, signal: Signal, *, limit: int = 3, fail_on_third: bool = True, count_threshold: bool = True
) -> Answer:
    """Opencode with pull request 37584 (not merged): at most three compactions in a row without another result.

    Any step that does not ask for a compaction resets the count, and so does a new prompt. The description leaves two
    things open, and they are options: whether the third overflow itself fails (two summaries paid) or only a fourth
    after three summaries, and whether steps that finished over the threshold count, as `any result other than compact`
    suggests. Not counted either way: the marker set before a request. A transient error is retried inside a step, so it
    neither counts nor resets. Source: the description (no code is public).
    """
    after, action, announced = loop(state, signal)
    if signal.kind != "reply" or action == "wait":
        return after, action, announced
    if action != "compact" or (signal.fault != "overflow" and not count_threshold):
        return after._replace(cycles=0), action, announced
    cycles = state.cycles + 1
    if cycles >= limit + (0 if fail_on_third else 1):
        return after._replace(cycles=0, running=None), "show-error", True
    return after._replace(cycles=cycles), action, announced
