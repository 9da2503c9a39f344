"""PilotDeck at v260806."""

from forensics.policies._pilotdeck import ASSUME, Answer, Deck, deck
from forensics.replay import Signal, policy

COMPACT_MAX_OUTPUT_TOKENS = 4_000


@policy(start=Deck(), agent="pilotdeck", assume=ASSUME)
def pilotdeck_before(state: Deck, signal: Signal, *, max_output: int = COMPACT_MAX_OUTPUT_TOKENS) -> Answer:
    """PilotDeck v260806: a failed summary is skipped, and the whole transcript goes to the model.

    For 60 seconds each attempt repeats the failure without a model call, then it is tried again: the context grows
    without a bound and without a word. A provider's overflow cuts the head and sends again, at once and without end.
    A summary may hold `max-output` tokens; that decides how often one succeeds, not what follows when none does.
    Source: read; recorded: 31 attempts without a summary, a context of 48,924 against a cap of 13,000, 74 overflows
    in one prompt. Inferred: cut replies as at head.
    """
    del max_output
    return deck(state, signal, emergency=False)
