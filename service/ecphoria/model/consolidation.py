"""Consolidation: what a cycle over a tenant's memory did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

__all__ = ["ConsolidationReport", "StepReport", "StepStatus"]


class StepStatus(StrEnum):
    """How a step of a cycle ended."""

    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What one step did.

    Attributes:
        counts: What it touched, by kind.
        reason: Why it was skipped, with the remedy; empty when done.
    """

    name: str
    status: StepStatus
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """What one cycle did, step by step."""

    cycle: str
    started_at: datetime
    seconds: float
    steps: tuple[StepReport, ...]
