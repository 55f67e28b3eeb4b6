"""Look at concepts, and at the graph around a memory, a concept or a session."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Final

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.nodes import load_nodes
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.records.episode import State
from ecphoria.records.fact import Merge
from ecphoria.records.graph import (
    Concept,
    ConceptNeighbour,
    ConceptSort,
    ConceptView,
    EdgeColumns,
    Neighbourhood,
    NodeColumns,
)
from ecphoria.records.ids import TenantId, concept_id
from ecphoria.records.traced import Node, NodeKind
from ecphoria.text.names import normalise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    """An edge to another node, which is its tail or its head."""

    other: str
    tail: str
    head: str
    edge: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConcept(Concept):
    """A concept with its place in the list: the number that it is sorted by."""

    place: int


_FIND_CONCEPT = Statement("graph.find_concept", Concept)
_LIST_CONCEPTS = Statement("graph.list_concepts", ListedConcept)
_LIST_EDGES = Statement("graph.list_edges", _Edge)
_LIST_MERGES_OF = Statement("graph.list_merges_of", Merge)
_LIST_SESSION = Statement("graph.list_session", str)

_CONCEPT, _SESSION = "concept:", "session:"
_MOST_EDGES: Final = 20_000
"""Edges that are read at one hop, the strongest first."""
_NEIGHBOURS: Final = 100


@dataclass(slots=True)
class _Found:
    """The nodes that were met, with their hop, and the edges between them."""

    hops: dict[str, int]
    edges: dict[tuple[str, str, str], float] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def meet(self, rows: Sequence[_Edge], hop: int, limit: int) -> list[str]:
        """Add edges and the nodes at their ends, while there is room; list the new nodes."""
        fresh = []
        for row in rows:
            if row.other not in self.hops:
                if len(self.hops) >= limit:
                    self.left_out.add(row.other)
                    continue
                self.hops[row.other] = hop
                fresh.append(row.other)
            self.edges[row.tail, row.head, row.edge] = row.weight
        return fresh


class GraphReader:
    """Reads the graph without a cue; it shows nothing that has expired."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def concepts(
        self,
        tenant: TenantId,
        *,
        limit: int,
        search: str | None = None,
        sort: ConceptSort = ConceptSort.MENTIONS,
        after: tuple[int, str] | None = None,
    ) -> Sequence[ListedConcept]:
        """List concepts.

        Args:
            tenant: Whose.
            limit: Size of the page.
            search: Only those whose name has this, in any spelling.
            sort: The order: the most mentioned, by name, or the last mentioned first.
            after: Place and normalised name of the last concept of the page before.
        """
        place, name = after or (None, "")
        return await self._graph.run(
            _LIST_CONCEPTS,
            tenant=tenant,
            search=(normalise(search) or None) if search else None,
            sort=sort.value,
            after_place=place,
            after_name=name,
            limit=limit,
        )

    async def concept(self, tenant: TenantId, concept: str) -> ConceptView:
        """Fetch a concept with its neighbours and its merges.

        Raises:
            NotFound: There is no such concept.
        """
        found = await self._graph.run_one(_FIND_CONCEPT, tenant=tenant, id=concept)
        if found is None:
            raise NotFound("there is no such concept", concept=concept)
        edges = await self._edges(tenant, [concept], {NodeKind.CONCEPT}, None, _NEIGHBOURS)
        shown = await load_nodes(self._graph, tenant, {edge.other for edge in edges})
        names = {node.id: node.label for node in shown.nodes}
        neighbours = tuple(
            ConceptNeighbour(
                id=edge.other, name=names[edge.other], edge=edge.edge, weight=edge.weight
            )
            for edge in edges
            if edge.other in names
        )
        merges = await self._graph.run(_LIST_MERGES_OF, tenant=tenant, id=concept)
        return ConceptView(concept=found, neighbours=neighbours, merges=tuple(merges))

    async def around(
        self,
        tenant: TenantId,
        around: str,
        *,
        hops: int,
        limit: int,
        kinds: Collection[NodeKind] = (),
        as_of: datetime | None = None,
    ) -> Neighbourhood:
        """Walk from a node to its neighbours, the strongest edges first.

        Args:
            tenant: Whose.
            around: Id of a memory or a concept, `concept:` and a name, or `session:` and a name.
            hops: Number of edges to walk.
            limit: Number of nodes, with the centre.
            kinds: Kinds of nodes to walk to; memories and concepts if empty.
            as_of: Only what had occurred by then, and facts that held then.

        Raises:
            NotFound: The tenant has no such node, or it has expired, is archived, or had not
                occurred by then.
        """
        centre = await self._centre(tenant, around, as_of, limit)
        found = _Found(dict.fromkeys(centre, 0))
        frontier = centre
        for hop in range(1, hops + 1):
            if not frontier:
                break
            rows = await self._edges(
                tenant, frontier, kinds or (NodeKind.EPISODE, NodeKind.CONCEPT), as_of, _MOST_EDGES
            )
            frontier = found.meet(rows, hop, limit)
        shown = await load_nodes(self._graph, tenant, found.hops, as_of=as_of)
        return _drawn(found, {node.id: node for node in shown.nodes})

    async def _centre(
        self, tenant: TenantId, around: str, as_of: datetime | None, limit: int
    ) -> list[str]:
        if around.startswith(_SESSION):
            name = around.removeprefix(_SESSION)
            centre = await self._graph.run(
                _LIST_SESSION, tenant=tenant, session=name, as_of=as_of, limit=limit
            )
        else:
            named = around.startswith(_CONCEPT)
            name = normalise(around.removeprefix(_CONCEPT))
            ident = concept_id(tenant, name) if named else around
            shown = await load_nodes(self._graph, tenant, [ident], as_of=as_of)
            centre = [node.id for node in shown.nodes if _is_centre(node)]
        if not centre:
            raise NotFound("there is no such memory, concept or session", around=around)
        return centre

    async def _edges(
        self,
        tenant: TenantId,
        frontier: Sequence[str],
        kinds: Collection[NodeKind],
        as_of: datetime | None,
        limit: int,
    ) -> Sequence[_Edge]:
        return await self._graph.run(
            _LIST_EDGES,
            tenant=tenant,
            frontier=list(frontier),
            episodes=NodeKind.EPISODE in kinds,
            concepts=NodeKind.CONCEPT in kinds,
            as_of=as_of,
            limit=limit,
        )


def _is_centre(node: Node) -> bool:
    return node.kind is not NodeKind.FACT and node.state is not State.ARCHIVED


def _drawn(found: _Found, nodes: dict[str, Node]) -> Neighbourhood:
    """Lay out the nodes that still exist, and the edges between them, as columns."""
    shown = [nodes[ident] for ident in found.hops if ident in nodes]
    place = {node.id: at for at, node in enumerate(shown)}
    edges = [
        (place[tail], place[head], kind, weight)
        for (tail, head, kind), weight in found.edges.items()
        if tail in place and head in place
    ]
    tails, heads, kinds, weights = zip(*edges, strict=True) if edges else ((), (), (), ())
    columns = {
        name.name: tuple(getattr(node, name.name) for node in shown) for name in fields(Node)
    }
    return Neighbourhood(
        nodes=NodeColumns(**columns, hop=tuple(found.hops[node.id] for node in shown)),
        edges=EdgeColumns(tail=tails, head=heads, type=kinds, weight=weights),
        left_out=len(found.left_out),
    )
