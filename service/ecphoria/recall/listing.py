"""List stored episodes and sessions, and count them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.filters import forms_of, named
from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.records.conditions import meets
from ecphoria.records.episode import (
    TICK,
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
from ecphoria.records.fact import UNENDING
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters
from ecphoria.records.scale import scale_of
from ecphoria.records.tenant import TenantStats
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


class EpisodeArchive:
    """Reads memories without a cue."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

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
        """List episodes by turn.

        Args:
            tenant: Whose.
            limit: Size of the page.
            ids: Only these.
            session: Only those of this session.
            concept: Only those that mention or are about the concept of this name.
            state: Only live, dormant or archived ones.
            pinned: Only pinned ones, or only others.
            as_of: Only those that had occurred by then.
            occurred_from: Only those that occurred at this instant or later.
            occurred_before: Only those that occurred before this instant.
            speaker: Only what this speaker said, named in any case.
            role: Only what a speaker of this role said.
            kind: Only memories of this kind.
            metadata: Only those whose metadata meet these conditions.
            newest: The newest first.
            cursor: The last turn of the page before, 0 for the first page.
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
            "occurred_before": _first_after(as_of, occurred_before),
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

        Args:
            tenant: Whose.
            limit: Size of the page.
            after: End in microseconds since 1970, and id, of the last one of the page before.
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
        """Count episodes by session, day or month, in the order of time.

        Args:
            tenant: Whose.
            by: What to count by.
            limit: Size of the page.
            speaker: Only what this speaker said, named in any case.
            after: Place and name of the last one of the page before.
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
        """Count the tenant's graph by kind.

        Raises:
            NotFound: There is no such tenant.
        """
        stats = await self._graph.run_one(_COUNT_GRAPH, tenant=tenant)
        if stats is None:
            raise no_tenant(tenant)
        return replace(stats, scale=scale_of(stats.sums))


def _first_after(as_of: datetime | None, before: datetime | None) -> datetime | None:
    """Give the first instant after one bound or at the other, whichever is earlier."""
    bounds = [before] if before else []
    if as_of is not None and as_of < UNENDING:
        bounds.append(as_of + TICK)
    return min(bounds, default=None)
