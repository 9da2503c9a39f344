"""PilotDeck in August 2026."""

from forensics.policies._pilotdeck import ASSUME, Answer, Deck, deck
from forensics.replay import Signal, policy

COMPACT_MAX_OUTPUT_TOKENS = 4_000


@policy(start=Deck(), agent="pilotdeck", assume=ASSUME)
def pilotdeck_head(state: Deck, signal: Signal, *, max_output: int = COMPACT_MAX_OUTPUT_TOKENS) -> Answer:
    """PilotDeck at `1104fd9e` (2026-08-21): after a failed summary the context is cut in memory, and the turn goes on.

    The emergency tiers are not persisted, so a restart brings the whole transcript back, and the log calls the
    compaction completed. A provider's overflow compacts at most once in a turn, then cuts the head and sends again, at
    once and without end. A cut reply is continued up to 50 times in a turn. Source: read; recorded: 75 overflows in
    five seconds (`b`), a cut reply resumed six times in a row (`d`).
    """
    del max_output
    return deck(state, signal, emergency=True)
