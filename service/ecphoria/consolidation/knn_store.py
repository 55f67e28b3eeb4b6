"""Store of associations: reads neighbours, and writes SIMILAR and ASSOCIATED edges."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from ecphoria.neo4j_store.locks import change_under
from ecphoria.neo4j_store.passages import LIST_NEAREST, Neighbour
from ecphoria.neo4j_store.session import Done, Statement, Store, Work
from ecphoria.ports import Vector
from ecphoria.records.ids import TenantId
from ecphoria.records.job import Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class KnnProgress:
    """The progress of a tenant's association.

    Attributes:
        turn: Its last turn now.
        items: Its episodes now.
        associated_turn: Episodes up to this turn have been associated.
        associated_total: The total with which the lifts were computed.
    """

    turn: int
    items: int
    associated_turn: int
    associated_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A node whose neighbours changed since the last association.

    Attributes:
        turn: The turn of an episode; 0 for a concept.
        mark: The mark that a write left on it; a later write leaves another mark. Empty for a new
            one.
    """

    id: str
    turn: int
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourCount:
    """The number of neighbours of an episode, and the cosine of the last of its nearest.

    Attributes:
        size: An upper bound of the number, or a number above 15. A search does not fetch all
            neighbours if there are many, and a memory that is touched again is counted again.
        cosine, turn: Of the 15th neighbour; None if there are no more than 15.
    """

    id: str
    size: int
    cosine: float | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """A concept mentioned together with another.

    Attributes:
        joint: Episodes that mention both.
        mentions: Episodes that mention the one.
        other_mentions: Episodes that mention the other.
    """

    of: str
    id: str
    joint: int
    mentions: int
    other_mentions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """An edge between two nodes of a kind, the smaller id first, and one part of its weight."""

    one: str
    other: str
    part: float


FIND_PROGRESS = Statement("consolidation.find_progress", KnnProgress)
LIST_TOUCHED = Statement("consolidation.list_touched", Touched)
_LIST_COSINES = Statement("consolidation.list_cosines", Neighbour)
_LIST_VECTORS = Statement("consolidation.list_vectors", tuple[str, Vector])
_LIST_CROWDS = Statement("consolidation.list_crowds", NeighbourCount)
_LIST_COMPANIONS = Statement("consolidation.list_companions", Companion)
LIST_ASSOCIATIONS = Statement("consolidation.list_associations", Association)
_SAVE_ASSOCIATIONS = Statement("consolidation.save_associations", Done)
_SAVE_PROGRESS = Statement("consolidation.save_progress", Done)
REMOVE_MARKS = Statement("consolidation.remove_marks", Done)
REMOVE_ASSOCIATIONS = Statement("consolidation.remove_associations", Done)


