"""What a replay needs: a few memories of each age, what they mention, how crowded nodes are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ecphoria.model.ids import TenantId

__all__ = ["Remembered", "ReplayStore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A live memory that may be replayed.

    Attributes:
        salience: Its importance, moved by feedback, 0 to 1.
        own: Whether the speaker speaks of themselves.
        question: Whether it asks something.
    """

    id: str
    turn: int
    occurred_at: datetime
    salience: float
    own: bool
    question: bool


class ReplayStore(Protocol):
    """Reads memories without their being used: nothing is learned from it."""

    async def memories(self, tenant: TenantId, turns: Sequence[int]) -> Sequence[Remembered]:
        """Find the live memories among these turns, by turn."""
        ...

    async def mentioned(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[str]:
        """List the concepts that these memories mention, by id."""
        ...

    async def degrees(self, tenant: TenantId, nodes: Sequence[str]) -> Mapping[str, int]:
        """Count the associations above 0 of each of these episodes or concepts."""
        ...
