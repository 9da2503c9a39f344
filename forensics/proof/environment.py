"""The environment a policy is proved against: everything that may be answered to what a policy asked for.

It is hostile unless told otherwise: every request may fail, every compaction may, and nothing is remembered. What it
will not do is named by an assumption. Both the prover and the independent checker of certificates use these two
functions, `answers` and `follow`, and nothing else of each other's.
"""

from collections.abc import Iterable
from functools import cache
from typing import Literal, NamedTuple

from forensics.replay import COMPACTS, RECOVERIES, SENDS, Action, Signal

FaultClass = Literal["overflow", "context", "length", "output-budget", "transient"]

CLASSES: tuple[FaultClass, ...] = ("overflow", "context", "length", "output-budget", "transient")

ASSUMPTIONS: dict[str, str] = {
    "summaries-succeed": "every compaction makes a usable summary",
    "compaction-shrinks": "what follows a summary fits: no overflow and no full context at the next reply",
    "sizes-unknown": "nothing is known of a request's size before it is sent",
    "errors-differ": "the request after a recovery does not fail the way the one before did",
    "errors-over-threshold": "a reply that is cut or fails finds the context over the threshold",
    "errors-under-threshold": "a reply that is cut or fails finds the context under the threshold",
    "cut-replies-have-output": "a reply cut at a limit holds some output",
    "something-to-compact": "a compaction always finds something to compact",
    "no-aborts": "nobody stops a compaction",
    "no-skips": "no other actor takes the turn of a scheduled continuation",
    "restarts": "the process may die and come back at any time (the default environment leaves it alive)",
}
"""Each narrows the environment, but for the last, which widens it."""


class World(NamedTuple):
    """Which failures happen, and what is assumed about the rest. `friendly`: every recovery works at once."""

    classes: frozenset[FaultClass] = frozenset(CLASSES)
    assume: frozenset[str] = frozenset()
    friendly: bool = False


class Asked(NamedTuple):
    """What the policy asked for last, and so what the environment answers next."""

    what: Literal["request", "compaction", "wait", "idle"]
    resumes: bool = False
    """The request is a scheduled continuation: another actor may take its turn."""
    waiting: bool = False
    """A turn waits for this compaction, and goes on after it unless the policy ends it."""
    last: Signal | None = None
    """The last reply, where it was cut, failed or left the context full, and nothing dealt with it yet."""
    told: bool = False
    """A person has been told that the recovery from `last` is over."""
    fresh: bool = False
    """The request follows a summary (kept only where an assumption speaks of it)."""
    after: FaultClass | None = None
    """The request follows a recovery from this (kept only where an assumption speaks of it)."""
    calm: int = 0
    """Good replies since the last failure, 0 to 3 (kept only in the friendly environment)."""


CALM = 3
START = Asked("idle", calm=CALM)


def fault_class(signal: Signal) -> FaultClass | None:
    """Give the class of failure that a reply is, `None` for a good one that leaves room."""
    if signal.stop == "error":
        return signal.fault
    if signal.stop == "length":
        return "length"
    return "context" if signal.over else None


def failed(signal: Signal | None) -> bool:
    """Whether the reply was cut or failed."""
    return signal is not None and signal.stop in {"length", "error"}


def answers(asked: Asked, world: World) -> tuple[Signal, ...]:
    """Give every signal that this environment may answer with."""
    signals = tuple(_answers(asked, world))
    if "restarts" in world.assume and asked.what != "idle":
        return (*signals, Signal("restart"))
    return signals


def _answers(asked: Asked, world: World) -> Iterable[Signal]:
    if asked.what == "idle":
        return (asked.last._replace(kind="prompt") if asked.last else Signal("prompt"),)
    if asked.what == "wait":
        return (Signal("elapsed"),)
    if asked.what == "compaction":
        return _friendly_compaction() if world.friendly else _compactions(world)
    if world.friendly:
        return (reply for reply in _replies(world) if _welcome(reply, asked))
    replies = [reply for reply in _replies(world) if _possible(reply, asked)]
    skipped = [Signal("skipped")] if asked.resumes and "no-skips" not in world.assume else []
    return [*replies, *skipped, Signal("tick")]


@cache
def _replies(world: World) -> tuple[Signal, ...]:
    found: list[Signal] = []
    found += [Signal("reply", "done", over=over) for over in (False, True)]
    found += [Signal("reply", "tool", over=over) for over in (False, True)]
    for over in (False, True):
        found += [Signal("reply", "length", over=over, output=output) for output in ("none", "some", "full")]
        found += [Signal("reply", "error", fault, over) for fault in ("overflow", "output-budget", "transient")]
    return tuple(reply for reply in found if _in_world(reply, world))


