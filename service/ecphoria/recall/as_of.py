"""Recall as of an earlier time, and current facts before superseded ones.

Recall as of a time ignores later episodes and their edges, retracted facts, and facts that no
episode had claimed yet. Timelines are computed again from the claims of that time. Statistics of
the whole store (document frequencies, mentions of a name, priors) stay those of today.

A memory is superseded if all facts it claims have ended. It keeps its score. The best memory that
claims the current facts is raised to this score if it had less. Other memories do not move.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.facts.timelines import LaidOut, lay_out
from ecphoria.neo4j_store.passages import PassageColumns, PassageSeed
from ecphoria.ports import Vector
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.recall.ports import (
    Arcs,
    Around,
    Columns,
    ConceptArcs,
    ConceptEdges,
    FactStanding,
    Lexicon,
    NearFacts,
    Neighbour,
    PastReads,
    RecallStore,
    SeedRow,
    Window,
)
from ecphoria.records.episode import Episode
from ecphoria.records.fact import FactKey, Standing
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.recall import Charge, Filters, Use

T = TypeVar("T", Arcs, Columns, ConceptArcs, ConceptEdges, NearFacts, PassageColumns)

_TICK = timedelta(microseconds=1)
_MOST_FACTS = 1_000


class AsOfStore:
    """One recall's view of a store as of an instant; implements `ports.recall.RecallStore`."""

    def __init__(
        self, store: RecallStore, past: PastReads, at: datetime, known_at: datetime | None
    ) -> None:
        self.past = past
        self._store = store
        self._at = at
        self._known_at = known_at
        self._known: dict[EpisodeId, bool] = {}
        self._laid: dict[FactKey, LaidOut] = {}

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Tell of every fact that these episodes claim how it stood."""
        assert now == self._at, "a view of one instant is asked about another"
        claimed = await self.past.claimed(tenant, episodes)
        await self._lay_out(tenant, {one.key for one in claimed})
        return [self._standing(one.episode, one.fact, one.key) for one in claimed]

    async def lexicon(
        self, tenant: TenantId, stems: Sequence[str], names: Sequence[str]
    ) -> Lexicon:
        """Read the tenant's statistics as they are now; what recalls left is not of that time."""
        found = await self._store.lexicon(tenant, stems, names)
        return replace(found, profile=replace(found.profile, learned=False))

    async def uses(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Tell how episodes were used."""
        return await self._store.uses(tenant, ids)

    async def charges(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Charge]:
        """Tell the charges of episodes."""
        return await self._store.charges(tenant, ids)

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index among episodes that had happened."""
        found = await self._store.seeds_by_vector(tenant, vector, limit, self._until(filters))
        return await self._then(tenant, found)

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index among episodes that had happened."""
        found = await self._store.seeds_by_text(tenant, stems, limit, self._until(filters))
        return await self._then(tenant, found)

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index of passages among episodes that had happened."""
        found = await self._store.passages_by_vector(tenant, vector, limit, self._until(filters))
        there = await self._happened(tenant, [one.episode for one in found])
        return [one for one in found if one.episode in there]

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index of passages among episodes that had happened."""
        found = await self._store.passages_by_text(tenant, stems, limit, self._until(filters))
        there = await self._happened(tenant, [one.episode for one in found])
        return [one for one in found if one.episode in there]

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch the passages of those of these episodes that had happened."""
        found = await self._store.passages_of(tenant, episodes, vector)
        return among(found, await self._mask(tenant, found.episode))

    async def columns(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around | None = None,
    ) -> Columns:
        """Fetch those of these episodes that had happened."""
        found = await self._store.columns(tenant, ids, windows, vector, around)
        return among(found, await self._mask(tenant, found.id))

    async def expand(
        self, tenant: TenantId, frontier: Sequence[str], fan: int, floor: float, now: datetime
    ) -> Arcs:
        """List the edges of a frontier that lead to episodes that had happened, or to concepts."""
        found = await self._store.expand(tenant, frontier, fan, floor, now)
        ends = [
            EpisodeId(head)
            for head, kind in zip(found.head, found.head_kind, strict=True)
            if kind == "episode"
        ]
        there = await self._happened(tenant, ends)
        kept = [
            kind != "episode" or head in there
            for head, kind in zip(found.head, found.head_kind, strict=True)
        ]
        return among(found, np.array(kept, dtype=np.bool_))

    async def concepts_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], hub: int
    ) -> ConceptEdges:
        """List the concepts that these episodes are about or mention."""
        return await self._store.concepts_of(tenant, episodes, hub)

    async def episodes_of(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> ConceptEdges:
        """List the episodes about these concepts, or that mention them, that had happened."""
        found = await self._store.episodes_of(tenant, concepts, hub)
        return among(found, await self._mask(tenant, found.episode))

    async def priors(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[str, float]:
        """Look up priors as they are now."""
        return await self._store.priors(tenant, ids)

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = True
    ) -> ConceptArcs:
        """List the concepts joined by facts of that time or by names."""
        found = await self._store.related(tenant, concepts, hub, retracted=retracted)
        behind = await self.past.relating(tenant, concepts, hub)
        await self._lay_out(tenant, {one.key for one in behind})
        joined = {(one.tail, one.head) for one in behind if self._takes_part(one.key, one.fact)}
        kept = [
            edge != "RELATED" or (tail, head) in joined
            for tail, head, edge in zip(found.tail, found.head, found.edge, strict=True)
        ]
        return among(found, np.array(kept, dtype=np.bool_))

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = True
    ) -> NearFacts:
        """Search the facts of that time, looking further until there are enough."""
        asked = limit
        while True:
            found = await self._store.nearest_facts(tenant, vector, asked, retracted=retracted)
            keys = await self.past.keys_of(tenant, [FactId(one) for one in found.fact])
            await self._lay_out(tenant, set(keys.values()))
            there = [
                one
                for one in dict.fromkeys(found.fact)
                if FactId(one) in keys and self._takes_part(keys[FactId(one)], FactId(one))
            ]
            if len(there) >= limit or len(set(found.fact)) < asked or asked >= _MOST_FACTS:
                wanted = set(there[:limit])
                kept = np.array([one in wanted for one in found.fact], dtype=np.bool_)
                return among(found, kept)
            asked *= 4

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of episodes."""
        return await self._store.vectors(tenant, ids)

    async def nearest(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], limit: int
    ) -> Sequence[Neighbour]:
        """Find the nearest neighbours of episodes among those that had happened."""
        found = await self._store.nearest(tenant, episodes, limit)
        there = await self._happened(tenant, [one.id for one in found])
        return [one for one in found if one.id in there]

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes that had happened."""
        there = await self._happened(tenant, ids)
        return [one for one in await self._store.episodes(tenant, ids) if one.id in there]

    def _until(self, filters: Filters) -> Filters:
        end = self._at + _TICK
        before = filters.occurred_before
        return replace(filters, occurred_before=end if before is None else min(before, end))

    async def _then(self, tenant: TenantId, found: Sequence[SeedRow]) -> Sequence[SeedRow]:
        there = await self._happened(tenant, [one.id for one in found])
        return [one for one in found if one.id in there]

    async def _happened(self, tenant: TenantId, ids: Iterable[EpisodeId]) -> Collection[EpisodeId]:
        asked = set(ids)
        missing = sorted(asked - self._known.keys())
        if missing:
            there = await self.past.happened(tenant, missing, self._at, self._known_at)
            self._known.update((one, one in there) for one in missing)
        return {one for one in asked if self._known[one]}

    async def _mask(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> NDArray[np.bool_]:
        there = await self._happened(tenant, ids)
        return np.array([one in there for one in ids], dtype=np.bool_)

    async def _lay_out(self, tenant: TenantId, keys: set[FactKey]) -> None:
        missing = sorted(keys - self._laid.keys())
        if not missing:
            return
        own, records = await self.past.timelines(tenant, missing)
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

    def _takes_part(self, key: FactKey, fact: FactId) -> bool:
        """Tell whether a fact was claimed by then, and not retracted; it may have been over."""
        laid = self._laid.get(key)
        if laid is None or not laid.has(fact):
            return False
        return laid.standing_of(fact) is not Standing.RETRACTED


def among(columns: T, kept: NDArray[np.bool_]) -> T:
    """Keep some rows of parallel columns."""
    if kept.all():
        return columns
    rows = np.flatnonzero(kept).tolist()
    chosen: dict[str, Any] = {}
    for column in fields(columns):
        values = getattr(columns, column.name)
        chosen[column.name] = (
            values[rows] if isinstance(values, np.ndarray) else tuple(values[row] for row in rows)
        )
    return replace(columns, **chosen)


PART = "current"
"""The part of a score that lifts what holds to the place of what held."""

_LOOKED_AT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """When the last of a memory's facts ended, and the facts that hold instead."""

    at: datetime
    by: tuple[FactId, ...]
    keys: frozenset[FactKey]


async def promote_current_facts(
    search: Search, ranked: Ranked
) -> tuple[Ranked, Mapping[EpisodeId, Superseded]]:
    """Mark superseded memories, and raise those that claim the current facts.

    One query about the best 200 memories, and none where no fact has a place in time.
    """
    if not search.seeding.profile.timed:
        return ranked, {}
    standings = await search.store.standings(search.tenant, ranked.ids[:_LOOKED_AT], search.now)
    behind = superseded_by(standings)
    if not behind:
        return ranked, {}
    holders: dict[FactKey, set[EpisodeId]] = {}
    for one in standings:
        if one.holds:
            holders.setdefault(one.key, set()).add(one.episode)
    return lifted(ranked, behind, holders), behind


def superseded_by(standings: Sequence[FactStanding]) -> dict[EpisodeId, Superseded]:
    """Find the memories all of whose facts have ended."""
    by_episode: dict[EpisodeId, list[FactStanding]] = {}
    for one in standings:
        by_episode.setdefault(one.episode, []).append(one)
    return {
        episode: Superseded(
            at=max(one.ended_at for one in facts if one.ended_at is not None),
            by=tuple(sorted({fact for one in facts for fact in one.current})),
            keys=frozenset(one.key for one in facts),
        )
        for episode, facts in by_episode.items()
        if all(one.ended and one.ended_at is not None for one in facts)
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
