"""Consolidation: what a cycle over a tenant's memory did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

__all__ = ["Change", "ConsolidationReport", "Lease", "Outcome", "StepReport", "StepStatus"]


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
        detail: From what to what and why, in words; no memory's text.
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
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()


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
    """

    name: str
    status: StepStatus
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """What one cycle did, step by step."""

    cycle: str
    started_at: datetime
    seconds: float
    steps: tuple[StepReport, ...]
