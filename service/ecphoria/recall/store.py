"""Read for recall: searches, columns of candidates, whole episodes, dormant ones if asked."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from ecphoria.neo4j_store.filters import by_filter, named, within
from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.passages import (
    LIST_CHARGES,
    LIST_CONCEPT_VECTORS,
    LIST_NEAREST,
    LIST_USES,
    Neighbour,
    to_use,
)
from ecphoria.neo4j_store.queries import any_of
from ecphoria.neo4j_store.session import Graph, Statement, packed, require_generation
from ecphoria.ports import Vector
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
    PassageColumns,
    PassageSeed,
    Profile,
    SeedRow,
    StatementColumns,
    StatementSeed,
    TermCount,
    Window,
)
from ecphoria.records.episode import Episode, MemoryKind
from ecphoria.records.fact import KIND_OF
from ecphoria.records.history import Charge, Use
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, Required
from ecphoria.records.settings import TenantSettings
from ecphoria.records.tenant import scale_of
from ecphoria.runtime import Bounded


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
    stored: int
    learned: bool
    expired: bool
    settings: TenantSettings | None
    scale: tuple[float, ...]
    generation: int
    participants: tuple[str, ...]
    terms: list[TermCount]
    concepts: list[FoundConcept]


R = TypeVar("R", bound=SeedRow)

_LOAD_LEXICON = Statement("recall.load_lexicon", _LexiconRow)
# The searches for episodes, and for passages. A scan compares one by one: all that pass filters
# that no index has, or dormant ones.
_EPISODES = {
    "vector": Statement("recall.seeds_by_vector", SeedRow),
    "text": Statement("recall.seeds_by_text", SeedRow),
    "scan": Statement("recall.seeds_by_scan", SeedRow),
}
_PASSAGES = {
    "vector": Statement("recall.seeds_by_passage_vector", PassageSeed),
    "text": Statement("recall.seeds_by_passage_text", PassageSeed),
    "scan": Statement("recall.seeds_by_passage_scan", PassageSeed),
}
# A passage unlike the rest of its text is far from its neighbours in the vector index: with 23
# fetched it was missed among 436 others, with 62 it was found.
_PASSAGES_AT_LEAST: Final = 100
# An approximate index finds more of the nearest if more are requested: this factor, and at least
# this number.
_OVERFETCH, _OVERFETCH_AT_LEAST = 1.25, 20
# A larger tenant needs more: for 50 of 10,000 it finds .994 with 70 requested, and of 70,000 .992
# with 900 (decision 0076).
_OVERFETCH_SIZE, _OVERFETCH_POWER, _OVERFETCH_AT_MOST = 10_000, 1.3, 1_500
# So does a small tenant of a large store: of 10,000 among a million it finds .89 with 70
# requested, .99 with 300 and .997 with 500 (decision 0089).
_OVERFETCH_SHARED: Final = 0.4
# Filters apply after the text index has ranked its hits, so a filtered search reads all hits.
_FILTERED_FETCH: Final = 100_000
_LIST_EXPIRED = Statement("recall.list_expired", EpisodeId)
_SIZES_KEPT: Final = 1_000
_UNKNOWN: Final = Profile(
    items=0, mean_length=0.0, titles=0, stated=0, participants=(), change=0, turn=0
)
DORMANT: Final = 20_000
"""Number of the newest dormant episodes that a search compares one by one."""
_EVERY: Final = 2**31 - 1
"""A limit that leaves nothing out."""
_LIST_WORDS = Statement("recall.list_words", tuple[EpisodeId, str])
_LIST_STANDINGS = Statement("recall.list_standings", FactStanding)
_LIST_PASSING = Statement("recall.list_passing", EpisodeId)
_LIST_UNSEEN = Statement("recall.list_unseen", str)
_EXPAND_FRONTIER = Statement("recall.expand_frontier", Arcs)
_EXPAND_WINDOW = Statement("recall.expand_window", Arcs)
_LIST_MEMBERSHIPS = Statement("recall.list_memberships", ConceptEdges)
_LIST_PRIORS = Statement("recall.list_priors", tuple[str, float])
_LIST_RELATED = Statement("recall.list_related", ConceptArcs)
_LIST_NEAREST_FACTS = Statement("recall.list_nearest_facts", NearFacts)
_SEEDS_BY_STATEMENT = Statement("recall.seeds_by_statement", StatementSeed)
_LIST_STATEMENTS = Statement("recall.list_statements", StatementColumns)
_MOST_STATEMENTS: Final = 20
"""Facts of one episode that a recall reads, the nearest to the cue."""
_LIST_NEAR_CONCEPTS = Statement("recall.list_near_concepts", NearConcept)
_LIST_CONCEPTS_WITH = Statement("recall.list_concepts_with", NamedConcept)
_LIST_LATEST_TURNS = Statement("recall.list_latest_turns", EpisodeId)
_LIST_EPISODES = Statement("recall.list_episodes", Episode)


class EpisodeReader:
    """The read side of the memory graph; every call sees one tenant's nodes only."""

    def __init__(self, graph: Graph, *, keep: int = 160_000, dormant: int = 0) -> None:
        """Keep contents and passages (1.3 kB each), and positions between recalls.

        Searches also compare the newest `dormant` dormant episodes one by one; with 0 they find
        live ones only. Spreading goes over live nodes only.
        """
        self.graph = graph
        self._dormant = dormant
        self._columns = ColumnReader(graph, keep, dormant=dormant > 0)
        self._sizes = Bounded[TenantId, Profile](_SIZES_KEPT)

    @property
    def figures(self) -> "EpisodeReader":
        """The reads of memories that are known to be in scope."""
        return self

    def forget(self, tenant: TenantId) -> None:
        """Drop all that is remembered of a tenant between recalls."""
        self._columns.forget(tenant)
        self._sizes.pop(tenant, None)

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Read the standing, at an instant, of every fact that these episodes claim."""
        return await self.graph.run(
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
        kind: MemoryKind | None = None,
    ) -> frozenset[EpisodeId]:
        """List which of these had occurred by an instant, and were recorded by another.

        Their metadata are among `metadata`, and they are of `kind`. None means no bound.
        """
        rows = await self.graph.run(
            _LIST_PASSING,
            tenant=tenant,
            ids=list(ids),
            happened_by=happened_by,
            known_at=known_at,
            metadata=None if metadata is None else list(metadata),
            kind=kind,
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
        rows = await self.graph.run(
            _LIST_UNSEEN, tenant=tenant, ids=list(ids), happened_by=happened_by, known_at=known_at
        )
        return frozenset(rows)

    async def uses(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Read the uses of episodes; deleted ones are absent."""
        rows = await self.graph.run(LIST_USES, tenant=tenant, ids=list(ids))
        return {row.id: to_use(row) for row in rows}

    async def charges(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Charge]:
        """Read the charges of episodes; never stimulated ones are absent."""
        rows = await self.graph.run(LIST_CHARGES, tenant=tenant, ids=list(ids))
        return {row.id: row.charge for row in rows if row.charge is not None}

    async def lexicon(
        self, tenant: TenantId, stems: Sequence[str], names: Sequence[str]
    ) -> Lexicon:
        """Read the tenant's statistics, document frequencies of stems, and concepts by name.

        Raises:
            NotFound: There is no such tenant.
        """
        row = await self.graph.run_one(
            _LOAD_LEXICON, tenant=tenant, stems=sorted(set(stems)), names=sorted(set(names))
        )
        if row is None:
            self.forget(tenant)
            raise no_tenant(tenant)
        require_generation(self.graph, row.generation)
        self._columns.check(tenant, change=row.change, deletions=row.deletions)
        profile = self._sizes[tenant] = _to_profile(row)
        return Lexicon(profile=profile, terms=row.terms, concepts=row.concepts)

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index; score is the cosine; best first, ties by turn."""
        known = self._known(tenant)
        fetch = overfetch(limit, known.items, known.stored)
        return await self._by_vector(_EPISODES, tenant, vector, limit, filters, fetch=fetch)

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index for items with any of the stems; best first, ties by turn.

        An item must also have what the filters require of its words. Dormant items come last;
        their score counts stems.
        """
        required = filters.required if filters.required != Required() else None
        return await self._by_text(_EPISODES, tenant, stems, limit, filters, required=required)

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index; score is the cosine; best first, ties by turn, then part."""
        known = self._known(tenant)
        wanted = overfetch(limit, known.passages, known.stored)
        fetch = max(wanted, limit + _PASSAGES_AT_LEAST)
        return await self._by_vector(_PASSAGES, tenant, vector, limit, filters, fetch=fetch)

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index for any of the stems; best first, ties by turn, then part."""
        return await self._by_text(_PASSAGES, tenant, stems, limit, filters)

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch all passages of episodes; an episode without passages is absent."""
        return await self._columns.passages(tenant, episodes, vector)

    async def seeds_by_statement(
        self,
        tenant: TenantId,
        vector: Vector,
        limit: int,
        *,
        retracted: bool = False,
        known_at: datetime | None = None,
    ) -> Sequence[StatementSeed]:
        """Search the facts by vector, and list the live episodes that state them, nearest first.

        Only what was known at `known_at` counts, and retracted facts only if `retracted`.
        """
        return await self.graph.run(
            _SEEDS_BY_STATEMENT,
            tenant=tenant,
            vector=packed(vector),
            fetch=self._fetch(tenant, limit),
            limit=limit,
            retracted=retracted,
            known_at=known_at,
        )

    async def statements_of(
        self,
        tenant: TenantId,
        episodes: Sequence[EpisodeId],
        vector: Vector | None,
        *,
        retracted: bool = False,
        known_at: datetime | None = None,
    ) -> StatementColumns:
        """Fetch the facts that episodes state, at most twenty of each, nearest first."""
        (found,) = await self.graph.run(
            _LIST_STATEMENTS,
            tenant=tenant,
            ids=list(episodes),
            vector=None if vector is None else packed(vector),
            most=_MOST_STATEMENTS,
            retracted=retracted,
            known_at=known_at,
        )
        return found

    def _known(self, tenant: TenantId) -> Profile:
        """Give the statistics that the last recall of a tenant read."""
        return self._sizes.get(tenant) or _UNKNOWN

    def _fetch(self, tenant: TenantId, limit: int) -> int:
        """Compute how many rows to fetch; the tenant's own rows in the index are not counted."""
        return overfetch(limit, stored=self._known(tenant).stored)

    async def _by_vector(
        self,
        index: Mapping[str, Statement[R]],
        tenant: TenantId,
        vector: Vector,
        limit: int,
        filters: Filters,
        *,
        fetch: int,
    ) -> Sequence[R]:
        """Search a vector index, or compare all that pass filters which the index lacks."""
        asked = {"tenant": tenant, "vector": packed(vector), "limit": limit}
        each = {"stems": [], **by_filter(filters)}
        if filters.beyond_indexes:
            found = await self.graph.run(index["scan"], **asked, **each, scan=None)
        else:
            ranges = within(filters)
            found = await self.graph.run(index["vector"], **asked, fetch=fetch, **ranges)
        if not self._dormant:
            return found
        asleep = await self.graph.run(index["scan"], **asked, **each, scan=self._dormant)
        return sorted([*found, *asleep], key=lambda seed: -seed.score)

    async def _by_text(
        self,
        index: Mapping[str, Statement[R]],
        tenant: TenantId,
        stems: Sequence[str],
        limit: int,
        filters: Filters,
        *,
        required: Required | None = None,
    ) -> Sequence[R]:
        """Search a text index for any of the stems and all required terms."""
        if not stems and required is None:
            return []
        each, wanted = by_filter(filters), sorted(set(stems))
        found = await self.graph.run(
            index["text"],
            tenant=tenant,
            query=any_of(tenant, wanted, required),
            fetch=overfetch(limit) if filters == Filters() else _FILTERED_FETCH,
            limit=limit,
            **each,
        )
        if not (self._dormant and stems):
            return found
        asleep = await self.graph.run(
            index["scan"],
            tenant=tenant,
            vector=None,
            stems=wanted,
            scan=self._dormant,
            limit=limit,
            **each,
        )
        return [*found, *asleep]

    async def with_metadata(
        self, tenant: TenantId, ids: Sequence[EpisodeId], filters: Filters
    ) -> Collection[EpisodeId]:
        """Choose the episodes whose metadata and kind pass the filters."""
        if not filters.metadata and filters.kind is None:
            return ids
        metadata = filters.metadata_texts if filters.metadata else None
        return await self.passing(tenant, ids, metadata=metadata, kind=filters.kind)

    async def named(self, tenant: TenantId, filters: Filters) -> tuple[Filters, tuple[str, ...]]:
        """Find the stored values that pass, and tell which wanted names do not exist."""
        return await named(self.graph, tenant, filters)

    async def expired(self, tenant: TenantId) -> Collection[EpisodeId]:
        """List the episodes whose life is over and that are not erased yet."""
        return set(await self.graph.run(_LIST_EXPIRED, tenant=tenant, limit=_EVERY))

    async def words(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, str]:
        """Read the words of episodes as the text index has them, joined by blanks."""
        return dict(await self.graph.run(_LIST_WORDS, tenant=tenant, ids=list(ids)))

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
        (found,) = await self.graph.run(
            _EXPAND_FRONTIER,
            **asked,
            now=now,
            associated=limits.associated,
            related=limits.related,
            kind_of=KIND_OF if limits.kinds else "",
            merged=limits.merged,
        )
        if not limits.window:
            return found
        # Of the same edge the later row counts: its degree is that within windows.
        (mentioned,) = await self.graph.run(_EXPAND_WINDOW, **asked, window=limits.window)
        return found.followed_by(mentioned)

    async def concepts_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], hub: int
    ) -> ConceptEdges:
        """List the concepts of these episodes, without hubs (over `hub` mentions)."""
        (found,) = await self.graph.run(
            _LIST_MEMBERSHIPS, tenant=tenant, episodes=list(episodes), concepts=[], hub=hub
        )
        return found

    async def episodes_of(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> ConceptEdges:
        """List live episodes about these concepts, or that mention them unless hubs."""
        (found,) = await self.graph.run(
            _LIST_MEMBERSHIPS, tenant=tenant, episodes=[], concepts=list(concepts), hub=hub
        )
        return found

    async def priors(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[str, float]:
        """Look up the priors consolidation gave; an episode without one is absent."""
        return dict(await self.graph.run(_LIST_PRIORS, tenant=tenant, ids=list(ids)))

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = False
    ) -> ConceptArcs:
        """List the concepts joined by facts or names, without those with over `hub` edges."""
        (found,) = await self.graph.run(
            _LIST_RELATED, tenant=tenant, concepts=list(concepts), hub=hub, retracted=retracted
        )
        return found

    async def near_concepts(
        self, tenant: TenantId, vector: Vector, limit: int
    ) -> Sequence[NearConcept]:
        """Search the concepts by vector, nearest first; none before a consolidation."""
        return await self.graph.run(
            _LIST_NEAR_CONCEPTS,
            tenant=tenant,
            vector=packed(vector),
            fetch=self._fetch(tenant, limit),
            limit=limit,
        )

    async def concepts_with(
        self, tenant: TenantId, words: Sequence[str], limit: int
    ) -> Sequence[NamedConcept]:
        """List the concepts whose names hold one of these words, also inside a word."""
        return await self.graph.run(
            _LIST_CONCEPTS_WITH, tenant=tenant, words=list(words), limit=limit
        )

    async def concept_vectors(
        self, tenant: TenantId, concepts: Sequence[str]
    ) -> Mapping[str, Vector]:
        """Fetch the vectors of concepts; one that no consolidation embedded is absent."""
        return dict(await self.graph.run(LIST_CONCEPT_VECTORS, tenant=tenant, ids=list(concepts)))

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = False
    ) -> NearFacts:
        """Search the facts that join two concepts, by vector; nearest first, ties by id."""
        (found,) = await self.graph.run(
            _LIST_NEAREST_FACTS,
            tenant=tenant,
            vector=packed(vector),
            fetch=self._fetch(tenant, limit),
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
        return await self.graph.run(
            _LIST_LATEST_TURNS, tenant=tenant, session=session, limit=limit
        )

    async def nearest(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], limit: int
    ) -> Sequence[Neighbour]:
        """Search the vector index around each of these episodes, all in one query.

        At most `limit` neighbours each, best first; an episode is not its own neighbour.
        """
        return await self.graph.run(
            LIST_NEAREST,
            tenant=tenant,
            episodes=list(episodes),
            fetch=self._fetch(tenant, limit + 1),
            limit=limit,
            above=-math.inf,
        )

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes, in the order asked; missing ones are left out."""
        found: dict[str, Episode] = {}
        for part in self._columns.by_length(tenant, ids):
            rows = await self.graph.run(
                _LIST_EPISODES, tenant=tenant, ids=part, dormant=self._dormant > 0
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
        stored=row.stored,
        scale=scale_of(row.scale),
    )


def overfetch(limit: int, size: int = 0, stored: int = 0) -> int:
    """Compute how many rows to fetch from an index to have the best `limit` among them.

    `size` is the number of the tenant's rows in the index, `stored` that of all tenants.

    >>> overfetch(50, 10_000), overfetch(50, 100_000), overfetch(50, 1_000_000)
    (70, 1396, 1500)
    >>> overfetch(50, 10_000, 100_000), overfetch(50, 10_000, 1_000_000)
    (175, 441)
    """
    usual = max(int(limit * _OVERFETCH), limit + _OVERFETCH_AT_LEAST)
    own = max(1.0, size / _OVERFETCH_SIZE) ** _OVERFETCH_POWER
    shared = max(1.0, stored / _OVERFETCH_SIZE) ** _OVERFETCH_SHARED
    return max(usual, min(int(usual * max(own, shared)), _OVERFETCH_AT_MOST))
