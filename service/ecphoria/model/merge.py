"""Merges: two concepts that are likely one, and what was decided about it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

__all__ = ["Merge", "MergeStatus"]


class MergeStatus(StrEnum):
    """Where a merge stands."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Two concepts that are likely one, by their normalised names in alphabetical order.

    Attributes:
        cosine: Of the two names' vectors.
        reason: Why they are likely one.
        decided_at: When it was accepted or rejected; None while it is not.
    """

    one: str
    other: str
    kind: str
    cosine: float
    reason: str
    status: MergeStatus
    decided_at: datetime | None
