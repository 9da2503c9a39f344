"""What a transcript does not say and a policy has to know: the window, the output cap, whether a context is over.

Each figure is recorded, given by the user, or inferred from its neighbours, and says which; nothing is assumed. What
stays unknown leaves the decisions that need it undetermined.
"""

from collections import Counter
from typing import Literal, NamedTuple

from forensics.events import GOOD_STOPS, Event
from forensics.timeline import Session

Basis = Literal["recorded", "inferred", "option", "unknown"]

BLOCKING_RATIO = 0.9
"""PilotDeck compacts from here on, whatever its settings say (`tryAutoCompact`)."""
OUTPUT_TOKEN_MAX = 32_000
"""opencode asks for no more output than this, whatever the model allows (`provider/transform.ts`)."""
RESERVE_TOKENS = 16_384
"""pi, Atomic and OpenClaw keep this much of the window free, where the user did not set another reserve."""
_SIZED = frozenset({"opencode", "kilo"})
_RATIO = frozenset({"pilotdeck"})
_TOKEN = 4
"""Characters a token, as the agents themselves estimate."""


class Given(NamedTuple):
    """What the user knows better than the file, in tokens."""

    cap: int | None = None
    max_output: int | None = None
    reserve: int | None = None


class Figure(NamedTuple):
    """A number of tokens and where it comes from."""

    value: int | None = None
    basis: Basis = "unknown"


class Answer(NamedTuple):
    """Yes, no, or `None` for unknown, and where the answer comes from."""

    yes: bool | None = None
    basis: Basis = "unknown"


class Measures:
    """The sizes that count in one session.

    `over_from`: the smallest context after which a compaction over the threshold ran. `under_to`: the largest one of
    a finished or cut reply with no compaction after it; where failed compactions leave no row (`conditional`), that
    supposes that none of them ran there.
    """

    def __init__(self, session: Session, given: Given, *, failures: bool) -> None:
        self.family: Literal["reserve", "sized", "ratio"] = (
            "sized" if session.agent in _SIZED else "ratio" if session.agent in _RATIO else "reserve"
        )
        self.cap = _cap(session, given)
        self.max_output = _max_output(session, given)
        self.reserve = Figure(given.reserve, "option") if given.reserve is not None else Figure()
        self.conditional = not failures
        self.over_from, self.under_to = _neighbours(session)

    @property
    def threshold(self) -> Figure:
        """The size over which the agent compacts, where the file or the user says what it is made of."""
        cap, basis = self.cap
        if cap is None:
            return Figure()
        if self.family == "ratio":
            return Figure(int(BLOCKING_RATIO * cap), basis)
        if self.family == "sized":
            most = self.max_output.value
            return (
                Figure(cap - min(most, OUTPUT_TOKEN_MAX), "option")
                if most is not None and basis == "option"
                else (Figure())
            )
        if self.reserve.value is not None:
            return Figure(cap - self.reserve.value, "option")
        usual = cap - RESERVE_TOKENS
        return Figure(usual, "inferred") if basis == "option" and usual > 0 else Figure()

    def over(self, context: int | None, *, least: bool = False) -> Answer:
        """Say whether a context is over the threshold; `least`: it may be larger than the figure."""
        if context is None:
            return Answer()
        threshold, basis = self.threshold
        if threshold is not None and not self._contradicted(threshold):
            over = context >= threshold if self.family != "reserve" else context > threshold
            return Answer(over, basis) if over or not least else Answer()
        if self.over_from is not None and context >= self.over_from:
            return Answer(True, "inferred") if self.under_to is None or context > self.under_to else Answer()
        if not least and self.under_to is not None and context <= self.under_to:
            return Answer(False, "inferred")
        return Answer()

    def _contradicted(self, threshold: int) -> bool:
        """Whether compactions ran below the threshold: then it is another one (reserve, model) than was thought."""
        return self.over_from is not None and self.over_from < threshold

    def output(self, event: Event) -> tuple[Literal["none", "some", "full"], ...]:
        """Give what a reply cut at a limit may hold."""
        if event.output == 0 or (event.size == 0 and (event.output is None or self.family != "reserve")):
            return ("none",)
        most = self.max_output.value
        if most is None or event.output is None:
            return ("some", "full")
        return ("full",) if event.output >= most else ("some",)


def tokens(size: int | None) -> int:
    """Estimate the tokens of a text as the agents do; 0 where its size is unknown."""
    return 0 if size is None else -(-size // _TOKEN)


def _cap(session: Session, given: Given) -> Figure:
    if given.cap is not None:
        return Figure(given.cap, "option")
    if session.cap is None:
        return Figure()
    return Figure(session.cap, "option" if session.cap_source == "option" else "recorded")


def _max_output(session: Session, given: Given) -> Figure:
    """Give the output cap; two cut replies of the same length, with none longer, show it."""
    if given.max_output is not None:
        return Figure(given.max_output, "option")
    cut = Counter(one.output for one in session.events if one.kind == "reply" and one.stop == "length" and one.output)
    if not cut:
        return Figure()
    longest = max(cut)
    return Figure(longest, "inferred") if cut[longest] > 1 else Figure()


def _neighbours(session: Session) -> tuple[int | None, int | None]:
    over: list[int] = []
    under: list[int] = []
    last: Event | None = None
    for event in session.events:
        if event.kind in {"compact", "compacted"}:
            size = _measured(last)
            asked = event.trigger is None and last is not None and last.stop == "done"  # by a person, perhaps
            if size is not None and event.trigger in {"threshold", None} and event.outcome != "skipped" and not asked:
                over.append(max(size, event.before or 0))  # a tool's result can lie between the two
            last = None
        elif event.kind in {"reply", "prompt"}:
            size = _measured(last)
            if size is not None and last is not None and last.stop != "tool":
                under.append(size)
            last = event if event.kind == "reply" else None
    return min(over, default=None), max(under, default=None)


def _measured(event: Event | None) -> int | None:
    if event is None or not (event.stop in GOOD_STOPS or event.stop == "length"):
        return None
    return event.context
