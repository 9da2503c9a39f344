"""PilotDeck with the fix of the incident."""

from forensics.policies._pilotdeck import ASSUME, Answer, Deck, deck
from forensics.replay import Signal, policy

COMPACT_MAX_OUTPUT_TOKENS = 16_000
COMPACT_OUTPUT_RESERVE_CONTEXT_RATIO = 0.4


@policy(start=Deck(), agent="pilotdeck", assume=ASSUME)
def pilotdeck_after(state: Deck, signal: Signal, *, max_output: int = COMPACT_MAX_OUTPUT_TOKENS) -> Answer:
    """PilotDeck with the incident's fix: a larger summary budget, and the opt-out of reasoning honoured.

    The budget is the smaller of `max-output` and 0.4 of the context. Both make a summary likelier; neither changes a
    step of what follows a failure, so this is `pilotdeck-head` again, and what that leaves unbounded stays unbounded.
    Summaries that succeed (`--assume summaries-succeed`) do not end a full context; they must shrink it as well
    (`--assume compaction-shrinks`). Source: the report (incident 5), its two halves ported to head and run.
    """
    del max_output
    return deck(state, signal, emergency=True)
