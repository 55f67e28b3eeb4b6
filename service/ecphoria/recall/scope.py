"""The memories that one recall may see, and the reads of a store that keep to them.

A memory out of scope is no seed and no candidate. Nothing spreads through it, and its neighbours
get neither words nor vectors from it. A concept or fact that only such memories mention does not
exist for the recall. Statistics of the whole store (document frequencies, mean lengths, mentions
of a name, priors) still count it.
"""

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.facts.store import FactStore, keyed
from ecphoria.facts.timelines import LaidOut, lay_out
from ecphoria.neo4j_store.passages import Neighbour
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Vector
from ecphoria.recall.ports import (
    Arcs,
    Around,
    Columns,
    ConceptArcs,
    ConceptEdges,
    FactStanding,
    FanLimits,
    Lexicon,
    NamedConcept,
    NearConcept,
    NearFacts,
    PassageColumns,
    PassageSeed,
    SeedRow,
    StatementColumns,
    StatementSeed,
    Window,
)
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.episode import TICK, Episode
from ecphoria.records.fact import UNENDING, FactKey, Standing
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.recall import Filters

R = TypeVar("R", bound=SeedRow)
T = TypeVar(
    "T", Arcs, Columns, ConceptArcs, ConceptEdges, NearFacts, PassageColumns, StatementColumns
)

_BY_FACT = frozenset({"RELATED", "KIND_OF"})
"""Arcs that stand for facts."""
_MOST_FACTS = 1_000

_FURTHEST = 200
"""Largest number of hidden episodes that a first search adds to its limit, and of their passages
that a further one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The memories that a recall may see: all except these.

    Attributes:
        hidden: Episodes that the caller excludes, and expired ones.
        ended: Whether some hidden episodes are expired, so that their concepts are hidden too.
        at: Only memories that had occurred by then; None for all.
        known_at: Only memories that were recorded by then; None for all.
        unsaid: Episodes that count as never stored, so that the turns before and after them are
            neighbours. Their whole texts can still be read.
        gone: Their ordinals by session, in order.
    """

    hidden: frozenset[EpisodeId] = frozenset()
    ended: bool = False
    at: datetime | None = None
    known_at: datetime | None = None
    unsaid: frozenset[EpisodeId] = frozenset()
    gone: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def place(self, session: str | None, ordinal: int) -> int:
        """Compute the ordinal of a turn without those that were never stored."""
        return ordinal - bisect_left(self.gone.get(session or "", ()), ordinal)

    def ordinal(self, session: str | None, place: int) -> int:
        """Compute the ordinal of a turn that was stored from its `place`."""
        for gone in self.gone.get(session or "", ()):
            if gone > place:
                break
            place += 1
        return place