def _in_world(reply: Signal, world: World) -> bool:
    kind = fault_class(reply)
    if kind is not None and kind not in world.classes:
        return False
    if reply.bad and reply.over and "errors-under-threshold" in world.assume:
        return False
    if reply.bad and not reply.over and "errors-over-threshold" in world.assume:
        return False
    return not (reply.output == "none" and (world.friendly or "cut-replies-have-output" in world.assume))


def _possible(reply: Signal, asked: Asked) -> bool:
    if asked.fresh and (reply.over or reply.fault == "overflow"):
        return False
    return asked.after is None or fault_class(reply) != asked.after


def _welcome(reply: Signal, asked: Asked) -> bool:
    return fault_class(reply) is None or asked.calm >= CALM


def _friendly_compaction() -> tuple[Signal, ...]:
    return (Signal("compacted", outcome="summary", fits="yes"),)


@cache
def _compactions(world: World) -> tuple[Signal, ...]:
    made = [Signal("compacted", outcome="summary", fits="yes")]
    if "compaction-shrinks" not in world.assume:
        made += [
            Signal("compacted", outcome="summary", fits="unknown"),
            Signal("compacted", outcome="summary", fits="no"),
            Signal("compacted", outcome="summary", fits="unknown", shrunk=False),
        ]
    if "sizes-unknown" in world.assume:
        made = [Signal("compacted", outcome="summary", fits="unknown")]
    if "summaries-succeed" in world.assume:
        return tuple(made)
    made += [Signal("compacted", outcome="no-summary"), Signal("compacted", outcome="failed")]
    made.append(Signal("compacted", fault="overflow", outcome="failed"))
    if "no-aborts" not in world.assume:
        made.append(Signal("compacted", outcome="aborted"))
    if "something-to-compact" not in world.assume:
        made.append(Signal("compacted", outcome="nothing"))
    return tuple(made)


def goes_on(asked: Asked, signal: Signal) -> bool:
    """Whether the agent's ordinary loop sends a request next, if the policy lets it."""
    if signal.kind == "compacted":
        return asked.waiting
    return signal.kind in {"prompt", "skipped"} or (signal.kind == "reply" and signal.stop == "tool")


def _open(asked: Asked, signal: Signal) -> Signal | None:
    """Give the reply that is still not dealt with after this signal."""
    if signal.kind == "reply":
        return signal if signal.bad or signal.over else None
    if signal.kind == "prompt":
        return signal._replace(kind="reply") if signal.stop else None
    if signal.kind == "skipped" or (signal.kind == "compacted" and signal.outcome == "summary"):
        return None
    return asked.last


def follow(asked: Asked, signal: Signal, action: Action, announced: bool, world: World) -> Asked:
    """Give what is asked of the environment after the policy answered `signal` with `action`."""
    if signal.kind == "tick" and action == "proceed":
        return asked
    calm = _calm(asked, signal) if world.friendly else START.calm
    last = _open(asked, signal)
    if action in COMPACTS:
        told = failed(last) and (announced if signal.kind == "reply" else asked.told)
        return Asked("compaction", waiting=goes_on(asked, signal), last=last, told=told, calm=calm)
    if action == "wait":
        return Asked("wait", last=last, calm=calm)
    if action in SENDS:
        return _request(asked, signal, action, world, calm)
    if action == "proceed" and signal.kind != "restart" and goes_on(asked, signal):
        return _request(asked, signal, action, world, calm)
    return Asked("idle", last=last, calm=calm)


def _request(asked: Asked, signal: Signal, action: Action, world: World, calm: int) -> Asked:
    made = signal.kind == "compacted" and signal.outcome == "summary"
    fresh = made and "compaction-shrinks" in world.assume
    before = signal if signal.kind in {"reply", "prompt"} else asked.last
    recovers = action in RECOVERIES or signal.kind == "compacted"
    after = fault_class(before) if recovers and before and "errors-differ" in world.assume else None
    return Asked("request", resumes=action == "continue" and not world.friendly, fresh=fresh, after=after, calm=calm)


def _calm(asked: Asked, signal: Signal) -> int:
    if signal.kind != "reply":
        return asked.calm
    return 0 if fault_class(signal) else min(asked.calm + 1, CALM)


def recovers(signal: Signal, action: Action) -> bool:
    """Whether this step begins a recovery. What is sent after a compaction completes the one the compaction began."""
    return action in COMPACTS or (action in SENDS and signal.kind != "compacted")


def calls(signal: Signal, action: Action) -> int:
    """Count the model requests that a step of a recovery makes: the summary's own, and the one sent after."""
    return summaries(signal) + (action in SENDS)


def summaries(signal: Signal) -> int:
    """Count the summary requests behind a signal."""
    return int(signal.kind == "compacted" and signal.outcome != "nothing")


def boundary(signal: Signal) -> bool:
    """Whether someone else's turn begins here: a person's prompt, another actor, a new process."""
    return signal.kind in {"prompt", "skipped", "restart"}
