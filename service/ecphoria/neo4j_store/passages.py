"""Passages of long episodes: search them, cache them, and read usage of episodes.

A passage never changes, so a process reads each once. The cache drops all of a tenant when one of
its episodes was deleted, as the cache of contents does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.neo4j_store.encoding import encoded
from ecphoria.neo4j_store.filters import by_filter, within
from ecphoria.neo4j_store.queries import any_of
from ecphoria.neo4j_store.session import Done, Graph, Statement, packed
from ecphoria.ports import Vector
from ecphoria.records.history import Charge, Use
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Filters, Required
from ecphoria.runtime import Bounded


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRow:
    """One passage to create.

    Attributes:
        ordinal: Its place among the passages of its episode, from 0 on.
        start, end: Character offsets into the episode's text; `end` is exclusive.
        terms: Stems of the title and the passage with repeats, joined by one blank.
        length: Number of stems.
        vector: None before the passage is encoded.
    """

    id: str
    ordinal: int
    start: int
    end: int
    terms: str
    length: int
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSeed:
    """A passage found by an index.

    Attributes:
        session, ordinal: Where its episode stands.
        part: Its place among the passages of its episode.
    """

    passage: str
    episode: EpisodeId
    session: str | None
    ordinal: int | None
    part: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageColumns:
    """Passages as parallel columns, ordered by (episode, part); n rows.

    Attributes:
        start, end: Character offsets into the episode's text; `end` is exclusive.
        terms: Stems of the title and the passage with repeats, joined by one blank.
        cosine: Exact cosine to the cue's vector, 0 without one.
    """

    episode: tuple[EpisodeId, ...]
    part: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    terms: tuple[str, ...]
    length: NDArray[np.float64]
    cosine: NDArray[np.float64]


class PassageReads(Protocol):
    """Reads of passages for recall."""

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index; score is the cosine; best first, ties by turn, then part."""
        ...

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index for any of the stems; best first, ties by turn, then part."""
        ...

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch all passages of episodes; an episode without passages is absent."""
        ...


