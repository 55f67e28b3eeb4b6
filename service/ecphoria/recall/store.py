"""Read for recall: searches, columns of candidates, whole episodes, dormant ones if asked."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ecphoria.neo4j_store.filters import by_filter, named
from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.passages import (
    LIST_NEAREST,
    SEEDS_BY_PASSAGE_SCAN,
    Neighbour,
    PassageFinder,
    PassageSeed,
    overfetch,
)
from ecphoria.neo4j_store.session import Graph, Statement, packed, require_generation
from ecphoria.ports import Vector
from ecphoria.recall.as_of import AsOfReader
from ecphoria.recall.cache import ColumnReader
from ecphoria.recall.ports import (
    Arcs,
    Around,
    Columns,
    ConceptArcs,
    ConceptEdges,
    FactStanding,
    FanLimits,
    FoundConcept,
    Lexicon,
    NamedConcept,
    NearConcept,
    NearFacts,
    Profile,
    SeedRow,
    TermCount,
    Window,
)
from ecphoria.records.episode import Episode
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, Required
from ecphoria.records.settings import TenantSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class _LexiconRow:
    items: int
    length: int
    titles: int
    stated: int
    timed: bool
    change: int
    deletions: int
    passages: int
    learned: bool
    expired: bool
    settings: TenantSettings | None
    generation: int
    participants: tuple[str, ...]
    terms: list[TermCount]
    concepts: list[FoundConcept]


_LOAD_LEXICON = Statement("recall.load_lexicon", _LexiconRow)


_SEEDS_BY_VECTOR = Statement("recall.seeds_by_vector", SeedRow)
_SEEDS_BY_SCAN = Statement("recall.seeds_by_scan", SeedRow)
_LIST_EXPIRED = Statement("recall.list_expired", EpisodeId)
_EVERY: Final = 2**31 - 1
"""A limit that leaves nothing out."""
_LIST_WORDS = Statement("recall.list_words", tuple[EpisodeId, str])
_SEEDS_BY_TEXT = Statement("recall.seeds_by_text", SeedRow)
_EXPAND_FRONTIER = Statement("recall.expand_frontier", Arcs)
_EXPAND_WINDOW = Statement("recall.expand_window", Arcs)
_LIST_MEMBERSHIPS = Statement("recall.list_memberships", ConceptEdges)
_LIST_PRIORS = Statement("recall.list_priors", tuple[str, float])
_LIST_RELATED = Statement("recall.list_related", ConceptArcs)
_LIST_NEAREST_FACTS = Statement("recall.list_nearest_facts", NearFacts)
_LIST_NEAR_CONCEPTS = Statement("recall.list_near_concepts", NearConcept)
_LIST_CONCEPTS_WITH = Statement("recall.list_concepts_with", NamedConcept)
_LIST_CONCEPT_VECTORS = Statement("recall.list_concept_vectors", tuple[str, Vector])
_LIST_LATEST_TURNS = Statement("recall.list_latest_turns", EpisodeId)
_LIST_EPISODES = Statement("recall.list_episodes", Episode)


class EpisodeReader(PassageFinder):
    """The read side of the memory graph; implements `ports.recall.RecallStore`."""

    def __init__(
        self,
        graph: Graph,
        *,
        keep: int = 50_000,
        keep_passages: int = 30_000,
        dormant: bool = False,
    ) -> None:
        """Read live episodes, and dormant ones too if asked to.

        Between recalls the contents of up to `keep` episodes (2 kB each) and `keep_passages`
        passages (3 kB each) are remembered.
        """
        super().__init__(graph, keep=keep_passages, dormant=dormant)
        self._dormant = dormant
        self._columns = ColumnReader(graph, keep, dormant=dormant)
        self.as_of = AsOfReader(graph)

    @property
    def figures(self) -> "EpisodeReader":
        """The reads that no scope restricts."""
        return self

    def forget(self, tenant: TenantId) -> None:
        """Drop all that is remembered of a tenant between recalls."""
        self._columns.forget(tenant)
        self._passages.forget(tenant)

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Tell of every fact that these episodes claim how it stands at an instant."""
        return await self.as_of.standings(tenant, episodes, now)

    async def lexicon(
        self, tenant: TenantId, stems: Sequence[str], names: Sequence[str]
    ) -> Lexicon:
        """Read the tenant's statistics, document frequencies of stems, and concepts by name.

        Raises:
            NotFound: There is no such tenant.
        """
        row = await self._graph.run_one(
            _LOAD_LEXICON, tenant=tenant, stems=sorted(set(stems)), names=sorted(set(names))
        )
        if row is None:
            self.forget(tenant)
            raise no_tenant(tenant)
        require_generation(self._graph, row.generation)
        self._columns.check(tenant, change=row.change, deletions=row.deletions)
        self._passages.check(tenant, deletions=row.deletions)
        return Lexicon(profile=_to_profile(row), terms=row.terms, concepts=row.concepts)

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index; score is the cosine; best first, ties by turn."""
        search = (_SEEDS_BY_VECTOR, _SEEDS_BY_SCAN)
        return await self._by_vector(search, tenant, vector, limit, filters)

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index for items with any of the stems; best first, ties by turn.

        An item must also have what the filters require of its words.
        """
        required = filters.required if filters.required != Required() else None
        return await self._by_text(
            _SEEDS_BY_TEXT, tenant, stems, limit, filters, required=required
        )

    async def with_metadata(
        self, tenant: TenantId, ids: Sequence[EpisodeId], filters: Filters
    ) -> Collection[EpisodeId]:
        """Choose the episodes whose metadata pass the filters."""
        if not filters.metadata:
            return ids
        return await self.as_of.passing(tenant, ids, metadata=filters.metadata_texts)

    async def named(self, tenant: TenantId, filters: Filters) -> tuple[Filters, tuple[str, ...]]:
        """Find the stored values that pass, and tell which wanted names do not exist."""
        return await named(self._graph, tenant, filters)

    async def expired(self, tenant: TenantId) -> Collection[EpisodeId]:
        """List the episodes whose life is over and that are not erased yet."""
        return set(await self._graph.run(_LIST_EXPIRED, tenant=tenant, limit=_EVERY))

    async def words(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, str]:
        """Read the words of episodes as the text index has them, joined by blanks."""
        return dict(await self._graph.run(_LIST_WORDS, tenant=tenant, ids=list(ids)))

    async def columns(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around | None = None,
    ) -> Columns:
        """Fetch episodes by id, by place in their session, and near others, each once."""
        return await self._columns.read(tenant, ids, windows, vector, around or Around())

    async def expand(
        self, tenant: TenantId, frontier: Sequence[str], limits: FanLimits, now: datetime
    ) -> Arcs:
        """List the live edges of a frontier, strongest first.

        The learned part of an edge counts as much as it is worth at `now`.
        """
        asked = {
            "tenant": tenant,
            "frontier": list(frontier),
            "fan": limits.fan,
            "floor": limits.floor,
        }
        (found,) = await self._graph.run(
            _EXPAND_FRONTIER, **asked, now=now, associated=limits.associated
        )
        if not limits.window:
            return found
        # Of the same edge the later row counts: its degree is that within windows.
        (mentioned,) = await self._graph.run(_EXPAND_WINDOW, **asked, window=limits.window)
        return found.followed_by(mentioned)

    async def concepts_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], hub: int
    ) -> ConceptEdges:
        """List the concepts of these episodes, without hubs (over `hub` mentions)."""
        (found,) = await self._graph.run(
            _LIST_MEMBERSHIPS, tenant=tenant, episodes=list(episodes), concepts=[], hub=hub
        )
        return found

    async def episodes_of(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> ConceptEdges:
        """List live episodes about these concepts, or that mention them unless hubs."""
        (found,) = await self._graph.run(
            _LIST_MEMBERSHIPS, tenant=tenant, episodes=[], concepts=list(concepts), hub=hub
        )
        return found

    async def priors(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[str, float]:
        """Look up the priors consolidation gave; an episode without one is absent."""
        return dict(await self._graph.run(_LIST_PRIORS, tenant=tenant, ids=list(ids)))

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = False
    ) -> ConceptArcs:
        """List the concepts joined by facts or names, without those with over `hub` edges."""
        (found,) = await self._graph.run(
            _LIST_RELATED, tenant=tenant, concepts=list(concepts), hub=hub, retracted=retracted
        )
        return found

    async def near_concepts(
        self, tenant: TenantId, vector: Vector, limit: int
    ) -> Sequence[NearConcept]:
        """Search the concepts by vector, nearest first; none before a consolidation."""
        return await self._graph.run(
            _LIST_NEAR_CONCEPTS,
            tenant=tenant,
            vector=packed(vector),
            fetch=overfetch(limit),
            limit=limit,
        )

    async def concepts_with(
        self, tenant: TenantId, words: Sequence[str], limit: int
    ) -> Sequence[NamedConcept]:
        """List the concepts whose names hold one of these words, also inside a word."""
        return await self._graph.run(
            _LIST_CONCEPTS_WITH, tenant=tenant, words=list(words), limit=limit
        )

    async def concept_vectors(
        self, tenant: TenantId, concepts: Sequence[str]
    ) -> Mapping[str, Vector]:
        """Fetch the vectors of concepts; one that no consolidation embedded is absent."""
        return dict(
            await self._graph.run(_LIST_CONCEPT_VECTORS, tenant=tenant, ids=list(concepts))
        )

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = False
    ) -> NearFacts:
        """Search the facts that join two concepts, by vector; nearest first, ties by id."""
        (found,) = await self._graph.run(
            _LIST_NEAREST_FACTS,
            tenant=tenant,
            vector=packed(vector),
            fetch=overfetch(limit),
            limit=limit,
            retracted=retracted,
        )
        return found

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of episodes; deleted ones are absent."""
        return await self._columns.vectors(tenant, ids)

    async def latest_turns(
        self, tenant: TenantId, session: str, limit: int
    ) -> Sequence[EpisodeId]:
        """List the latest turns of a session, newest first; none of an unknown one."""
        return await self._graph.run(
            _LIST_LATEST_TURNS, tenant=tenant, session=session, limit=limit
        )

    async def nearest(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], limit: int
    ) -> Sequence[Neighbour]:
        """Search the vector index around each of these episodes, all in one query.

        At most `limit` neighbours each, best first; an episode is not its own neighbour.
        """
        return await self._graph.run(
            LIST_NEAREST,
            tenant=tenant,
            episodes=list(episodes),
            fetch=overfetch(limit + 1),
            limit=limit,
            above=-math.inf,
        )

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes, in the order asked; missing ones are left out."""
        found: dict[str, Episode] = {}
        for part in self._columns.in_parts(tenant, ids):
            rows = await self._graph.run(
                _LIST_EPISODES, tenant=tenant, ids=part, dormant=self._dormant
            )
            found |= {row.id: row for row in rows}
        return [found[id_] for id_ in ids if id_ in found]


