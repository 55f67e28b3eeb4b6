"""Look at what is stored, without a cue: episodes, sessions, concepts and their neighbours."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Final

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.filters import forms_of, named
from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.nodes import load_nodes
from ecphoria.neo4j_store.session import Statement, Store
from ecphoria.recall.scope import first_after
from ecphoria.records.conditions import meets
from ecphoria.records.episode import (
    Bucket,
    BucketKind,
    Engram,
    EngramKind,
    Episode,
    MemoryKind,
    MetadataCondition,
    Session,
    State,
)
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
from ecphoria.records.ids import EpisodeId, TenantId, concept_id
from ecphoria.records.recall import Filters
from ecphoria.records.tenant import TenantStats, scale_of
from ecphoria.records.traced import Node, NodeKind
from ecphoria.text.names import normalise


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBucket(Bucket):
    """A count with its place in the list: the number that it is sorted by."""

    place: int


_FIND_EPISODE = Statement("archive.find_episode", Episode)
_LIST_EPISODES = Statement("archive.list_episodes", Episode)
_LIST_EXPIRING = Statement("archive.list_expiring", Episode)
_LIST_ENGRAMS = Statement("archive.list_engrams", Engram)
_LIST_SESSIONS = Statement("archive.list_sessions", Session)
_LIST_BUCKETS = Statement("archive.list_buckets", ListedBucket)
_COUNT_GRAPH = Statement("archive.count_graph", TenantStats)

_BEYOND_ALL = 2**62
"""A turn that no episode has."""
_LEAST_READ = 500
"""Smallest number of episodes that are read at once to test their metadata."""


class EpisodeArchive(Store):
    """Reads memories without a cue."""

    async def episode(self, tenant: TenantId, episode: EpisodeId) -> Episode:
        """Fetch one episode; NotFound if it is not this tenant's."""
        row = await self._graph.run_one(_FIND_EPISODE, tenant=tenant, id=episode, expired=False)
        if row is None:
            raise NotFound("there is no such episode", episode=episode)
        return row

    async def list_episodes(
        self,
        tenant: TenantId,
        *,
        limit: int,
        ids: Sequence[EpisodeId] | None = None,
        session: str | None = None,
        concept: str | None = None,
        state: State | None = None,
        pinned: bool | None = None,
        as_of: datetime | None = None,
        occurred_from: datetime | None = None,
        occurred_before: datetime | None = None,
        speaker: str | None = None,
        role: str | None = None,
        kind: MemoryKind | None = None,
        metadata: Mapping[str, MetadataCondition] | None = None,
        newest: bool = False,
        cursor: int = 0,
    ) -> Sequence[Episode]:
        """List the episodes that pass all filters given, by turn, or the newest first.

        `concept` is the name of one that they mention or are about; speakers are named in any
        case. The cursor is the last turn of the page before, 0 for the first page.
        """
        filters, _ = await named(self._graph, tenant, Filters(speaker=speaker))
        # The query returns some whose metadata only seem to meet the conditions.
        size = max(limit, _LEAST_READ) if metadata else limit
        page = {
            "tenant": tenant,
            "ids": None if ids is None else list(ids),
            "state": None if state is None else f"{state.value.capitalize()}Episode",
            "pinned": pinned,
            "concept": None if concept is None else normalise(concept),
            "session": session,
            "newest": newest,
            "speakers": list(filters.speakers) or None,
            "role": role,
            "kind": kind,
            "metadata": forms_of(metadata or {}),
            "occurred_from": occurred_from,
            "occurred_before": first_after(as_of, occurred_before),
            "limit": size,
        }
        found: list[Episode] = []
        while len(found) < limit:
            after, before = (0, cursor or _BEYOND_ALL) if newest else (cursor, _BEYOND_ALL)
            rows = await self._graph.run(
                _LIST_EPISODES, after_turn=after, before_turn=before, **page
            )
            found += (episode for episode in rows if meets(episode.metadata, metadata or {}))
            if len(rows) < size:
                break
            cursor = rows[-1].turn
        return found[:limit]

    async def expiring(
        self, tenant: TenantId, *, limit: int, after: tuple[int, str] | None = None
    ) -> Sequence[Episode]:
        """List the episodes whose life has an end, the soonest first.

        `after` is the end in microseconds since 1970, and the id, of the last one of the page
        before.
        """
        instant, ident = after or (0, "")
        return await self._graph.run(
            _LIST_EXPIRING, tenant=tenant, after=instant, after_id=ident, limit=limit
        )

    async def list_sessions(
        self, tenant: TenantId, *, after: str | None, limit: int
    ) -> Sequence[Session]:
        """List sessions by name, from after `after` on."""
        return await self._graph.run(_LIST_SESSIONS, tenant=tenant, after=after or "", limit=limit)

    async def timeline(
        self,
        tenant: TenantId,
        *,
        by: BucketKind,
        limit: int,
        speaker: str | None = None,
        after: tuple[int, str] | None = None,
    ) -> Sequence[ListedBucket]:
        """Count episodes, perhaps of one speaker, by session, day or month, in the order of time.

        `after` is the place and the name of the last one of the page before.
        """
        filters, _ = await named(self._graph, tenant, Filters(speaker=speaker))
        place, name = after or (None, "")
        return await self._graph.run(
            _LIST_BUCKETS,
            tenant=tenant,
            by=by.value,
            speakers=list(filters.speakers) or None,
            after_place=place,
            after_name=name,
            limit=limit,
        )

    async def list_engrams(
        self, tenant: TenantId, *, kind: EngramKind | None, after: str | None, limit: int
    ) -> Sequence[Engram]:
        """List engrams by id, from after `after` on."""
        return await self._graph.run(
            _LIST_ENGRAMS, tenant=tenant, kind=kind and kind.value, after=after or "", limit=limit
        )

    async def stats(self, tenant: TenantId) -> TenantStats:
        """Count the tenant's graph by kind; NotFound without the tenant."""
        stats = await self._graph.run_one(_COUNT_GRAPH, tenant=tenant)
        if stats is None:
            raise no_tenant(tenant)
        return replace(stats, scale=scale_of(stats.sums))


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


class GraphReader(Store):
    """Reads the graph without a cue; it shows nothing that has expired."""

    async def concepts(
        self,
        tenant: TenantId,
        *,
        limit: int,
        search: str | None = None,
        sort: ConceptSort = ConceptSort.MENTIONS,
        after: tuple[int, str] | None = None,
    ) -> Sequence[ListedConcept]:
        """List concepts, with `search` only those whose name has this, in any spelling.

        `after` is the place and the normalised name of the last concept of the page before.
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
        """Walk from a node to at most `limit` nodes, the strongest edges first.

        The node is named by the id of a memory or a concept, or by `concept:` or `session:` and a
        name. Without `kinds`, the walk goes to memories and concepts. With `as_of`, only what had
        occurred by then counts, and facts that held then.

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
            ident = around
            if around.startswith(_CONCEPT):
                ident = concept_id(tenant, normalise(around.removeprefix(_CONCEPT)))
            shown = await load_nodes(self._graph, tenant, [ident], as_of=as_of)
            centre = [
                node.id
                for node in shown.nodes
                if node.kind is not NodeKind.FACT and node.state is not State.ARCHIVED
            ]
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