class AssociationStore(Store):
    """Association edges."""

    async def progress(self, tenant: TenantId) -> KnnProgress:
        """Read the turn up to which the tenant is associated."""
        found = await self._graph.run_one(FIND_PROGRESS, tenant=tenant)
        return found or KnnProgress(turn=0, items=0, associated_turn=0, associated_total=0)

    async def touched_episodes(self, tenant: TenantId, after: int) -> Sequence[Touched]:
        """List the episodes after a turn, and those that a write has marked, by turn."""
        return await self._graph.run(LIST_TOUCHED, tenant=tenant, after=after, every=False)

    async def near(
        self, tenant: TenantId, episodes: Sequence[str], *, fetch: int, above: float
    ) -> Sequence[Neighbour]:
        """Fetch `fetch` neighbours of each live episode; keep those with enough cosine."""
        if not episodes:
            return []
        return await self._graph.run(
            LIST_NEAREST,
            tenant=tenant,
            episodes=list(episodes),
            fetch=fetch,
            limit=fetch,
            above=above,
        )

    async def cosines(
        self,
        tenant: TenantId,
        episodes: Sequence[str],
        near: Sequence[Sequence[str]],
        *,
        above: float,
    ) -> Sequence[Neighbour]:
        """Compare each of these live episodes with its given ones, as `near` does."""
        return await self._graph.run(
            _LIST_COSINES, tenant=tenant, episodes=list(episodes), near=list(near), above=above
        )

    async def read_vectors(
        self, tenant: TenantId, episodes: Sequence[str]
    ) -> Sequence[tuple[str, Vector]]:
        """Read the vectors of live episodes, each with its id."""
        return await self._graph.run(_LIST_VECTORS, tenant=tenant, ids=list(episodes))

    async def similar(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Association]:
        """List the edges of these episodes to live ones that have a part by nearness."""
        return await self._graph.run(
            LIST_ASSOCIATIONS, tenant=tenant, episodes=list(episodes), concepts=[]
        )

    async def neighbour_counts(
        self, tenant: TenantId, episodes: Sequence[str]
    ) -> Sequence[NeighbourCount]:
        """Read the stored neighbour counts; nodes that were never searched have none."""
        return await self._graph.run(_LIST_CROWDS, tenant=tenant, ids=list(episodes))

    async def touched_concepts(self, tenant: TenantId, *, every: bool) -> Sequence[Touched]:
        """List the concepts that a write has marked, or all concepts, by id."""
        return await self._graph.run(LIST_TOUCHED, tenant=tenant, after=None, every=every)

    async def companions(
        self, tenant: TenantId, concepts: Sequence[str], *, least: int, most: int
    ) -> Sequence[Companion]:
        """List the concepts mentioned together with each of these at least `least` times."""
        return await self._graph.run(
            _LIST_COMPANIONS, tenant=tenant, concepts=list(concepts), least=least, most=most
        )

    async def associated(self, tenant: TenantId, concepts: Sequence[str]) -> Sequence[Association]:
        """List the edges of these concepts that have a part by lift."""
        return await self._graph.run(
            LIST_ASSOCIATIONS, tenant=tenant, episodes=[], concepts=list(concepts)
        )

    async def save_similar(
        self,
        tenant: TenantId,
        lease: Lease | None,
        *,
        now: datetime,
        edges: Sequence[Association],
        counts: Sequence[NeighbourCount] = (),
        done: Sequence[Touched] = (),
    ) -> None:
        """Store parts by nearness in one transaction, and remove the marks of the nodes."""
        crowds = [asdict(count) for count in counts]

        async def save(work: Work) -> None:
            await _give(work, "SIMILAR", tenant, now, edges)
            marks = [{"id": node.id, "mark": node.mark} for node in done if node.mark]
            turn = max((node.turn for node in done), default=0)
            await work.run(
                _SAVE_PROGRESS, tenant=tenant, turn=turn, total=None, crowds=crowds, rows=marks
            )

        await change_under(self._graph, lease, "consolidation.save_similar", save)

    async def save_associated(
        self,
        tenant: TenantId,
        lease: Lease | None,
        *,
        now: datetime,
        edges: Sequence[Association],
        done: Mapping[str, str],
    ) -> None:
        """Store parts by lift in one transaction; `done` are the marks to remove, by concept."""

        async def save(work: Work) -> None:
            await _give(work, "ASSOCIATED", tenant, now, edges)
            marks = [{"id": one, "mark": mark} for one, mark in sorted(done.items()) if mark]
            await work.run(REMOVE_MARKS, tenant=tenant, concepts=marks, sessions=[])

        await change_under(self._graph, lease, "consolidation.save_associated", save)

    async def save_total(self, tenant: TenantId, lease: Lease | None, total: int) -> None:
        """Record that every lift was computed with this total."""

        async def save(work: Work) -> None:
            await work.run(_SAVE_PROGRESS, tenant=tenant, turn=0, total=total, crowds=[], rows=[])

        await change_under(self._graph, lease, "consolidation.save_total", save)


async def _give(
    work: Work, kind: str, tenant: TenantId, now: datetime, edges: Sequence[Association]
) -> None:
    rows = [asdict(edge) | {"edge": kind} for edge in edges]
    if not rows:
        return
    await work.run(_SAVE_ASSOCIATIONS, tenant=tenant, now=now, rows=rows)
    gone = [row for row in rows if row["part"] == 0.0]
    if gone:
        await work.run(REMOVE_ASSOCIATIONS, tenant=tenant, rows=gone, only_empty=True)
