"""Bodies of consolidation."""

from pydantic import Field

from ecphoria.model.consolidation import StepStatus
from ecphoria.wire.base import Answer, Instant

__all__ = [
    "ChangeAnswer",
    "ConsolidationAnswer",
    "DegreesAnswer",
    "GapAnswer",
    "GraphSizeAnswer",
    "StepAnswer",
]


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
    was learned and not used, `prune` removes what a node has too much of, `dormancy` and `archive`
    forget, `supersede` lays out facts in time, `replay` looks at a sample again,
    `clusters` summarises what is alike."""
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
    degraded: tuple[str, ...] = ()
    """What it did in a lesser way, and why."""


class GraphSizeAnswer(Answer):
    """How large the graph was; a dry run and a cycle of some steps tell the turn alone."""

    turn: int
    """Episodes appended until then."""
    nodes: dict[str, int]
    """Nodes by label; one has several."""
    edges: dict[str, int]
    """Edges by type, those of traces left out."""
    faulty_edges: int
    """Edges without weight or family: 0, or the doctor has something to say."""


class DegreesAnswer(Answer):
    """Associations of one type that a live node has: the least number so many stay within."""

    p50: int
    """Half of the nodes."""
    p90: int
    """Nine tenths."""
    p99: int
    """All but one in a hundred."""
    most: int
    """All."""


class GapAnswer(Answer):
    """One cue that was refused again and again."""

    refused: int
    """How often."""
    traces: tuple[str, ...]
    """The latest of these recalls, the newest first; each trace has the cue."""


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
    before: GraphSizeAnswer | None = None
    """The graph when the first attempt began."""
    after: GraphSizeAnswer | None = None
    """The graph when the last step had ended."""
    degrees: dict[str, DegreesAnswer] = Field(default_factory=dict)
    """Associations of a node at the end, by type."""
    degraded: tuple[str, ...] = ()
    """What was missing, by step: it was left out, or done in a lesser way."""
    gaps: tuple[GapAnswer, ...] = ()
    """Cues refused three times or more since the last cycle of all steps, the most refused
    first."""
