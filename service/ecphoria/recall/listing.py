"""List stored episodes and sessions, and count them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.filters import entries_of, named
from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.rows import StoredEpisode, to_episode
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.recall.engrams import EngramRow
from ecphoria.records.episode import Engram, EngramKind, Episode, MetadataValue, Session
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters
from ecphoria.records.tenant import TenantStats


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionRow:
    name: str
    episodes: int
    first_occurred_at: datetime
    last_occurred_at: datetime
    speakers: list[str]
    summary: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    episodes: int
    live: int
    archived: int
    passages: int
    sessions: int
    speakers: int
    concepts: int
    mentions: int
    abouts: int
    next_edges: int
    terms: int
    traces: int
    change: int
    first_occurred_at: datetime | None
    last_occurred_at: datetime | None


_FIND_EPISODE = Statement("archive.find_episode", StoredEpisode)
_LIST_EPISODES = Statement("archive.list_episodes", StoredEpisode)
_LIST_NEWEST_EPISODES = Statement("archive.list_newest_episodes", StoredEpisode)
_LIST_EPISODES_OF_SESSION = Statement("archive.list_episodes_of_session", StoredEpisode)
_LIST_EPISODES_OF_CONCEPT = Statement("archive.list_episodes_of_concept", StoredEpisode)
_LIST_ENGRAMS = Statement("archive.list_engrams", EngramRow)
_LIST_SESSIONS = Statement("archive.list_sessions", _SessionRow)
_COUNT_GRAPH = Statement("archive.count_graph", _Counts)

_BEYOND_ALL = 2**62
"""A turn that no episode has."""


class EpisodeArchive:
    """Reading without a cue."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def episode(self, tenant: TenantId, episode: EpisodeId) -> Episode:
        """Fetch one episode; NotFound if it is not this tenant's."""
        row = await self._graph.run_one(_FIND_EPISODE, tenant=tenant, id=episode, expired=False)
        if row is None:
            raise NotFound("there is no such episode", episode=episode)
        return to_episode(row)

    async def list_episodes(
        self,
        tenant: TenantId,
        *,
        session: str | None,
        concept: str | None,
        occurred_from: datetime | None,
        occurred_before: datetime | None,
        limit: int,
        speaker: str | None = None,
        role: str | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        newest: bool = False,
        cursor: int = 0,
    ) -> Sequence[Episode]:
        """List episodes by turn.

        Args:
            tenant: Whose.
            session: Only those of this session.
            concept: Only those that mention or are about the concept of this normalised name.
            occurred_from: Only those that occurred at this instant or later.
            occurred_before: Only those that occurred before this instant.
            limit: Size of the page.
            speaker: Only what this speaker said, named in any case.
            role: Only what a speaker of this role said.
            metadata: Only those whose metadata have these entries.
            newest: The newest first.
            cursor: The last turn of the page before, 0 for the first page.
        """
        filters, _ = await named(self._graph, tenant, Filters(speaker=speaker))
        page = {
            "tenant": tenant,
            "speakers": list(filters.speakers) or None,
            "role": role,
            "metadata": entries_of((metadata or {}).items()),
            "occurred_from": occurred_from,
            "occurred_before": occurred_before,
            "limit": limit,
        }
        before = cursor or _BEYOND_ALL
        signed = {"sign": -1, "after": -before} if newest else {"sign": 1, "after": cursor}
        if concept is not None:
            rows = await self._graph.run(
                _LIST_EPISODES_OF_CONCEPT, concept=concept, session=session, **signed, **page
            )
        elif session is not None:
            rows = await self._graph.run(
                _LIST_EPISODES_OF_SESSION, session=session, **signed, **page
            )
        elif newest:
            rows = await self._graph.run(_LIST_NEWEST_EPISODES, before_turn=before, **page)
        else:
            rows = await self._graph.run(_LIST_EPISODES, after_turn=cursor, **page)
        return [to_episode(row) for row in rows]

    async def list_sessions(
        self, tenant: TenantId, *, after: str | None, limit: int
    ) -> Sequence[Session]:
        """List sessions by name, from after `after` on."""
        rows = await self._graph.run(_LIST_SESSIONS, tenant=tenant, after=after or "", limit=limit)
        return [
            Session(
                name=row.name,
                episodes=row.episodes,
                first_occurred_at=row.first_occurred_at,
                last_occurred_at=row.last_occurred_at,
                speakers=tuple(row.speakers),
                summary=row.summary,
            )
            for row in rows
        ]

    async def list_engrams(
        self, tenant: TenantId, *, kind: EngramKind | None, after: str | None, limit: int
    ) -> Sequence[Engram]:
        """List engrams by id, from after `after` on."""
        rows = await self._graph.run(
            _LIST_ENGRAMS, tenant=tenant, kind=kind and kind.value, after=after or "", limit=limit
        )
        return [row.to_engram() for row in rows]

    async def stats(self, tenant: TenantId) -> TenantStats:
        """Count the tenant's graph by kind.

        Raises:
            NotFound: There is no such tenant.
        """
        row = await self._graph.run_one(_COUNT_GRAPH, tenant=tenant)
        if row is None:
            raise no_tenant(tenant)
        counts = asdict(row)
        dormant = row.episodes - counts.pop("live") - row.archived
        return TenantStats(dormant=dormant, **counts)
