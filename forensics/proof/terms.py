"""What the words of the properties mean, on single steps: shared by the prover and the checker of its certificates."""

from fractions import Fraction
from typing import Literal

from forensics.proof.environment import failed
from forensics.proof.walk import Move, Stepper
from forensics.replay import COMPACTS, SENDS, Signal, State

Property = Literal["bounded", "paced", "hands-free", "loud", "fresh", "accounted", "contained"]

PACE = Fraction(1, 3)
"""At most one recovery for every three good replies, on any cycle that can last."""


ALLOWANCE_CAP = 1000
"""Recoveries in a row after which an allowance counts as endless."""

Known = dict[tuple[State, Signal], int]
"""Allowances counted before."""


def abandons(one: Move) -> bool:
    """Whether the turn ends here though its task was not done."""
    if one.then.what != "idle":
        return False
    unfinished = one.signal.bad or one.signal.stop == "tool" or one.signal.kind in {"elapsed", "prompt"}
    return unfinished or (one.signal.kind == "compacted" and (one.asked.waiting or failed(one.asked.last)))


def silent(one: Move) -> bool:
    """Whether a recovery, or a failure that none follows, ends here without a word of the agent's own."""
    if one.announced or one.action in COMPACTS | SENDS | {"wait"}:
        return False
    kind, outcome = one.signal.kind, one.signal.outcome
    if kind == "compacted":
        left = failed(one.asked.last) and not one.asked.told and one.then.what == "idle"
        return outcome in {"no-summary", "failed"} or (left and outcome != "aborted")
    return one.signal.bad or kind == "elapsed" or (kind == "prompt" and one.then.what == "idle")


def fails(signal: Signal) -> bool:
    """Whether a compaction was tried and made no usable summary."""
    return signal.kind == "compacted" and signal.outcome in {"no-summary", "failed"}


FRESH, FAILED, GIVEN_UP, MADE = range(4)


def ledger(held: int, one: Move) -> tuple[int, bool]:
    """Follow what is known of summaries since the last progress or prompt, and say whether this move is futile.

    After a summary a second one is futile, and so is one where there was nothing to compact; after a failed one, one
    announced retry is not.
    """
    if one.boundary or one.progress:
        held = FRESH
    futile = one.signal.fits == "no" and (
        one.action in SENDS - {"truncate"} or (one.action == "proceed" and one.then.what == "request")
    )
    if one.signal.kind == "compacted":
        if one.signal.outcome == "summary":
            held = MADE
        elif fails(one.signal):
            held = FAILED if held == FRESH else max(held, GIVEN_UP)
        elif one.signal.outcome == "nothing":
            held = max(held, GIVEN_UP)
    if one.action in COMPACTS:
        futile = futile or held in {MADE, GIVEN_UP} or (held == FAILED and not one.announced)
    return held, futile


def after_prompt(step: Stepper, state: State, reply: Signal, known: Known) -> int:
    """Count the recoveries that a new prompt may use against this failure."""
    answer = step(state, Signal("prompt"))
    seen: set[State] = set()
    while answer.action in COMPACTS and answer.state not in seen:
        seen.add(answer.state)
        answer = step(answer.state, Signal("compacted", outcome="summary", fits="yes"))
    # One that compacts again and again never comes to the failure.
    comes = answer.action in SENDS or answer.action in {"proceed", "wait"}
    return allowance(step, answer.state, reply, known) if comes else 0


def allowance(step: Stepper, state: State, reply: Signal, known: Known | None = None) -> int:
    """Count how often in a row this failure is recovered from, where every compaction succeeds and each try fails.

    `ALLOWANCE_CAP` where there is no end. `known` keeps what was counted before.
    """
    known = {} if known is None else known
    trail: list[State] = []
    count = 0
    while (state, reply) not in known:
        answer = _tried(step, state, reply)
        # Should the way lead back here, it has no end.
        known[state, reply] = ALLOWANCE_CAP
        trail.append(state)
        if answer is None:
            count = -1
            break
        state = answer
    else:
        count = known[state, reply]
    for one in reversed(trail):
        count = min(count + 1, ALLOWANCE_CAP)
        known[one, reply] = count
    return known[trail[0] if trail else state, reply]


def _tried(step: Stepper, state: State, reply: Signal) -> State | None:
    answer = step(state, reply)
    if answer.action in COMPACTS:
        answer = step(answer.state, Signal("compacted", outcome="summary", fits="yes"))
    elif answer.action == "wait":
        answer = step(answer.state, Signal("elapsed"))
    return answer.state if answer.action in SENDS else None
