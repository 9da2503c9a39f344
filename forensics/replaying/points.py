"""What a record's rows were to the recovery logic: the vocabulary of replays, and what each format shows of it."""

from typing import Literal, NamedTuple

from forensics.events import Event
from forensics.parse import Observable, Parser
from forensics.replay import Signal
from forensics.replaying.measures import Basis

Kind = Literal["reply", "other", "prompt", "asked", "resume", "compacted", "echo", "manual", "cut", "said", "exit"]
"""What a point is. `other`: a reply that no policy speaks of (aborted, refused, unauthorised). `asked`: a prompt of
unknown writer. `resume`: a prompt that the agent wrote itself. `echo`: a compaction that failed without a model call,
repeating an earlier failure. `manual`: one that a person asked for. `cut`: the context was cut without a summary.
`said`: the agent said that its recovery is over. `exit`: the process ended."""

Recorded = Literal[
    "went on",
    "compact",
    "truncate",
    "replay",
    "continue",
    "error shown",
    "nothing until a person wrote",
    "unknown",
]
"""What came next. `went on`: another request, in a format that does not tell a continue from a retry."""


class Sight(NamedTuple):
    """What a format shows."""

    failures: bool = True
    """Compactions that failed leave a row."""
    prompts: bool = True
    replies: bool = True
    announced: bool = False
    """An announced end of recovery always leaves a row."""
    tries: bool = True
    """Each request of a series of retries leaves a row."""
    whole: bool = True
    """What the agent does after a prompt stands in the file, whenever its process ends."""
    early: bool = True
    """The check before a prompt is written before the prompt."""
    preflight: bool = False
    """The check before a prompt measures the request with the prompt in it, not the last reply."""
    cuts: bool = False
    """A context that is cut after a failed compaction leaves a row."""


_LOSES = frozenset({"pi"})
_ANNOUNCES = frozenset({"pi-events", "openclaw-log"})


def sight(parser: Parser, observable: Observable) -> Sight:
    """Say what a file of this format shows; `observable`: what was found of this one."""
    return Sight(
        failures=observable == "yes",
        prompts="prompts" not in parser.hides,
        replies="replies" not in parser.hides,
        announced=parser.name in _ANNOUNCES,
        tries=parser.agent not in {"opencode", "pilotdeck"},
        whole=parser.name not in _LOSES,
        early=parser.agent not in {"opencode", "pilotdeck"},
        preflight=parser.agent in {"openclaw", "pilotdeck"},
        cuts=parser.name == "pilotdeck-log",
    )


class Point(NamedTuple):
    """One thing that the recovery logic was told."""

    kind: Kind
    row: Event
    signals: tuple[Signal, ...] = ()
    """What it may have been told: one signal where the file says it."""
    decides: bool = False
    """A failed or cut reply, a compaction that ended, a reply or prompt at which the context is known to be full."""
    basis: Basis = "recorded"
    """Where the signal comes from: the weakest of what it is made of."""
    repeat: int = 0
    """Good replies after it that were not kept, at most 16."""
    start: Event | None = None
    """On `compacted`: the row that began it."""
    boundary: bool | None = None
    """On prompts and compactions: the process is another one than at the last reply (`None`: not known)."""
    full: bool | None = None
    """On prompts: what the agent's check of the request found, the prompt included; `None`: the last reply tells."""
    early: bool | None = None
    """On `compacted`: it ran when the next prompt came, not after the last reply (`None`: not known)."""
    will_retry: bool | None = None
    perhaps: bool = False
    """On `compacted`: a person may have asked for it; the turn was over, and why it ran is not recorded."""
    unasked: bool = False
    """On `compacted`: it may be an echo; how many model calls it made is not recorded."""
    recorded: Recorded = "unknown"

    @property
    def first(self) -> Event:
        """Its first row."""
        return self.start or self.row

    @property
    def lines(self) -> list[int]:
        """The lines of its rows."""
        return [one.line for one in (self.start, self.row) if one is not None and one.line is not None]
