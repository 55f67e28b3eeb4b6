"""Recall as if some episodes were not stored.

They are no seeds and no candidates, nothing spreads through them, and their neighbours get neither
words nor vectors from them. Statistics of the whole store (document frequencies, mean lengths)
still count them. So do facts and names that they share with other episodes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from ecphoria.errors import InvalidInput
from ecphoria.neo4j_store.passages import PassageColumns, PassageSeed
from ecphoria.ports import Vector
from ecphoria.recall.as_of import among
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
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Charge, Filters, Use

EXCLUDE_LIMIT = 1_000
_FURTHEST = 200
"""Neighbours of one episode that are looked at, so that a long list stays cheap."""


class ExcludingStore:
    """A store without some of its episodes; implements `ports.recall.RecallStore`."""

    def __init__(self, store: RecallStore, excluded: Collection[EpisodeId]) -> None:
        """Leave out some episodes of a store.

        Raises:
            InvalidInput: There are too many.
        """
        if len(excluded) > EXCLUDE_LIMIT:
            raise InvalidInput(
                f"`filters.exclude` names {len(excluded):,} episodes;"
                f" at most {EXCLUDE_LIMIT:,} can be left out",
                field="filters.exclude",
            )
        self._store = store
        self._excluded = frozenset(excluded)

    @property
    def past(self) -> PastReads:
        """Additional reads of a recall as of an earlier time."""
        return self._store.past

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Tell of every fact that these episodes claim how it stands at an instant."""
        return await self._store.standings(tenant, episodes, now)

    async def lexicon(
        self, tenant: TenantId, stems: Sequence[str], names: Sequence[str]
    ) -> Lexicon:
        """Read the tenant's statistics, which count every episode."""
        return await self._store.lexicon(tenant, stems, names)

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
        """Search the vector index, so far that `limit` are left."""
        further, within = self._further(limit, filters)
        found = await self._store.seeds_by_vector(tenant, vector, further, within)
        return self._left(found)[:limit]

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index, so far that `limit` are left."""
        further, within = self._further(limit, filters)
        found = await self._store.seeds_by_text(tenant, stems, further, within)
        return self._left(found)[:limit]

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the passages' vector index; passages of what is excluded are left out."""
        _, within = self._further(limit, filters)
        found = await self._store.passages_by_vector(tenant, vector, limit, within)
        return [one for one in found if one.episode not in self._excluded]

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the passages' text index; passages of what is excluded are left out."""
        _, within = self._further(limit, filters)
        found = await self._store.passages_by_text(tenant, stems, limit, within)
        return [one for one in found if one.episode not in self._excluded]

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch the passages of those that are not excluded."""
        left = [one for one in episodes if one not in self._excluded]
        return await self._store.passages_of(tenant, left, vector)

    async def columns(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around | None = None,
    ) -> Columns:
        """Fetch those of these episodes that are not excluded."""
        found = await self._store.columns(tenant, ids, windows, vector, around)
        return among(found, np.array([one not in self._excluded for one in found.id], np.bool_))

    async def expand(
        self, tenant: TenantId, frontier: Sequence[str], fan: int, floor: float, now: datetime
    ) -> Arcs:
        """List the edges of a frontier to episodes that are not excluded."""
        found = await self._store.expand(tenant, frontier, fan, floor, now)
        return among(found, np.array([one not in self._excluded for one in found.head], np.bool_))

    async def concepts_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], hub: int
    ) -> ConceptEdges:
        """List the concepts that these episodes are about or mention."""
        left = [one for one in episodes if one not in self._excluded]
        return await self._store.concepts_of(tenant, left, hub)

    async def episodes_of(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> ConceptEdges:
        """List the episodes about these concepts or that mention them, without excluded ones."""
        found = await self._store.episodes_of(tenant, concepts, hub)
        kept = [one not in self._excluded for one in found.episode]
        return among(found, np.array(kept, np.bool_))

    async def priors(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[str, float]:
        """Look up the priors consolidation gave."""
        return await self._store.priors(tenant, ids)

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = False
    ) -> ConceptArcs:
        """List the concepts joined by facts or names."""
        return await self._store.related(tenant, concepts, hub, retracted=retracted)

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = False
    ) -> NearFacts:
        """Search the facts that join two concepts, by vector."""
        return await self._store.nearest_facts(tenant, vector, limit, retracted=retracted)

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of those that are not excluded."""
        left = [one for one in ids if one not in self._excluded]
        return await self._store.vectors(tenant, left)

    async def nearest(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], limit: int
    ) -> Sequence[Neighbour]:
        """Find the nearest neighbours of episodes, without excluded ones."""
        further = min(limit + len(self._excluded), _FURTHEST)
        found = await self._store.nearest(tenant, episodes, max(limit, further))
        kept: dict[EpisodeId, list[Neighbour]] = {}
        for one in found:
            if one.id not in self._excluded:
                kept.setdefault(one.of, []).append(one)
        return [one for each in kept.values() for one in each[:limit]]

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes, without excluded ones."""
        left = [one for one in ids if one not in self._excluded]
        return await self._store.episodes(tenant, left)

    def _further(self, limit: int, filters: Filters) -> tuple[int, Filters]:
        return limit + len(self._excluded), replace(filters, exclude=frozenset())

    def _left(self, found: Sequence[SeedRow]) -> Sequence[SeedRow]:
        return [one for one in found if one.id not in self._excluded]
