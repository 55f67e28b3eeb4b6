"""Views of a store that leave out some of its episodes.

An episode that is left out is no seed and no candidate. Nothing spreads through it, and its
neighbours get neither words nor vectors from it. Statistics of the whole store (document
frequencies, mean lengths) still count it, and so do facts and names that it shares with others.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.neo4j_store.passages import PassageColumns, PassageSeed
from ecphoria.ports import Vector
from ecphoria.recall.ports import (
    Arcs,
    Around,
    AsOfReads,
    Columns,
    ConceptArcs,
    ConceptEdges,
    FactStanding,
    FanLimits,
    Lexicon,
    NamedConcept,
    NearConcept,
    NearFacts,
    Neighbour,
    RecallStore,
    SeedRow,
    Window,
)
from ecphoria.records.episode import Episode
from ecphoria.records.history import Charge, Use
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters

T = TypeVar("T", Arcs, Columns, ConceptArcs, ConceptEdges, NearFacts, PassageColumns)

_FURTHEST = 200
"""Excluded episodes that a first search allows for, so that a long list stays cheap."""


class StoreView(ABC):
    """A store without some of its episodes; implements `ports.RecallStore`."""

    def __init__(self, store: RecallStore) -> None:
        self._store = store

    @abstractmethod
    async def kept(self, tenant: TenantId, ids: Iterable[EpisodeId]) -> Collection[EpisodeId]:
        """Choose the episodes that this view shows."""

    @abstractmethod
    def filters(self, filters: Filters) -> Filters:
        """Adapt the filters of a search to this view."""

    @property
    def as_of(self) -> AsOfReads:
        """The reads that only a recall as of an earlier time needs."""
        return self._store.as_of

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Tell how each fact that these episodes claim stands at an instant."""
        return await self._store.standings(tenant, episodes, now)

    async def lexicon(
        self, tenant: TenantId, stems: Sequence[str], names: Sequence[str]
    ) -> Lexicon:
        """Read the tenant's statistics, which count every episode."""
        return await self._store.lexicon(tenant, stems, names)

    async def uses(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Read how episodes were used."""
        return await self._store.uses(tenant, ids)

    async def charges(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Charge]:
        """Read the charges of episodes."""
        return await self._store.charges(tenant, ids)

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index."""
        found = await self._store.seeds_by_vector(tenant, vector, limit, self.filters(filters))
        kept = await self.kept(tenant, [row.id for row in found])
        return [row for row in found if row.id in kept]

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index."""
        found = await self._store.seeds_by_text(tenant, stems, limit, self.filters(filters))
        kept = await self.kept(tenant, [row.id for row in found])
        return [row for row in found if row.id in kept]

    async def with_metadata(
        self, tenant: TenantId, ids: Sequence[EpisodeId], filters: Filters
    ) -> Collection[EpisodeId]:
        """Choose the episodes whose metadata pass the filters."""
        return await self._store.with_metadata(tenant, ids, filters)

    async def ended(self, tenant: TenantId, ids: Sequence[str]) -> frozenset[str]:
        """Choose the concepts and facts that only episodes speak of whose life is over."""
        return await self._store.ended(tenant, ids)

    async def named(self, tenant: TenantId, filters: Filters) -> tuple[Filters, tuple[str, ...]]:
        """Find the spellings of the wanted speaker, and tell which wanted names do not exist."""
        return await self._store.named(tenant, filters)

    async def expired(self, tenant: TenantId) -> Collection[EpisodeId]:
        """List the episodes whose life is over."""
        return await self._store.expired(tenant)

    async def words(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, str]:
        """Read the words of episodes."""
        return await self._store.words(tenant, ids)

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the passages' vector index."""
        found = await self._store.passages_by_vector(tenant, vector, limit, self.filters(filters))
        kept = await self.kept(tenant, [row.episode for row in found])
        return [row for row in found if row.episode in kept]

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the passages' text index."""
        found = await self._store.passages_by_text(tenant, stems, limit, self.filters(filters))
        kept = await self.kept(tenant, [row.episode for row in found])
        return [row for row in found if row.episode in kept]

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch the passages of episodes."""
        found = await self._store.passages_of(tenant, episodes, vector)
        return await self._rows(tenant, found, found.episode)

    async def near_concepts(
        self, tenant: TenantId, vector: Vector, limit: int
    ) -> Sequence[NearConcept]:
        """Search the concepts by vector."""
        return await self._store.near_concepts(tenant, vector, limit)

    async def concepts_with(
        self, tenant: TenantId, words: Sequence[str], limit: int
    ) -> Sequence[NamedConcept]:
        """List the concepts whose names hold one of these words."""
        return await self._store.concepts_with(tenant, words, limit)

    async def concept_vectors(
        self, tenant: TenantId, concepts: Sequence[str]
    ) -> Mapping[str, Vector]:
        """Fetch the vectors of concepts."""
        return await self._store.concept_vectors(tenant, concepts)

    async def columns(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around | None = None,
    ) -> Columns:
        """Fetch episodes by id, by place in their session, and near others."""
        found = await self._store.columns(tenant, ids, windows, vector, around)
        return await self._rows(tenant, found, found.id)

    async def expand(
        self, tenant: TenantId, frontier: Sequence[str], limits: FanLimits, now: datetime
    ) -> Arcs:
        """List the edges of a frontier that lead to concepts, or to episodes of this view."""
        found = await self._store.expand(tenant, frontier, limits, now)
        ends = list(zip(found.head, found.head_kind, strict=True))
        episodes = [EpisodeId(head) for head, kind in ends if kind == "episode"]
        kept = await self.kept(tenant, episodes)
        return keep_rows(found, [kind != "episode" or head in kept for head, kind in ends])

    async def concepts_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], hub: int
    ) -> ConceptEdges:
        """List the concepts that these episodes are about and mention."""
        kept = await self.kept(tenant, episodes)
        left = [episode for episode in episodes if episode in kept]
        return await self._store.concepts_of(tenant, left, hub)

    async def episodes_of(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> ConceptEdges:
        """List the episodes that are about these concepts or mention them."""
        found = await self._store.episodes_of(tenant, concepts, hub)
        return await self._rows(tenant, found, found.episode)

    async def priors(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[str, float]:
        """Read the priors that consolidation gave."""
        return await self._store.priors(tenant, ids)

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = False
    ) -> ConceptArcs:
        """List the concepts that facts and names join to these."""
        return await self._store.related(tenant, concepts, hub, retracted=retracted)

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = False
    ) -> NearFacts:
        """Search the facts that join two concepts, by vector."""
        return await self._store.nearest_facts(tenant, vector, limit, retracted=retracted)

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of episodes."""
        kept = await self.kept(tenant, ids)
        return await self._store.vectors(tenant, [episode for episode in ids if episode in kept])

    async def latest_turns(
        self, tenant: TenantId, session: str, limit: int
    ) -> Sequence[EpisodeId]:
        """List the latest turns of a session."""
        found = await self._store.latest_turns(tenant, session, limit)
        kept = await self.kept(tenant, found)
        return [episode for episode in found if episode in kept]

    async def nearest(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], limit: int
    ) -> Sequence[Neighbour]:
        """Search around each of these episodes."""
        found = await self._store.nearest(tenant, episodes, limit)
        kept = await self.kept(tenant, [row.id for row in found])
        return [row for row in found if row.id in kept]

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes."""
        kept = await self.kept(tenant, ids)
        return await self._store.episodes(tenant, [episode for episode in ids if episode in kept])

    async def _rows(self, tenant: TenantId, columns: T, episodes: Sequence[EpisodeId]) -> T:
        kept = await self.kept(tenant, episodes)
        return keep_rows(columns, [episode in kept for episode in episodes])


class ExcludingStore(StoreView):
    """A store without the episodes that a caller names."""

    def __init__(self, store: RecallStore, excluded: Collection[EpisodeId]) -> None:
        super().__init__(store)
        self._excluded = frozenset(excluded)

    async def kept(self, tenant: TenantId, ids: Iterable[EpisodeId]) -> Collection[EpisodeId]:
        """Choose all but the excluded."""
        del tenant
        return set(ids) - self._excluded

    def filters(self, filters: Filters) -> Filters:
        """Drop the filter `exclude`, which this view applies."""
        return replace(filters, exclude=frozenset())

    # A search looks further by the number of excluded episodes, so that `limit` are left.

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index, with enough results that `limit` remain after the filter."""

        async def search(further: int) -> Sequence[SeedRow]:
            return await self._store.seeds_by_vector(
                tenant, vector, further, self.filters(filters)
            )

        return await self._searched(search, limit)

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index, with enough results that `limit` remain after the filter."""

        async def search(further: int) -> Sequence[SeedRow]:
            return await self._store.seeds_by_text(tenant, stems, further, self.filters(filters))

        return await self._searched(search, limit)

    async def nearest(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], limit: int
    ) -> Sequence[Neighbour]:
        """Search around each of these episodes, with enough results that `limit` remain."""
        further = max(limit, min(limit + len(self._excluded), _FURTHEST))
        by_episode: dict[EpisodeId, list[Neighbour]] = {}
        for row in await super().nearest(tenant, episodes, further):
            by_episode.setdefault(row.of, []).append(row)
        return [row for rows in by_episode.values() for row in rows[:limit]]

    async def _searched(
        self, search: Callable[[int], Awaitable[Sequence[SeedRow]]], limit: int
    ) -> Sequence[SeedRow]:
        """Search further and further, until `limit` seeds are left or nothing more is found."""
        most = limit + len(self._excluded)
        further = min(most, limit + _FURTHEST)
        while True:
            found = await search(further)
            kept = [row for row in found if row.id not in self._excluded]
            if len(kept) >= limit or len(found) < further or further == most:
                return kept[:limit]
            further = min(most, 4 * further)


class UnexpiredStore(ExcludingStore):
    """A store without the episodes whose life is over, and without what only they speak of."""

    async def expand(
        self, tenant: TenantId, frontier: Sequence[str], limits: FanLimits, now: datetime
    ) -> Arcs:
        """List the edges of a frontier that lead to what may be shown."""
        found = await super().expand(tenant, frontier, limits, now)
        concepts = [
            head
            for head, kind in zip(found.head, found.head_kind, strict=True)
            if kind != "episode"
        ]
        ended = await self.ended(tenant, concepts)
        return keep_rows(found, [head not in ended for head in found.head])

    async def near_concepts(
        self, tenant: TenantId, vector: Vector, limit: int
    ) -> Sequence[NearConcept]:
        """Search the concepts by vector."""
        found = await super().near_concepts(tenant, vector, limit)
        ended = await self.ended(tenant, [row.id for row in found])
        return [row for row in found if row.id not in ended]

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = False
    ) -> ConceptArcs:
        """List the concepts that facts and names join to these."""
        found = await super().related(tenant, concepts, hub, retracted=retracted)
        ended = await self.ended(tenant, found.head)
        return keep_rows(found, [head not in ended for head in found.head])

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = False
    ) -> NearFacts:
        """Search the facts that join two concepts, by vector."""
        found = await super().nearest_facts(tenant, vector, limit, retracted=retracted)
        ended = await self.ended(tenant, sorted({*found.fact, *found.concept}))
        pairs = zip(found.fact, found.concept, strict=True)
        return keep_rows(found, [not {fact, end} & ended for fact, end in pairs])


def keep_rows(columns: T, kept: Sequence[bool]) -> T:
    """Keep some rows of parallel columns."""
    if all(kept):
        return columns
    rows = np.flatnonzero(np.array(kept, dtype=np.bool_)).tolist()
    chosen: dict[str, Any] = {}
    for column in fields(columns):
        values: NDArray[Any] | tuple[Any, ...] = getattr(columns, column.name)
        chosen[column.name] = (
            values[rows] if isinstance(values, np.ndarray) else tuple(values[row] for row in rows)
        )
    return replace(columns, **chosen)
