"""Walk every reachable pair of policy state and environment, with no sampling.

A node is a pair (policy state, what was asked for); an edge is one signal of the environment with the policy's
answer. Nodes and edges are numbers in flat arrays, so that a million nodes fit.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, get_args

from forensics.proof.environment import START, Asked, World, answers, boundary, calls, follow, recovers, summaries
from forensics.replay import Action, Policy, Signal, State, Step

Stepper = Callable[[State, Signal], Step]

_SPREAD = 1 << 20
"""More than there are things to ask for: a pair's number is `state * _SPREAD + asked`."""
_SIGNALS = 1 << 10
_ACTIONS: tuple[Action, ...] = get_args(Action)
_ANSWERS = 2 * len(_ACTIONS)


class TooManyStatesError(Exception):
    """The walk met more pairs than it may hold: a counter without a cap, or a policy too large to prove here."""


class Move(NamedTuple):
    """What an edge is, apart from the policy states at its ends."""

    asked: Asked
    signal: Signal
    action: Action
    announced: bool
    then: Asked

    @property
    def recovery(self) -> bool:
        """It begins a recovery."""
        return recovers(self.signal, self.action)

    @property
    def progress(self) -> bool:
        """The reply ended well and left the context under the threshold."""
        return self.signal.progress

    @property
    def boundary(self) -> bool:
        """Someone else's turn begins."""
        return boundary(self.signal)

    @property
    def weights(self) -> tuple[int, int, int]:
        """Recoveries begun, model calls made, summaries paid."""
        return int(self.recovery), calls(self.signal, self.action), summaries(self.signal)

    @property
    def delay(self) -> bool:
        """Time passes here."""
        return self.signal.kind in {"elapsed", "tick"}


class Machine:
    """A policy's states and answers, by number. Walks of the same policy in several worlds share one."""

    def __init__(self, policy: Policy, step: Stepper) -> None:
        self.policy, self.step = policy, step
        self.states: list[State] = []
        self.alphabet: list[Signal] = []
        self.answers: dict[int, tuple[int, int]] = {}
        self._state_ids: dict[State, int] = {}
        self._signal_ids: dict[Signal, int] = {}

    def ask(self, state: int, number: int) -> tuple[int, int]:
        """Give the first pair of the next state, and the number of the answer."""
        answer = self.step(self.states[state], self.alphabet[number])
        code = _ACTIONS.index(answer.action) * 2 + bool(answer.announced)
        known = self.state_id(answer.state) * _SPREAD, code
        self.answers[state * _SIGNALS + number] = known
        return known

    def state_id(self, state: State) -> int:
        """Give the state's number."""
        found = self._state_ids.get(state)
        if found is None:
            found = self._state_ids[state] = len(self.states)
            self.states.append(state)
        return found

    def signal_id(self, signal: Signal) -> int:
        """Give the signal's number."""
        found = self._signal_ids.get(signal)
        if found is None:
            found = self._signal_ids[signal] = len(self.alphabet)
            self.alphabet.append(signal)
        return found


