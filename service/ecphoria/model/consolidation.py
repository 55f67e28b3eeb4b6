"""Consolidation: what a cycle over a tenant's memory did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

__all__ = [
    "Change",
    "ConsolidationReport",
    "Degrees",
    "Gap",
    "GraphSize",
    "Lease",
    "LeaseLost",
    "Outcome",
    "StepReport",
    "StepStatus",
]


class LeaseLost(Exception):
    """A write came after its job's lease was over; another worker has the job, or may take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write for a job, until it expires or another worker takes the job.

    Attributes:
        token: Grows each time the job is claimed, so that an earlier holder is told apart.
    """

    job: str
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing a step did, or would do.

    Attributes:
        kind: What happens to it, a verb: `retire`, `link`, `prune`.
        id: What is changed.
        detail: From what to what and why, in words; ids, no memory's text and no name. Who reads
            the report of a job is told the names that the concepts have then.
    """

    kind: str
    id: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a step did, or in a dry run would do.

    Attributes:
        counts: What was touched, by kind.
        changes: The first of the changes, one by one; a step tells a hundred at most.
        degraded: What was done in a lesser way, and why.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    degraded: tuple[str, ...] = ()


class StepStatus(StrEnum):
    """How a step of a cycle ended."""

    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What one step did.

    Attributes:
        counts: What it touched, by kind.
        changes: The first of the changes, one by one.
        reason: Why it was skipped, with the remedy; empty when done.
        degraded: What it did in a lesser way, and why.
    """

    name: str
    status: StepStatus
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    reason: str = ""
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSize:
    """How large a tenant's graph was.

    Attributes:
        turn: Episodes appended until then.
        nodes: By label; a node has several. Empty in a cycle of some steps, and in a dry run.
        edges: By type, those of traces left out.
        faulty_edges: Of these the ones without weight or family.
    """

    turn: int
    nodes: Mapping[str, int] = field(default_factory=dict)
    edges: Mapping[str, int] = field(default_factory=dict)
    faulty_edges: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrees:
    """Associations of one type that live nodes have: the least number that so many stay within.

    Attributes:
        p50, p90, p99: Half of the nodes, nine tenths, all but one in a hundred.
        most: All.
    """

    p50: int
    p90: int
    p99: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One cue that was refused again and again; who may read the traces finds its text there.

    Attributes:
        refused: How often.
        traces: The latest of these recalls, the newest first.
    """

    refused: int
    traces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """What one cycle did, step by step.

    Attributes:
        seconds: Of work, that of steps which earlier attempts ended included.
        before: The graph when the first attempt began; None in reports of older versions.
        after: The graph when the last step had ended.
        degrees: By type of association, at the end.
        gaps: Cues refused three times or more since the last whole cycle, the most refused first.
    """

    cycle: str
    started_at: datetime
    seconds: float
    steps: tuple[StepReport, ...]
    before: GraphSize | None = None
    after: GraphSize | None = None
    degrees: Mapping[str, Degrees] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()

    @property
    def degraded(self) -> tuple[str, ...]:
        """What was missing, by step: a whole step was left out, or done in a lesser way."""
        return tuple(
            f"{step.name}: {reason}"
            for step in self.steps
            for reason in ((step.reason,) if step.reason else step.degraded)
        )
