"""Read which facts hold now, or held at an earlier time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ecphoria.facts.store import LIST_KEYS_OF_FACTS, FactStore, KeyRow, to_key
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.recall.ports import ClaimedFact, FactStanding, RelatingFact
from ecphoria.records.fact import FactKey, KeyRecord, PredicateClass, Standing
from ecphoria.records.ids import EpisodeId, FactId, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing(KeyRow):
    episode: str
    fact: str
    standing: str | None
    holds: bool
    ended_at: datetime | None
    current: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Happened:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claimed(KeyRow):
    episode: str
    fact: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Relating(KeyRow):
    tail: str
    head: str
    fact: str


_LIST_STANDINGS = Statement("recall.list_standings", _Standing)
_LIST_HAPPENED = Statement("recall.list_happened", _Happened)
_LIST_CLAIMED = Statement("recall.list_claimed", _Claimed)
_LIST_RELATING = Statement("recall.list_relating", _Relating)


class AsOfReader:
    """Facts and episodes by time; implements `ports.AsOfReads`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._facts = FactStore(graph)

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Tell of every fact that these episodes claim how it stands at an instant."""
        rows = await self._graph.run(
            _LIST_STANDINGS, tenant=tenant, episodes=list(episodes), now=now
        )
        return [
            FactStanding(
                episode=EpisodeId(row.episode),
                fact=FactId(row.fact),
                key=to_key(row),
                holds=row.holds,
                ended=row.standing == Standing.HELD and not row.holds and row.ended_at is not None,
                ended_at=row.ended_at,
                current=tuple(FactId(one) for one in row.current),
            )
            for row in rows
        ]

    async def happened(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        happened_by: datetime,
        known_at: datetime | None,
    ) -> frozenset[EpisodeId]:
        """Tell which of these had happened by an instant, and were recorded by another."""
        rows = await self._graph.run(
            _LIST_HAPPENED,
            tenant=tenant,
            ids=list(ids),
            happened_by=happened_by,
            known_at=known_at,
        )
        return frozenset(EpisodeId(row.id) for row in rows)

    async def claimed(
        self, tenant: TenantId, episodes: Sequence[EpisodeId]
    ) -> Sequence[ClaimedFact]:
        """List the facts that these episodes claim."""
        rows = await self._graph.run(_LIST_CLAIMED, tenant=tenant, episodes=list(episodes))
        return [
            ClaimedFact(episode=EpisodeId(row.episode), fact=FactId(row.fact), key=to_key(row))
            for row in rows
        ]

    async def relating(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> Sequence[RelatingFact]:
        """List the facts behind the RELATED edges of these concepts."""
        rows = await self._graph.run(
            _LIST_RELATING, tenant=tenant, concepts=list(concepts), hub=hub
        )
        return [
            RelatingFact(tail=row.tail, head=row.head, fact=FactId(row.fact), key=to_key(row))
            for row in rows
        ]

    async def keys_of(self, tenant: TenantId, facts: Sequence[FactId]) -> Mapping[FactId, FactKey]:
        """Find the keys of facts."""
        rows = await self._graph.run(LIST_KEYS_OF_FACTS, tenant=tenant, facts=list(facts))
        return {FactId(row.fact): to_key(row) for row in rows}

    async def timelines(
        self, tenant: TenantId, keys: Sequence[FactKey]
    ) -> tuple[Mapping[str, PredicateClass], Sequence[KeyRecord]]:
        """Load the tenant's own classes and all that is stored of these keys."""
        return await self._facts.read(tenant, keys)
