"""PilotDeck's token budget, as its log (`snapshot`) and its transcripts (`detail` of `context_budget`) write it."""

from typing import Any

import msgspec

from forensics.events import Event, Kind
from forensics.sane import Count


class Snapshot(msgspec.Struct, gc=False, omit_defaults=True):
    """The whole prompt against the context window, in tokens (`describeTokenBudgetSnapshot`)."""

    tokens: Count | None = None
    used: Count | None = None
    """Transcripts: `tokens`."""
    maxContextTokens: Count | None = None  # noqa: N815  (names of the format)
    effectiveTotal: Count | None = None  # noqa: N815
    """Transcripts: `maxContextTokens`, which is the window without the room that is kept for the answer."""
    localEstimateTokens: Count | None = None  # noqa: N815
    calibrationActualInputTokens: Count | None = None  # noqa: N815
    calibrationEstimatedInputTokens: Count | None = None  # noqa: N815

    @property
    def size(self) -> int | None:
        """The whole prompt: system prompt, tools and messages."""
        return self.used if self.tokens is None else self.tokens

    @property
    def cap(self) -> int | None:
        """The context window in force."""
        return self.effectiveTotal if self.maxContextTokens is None else self.maxContextTokens

    @property
    def estimate(self) -> int | None:
        """The agent's own estimate of the request that the provider counted, or of the present one."""
        known = self.calibrationEstimatedInputTokens
        return self.localEstimateTokens if known is None else known

    def columns(self) -> dict[str, Any]:
        """Give the event columns that a snapshot fills.

        `total` is the prompt that the provider reported for an earlier request, by which the agent calibrates its
        estimate; `estimate` is the agent's own estimate of that same request (its estimate of the present one where
        an older build keeps only that), so that the two can be held against each other.
        """
        cap = self.cap
        total = self.calibrationActualInputTokens
        return {
            "context": self.size,
            "cap": cap,
            "cap_source": None if cap is None else "recorded",
            "total": total,
            "estimate": None if total is None else self.estimate,
        }

    def row(self, kind: Kind, session: str, line: int, ts: int | None, text: str | None = None) -> Event:
        """Give a row with these columns: written out, for most of a log's rows are made here."""
        cap = self.maxContextTokens
        if cap is None:
            cap = self.effectiveTotal
        size = self.tokens
        total = self.calibrationActualInputTokens
        return Event(
            kind=kind,
            session=session,
            line=line,
            ts=ts,
            context=self.used if size is None else size,
            cap=cap,
            cap_source=None if cap is None else "recorded",
            total=total,
            estimate=None if total is None else self.estimate,
            text=text,
        )