class FactsThen:
    """Facts at an instant, as they were known at another.

    Retracted facts, and facts that no episode had claimed by then, do not count. Each timeline is
    computed once, from the claims of that time.
    """

    def __init__(self, graph: Graph, at: datetime, known_at: datetime | None) -> None:
        self._graph = graph
        self._at = at
        self._known_at = known_at
        self._laid: dict[FactKey, LaidOut] = {}

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Find the standing, at the instant, of each fact that these episodes claim."""
        assert now == self._at, "facts of one instant are asked about another"
        claimed = await keyed(self._graph, tenant, episodes=episodes)
        await self._lay_out(tenant, {claim.key for claim in claimed})
        return [self._standing(EpisodeId(claim.of), claim.fact, claim.key) for claim in claimed]

    async def joined(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> Collection[tuple[str, str]]:
        """List the pairs of one of these with another concept that a fact of that time joins."""
        behind = await keyed(self._graph, tenant, concepts=concepts, hub=hub)
        await self._lay_out(tenant, {fact.key for fact in behind})
        return {(fact.of, fact.other) for fact in behind if self._counts(fact.key, fact.fact)}

    async def counting(self, tenant: TenantId, facts: Sequence[FactId]) -> Sequence[FactId]:
        """Select the facts that were claimed by then and not retracted; some may have ended."""
        found = await keyed(self._graph, tenant, facts=facts)
        keys = {one.fact: one.key for one in found}
        await self._lay_out(tenant, set(keys.values()))
        return [fact for fact in facts if fact in keys and self._counts(keys[fact], fact)]

    async def _lay_out(self, tenant: TenantId, keys: set[FactKey]) -> None:
        missing = sorted(keys - self._laid.keys())
        if not missing:
            return
        own, records = await FactStore(self._graph).read(tenant, missing)
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


class ScopedStore:
    """The reads of a store within a scope.

    Attributes:
        scope: What these reads may see.
    """

    def __init__(self, store: EpisodeReader, scope: Scope) -> None:
        """Read within a scope."""
        self._store = store
        self.scope = scope
        self._out = scope.hidden | scope.unsaid
        self._happened: dict[EpisodeId, bool] = {}
        self._facts: FactsThen | None = None
        if scope.at is not None:
            self._facts = FactsThen(store.graph, scope.at, scope.known_at)

    @property
    def figures(self) -> EpisodeReader:
        """The reads of memories that are known to be in scope."""
        return self._store

    def without(
        self, unsaid: frozenset[EpisodeId], gone: Mapping[str, Sequence[int]]
    ) -> "ScopedStore":
        """Read as if some episodes of the scope were never stored; see `Scope`."""
        return ScopedStore(self._store, replace(self.scope, unsaid=unsaid, gone=gone))

    async def standings(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], now: datetime
    ) -> Sequence[FactStanding]:
        """Read the standing, at an instant, of each fact that these episodes claim."""
        if self._facts is None:
            return await self._store.standings(tenant, episodes, now)
        return await self._facts.standings(tenant, episodes, now)

    async def lexicon(
        self, tenant: TenantId, stems: Sequence[str], names: Sequence[str]
    ) -> Lexicon:
        """Read the tenant's statistics, which count every episode, and concepts in scope.

        As of an earlier time, learned values do not count.
        """
        found = await self._store.lexicon(tenant, stems, names)
        unseen = await self._unseen(tenant, [concept.id for concept in found.concepts])
        profile = found.profile
        return replace(
            found,
            profile=profile if self._facts is None else replace(profile, learned=False),
            concepts=[concept for concept in found.concepts if concept.id not in unseen],
        )

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index, with enough results that `limit` remain in scope."""
        within, most = self._filters(filters), limit + len(self._out)
        search = partial(self._store.seeds_by_vector, tenant, vector, filters=within)
        return await self._searched(tenant, search, limit, min(most, limit + _FURTHEST), most)

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index, with enough results that `limit` remain in scope."""
        within, most = self._filters(filters), limit + len(self._out)
        search = partial(self._store.seeds_by_text, tenant, stems, filters=within)
        return await self._searched(tenant, search, limit, min(most, limit + _FURTHEST), most)

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the passages' vector index; a hidden memory may have many of the nearest."""
        within = self._filters(filters)
        search = partial(self._store.passages_by_vector, tenant, vector, filters=within)
        return await self._searched(tenant, search, limit, limit, limit + _FURTHEST)

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the passages' text index; a hidden memory may have many of the best."""
        within = self._filters(filters)
        search = partial(self._store.passages_by_text, tenant, stems, filters=within)
        return await self._searched(tenant, search, limit, limit, limit + _FURTHEST)

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch the passages of episodes."""
        found = await self._store.passages_of(tenant, episodes, vector)
        return await self._rows(tenant, found, found.episode)

    async def seeds_by_statement(
        self, tenant: TenantId, vector: Vector, limit: int
    ) -> Sequence[StatementSeed]:
        """Search the facts of the scope's time, and list the episodes that state the nearest."""
        found = await self._store.seeds_by_statement(
            tenant, vector, limit, retracted=self._facts is not None, known_at=self.scope.known_at
        )
        kept = await self._kept(tenant, [row.id for row in found])
        counting = await self._counting(tenant, [row.fact for row in found])
        return self.moved(row for row in found if row.id in kept and row.fact in counting)

    async def statements_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> StatementColumns:
        """Fetch the facts of the scope's time that episodes in scope state."""
        kept = await self._kept(tenant, episodes)
        found = await self._store.statements_of(
            tenant,
            [episode for episode in episodes if episode in kept],
            vector,
            retracted=self._facts is not None,
            known_at=self.scope.known_at,
        )
        counting = await self._counting(tenant, found.fact)
        return keep_rows(found, [fact in counting for fact in found.fact])

    async def _counting(self, tenant: TenantId, facts: Sequence[FactId]) -> Collection[FactId]:
        """Select the facts that count at the scope's time; those of now are read as they are."""
        if self._facts is None:
            return frozenset(facts)
        return frozenset(await self._facts.counting(tenant, sorted(set(facts))))

    async def near_concepts(
        self, tenant: TenantId, vector: Vector, limit: int
    ) -> Sequence[NearConcept]:
        """Search the concepts by vector."""
        found = await self._store.near_concepts(tenant, vector, limit)
        unseen = await self._unseen(tenant, [row.id for row in found])
        return [row for row in found if row.id not in unseen]

    async def concepts_with(
        self, tenant: TenantId, words: Sequence[str], limit: int
    ) -> Sequence[NamedConcept]:
        """List the concepts whose names hold one of these words."""
        found = await self._store.concepts_with(tenant, words, limit)
        unseen = await self._unseen(tenant, [row.id for row in found])
        return [row for row in found if row.id not in unseen]

    async def columns(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
        around: Around | None = None,
    ) -> Columns:
        """Fetch episodes by id, by place in their session, and near others."""
        gone = self.scope.gone
        wider = [
            replace(window, last=window.last + len(gone.get(window.session, ())))
            for window in windows
        ]
        if around is not None:
            most = max(map(len, gone.values()), default=0)
            around = replace(around, back=around.back + most, ahead=around.ahead + most)
        found = await self._store.columns(tenant, ids, wider, vector, around)
        found = await self._rows(tenant, found, found.id)
        if not gone:
            return found
        turns = zip(found.session, found.ordinal.tolist(), strict=True)
        places = [self.scope.place(session, ordinal) for session, ordinal in turns]
        return replace(found, ordinal=np.array(places, dtype=np.int64))

    async def expand(
        self, tenant: TenantId, frontier: Sequence[str], limits: FanLimits, now: datetime
    ) -> Arcs:
        """List the edges of a frontier that lead to episodes and concepts in scope."""
        found = await self._store.expand(tenant, frontier, limits, now)
        ends = list(zip(found.head, found.head_kind, strict=True))
        episodes = [EpisodeId(end) for end, kind in ends if kind == "episode"]
        kept = await self._kept(tenant, episodes)
        unseen = await self._unseen(tenant, [end for end, kind in ends if kind != "episode"])
        if self._facts is not None and (limits.related or limits.kinds):
            joined = await self._facts.joined(tenant, frontier, _MOST_FACTS)
            arcs = zip(found.tail, found.head, found.edge, strict=True)
            then = [edge not in _BY_FACT or (tail, head) in joined for tail, head, edge in arcs]
            found = keep_rows(found, then)
            ends = list(zip(found.head, found.head_kind, strict=True))
        return keep_rows(
            found, [end in kept if kind == "episode" else end not in unseen for end, kind in ends]
        )

    async def concepts_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], hub: int
    ) -> ConceptEdges:
        """List the concepts that these episodes are about and mention."""
        kept = await self._kept(tenant, episodes)
        left = [episode for episode in episodes if episode in kept]
        return await self._store.concepts_of(tenant, left, hub)

    async def episodes_of(
        self, tenant: TenantId, concepts: Sequence[str], hub: int
    ) -> ConceptEdges:
        """List the episodes that are about these concepts or mention them."""
        found = await self._store.episodes_of(tenant, concepts, hub)
        return await self._rows(tenant, found, found.episode)

    async def related(
        self, tenant: TenantId, concepts: Sequence[str], hub: int, *, retracted: bool = False
    ) -> ConceptArcs:
        """List the concepts that names, and facts of the scope's time, join to these."""
        retracted = retracted or self._facts is not None
        found = await self._store.related(tenant, concepts, hub, retracted=retracted)
        if self._facts is not None:
            joined = await self._facts.joined(tenant, concepts, hub)
            arcs = zip(found.tail, found.head, found.edge, strict=True)
            found = keep_rows(
                found, [edge != "RELATED" or (tail, head) in joined for tail, head, edge in arcs]
            )
        unseen = await self._unseen(tenant, found.head)
        return keep_rows(found, [head not in unseen for head in found.head])

    async def nearest_facts(
        self, tenant: TenantId, vector: Vector, limit: int, *, retracted: bool = False
    ) -> NearFacts:
        """Search the facts that join two concepts, by vector.

        As of a time it looks further until `limit` facts of that time are found.
        """
        found = await self._store.nearest_facts(
            tenant, vector, limit, retracted=retracted or self._facts is not None
        )
        if self._facts is not None:
            found = await self._nearest_then(tenant, vector, limit, found, self._facts)
        unseen = await self._unseen(tenant, sorted({*found.fact, *found.concept}))
        pairs = zip(found.fact, found.concept, strict=True)
        return keep_rows(found, [not {fact, end} & unseen for fact, end in pairs])

    async def _nearest_then(
        self, tenant: TenantId, vector: Vector, limit: int, found: NearFacts, facts: FactsThen
    ) -> NearFacts:
        asked = limit
        while True:
            ids = [FactId(fact) for fact in dict.fromkeys(found.fact)]
            there = await facts.counting(tenant, ids)
            if len(there) >= limit or len(ids) < asked or asked >= _MOST_FACTS:
                wanted = frozenset(there[:limit])
                return keep_rows(found, [fact in wanted for fact in found.fact])
            asked *= 4
            found = await self._store.nearest_facts(tenant, vector, asked, retracted=True)

    async def vectors(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Vector]:
        """Fetch the vectors of episodes."""
        kept = await self._kept(tenant, ids)
        return await self._store.vectors(tenant, [episode for episode in ids if episode in kept])

    async def latest_turns(
        self, tenant: TenantId, session: str, limit: int
    ) -> Sequence[EpisodeId]:
        """List the latest turns of a session."""
        found = await self._store.latest_turns(tenant, session, limit)
        kept = await self._kept(tenant, found)
        return [episode for episode in found if episode in kept]

    async def nearest(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], limit: int
    ) -> Sequence[Neighbour]:
        """Search around each of these episodes, with enough results that `limit` remain."""
        further = max(limit, min(limit + len(self._out), _FURTHEST))
        found = await self._store.nearest(tenant, episodes, further)
        kept = await self._kept(tenant, [row.id for row in found])
        by_episode: dict[EpisodeId, list[Neighbour]] = {}
        for row in found:
            if row.id in kept:
                by_episode.setdefault(row.of, []).append(row)
        return [row for rows in by_episode.values() for row in rows[:limit]]

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes, also those that count as never stored."""
        kept = {*await self._kept(tenant, ids), *self.scope.unsaid}
        return await self._store.episodes(tenant, [episode for episode in ids if episode in kept])

    async def _kept(self, tenant: TenantId, ids: Iterable[EpisodeId]) -> Collection[EpisodeId]:
        """Select the episodes in scope; each is looked up once."""
        asked = set(ids) - self._out
        if self.scope.at is None:
            return asked
        missing = sorted(asked - self._happened.keys())
        if missing:
            there = await self._store.passing(
                tenant, missing, happened_by=self.scope.at, known_at=self.scope.known_at
            )
            self._happened.update((episode, episode in there) for episode in missing)
        return {episode for episode in asked if self._happened[episode]}

    async def _unseen(self, tenant: TenantId, ids: Sequence[str]) -> frozenset[str]:
        """List the concepts and facts that no episode in scope mentions.

        Concepts that only excluded episodes mention stay visible.
        """
        if not ids or not (self.scope.ended or self.scope.at):
            return frozenset()
        return await self._store.unseen(tenant, ids, self.scope.at, self.scope.known_at)

    def _filters(self, filters: Filters) -> Filters:
        """End the period of a search with the scope, which applies `exclude` itself."""
        before = first_after(self.scope.at, filters.occurred_before)
        return replace(filters, exclude=frozenset(), occurred_before=before)

    async def _searched(
        self,
        tenant: TenantId,
        search: Callable[[int], Awaitable[Sequence[R]]],
        limit: int,
        first: int,
        most: int,
    ) -> Sequence[R]:
        """Search for `first` seeds, and for up to `most` until `limit` of them are in scope."""
        further = first
        while True:
            found = await search(further)
            kept = await self._kept(tenant, [row.id for row in found])
            left = [row for row in found if row.id in kept]
            if len(left) >= limit or len(found) < further or further == most:
                return self.moved(left[:limit])
            further = min(most, 4 * further)

    def moved(self, seeds: Iterable[R]) -> list[R]:
        """Leave out seeds that are not in scope, and give the others their place in it."""
        return [
            seed
            if seed.session is None or seed.ordinal is None
            else replace(seed, ordinal=self.scope.place(seed.session, seed.ordinal))
            for seed in seeds
            if seed.id not in self._out
        ]

    async def _rows(self, tenant: TenantId, columns: T, episodes: Sequence[EpisodeId]) -> T:
        kept = await self._kept(tenant, episodes)
        return keep_rows(columns, [episode in kept for episode in episodes])


def first_after(at: datetime | None, before: datetime | None) -> datetime | None:
    """Give the first instant after `at`, or `before` if that is earlier; None for no bound."""
    ends = [] if before is None else [before]
    # After the last instant there is none.
    if at is not None and at < UNENDING:
        ends.append(at + TICK)
    return min(ends, default=None)


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


RecallStore = EpisodeReader | ScopedStore
"""The reads of one recall; a recall that may see everything has no scope."""
