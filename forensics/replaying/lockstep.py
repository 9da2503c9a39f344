"""The agent's ordinary loop around a policy, followed through a record.

What is due next, and what may have happened unseen between two rows.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from forensics.replay import COMPACTS, SENDS, Action, Outcome, Signal, State, Step
from forensics.replaying.decisions import Sight

Due = Literal["request", "compaction", "wait", "idle"]
"""What the record must hold next: a reply, a compaction's end, a retry after a delay, a person's prompt."""

_UNSEEN: tuple[Outcome, ...] = ("failed", "no-summary", "nothing", "aborted")
_DEPTH = 6
_TRIES = 12
"""Requests of one series of retries that a single row may stand for."""


class Config(NamedTuple):
    """One possibility of where policy and loop stand."""

    state: State
    due: Due = "idle"
    did: Action = "proceed"
    """The policy's last answer."""
    owed: bool = False
    """The request is due because the policy asked for it, not because a tool ran or a person wrote."""
    waiting: bool = False
    """A turn waits for the compaction that runs."""
    last: Signal | None = None
    """The last reply that was cut, failed or left the context full, where nothing has dealt with it yet."""
    early: bool = False
    """The check before a prompt has run, and the prompt's own row is still to come."""
    told: bool = False
    """The policy has announced something."""
    said: bool = False
    """It was the end of recovery after a reply, and the row of the announcement is still to come."""
    sent: bool = False
    """A continuation that the policy scheduled has stood in the record since the last prompt."""
    cut: bool = False
    """The policy has cut the context after a failed compaction, and the row of that is still to come."""


class Reached(NamedTuple):
    """A possibility in which a row could have been written; `unseen`: something without a row must lie before it."""

    config: Config
    unseen: bool = False


