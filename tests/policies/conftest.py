"""A short way to write what a policy is told and what it must answer."""

from collections.abc import Callable

import pytest

from forensics.replay import Signal, find, stepper

SIGNALS = {
    "prompt": Signal("prompt"),
    "prompt after done+": Signal("prompt", "done", over=True),
    "prompt after length+": Signal("prompt", "length", over=True, output="some"),
    "prompt after budget+": Signal("prompt", "error", "output-budget", over=True),
    "prompt after overflow": Signal("prompt", "error", "overflow", over=True),
    "done": Signal("reply", "done"),
    "done+": Signal("reply", "done", over=True),
    "tool": Signal("reply", "tool"),
    "tool+": Signal("reply", "tool", over=True),
    "length": Signal("reply", "length", output="some"),
    "length+": Signal("reply", "length", over=True, output="some"),
    "length at cap": Signal("reply", "length", output="full"),
    "length at cap+": Signal("reply", "length", over=True, output="full"),
    "length, empty": Signal("reply", "length", output="none"),
    "length, empty+": Signal("reply", "length", over=True, output="none"),
    "overflow": Signal("reply", "error", "overflow", over=True),
    "overflow, unseen": Signal("reply", "error", "overflow"),
    "budget": Signal("reply", "error", "output-budget"),
    "budget+": Signal("reply", "error", "output-budget", over=True),
    "transient": Signal("reply", "error", "transient"),
    "transient+": Signal("reply", "error", "transient", over=True),
    "summary": Signal("compacted", outcome="summary", fits="yes"),
    "summary too large": Signal("compacted", outcome="summary", fits="no"),
    "no summary": Signal("compacted", outcome="no-summary"),
    "failed": Signal("compacted", outcome="failed"),
    "summary overflows": Signal("compacted", fault="overflow", outcome="failed"),
    "aborted": Signal("compacted", outcome="aborted"),
    "nothing": Signal("compacted", outcome="nothing"),
    "elapsed": Signal("elapsed"),
    "tick": Signal("tick"),
    "skipped": Signal("skipped"),
    "restart": Signal("restart"),
}
"""By word; `+`: the context is over the threshold."""

Acts = Callable[..., list[str]]


@pytest.fixture
def acts() -> Acts:
    """Tell a policy one signal after the other from its start; give its actions, `!` where it tells the person."""

    def run(name: str, *signals: str, **options: object) -> list[str]:
        one = find(name)
        step = stepper(one, {key.replace("_", "-"): value for key, value in options.items()})
        state, answers = one.start, []
        for word in signals:
            answer = step(state, SIGNALS[word])
            state = answer.state
            answers.append(answer.action + ("!" if answer.announced else ""))
        return answers

    return run
