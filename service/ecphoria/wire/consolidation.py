"""Bodies of consolidation."""

from ecphoria.model.consolidation import StepStatus
from ecphoria.wire.base import Answer, Instant

__all__ = ["ChangeAnswer", "ConsolidationAnswer", "StepAnswer"]


class ChangeAnswer(Answer):
    """One thing a step did, or would do."""

    kind: str
    """What happens to it, a verb."""
    id: str
    """What is changed."""
    detail: str
    """From what to what, and why."""


class StepAnswer(Answer):
    """What one step of a cycle did, or would do."""

    name: str
    """The step: `merge` proposes concepts that are likely one, `engrams` summarises sessions,
    `associate` joins what is alike, `prior` ranks every node by PageRank, `decay` weakens what
    was learned and not used, `prune` removes what a node has too much of."""
    status: StepStatus
    """`done`, or `skipped` with its `reason`."""
    seconds: float
    """How long it took."""
    counts: dict[str, int]
    """What it touched, by kind."""
    changes: tuple[ChangeAnswer, ...] = ()
    """The first hundred changes, one by one, where the step tells them."""
    reason: str
    """Why it was skipped and what helps; empty when done."""


class ConsolidationAnswer(Answer):
    """What a cycle did, or in a dry run would do."""

    cycle: str
    """Its id; what it wrote bears it."""
    started_at: Instant
    """When it began."""
    seconds: float
    """How long its last attempt took."""
    steps: tuple[StepAnswer, ...]
    """Its steps in their order."""