class Graph:
    """The reachable pairs of one policy in one world. `begin[n]:end[n]` are the edges of node `n`, once expanded."""

    def __init__(self, machine: Machine, world: World, max_states: int) -> None:
        self.machine, self.world, self.max_states = machine, world, max_states
        self.policy, self.step = machine.policy, machine.step
        self.asked: list[Asked] = []
        self.moves: list[Move] = []
        self.keys = array("q")
        self.begin = array("q")
        self.end = array("q")
        self.target = array("i")
        self.move = array("i")
        self._asked_ids: dict[Asked, int] = {}
        self._node_ids: dict[int, int] = {}
        self._signals: list[list[int]] = []
        self._moves: dict[int, tuple[int, int]] = {}
        self.root = self.node(self.policy.start, START)
        self._walk()
        self.size = len(self.keys)

    def node(self, state: State, asked: Asked) -> int:
        """Give the number of a pair, adding it if it is new (an added one has no edges until `expand`)."""
        return self._node(self.machine.state_id(state), self._asked_id(asked))

    def pair(self, node: int) -> tuple[State, Asked]:
        """Give the policy state and what was asked for."""
        state, asked = divmod(self.keys[node], _SPREAD)
        return self.machine.states[state], self.asked[asked]

    def state_number(self, node: int) -> int:
        """Give the number of the node's policy state."""
        return self.keys[node] // _SPREAD

    def edges(self, node: int) -> Iterator[tuple[Move, int]]:
        """Give the moves of a node and where each leads, expanding it first if need be."""
        if self.begin[node] < 0:
            self.expand(node)
        for edge in range(self.begin[node], self.end[node]):
            yield self.moves[self.move[edge]], self.target[edge]

    @cached_property
    def sources(self) -> Sequence[int]:
        """The node that each edge of the reachable part leaves."""
        sources = array("i", [0]) * self.end[self.size - 1]
        for node in range(self.size):
            for edge in range(self.begin[node], self.end[node]):
                sources[edge] = node
        return sources

    @cached_property
    def reach(self) -> tuple[Sequence[int], Sequence[int]]:
        """Each node's distance from the root in edges, and the edge by which it is reached (-1: the root)."""
        far, via = (array("i", [-1]) * self.size for _ in range(2))
        far[self.root] = 0
        queue = deque([self.root])
        while queue:
            node = queue.popleft()
            for edge in range(self.begin[node], self.end[node]):
                other = self.target[edge]
                if far[other] < 0:
                    far[other], via[other] = far[node] + 1, edge
                    queue.append(other)
        return far, via

    def way(self, node: int) -> list[int]:
        """Give the edges of a shortest way from the root to a node."""
        path: list[int] = []
        via = self.reach[1]
        while via[node] >= 0:
            path.append(via[node])
            node = self.sources[via[node]]
        return path[::-1]

    def expand(self, node: int) -> None:
        """Ask the policy for its answer to every signal that may come at this node."""
        state, asked = divmod(self.keys[node], _SPREAD)
        self.begin[node] = len(self.target)
        steps, moves, nodes = self.machine.answers, self._moves, self._node_ids
        to, by = self.target.append, self.move.append
        row, column = state * _SIGNALS, asked * _SIGNALS
        for number in self._signals[asked]:
            known = steps.get(row + number)
            if known is None:
                known = self.machine.ask(state, number)
            after, answer = known
            kind = moves.get((column + number) * _ANSWERS + answer)
            if kind is None:
                kind = self._new_move(asked, number, answer)
            pair = after + kind[1]
            found = nodes.get(pair)
            to(self._add(pair) if found is None else found)
            by(kind[0])
        self.end[node] = len(self.target)

    def _walk(self) -> None:
        node = 0
        while node < len(self.keys):
            self.expand(node)
            node += 1
            if len(self.keys) > self.max_states:
                raise TooManyStatesError(
                    f"{self.policy.name}: more than {self.max_states:,} pairs of policy state and environment. "
                    "If the policy counts something, cap the counter; if it is this large, raise --max-states."
                )

    def _new_move(self, asked: int, number: int, answer: int) -> tuple[int, int]:
        action, announced, signal = _ACTIONS[answer // 2], bool(answer % 2), self.machine.alphabet[number]
        then = follow(self.asked[asked], signal, action, announced, self.world)
        kind = len(self.moves), self._asked_id(then)
        self.moves.append(Move(self.asked[asked], signal, action, announced, then))
        self._moves[(asked * _SIGNALS + number) * _ANSWERS + answer] = kind
        return kind

    def _asked_id(self, asked: Asked) -> int:
        found = self._asked_ids.get(asked)
        if found is None:
            found = self._asked_ids[asked] = len(self.asked)
            self.asked.append(asked)
            self._signals.append([self.machine.signal_id(signal) for signal in answers(asked, self.world)])
        return found

    def _node(self, state: int, asked: int) -> int:
        pair = state * _SPREAD + asked
        found = self._node_ids.get(pair)
        return self._add(pair) if found is None else found

    def _add(self, pair: int) -> int:
        found = self._node_ids[pair] = len(self.keys)
        self.keys.append(pair)
        self.begin.append(-1)
        self.end.append(-1)
        return found