class Loop:
    """A policy in its agent's loop, in a format that shows `seen`.

    `awaits`: a process that closes waits for the first continuation after a prompt, so only a later one is lost,
    unless the file shows that a new process read the next prompt: the old one may have been killed.
    """

    def __init__(self, step: Callable[[State, Signal], Step], seen: Sight, *, awaits: bool = False) -> None:
        self.step, self.seen, self.awaits = step, seen, awaits

    def tell(self, config: Config, signal: Signal) -> Config:
        """Give what is due after the policy was told a signal (compare `environment.follow`)."""
        answer = self.step(config.state, signal)
        action, last = answer.action, _left(config.last, signal)
        said = answer.announced and signal.kind == "reply" and signal.fault != "transient"
        cut = action == "truncate" and (signal.kind == "compacted" or (signal.good and signal.over))
        sent = signal.kind != "prompt" and (config.sent or (signal.kind == "reply" and config.owed))
        after = config._replace(
            sent=sent,
            state=answer.state,
            did=action,
            owed=False,
            waiting=False,
            last=last,
            told=answer.announced,
            said=said,
            cut=cut,
        )
        goes_on = config.waiting if signal.kind == "compacted" else (signal.kind == "prompt" or signal.stop == "tool")
        if action in COMPACTS:
            return after._replace(due="compaction", waiting=goes_on)
        if action == "wait":
            return after._replace(due="wait")
        if action in SENDS:
            return after._replace(due="request", owed=True)
        return after._replace(due="request" if action == "proceed" and goes_on else "idle")

    def restart(self, config: Config) -> Config:
        """Give what is due in a new process."""
        return config._replace(
            state=self.step(config.state, Signal("restart")).state,
            due="idle",
            owed=False,
            waiting=False,
            said=False,
            cut=False,
        )

    def tick(self, config: Config) -> Config:
        """Let time pass, as long as any cooldown."""
        return config._replace(state=self.step(config.state, Signal("tick")).state)

    def prompt(self, config: Config, *, boundary: bool | None, full: bool | None = None) -> Iterator[Config]:
        """Tell of a person's prompt, which a new process may have read; `full`: the request with it is."""
        if config.early:
            yield config._replace(early=False)
            return
        for one in self._processes(config, boundary):
            yield self.tell(one, _asked(one.last, full))

    def request(self, config: Config) -> Iterator[Reached]:
        """Give the possibilities in which a reply comes next."""
        yield from (one for one in self._reach(config, "request") if not one.config.early)

    def compaction(self, config: Config, *, boundary: bool | None, early: bool | None) -> Iterator[Reached]:
        """Give the possibilities in which a compaction ends next; `early`: it ran because a prompt came."""
        if early is not True:
            yield from self._reach(config, "compaction")
        if early is False or config.early:
            return
        ready = [*self.idle(config, boundary=boundary)]
        for one in ready:
            for start in self._processes(one.config, boundary):
                after = self.tell(start, _asked(start.last, True if self.seen.preflight else None))
                if after.due == "compaction":
                    yield Reached(after._replace(early=True), one.unseen)

    def _processes(self, config: Config, boundary: bool | None) -> Iterator[Config]:
        if boundary is not True:
            yield config
        if boundary is not False:
            yield self.restart(config)

    def idle(self, config: Config, *, boundary: bool | None) -> Iterator[Reached]:
        """Give the possibilities in which a person writes next.

        A person may write into work that goes on. What the policy still owes then is lost, if this format loses
        what a closing process leaves behind.
        """
        for one in self._reach(config, "idle"):
            yield one
        for one in [*self._reach(config, "request"), *self._reach(config, "wait")]:
            if one.config.due == "request" and (not one.config.owed or one.config.early):
                yield one
            elif boundary is True or (boundary is None and (one.config.sent or not self.awaits)):
                yield Reached(one.config._replace(due="idle", owed=False), unseen=True)
        if config.due == "compaction" and boundary is not False:
            yield Reached(config._replace(due="idle", waiting=False), unseen=True)

    def _reach(self, config: Config, due: Due, depth: int = _DEPTH) -> Iterator[Reached]:
        if config.due == due:
            yield Reached(config)
            return
        if depth:
            for after, unseen in self._moves(config, due):
                for one in self._reach(after, due, depth - 1):
                    yield Reached(one.config, one.unseen or unseen)

    def _moves(self, config: Config, due: Due) -> Iterable[tuple[Config, bool]]:
        if config.due == "wait":
            yield self.tell(config, Signal("elapsed")), False
            if not self.seen.tries and config.last is not None and due == "idle":
                yield from ((one, True) for one in self._exhausted(config, config.last))
        elif config.due == "compaction" and not self.seen.failures:
            yield from ((self.tell(config, Signal("compacted", outcome=one)), True) for one in _UNSEEN)
        elif config.due == "idle" and due != "wait":
            yield from self._woken(config)
        elif config.due == "request" and not self.seen.replies and due != "wait":
            yield from ((self.tell(config, Signal("reply", stop, over=True)), False) for stop in _GOOD)

    def _woken(self, config: Config) -> Iterable[tuple[Config, bool]]:
        if not self.seen.prompts:
            yield self.tell(config, _asked(config.last)), True
            if not self.seen.replies:
                yield self.tell(config, Signal("prompt", "done", over=True)), True

    def _exhausted(self, config: Config, last: Signal) -> Iterable[Config]:
        for _ in range(_TRIES):
            if config.due == "wait":
                config = self.tell(config, Signal("elapsed"))
            config = self.tell(config, last)
            if config.due == "idle":
                yield config
                return


_GOOD: tuple[Literal["tool", "done"], ...] = ("tool", "done")


def _asked(last: Signal | None, full: bool | None = None) -> Signal:
    signal = Signal("prompt") if last is None else last._replace(kind="prompt")
    if full is None:
        return signal
    return signal._replace(over=full, stop=signal.stop or ("done" if full else None))


def _left(last: Signal | None, signal: Signal) -> Signal | None:
    if signal.kind == "reply":
        return signal if signal.bad or signal.over else None
    return None if signal.kind == "compacted" and signal.outcome == "summary" else last