def _to_profile(row: _LexiconRow) -> Profile:
    items = max(row.items, 1)
    return Profile(
        items=row.items,
        mean_length=row.length / items,
        titles=row.titles,
        stated=row.stated,
        participants=row.participants,
        change=row.change,
        turn=row.items + row.deletions,
        learned=row.learned,
        expired=row.expired,
        gate=None if row.settings is None else row.settings.gate,
        timed=row.timed,
        passages=row.passages,
    )


class DormantReader(EpisodeReader):
    """Finds live and dormant episodes; implements `ports.recall.RecallStore`.

    Dormant seeds come beside those of the indexes, with the turns around them. Spreading goes
    over live nodes only.
    """

    def __init__(self, graph: Graph, *, scan: int = 20_000, keep: int = 10_000) -> None:
        """Look at the newest `scan` dormant episodes."""
        super().__init__(graph, keep=keep, keep_passages=keep, dormant=True)
        self._scan = scan

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index and the dormant episodes; best first."""
        live = await super().seeds_by_vector(tenant, vector, limit, filters)
        asked = self._asked(tenant, limit, filters, vector=vector)
        asleep = await self._graph.run(_SEEDS_BY_SCAN, **asked)
        return sorted([*live, *asleep], key=lambda seed: -seed.score)

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index, then the dormant episodes, where the score counts stems."""
        live = await super().seeds_by_text(tenant, stems, limit, filters)
        if not stems:
            return live
        asked = self._asked(tenant, limit, filters, stems=stems)
        return [*live, *await self._graph.run(_SEEDS_BY_SCAN, **asked)]

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index and the dormant passages; best first."""
        live = await super().passages_by_vector(tenant, vector, limit, filters)
        asked = self._asked(tenant, limit, filters, vector=vector)
        asleep = await self._graph.run(SEEDS_BY_PASSAGE_SCAN, **asked)
        return sorted([*live, *asleep], key=lambda seed: -seed.score)

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index, then the dormant passages, where the score counts stems."""
        live = await super().passages_by_text(tenant, stems, limit, filters)
        if not stems:
            return live
        asked = self._asked(tenant, limit, filters, stems=stems)
        asleep = await self._graph.run(SEEDS_BY_PASSAGE_SCAN, **asked)
        return [*live, *asleep]

    def _asked(
        self,
        tenant: TenantId,
        limit: int,
        filters: Filters,
        *,
        vector: Vector | None = None,
        stems: Sequence[str] = (),
    ) -> dict[str, object]:
        """Write a search as parameters: by vector, or by stems without one."""
        return {
            "tenant": tenant,
            "vector": None if vector is None else packed(vector),
            "stems": sorted(set(stems)),
            "scan": self._scan,
            "limit": limit,
            **by_filter(filters),
        }