_FIRST_SLOTS = 256
_AT_ONCE = 50
"""Episodes of one read; the driver blocks other requests while it decodes an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """A row of a passage; an episode without passages has a row of None values."""

    episode: str
    part: int | None
    start: int
    end: int
    terms: str
    length: int
    vector: NDArray[np.float32]


_LIST_PASSAGES_OF = Statement("recall.list_passages_of", StoredPassage)


class PassageCache:
    """Columns of cached passages in the order of reading; passages of an episode are adjacent."""

    def __init__(self) -> None:
        self._slots: dict[str, range] = {}
        self._size = 0
        self._places = np.zeros((_FIRST_SLOTS, 3), np.int64)
        self._length = np.zeros(_FIRST_SLOTS)
        self._terms: list[str] = []
        self._vector = np.zeros((_FIRST_SLOTS, 0), np.float32)

    def __len__(self) -> int:
        return self._size

    def missing(self, episodes: Sequence[str]) -> list[str]:
        """List the episodes whose passages are unknown."""
        return [episode for episode in dict.fromkeys(episodes) if episode not in self._slots]

    def put(self, passages: Sequence[StoredPassage]) -> None:
        """Add passages; the passages of an episode are adjacent, in their order."""
        grouped: dict[str, list[StoredPassage]] = {}
        for passage in passages:
            here = grouped.setdefault(passage.episode, [])
            if passage.part is not None:
                here.append(passage)
        for episode, rows in grouped.items():
            if episode not in self._slots:
                self._slots[episode] = self._put(rows)

    def columns(self, episodes: Sequence[str], vector: Vector | None) -> PassageColumns:
        """Select the passages of episodes, ordered by episode and part."""
        slots: list[int] = []
        owners: list[EpisodeId] = []
        for episode in sorted(set(episodes)):
            here = self._slots.get(episode, range(0))
            slots += here
            owners += [EpisodeId(episode)] * len(here)
        at = np.array(slots, np.int64)
        places = self._places[at]
        cosine = np.zeros(len(slots))
        if vector is not None and slots:
            cosine = (self._vector[at] @ vector).astype(np.float64)
        return PassageColumns(
            episode=tuple(owners),
            part=places[:, 0],
            start=places[:, 1],
            end=places[:, 2],
            terms=tuple([self._terms[slot] for slot in slots]),
            length=self._length[at],
            cosine=cosine,
        )

    def _put(self, rows: Sequence[StoredPassage]) -> range:
        first = self._size
        if not rows:
            return range(0)
        self._grow(first + len(rows), rows[0].vector.size)
        for slot, passage in enumerate(rows, first):
            assert passage.part is not None, "a passage has a place"
            self._places[slot] = passage.part, passage.start, passage.end
            self._length[slot] = passage.length
            self._terms.append(passage.terms)
            self._vector[slot] = passage.vector
        self._size = first + len(rows)
        return range(first, self._size)

    def _grow(self, wanted: int, dimension: int) -> None:
        room = len(self._length)
        if not self._vector.shape[1]:
            self._vector = np.zeros((room, dimension), np.float32)
        if wanted <= room:
            return
        more = max(wanted, 2 * room) - room
        self._places = np.pad(self._places, ((0, more), (0, 0)))
        self._length = np.pad(self._length, (0, more))
        self._vector = np.pad(self._vector, ((0, more), (0, 0)))


@dataclass(slots=True, kw_only=True)
class _Passages:
    """The cached rows of one tenant."""

    deletions: int = 0
    passages: PassageCache = field(default_factory=PassageCache)


class PassageReader:
    """Fetches the passages of episodes, and caches up to `keep`."""

    def __init__(self, graph: Graph, keep: int, *, dormant: bool = False) -> None:
        """Read passages of live episodes, and of dormant ones too if `dormant`."""
        self._graph = graph
        self._dormant = dormant
        self._memories = Bounded[TenantId, _Passages](keep, lambda one: len(one.passages))

    def check(self, tenant: TenantId, *, deletions: int) -> None:
        """Drop the cached rows if the number of deleted episodes shows them to be outdated."""
        known = self._memories.setdefault(tenant, _Passages())
        if known.deletions != deletions:
            known.passages = PassageCache()
        known.deletions = deletions

    def forget(self, tenant: TenantId) -> None:
        """Drop everything of a deleted tenant."""
        self._memories.pop(tenant, None)

    async def read(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch all passages of episodes; read missing ones from the store in parts."""
        # Keep this cache in a variable: a later state of the tenant has another one, which must
        # not get what is read now.
        passages = self._memories.get(tenant, _Passages()).passages
        missing = passages.missing(episodes)
        for start in range(0, len(missing), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            passages.put(
                await self._graph.run(
                    _LIST_PASSAGES_OF, tenant=tenant, ids=part, dormant=self._dormant
                )
            )
        found = passages.columns(episodes, vector)
        self._memories.touch(tenant)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A live episode near another one in meaning, and the turns of both."""

    of: EpisodeId
    of_turn: int
    id: EpisodeId
    turn: int
    cosine: float


_StoredUse = tuple[EpisodeId, int, float | None, Use | None]
"""An episode, when it occurred in milliseconds, its salience, and its use if it was used."""

LIST_NEAREST = Statement("recall.list_nearest", Neighbour)
LIST_USES = Statement("learning.list_uses", _StoredUse)
LIST_CHARGES = Statement("learning.list_charges", tuple[EpisodeId, int, Charge | None])


class HistoryReader:
    """Reads episodes' histories; implements `ports.recall.Histories`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def uses(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Read the uses of episodes; deleted ones are absent."""
        rows = await self._graph.run(LIST_USES, tenant=tenant, ids=list(ids))
        return uses_of(rows)

    async def charges(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, Charge]:
        """Read the charges of episodes; never stimulated ones are absent."""
        rows = await self._graph.run(LIST_CHARGES, tenant=tenant, ids=list(ids))
        return {ident: charge for ident, _, charge in rows if charge is not None}


def uses_of(rows: Sequence[_StoredUse]) -> Mapping[EpisodeId, Use]:
    """Index the uses of episodes by id."""
    # A memory that was never recalled has no stored state: the state follows from `occurred_at`,
    # so a tenant that never learns has an unchanged graph (decision 0015).
    return {
        ident: use or Use.fresh(occurred_ms, salience=salience)
        for ident, occurred_ms, salience, use in rows
    }


R = TypeVar("R")

# Index scores are rounded and tied, so more rows than the limit are fetched: this factor, and at
# least this number.
# The index finds .665 of the exact ten nearest when ten are requested, and .958 when thirty are
# (docs/evaluation/speed.md).
_OVERFETCH, _OVERFETCH_AT_LEAST = 1.25, 20
# A passage unlike the rest of its text is far from its neighbours in the vector index: with 23
# fetched it was missed among 436 others, with 62 it was found.
_PASSAGES_AT_LEAST: Final = 100
# Filters apply after the text index has ranked its hits, so a filtered search reads all hits.
_FILTERED_FETCH: Final = 100_000
# Passages of one statement; each is 3 kB in the message to the server.
_WRITTEN_AT_ONCE: Final = 500


CREATE_PASSAGES = Statement("ingest.create_passages", Done)
REMOVE_PASSAGES = Statement("ingest.remove_passages", Done)
_BY_VECTOR = Statement("recall.seeds_by_passage_vector", PassageSeed)
SEEDS_BY_PASSAGE_SCAN = Statement("recall.seeds_by_passage_scan", PassageSeed)
_BY_TEXT = Statement("recall.seeds_by_passage_text", PassageSeed)


def passage_groups(
    passages: Mapping[EpisodeId, Sequence[PassageRow]],
) -> Iterator[list[dict[str, Any]]]:
    """Group passages by episode, sorted by id, into the parameters of several statements."""
    groups: list[dict[str, Any]] = []
    size = 0
    for episode, rows in sorted(passages.items()):
        for first in range(0, len(rows), _WRITTEN_AT_ONCE):
            part = rows[first : first + _WRITTEN_AT_ONCE]
            if size + len(part) > _WRITTEN_AT_ONCE:
                yield groups
                groups, size = [], 0
            groups.append({"episode": episode, "rows": [encoded(row) for row in part]})
            size += len(part)
    if groups:
        yield groups


class PassageFinder(HistoryReader):
    """Reads passages for recall; implements `ports.passages.PassageReads`."""

    def __init__(self, graph: Graph, *, keep: int, dormant: bool = False) -> None:
        """Remember up to `keep` passages (3 kB each) between recalls."""
        super().__init__(graph)
        self._passages = PassageReader(graph, keep, dormant=dormant)

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index; score is the cosine; best first, ties by turn, then part."""
        search = (_BY_VECTOR, SEEDS_BY_PASSAGE_SCAN)
        return await self._by_vector(
            search, tenant, vector, limit, filters, at_least=_PASSAGES_AT_LEAST
        )

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index for any of the stems; best first, ties by turn, then part."""
        return await self._by_text(_BY_TEXT, tenant, stems, limit, filters)

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch all passages of episodes; an episode without passages is absent."""
        return await self._passages.read(tenant, episodes, vector)

    async def _by_vector(
        self,
        search: tuple[Statement[R], Statement[R]],
        tenant: TenantId,
        vector: Vector,
        limit: int,
        filters: Filters,
        *,
        at_least: int = 0,
    ) -> list[R]:
        """Search a vector index; for filters that it lacks, compare all that pass.

        Args:
            search: Statements: of the index, and for filters that it lacks.
            tenant: The tenant.
            vector: The vector to search.
            limit: Number of rows.
            filters: Filters that a result passes.
            at_least: Smallest number of rows to fetch beyond `limit`.
        """
        by_index, by_scan = search
        asked = {"tenant": tenant, "vector": packed(vector), "limit": limit}
        if filters.beyond_indexes:
            return await self._graph.run(
                by_scan, **asked, stems=[], scan=None, **by_filter(filters)
            )
        fetch = max(overfetch(limit), limit + at_least)
        return await self._graph.run(by_index, **asked, fetch=fetch, **within(filters))

    async def _by_text(
        self,
        search: Statement[R],
        tenant: TenantId,
        stems: Sequence[str],
        limit: int,
        filters: Filters,
        *,
        required: Required | None = None,
    ) -> list[R]:
        """Search a text index for any of the stems and all required terms."""
        if not stems and required is None:
            return []
        return await self._graph.run(
            search,
            tenant=tenant,
            query=any_of(tenant, sorted(set(stems)), required),
            fetch=overfetch(limit) if filters == Filters() else _FILTERED_FETCH,
            limit=limit,
            **by_filter(filters),
        )


def overfetch(limit: int) -> int:
    """Compute how many rows to fetch from an index to have the best `limit` among them."""
    return max(int(limit * _OVERFETCH), limit + _OVERFETCH_AT_LEAST)
