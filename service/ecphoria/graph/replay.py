"""Read the episodes that a replay samples, and their neighbours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ecphoria.graph.executor import Graph, Statement
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConceptKey:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Degree:
    id: str
    degree: int


_LIST_REMEMBERED = Statement("consolidation.list_remembered", Remembered)
_LIST_MENTIONED = Statement("consolidation.list_mentioned", _ConceptKey)
_LIST_DEGREES = Statement("consolidation.list_degrees", _Degree)


class ReplayStore:
    """Memories as a replay sees them."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def memories(self, tenant: TenantId, turns: Sequence[int]) -> Sequence[Remembered]:
        """Find the live memories among these turns, by turn."""
        return await self._graph.run(_LIST_REMEMBERED, tenant=tenant, turns=list(turns))

    async def mentioned(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[str]:
        """List the concepts that these memories mention, by id."""
        rows = await self._graph.run(_LIST_MENTIONED, tenant=tenant, episodes=list(episodes))
        return [row.id for row in rows]

    async def degrees(self, tenant: TenantId, nodes: Sequence[str]) -> Mapping[str, int]:
        """Count the associations above 0 of each of these episodes or concepts."""
        rows = await self._graph.run(_LIST_DEGREES, tenant=tenant, ids=list(nodes))
        return {row.id: row.degree for row in rows}
