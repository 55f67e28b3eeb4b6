"""Write memories: one transaction under the tenant's write lock."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from ecphoria.errors import Conflict
from ecphoria.facts.store import FactTransaction, classes_of
from ecphoria.ingest.rows import (
    UPDATE_EXPIRY,
    Body,
    IngestChanges,
    NameState,
    ReadEpisode,
    Reading,
    SegmentStart,
    StatedBy,
    StoredTurn,
    apply_changes,
)
from ecphoria.neo4j_store.filters import by_filter, metadata_text, named
from ecphoria.neo4j_store.locks import Counters, change_under, count_change, lock_tenant
from ecphoria.neo4j_store.passages import CREATE_PASSAGES, PassageRow, passage_groups
from ecphoria.neo4j_store.queries import any_phrase
from ecphoria.neo4j_store.rows import StoredEpisode, to_episode
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.ports import Vector
from ecphoria.records.episode import Episode, MetadataValue
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.job import Lease
from ecphoria.records.recall import Filters
from ecphoria.text.cutting import WHOLE

T = TypeVar("T")

# The text index takes at most 1,024 clauses a query.
_NAMES_A_QUERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _BodyHash:
    id: str
    body_hash: str
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tombstone:
    id: str
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlacedRow:
    session: str
    id: str
    ordinal: int
    occurred_at: datetime
    position: int | None
    turn: int
    terms: str | None
    near_length: float
    context_norm: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _VectorRow:
    id: str
    embedding: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class _NameColumns:
    normalised: list[str]
    surface: list[str]
    kind: list[str]
    titles: list[int]
    candidates: list[int]
    live: list[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _WordColumn:
    words: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _WordCount:
    word: str
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stating:
    id: str
    names: list[str]
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatedCount:
    name: str
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matching:
    matched: int
    ids: list[str]
    sealed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _FactKey:
    id: str


_LIST_BODY_HASHES = Statement("ingest.list_body_hashes", _BodyHash)
_LIST_MATCHING = Statement("ingest.list_matching", _Matching)
_LIST_EXPIRED = Statement("ingest.list_expired", _Ended)
_LIST_EXPIRING = Statement("tenants.list_expiring", _TenantKey)
_RENEW_EXPIRY = Statement("ingest.renew_expiry", Done)
_SAVE_DETAILS = Statement("ingest.save_details", Done)
_LIST_TOMBSTONES = Statement("ingest.list_tombstones", _Tombstone)
_REMOVE_TOMBSTONES = Statement("ingest.remove_tombstones", Done)
_DROP_OLD_TOMBSTONES = Statement("ingest.drop_old_tombstones", Done)
_FIND_EPISODE = Statement("archive.find_episode", StoredEpisode)
_LIST_SEGMENTS = Statement("ingest.list_segments", _PlacedRow)
_LIST_VECTORS = Statement("ingest.list_vectors", _VectorRow)
_LIST_NAMES = Statement("ingest.list_names", _NameColumns)
_LIST_WORDS = Statement("ingest.list_words", _WordColumn)
_LIST_WORD_COUNTS = Statement("ingest.list_word_counts", _WordCount)
_FIND_BODIES = Statement("ingest.find_bodies", Body)
_LIST_SLEEPERS = Statement("ingest.list_sleepers", Body)
_LIST_STATED_BY = Statement("ingest.list_stated_by", _Stating)
_LIST_STATED_COUNTS = Statement("ingest.list_stated_counts", _StatedCount)
_LIST_FACTS = Statement("ingest.list_facts", _FactKey)
_LIST_READ = Statement("extraction.list_read", ReadEpisode)
_REMOVE_EVIDENCE = Statement("extraction.remove_evidence", Done)
_SAVE_READ = Statement("extraction.save_read", Done)


class LifeOver(Exception):
    """Episodes are written again whose life is over, and that are not erased yet."""

    def __init__(self, ids: Sequence[EpisodeId]) -> None:
        super().__init__()
        self.ids = ids


class IngestStore:
    """The write side of the memory graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # A writer may need a second connection before it gives its first one back. Were every
        # connection a first one, all writers would wait for each other.
        self._pairs = asyncio.Semaphore(max(1, graph.connections // 2))

    async def body_hashes(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, str]:
        """Look up, without the lock, which of these episodes exist: saves embedding them.

        One whose life is over is left out, for it is about to be erased.
        """
        rows = await self._graph.run(_LIST_BODY_HASHES, tenant=tenant, ids=list(ids))
        return {EpisodeId(row.id): row.body_hash for row in rows if not row.is_over}

    async def expired(self, tenant: TenantId, limit: int) -> Sequence[EpisodeId]:
        """List some of the episodes whose life is over, the longest first."""
        rows = await self._graph.run(_LIST_EXPIRED, tenant=tenant, limit=limit)
        return [EpisodeId(row.id) for row in rows]

    async def expiring_tenants(self) -> Sequence[TenantId]:
        """List the tenants that have episodes whose life is over."""
        rows = await self._graph.run(_LIST_EXPIRING)
        return [TenantId(row.tenant) for row in rows]

    async def renew_expiry(self, tenant: TenantId) -> None:
        """Find out when the next life ends; NotFound without the tenant."""

        async def renew(work: Work) -> None:
            await lock_tenant(work, tenant)
            await work.run(_RENEW_EXPIRY, tenant=tenant)

        await self._graph.change("ingest.renew_expiry", renew)

    async def matching(
        self, tenant: TenantId, filters: Filters, limit: int
    ) -> tuple[int, Sequence[EpisodeId]]:
        """Count the episodes that pass filters, live or not, and list the first by turn.

        Raises:
            Conflict: The filters ask for metadata, and archived episodes pass the others.
        """
        filters, _ = await named(self._graph, tenant, filters)
        (row,) = await self._graph.run(
            _LIST_MATCHING,
            tenant=tenant,
            limit=limit,
            exclude=list(filters.exclude),
            **by_filter(filters),
        )
        if row.sealed:
            raise Conflict(
                f"{row.sealed:,} archived episodes may match, but their metadata are in the "
                "archive; restore them first, or erase by other filters",
                archived=row.sealed,
            )
        return row.matched, [EpisodeId(ident) for ident in row.ids]

    async def change(
        self,
        tenant: TenantId,
        work: Callable[["IngestTransaction"], Awaitable[T]],
        lease: Lease | None = None,
    ) -> T:
        """Run `work` in one transaction under the tenant's write lock.

        It is run again from the start when the server asks for a retry, and committed when it
        returns.

        Args:
            tenant: Whose memories.
            work: Reads and writes.
            lease: The right of a job, checked in the same transaction.

        Raises:
            LeaseLost: Another worker has the job; nothing was written.
            NotFound: There is no such tenant.
            StoreUnavailable: The server does not answer; nothing was written.
            OutcomeUnknown: The server did not answer the commit; all or nothing was written.
            Timeout: The server stopped it; nothing was written.
        """

        async def locked(transaction: Work) -> T:
            counters = await lock_tenant(transaction, tenant)
            return await work(IngestTransaction(self._graph, tenant, counters, transaction))

        async with self._pairs:
            return await change_under(self._graph, lease, "ingest.change", locked)


class IngestTransaction:
    """One locked transaction."""

    def __init__(self, graph: Graph, tenant: TenantId, counters: Counters, work: Work) -> None:
        self._graph = graph
        self._tenant = tenant
        self._counters = counters
        self._work = work
        self._facts = FactTransaction(work, tenant, classes_of(counters.classes), counters.change)

    @property
    def timelines(self) -> FactTransaction:
        """The store of facts, in the same transaction."""
        return self._facts

    @property
    def timed(self) -> bool:
        """Tell whether any fact of the tenant has a timeline."""
        return self._counters.timed

    @property
    def change(self) -> int:
        """The tenant's change counter before this transaction; +1 when `write` ran."""
        return self._counters.change

    @property
    def turn(self) -> int:
        """The tenant's last turn before this transaction."""
        return self._counters.turn

    @property
    def life(self) -> timedelta | None:
        """The life of new episodes that come without one; None for no end."""
        days = self._counters.life_days
        return None if days is None else timedelta(days=days)

    @property
    def stated(self) -> int:
        """Count the names and facts that the tenant's episodes came with."""
        return self._counters.stated

    async def body_hashes(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, str]:
        """Look up which of these episodes exist, and the hash of their bodies.

        Raises:
            LifeOver: The life of some of them is over; they must be erased first.
        """
        rows = await self._work.run(_LIST_BODY_HASHES, tenant=self._tenant, ids=list(ids))
        if over := [EpisodeId(row.id) for row in rows if row.is_over]:
            raise LifeOver(over)
        return {EpisodeId(row.id): row.body_hash for row in rows}

    async def erased(self, ids: Sequence[EpisodeId], keep: timedelta) -> frozenset[EpisodeId]:
        """Tell which of these episodes were erased within `keep`; forget it of the others."""
        seconds = keep.total_seconds()
        rows = await self._work.run(
            _LIST_TOMBSTONES, tenant=self._tenant, ids=list(ids), seconds=seconds
        )
        over = [row.id for row in rows if row.is_over]
        if over:
            await self._work.run(_REMOVE_TOMBSTONES, tenant=self._tenant, ids=over)
        return frozenset(EpisodeId(row.id) for row in rows if not row.is_over)

    async def forget_erased(self, keep: timedelta) -> None:
        """Forget of which episodes it is longer ago than `keep` that they were erased."""
        seconds = keep.total_seconds()
        await self._work.run(_DROP_OLD_TOMBSTONES, tenant=self._tenant, seconds=seconds)

    async def episode(self, episode: EpisodeId, *, expired: bool = True) -> Episode | None:
        """Fetch one episode of the tenant, live or not; one whose life is over if wanted."""
        row = await self._work.run_one(
            _FIND_EPISODE, tenant=self._tenant, id=episode, expired=expired
        )
        return None if row is None else to_episode(row)

    async def save_details(
        self,
        episode: EpisodeId,
        metadata: Mapping[str, MetadataValue] | None,
        expires_at: datetime | None,
    ) -> None:
        """Replace metadata unless None is given, and the end of a life."""
        text = None if metadata is None else metadata_text(metadata)
        await self._work.run(
            _SAVE_DETAILS,
            tenant=self._tenant, id=episode, metadata=text, expires_at=expires_at,
        )  # fmt: skip
        if expires_at is not None:
            await self._work.run(UPDATE_EXPIRY, tenant=self._tenant, ends=[expires_at])
        await count_change(self._work, self._tenant)

    async def segments(
        self, starts: Sequence[SegmentStart], margin: int
    ) -> Mapping[str, Sequence[StoredTurn]]:
        """List the turns of each session from its start on, and `margin` turns before, in order.

        The order is (occurred_at, position with None as 0, turn). A session that has none, or
        does not exist, is left out.
        """
        rows = await self._work.run(
            _LIST_SEGMENTS,
            tenant=self._tenant,
            starts=[
                {
                    "session": start.session,
                    "occurred_at": start.occurred_at,
                    "position": start.position,
                }
                for start in starts
            ],
            margin=margin,
        )
        found: dict[str, list[StoredTurn]] = {}
        for row in rows:
            found.setdefault(row.session, []).append(_placed(row))
        return found

    async def vectors(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Vector]:
        """Fetch stored vectors."""
        rows = await self._work.run(_LIST_VECTORS, tenant=self._tenant, ids=list(ids))
        return {EpisodeId(row.id): row.embedding for row in rows}

    async def names(self) -> tuple[Sequence[NameState], Sequence[str]]:
        """Load every name of the tenant, and every word it has seen in lower case."""
        (columns,) = await self._work.run(_LIST_NAMES, tenant=self._tenant)
        (words,) = await self._work.run(_LIST_WORDS, tenant=self._tenant)
        states = [
            NameState(
                normalised=normalised,
                surface=surface,
                kind=kind,
                titles=titles,
                candidates=candidates,
                live=live,
            )
            for normalised, surface, kind, titles, candidates, live in zip(
                columns.normalised,
                columns.surface,
                columns.kind,
                columns.titles,
                columns.candidates,
                columns.live,
                strict=True,
            )
        ]
        return states, words.words

    async def word_counts(self, words: Sequence[str]) -> Mapping[str, int]:
        """Count, for each word, the items that have it in lower case."""
        rows = await self._work.run(_LIST_WORD_COUNTS, tenant=self._tenant, words=list(words))
        return {row.word: row.items for row in rows}

    async def bodies_with(self, names: Sequence[str]) -> Sequence[Body]:
        """Fetch each live item that has one of these normalised names in its words, once.

        Those that this transaction writes may be among them, and may be missing.
        """
        found: dict[EpisodeId, Body] = {}
        for start in range(0, len(names), _NAMES_A_QUERY):
            query = any_phrase(self._tenant, names[start : start + _NAMES_A_QUERY])
            look = partial(self._bodies, query)
            seen = (
                await self._graph.change("ingest.look_back", look)
                if self._graph.connections > 1
                else await look(self._work)
            )
            found |= {body.id: body for body in seen}
        return list(found.values())

    async def _bodies(self, query: str, beside: Work) -> Sequence[Body]:
        """Read by a transaction beside the writing one; it is one of writing, so never behind."""
        return await beside.run(_FIND_BODIES, tenant=self._tenant, query=query)

    async def sleepers(self, ids: Sequence[EpisodeId]) -> Sequence[Body]:
        """Fetch the bodies of the dormant ones of these episodes."""
        return await self._work.run(_LIST_SLEEPERS, tenant=self._tenant, ids=list(ids))

    async def stated_by(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, StatedBy]:
        """Read the names and facts that were sent with each item."""
        rows = await self._work.run(_LIST_STATED_BY, tenant=self._tenant, ids=list(ids))
        return {
            EpisodeId(row.id): StatedBy(names=frozenset(row.names), facts=row.facts)
            for row in rows
        }

    async def stated_counts(self, names: Sequence[str]) -> Mapping[str, int]:
        """Count, for each name, the items that state it; names that none does are left out."""
        rows = await self._work.run(_LIST_STATED_COUNTS, tenant=self._tenant, names=list(names))
        return {row.name: row.items for row in rows}

    async def read_episodes(self, ids: Sequence[EpisodeId]) -> Sequence[ReadEpisode]:
        """Fetch the live ones of these episodes, with the names and facts they have."""
        return await self._work.run(_LIST_READ, tenant=self._tenant, ids=list(ids))

    async def remove_stated_facts(self, ids: Sequence[EpisodeId], *, every: bool) -> None:
        """Part episodes from all their facts, or only from those that a model found."""
        await self._work.run(_REMOVE_EVIDENCE, tenant=self._tenant, ids=list(ids), every=every)

    async def save_read(self, readings: Sequence[Reading]) -> None:
        """Note on episodes the model that read them."""
        rows = [{"id": row.episode, "extracted_by": row.extracted_by} for row in readings]
        await self._work.run(_SAVE_READ, tenant=self._tenant, rows=rows)

    async def facts(self, ids: Sequence[FactId]) -> frozenset[FactId]:
        """Tell which of these facts are stored."""
        rows = await self._work.run(_LIST_FACTS, tenant=self._tenant, ids=list(ids))
        return frozenset(FactId(row.id) for row in rows)

    async def timed_among(self, keys: Sequence[FactKey]) -> Sequence[FactKey]:
        """Tell which of these keys have a timeline."""
        return await self._facts.timed_among(keys)

    async def timed_of(self, episode: EpisodeId) -> Sequence[FactKey]:
        """List the keys with a timeline that an episode claims something of."""
        return await self._facts.timed_of(episode)

    async def write(self, changes: AsyncGenerator[IngestChanges, None]) -> None:
        """Apply the parts of one change; they become visible when the transaction commits.

        The first part has all totals and all episodes and NEXT edges that are removed. A part
        is asked for while the store is busy with the one before.
        """
        await apply_changes(self._work, self._tenant, changes)


def _placed(row: _PlacedRow) -> StoredTurn:
    return StoredTurn(
        id=EpisodeId(row.id),
        ordinal=row.ordinal,
        occurred_at=row.occurred_at,
        position=row.position,
        turn=row.turn,
        terms=None if row.terms is None else tuple(row.terms.split()),
        near_length=row.near_length,
        context_norm=row.context_norm,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncut:
    """An episode that has no passages and may need some."""

    id: EpisodeId
    title: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UncutPage:
    """Some episodes in the order of their turns.

    Attributes:
        last_turn: The last turn looked at; None behind the last episode.
        found: Those of them that may need passages.
    """

    last_turn: int | None
    found: Sequence[Uncut]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuttingStart:
    """The turn at which cutting of older episodes continues, and the turn at which it ends."""

    after: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _UncutLists:
    last_turn: int | None
    id: list[str]
    title: list[str]
    text: list[str]


_LIST_UNCUT_TENANTS = Statement("passages.list_uncut_tenants", _TenantKey)
_START_CUTTING = Statement("passages.start_cutting", CuttingStart)
_LIST_UNCUT = Statement("passages.list_uncut", _UncutLists)
_SAVE_CUT_AFTER = Statement("passages.save_cut_after", Done)


class CuttingStore:
    """Episodes that wait for their passages."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def tenants(self) -> Sequence[TenantId]:
        """List tenants with episodes that are not cut yet."""
        return [TenantId(row.tenant) for row in await self._graph.run(_LIST_UNCUT_TENANTS)]

    async def begin(self, tenant: TenantId, lease: Lease) -> CuttingStart:
        """Read where to resume; NotFound without the tenant, LeaseLost without the job."""

        async def start(work: Work) -> CuttingStart:
            await lock_tenant(work, tenant)
            (found,) = await work.run(_START_CUTTING, tenant=tenant)
            return found

        return await change_under(self._graph, lease, "passages.start", start)

    async def page(self, tenant: TenantId, after_turn: int, limit: int) -> UncutPage:
        """Look at the next `limit` episodes by turn."""
        (lists,) = await self._graph.run(
            _LIST_UNCUT, tenant=tenant, after_turn=after_turn, limit=limit, longer_than=WHOLE
        )
        rows = zip(lists.id, lists.title, lists.text, strict=True)
        return UncutPage(
            last_turn=lists.last_turn,
            found=[
                Uncut(id=EpisodeId(one), title=title or None, text=text)
                for one, title, text in rows
            ],
        )

    async def save(
        self,
        tenant: TenantId,
        lease: Lease,
        passages: Mapping[EpisodeId, Sequence[PassageRow]],
        after: int | None,
    ) -> None:
        """Write passages, and up to which turn all is cut; LeaseLost, and nothing written."""

        async def write(work: Work) -> None:
            await lock_tenant(work, tenant)
            if passages:
                await count_change(work, tenant)
            for groups in passage_groups(passages):
                await work.run(CREATE_PASSAGES, tenant=tenant, groups=groups)
            await work.run(_SAVE_CUT_AFTER, tenant=tenant, after=after, cuts=1 if passages else 0)

        await change_under(self._graph, lease, "passages.save", write)
