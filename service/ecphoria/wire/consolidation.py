"""Bodies of consolidation."""

from ecphoria.model.consolidation import StepStatus
from ecphoria.wire.base import Answer, Instant

__all__ = ["ConsolidationAnswer", "StepAnswer"]


class StepAnswer(Answer):
    """What one step of a cycle did."""

    name: str
    """The step: `associate` joins what is alike, `prior` ranks every node by PageRank, `decay`
    weakens what was learned and not used, `prune` removes what a node has too much of."""
    status: StepStatus
    """`done`, or `skipped` with its `reason`."""
    seconds: float
    """How long it took."""
    counts: dict[str, int]
    """What it touched, by kind."""
    reason: str
    """Why it was skipped and what helps; empty when done."""


class ConsolidationAnswer(Answer):
    """What a cycle did."""

    cycle: str
    """Its id; what it wrote bears it."""
    started_at: Instant
    """When it began."""
    seconds: float
    """How long it took."""
    steps: tuple[StepAnswer, ...]
    """Its steps in their order."""
