"""A tenant's graph as a whole: what there is of each kind, and what was asked in vain."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ecphoria.graph.associations import KnnProgress
from ecphoria.graph.executor import Graph, Statement
from ecphoria.model.consolidation import Degrees, Gap, GraphSize
from ecphoria.model.ids import TenantId

__all__ = ["GraphSurvey"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nodes:
    label: str
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edges:
    type: str
    edges: int
    faulty: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Degrees:
    type: str
    half: int
    nine_tenths: int
    nearly_all: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gap:
    refused: int
    traces: list[str]


_FIND_PROGRESS = Statement("consolidation.find_progress", KnnProgress)
_COUNT_NODES = Statement("consolidation.count_nodes", _Nodes)
_COUNT_EDGES = Statement("consolidation.count_edges", _Edges)
_COUNT_DEGREES = Statement("consolidation.count_degrees", _Degrees)
_LIST_GAPS = Statement("consolidation.list_gaps", _Gap)


class GraphSurvey:
    """Counts a tenant's graph; implements `ports.survey.Survey`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def turn(self, tenant: TenantId) -> int:
        """Tell how many episodes were appended so far."""
        found = await self._graph.run_one(_FIND_PROGRESS, tenant=tenant)
        return found.turn if found else 0

    async def size(self, tenant: TenantId) -> GraphSize:
        """Count nodes by label and edges by type, and the edges that lack weight or family."""
        turn = await self.turn(tenant)
        nodes, edges = await asyncio.gather(
            self._graph.run(_COUNT_NODES, tenant=tenant),
            self._graph.run(_COUNT_EDGES, tenant=tenant),
        )
        return GraphSize(
            turn=turn,
            nodes={row.label: row.nodes for row in nodes},
            edges={row.type: row.edges for row in edges},
            faulty_edges=sum(row.faulty for row in edges),
        )

    async def degrees(self, tenant: TenantId) -> Mapping[str, Degrees]:
        """Tell how many associations live nodes have, by type."""
        return {
            row.type: Degrees(p50=row.half, p90=row.nine_tenths, p99=row.nearly_all, most=row.most)
            for row in await self._graph.run(_COUNT_DEGREES, tenant=tenant)
        }

    async def gaps(self, tenant: TenantId, *, least: int, limit: int) -> Sequence[Gap]:
        """List the cues refused so often since the last whole cycle, the most refused first."""
        rows = await self._graph.run(_LIST_GAPS, tenant=tenant, least=least, limit=limit)
        return [Gap(refused=row.refused, traces=tuple(row.traces)) for row in rows]
