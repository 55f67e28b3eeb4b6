"""Recall as of an earlier time, and current facts before superseded ones.

Recall as of a time ignores later episodes and their edges, retracted facts, and facts that no
episode had claimed yet. Timelines are computed again from the claims of that time. Statistics of
the whole store (document frequencies, mentions of a name, priors) stay those of today.

A memory is superseded if all facts it claims have ended. It keeps its score. The best memory that
claims the current facts is raised to this score if it had less. Other memories do not move.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from ecphoria.facts.timelines import LaidOut, lay_out
from ecphoria.ports import Vector
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.ports import ConceptArcs, FactStanding, Lexicon, NearFacts, RecallStore
from ecphoria.recall.views import StoreView, keep_rows
from ecphoria.records.fact import FactKey, Standing
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.recall import Filters

_TICK = timedelta(microseconds=1)
_MOST_FACTS = 1_000


class AsOfStore(StoreView):
    """One recall's view of a store as of an instant."""

    def __init__(self, store: RecallStore, at: datetime, known_at: datetime | None) -> None:
        super().__init__(store)
        self._at = at
        self._known_at = known_at
        self._known: dict[EpisodeId, bool] = {}
        self._laid: dict[FactKey, LaidOut] = {}

    async def kept(self, tenant: TenantId, ids: Iterable[EpisodeId]) -> Collection[EpisodeId]:
        """Choose the episodes that had happened; each is looked up once."""
        asked = set(ids)
        missing = sorted(asked - self._known.keys())
        if missing:
            there = await self.as_of.happened(tenant, missing, self._at, self._known_at)
            self._known.update((episode, episode in there) for episode in missing)
        return {episode for episode in asked if self._known[episode]}

    def filters(self, filters: Filters) -> Filters:
        """End the period of a search at the instant."""
        end = self._at + _TICK
        before = filters.occurred_before
        return replace(filters, occurred_before=end if before is None else min(before, end))

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Tell how each fact that these episodes claim stood at the instant."""
        assert now == self._at, "a view of one instant is asked about another"
        claimed = await self.as_of.claimed(tenant, episodes)
        await self._lay_out(tenant, {claim.key for claim in claimed})
        return [self._standing(claim.episode, claim.fact, claim.key) for claim in claimed]

    async def lexicon(
        self, tenant: TenantId, stems: Sequence[str], names: Sequence[str]
    ) -> Lexicon:
        """Read the statistics of today; marks that recalls left since then do not count."""
        found = await super().lexicon(tenant, stems, names)
        return replace(found, profile=replace(found.profile, learned=False))

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = True
    ) -> ConceptArcs:
        """List the concepts that names, and facts of that time, join to these."""
        found = await super().related(tenant, concepts, hub, retracted=retracted)
        behind = await self.as_of.relating(tenant, concepts, hub)
        await self._lay_out(tenant, {fact.key for fact in behind})
        joined = {(fact.tail, fact.head) for fact in behind if self._counts(fact.key, fact.fact)}
        return keep_rows(
            found,
            [
                edge != "RELATED" or (tail, head) in joined
                for tail, head, edge in zip(found.tail, found.head, found.edge, strict=True)
            ],
        )

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = True
    ) -> NearFacts:
        """Search the facts of that time, looking further until there are enough."""
        asked = limit
        while True:
            found = await super().nearest_facts(tenant, vector, asked, retracted=retracted)
            keys = await self.as_of.keys_of(tenant, [FactId(fact) for fact in found.fact])
            await self._lay_out(tenant, set(keys.values()))
            there = [
                fact
                for fact in dict.fromkeys(found.fact)
                if FactId(fact) in keys and self._counts(keys[FactId(fact)], FactId(fact))
            ]
            if len(there) >= limit or len(set(found.fact)) < asked or asked >= _MOST_FACTS:
                wanted = set(there[:limit])
                return keep_rows(found, [fact in wanted for fact in found.fact])
            asked *= 4

    async def _lay_out(self, tenant: TenantId, keys: set[FactKey]) -> None:
        missing = sorted(keys - self._laid.keys())
        if not missing:
            return
        own, records = await self.as_of.timelines(tenant, missing)
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
        """Tell whether a fact was claimed by then and not retracted; it may have been over."""
        laid = self._laid.get(key)
        if laid is None or not laid.has(fact):
            return False
        return laid.standing_of(fact) is not Standing.RETRACTED


PART = "current"
"""The part of a score that lifts what holds to the place of what held."""

_LOOKED_AT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """The end of the last of a memory's facts, and the facts that hold instead."""

    at: datetime
    by: tuple[FactId, ...]
    keys: frozenset[FactKey]


async def promote_current_facts(
    search: Search, ranked: Ranked
) -> tuple[Ranked, Mapping[EpisodeId, Superseded]]:
    """Mark superseded memories, and rank memories with the current facts above them.

    One query about the best 200 memories, and none where no fact has a place in time.
    """
    if not search.seeding.profile.timed:
        return ranked, {}
    standings = await search.store.standings(search.tenant, ranked.ids[:_LOOKED_AT], search.now)
    behind = superseded_by(standings)
    if not behind:
        return ranked, {}
    holders: dict[FactKey, set[EpisodeId]] = {}
    for standing in standings:
        if standing.holds:
            holders.setdefault(standing.key, set()).add(standing.episode)
    return lifted(ranked, behind, holders), behind


def superseded_by(standings: Sequence[FactStanding]) -> dict[EpisodeId, Superseded]:
    """Find the memories all of whose facts have ended."""
    by_episode: dict[EpisodeId, list[FactStanding]] = {}
    for standing in standings:
        by_episode.setdefault(standing.episode, []).append(standing)
    return {
        episode: Superseded(
            at=max(standing.ended_at for standing in facts if standing.ended_at is not None),
            by=tuple(sorted({fact for standing in facts for fact in standing.current})),
            keys=frozenset(standing.key for standing in facts),
        )
        for episode, facts in by_episode.items()
        if all(standing.ended and standing.ended_at is not None for standing in facts)
    }


def lifted(
    ranked: Ranked,
    behind: Mapping[EpisodeId, Superseded],
    holders: Mapping[FactKey, set[EpisodeId]],
) -> Ranked:
    """Put the best holder of each key right above the first memory that is behind it."""
    order = list(range(len(ranked.ids)))
    lift = np.zeros(len(ranked.ids))
    for row, episode in enumerate(ranked.ids):
        late = behind.get(episode)
        for key in sorted(late.keys) if late else ():
            there = [order.index(row) for row in order if ranked.ids[row] in holders.get(key, ())]
            at = order.index(row)
            if there and min(there) > at:
                holder = order.pop(min(there))
                order.insert(at, holder)
                lift[holder] = ranked.score[row] - ranked.score[holder]
    if not lift.any():
        return ranked
    parts = np.column_stack((ranked.parts, lift))[order]
    return replace(
        ranked,
        ids=tuple(ranked.ids[row] for row in order),
        score=parts.sum(axis=1),
        parts=parts,
        part_names=(*ranked.part_names, PART),
    )
