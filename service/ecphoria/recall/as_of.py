"""Read the facts and memories of now, or of an earlier time.

Statistics of the whole store (document frequencies, mentions of a name, priors) are always of
today.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from ecphoria.facts.store import FactStore, KeyedFact, keyed
from ecphoria.facts.timelines import LaidOut, lay_out
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.recall.ports import FactStanding
from ecphoria.records.fact import FactKey, KeyRecord, PredicateClass, Standing
from ecphoria.records.ids import EpisodeId, FactId, TenantId

_LIST_STANDINGS = Statement("recall.list_standings", FactStanding)
_LIST_PASSING = Statement("recall.list_passing", EpisodeId)
_LIST_UNSEEN = Statement("recall.list_unseen", str)


class AsOfReader:
    """Reads episodes and facts by time."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._facts = FactStore(graph)

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Read the standing, at an instant, of every fact that these episodes claim."""
        return await self._graph.run(
            _LIST_STANDINGS, tenant=tenant, episodes=list(episodes), now=now
        )

    async def passing(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        *,
        happened_by: datetime | None = None,
        known_at: datetime | None = None,
        metadata: Sequence[str] | None = None,
    ) -> frozenset[EpisodeId]:
        """List which of these had occurred by an instant, and were recorded by another.

        Their metadata are among `metadata`. None means no bound.
        """
        rows = await self._graph.run(
            _LIST_PASSING,
            tenant=tenant,
            ids=list(ids),
            happened_by=happened_by,
            known_at=known_at,
            metadata=None if metadata is None else list(metadata),
        )
        return frozenset(rows)

    async def unseen(
        self,
        tenant: TenantId,
        ids: Sequence[str],
        happened_by: datetime | None,
        known_at: datetime | None,
    ) -> frozenset[str]:
        """List the concepts and facts without an episode that may be seen.

        An episode may be seen if it is not expired, had occurred by an instant, and was recorded
        by another; None means no bound.
        """
        rows = await self._graph.run(
            _LIST_UNSEEN, tenant=tenant, ids=list(ids), happened_by=happened_by, known_at=known_at
        )
        return frozenset(rows)

    async def claimed(
        self, tenant: TenantId, episodes: Sequence[EpisodeId]
    ) -> Sequence[KeyedFact]:
        """List the facts that these episodes claim."""
        return await keyed(self._graph, tenant, episodes=episodes)

    async def relating(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> Sequence[KeyedFact]:
        """List the facts behind the RELATED edges of these concepts."""
        return await keyed(self._graph, tenant, concepts=concepts, hub=hub)

    async def keys_of(self, tenant: TenantId, facts: Sequence[FactId]) -> Mapping[FactId, FactKey]:
        """Find the keys of facts."""
        return {one.fact: one.key for one in await keyed(self._graph, tenant, facts=facts)}

    async def timelines(
        self, tenant: TenantId, keys: Sequence[FactKey]
    ) -> tuple[Mapping[str, PredicateClass], Sequence[KeyRecord]]:
        """Load the tenant's own classes and the stored records of these keys."""
        return await self._facts.read(tenant, keys)


class FactsThen:
    """Facts at an instant, as they were known at another.

    Retracted facts, and facts that no episode had claimed by then, do not count. Each timeline is
    computed once, from the claims of that time.
    """

    def __init__(self, reader: AsOfReader, at: datetime, known_at: datetime | None) -> None:
        self._reader = reader
        self._at = at
        self._known_at = known_at
        self._laid: dict[FactKey, LaidOut] = {}

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Find the standing, at the instant, of each fact that these episodes claim."""
        assert now == self._at, "facts of one instant are asked about another"
        claimed = await self._reader.claimed(tenant, episodes)
        await self._lay_out(tenant, {claim.key for claim in claimed})
        return [self._standing(EpisodeId(claim.of), claim.fact, claim.key) for claim in claimed]

    async def joined(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> Collection[tuple[str, str]]:
        """List the pairs of one of these with another concept that a fact of that time joins."""
        behind = await self._reader.relating(tenant, concepts, hub)
        await self._lay_out(tenant, {fact.key for fact in behind})
        return {(fact.of, fact.other) for fact in behind if self._counts(fact.key, fact.fact)}

    async def counting(self, tenant: TenantId, facts: Sequence[FactId]) -> Sequence[FactId]:
        """Select the facts that were claimed by then and not retracted; some may have ended."""
        keys = await self._reader.keys_of(tenant, facts)
        await self._lay_out(tenant, set(keys.values()))
        return [fact for fact in facts if fact in keys and self._counts(keys[fact], fact)]

    async def _lay_out(self, tenant: TenantId, keys: set[FactKey]) -> None:
        missing = sorted(keys - self._laid.keys())
        if not missing:
            return
        own, records = await self._reader.timelines(tenant, missing)
        for record in records:
            self._laid[record.key] = lay_out(
                record, own, happened_by=self._at, known_at=self._known_at
            )

    def _standing(self, episode: EpisodeId, fact: FactId, key: FactKey) -> FactStanding:
        laid = self._laid.get(key)
        if laid is None or not laid.has(fact):
            return FactStanding(episode=episode, fact=fact, key=key, holds=False, ended=False)
        ended_at = laid.ended_by(fact, self._at)
        held = laid.held(self._at)
        holds = fact in held
        return FactStanding(
            episode=episode,
            fact=fact,
            key=key,
            holds=holds,
            ended=not holds and ended_at is not None,
            ended_at=ended_at,
            current=() if holds else tuple(sorted(held)),
        )

    def _counts(self, key: FactKey, fact: FactId) -> bool:
        laid = self._laid.get(key)
        if laid is None or not laid.has(fact):
            return False
        return laid.standing_of(fact) is not Standing.RETRACTED
