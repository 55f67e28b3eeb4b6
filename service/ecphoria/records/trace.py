"""Traces in a list."""

from dataclasses import dataclass
from datetime import datetime

from ecphoria.records.answered import answered
from ecphoria.records.episode import EPOCH, TICK
from ecphoria.records.ids import EpisodeId, TraceId
from ecphoria.records.recall import Verdict


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """A trace in a list."""

    id: TraceId
    """The trace's id."""
    cue: str
    """The question."""
    strategy: str
    """The mechanism that ran."""
    created_at: datetime
    """Time of the recall."""
    verdict: Verdict
    """The verdict of the gate."""
    confidence: float
    """Probability that the hits hold the answer, 0 to 1."""
    first: EpisodeId | None = None
    """The first hit; null if there is none, or it was erased or has expired."""
    first_label: str | None = None
    """Its title, or its speaker and the start of its text."""

    @property
    def cursor(self) -> str:
        """The cursor of the traces after this one."""
        return f"{(self.created_at - EPOCH) // TICK}.{self.id}"
