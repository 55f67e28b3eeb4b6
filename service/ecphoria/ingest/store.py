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
    REMOVE_EVIDENCE,
    UPDATE_EXPIRY,
    IngestChanges,
    NameState,
    ReadEpisode,
    Reading,
    SegmentStart,
    StatedBy,
    StoredBody,
    StoredTurn,
    apply_changes,
)
from ecphoria.neo4j_store.filters import by_filter, metadata_text, named
from ecphoria.neo4j_store.locks import Counters, change_under, count_change, lock_tenant
from ecphoria.neo4j_store.queries import any_phrase
from ecphoria.neo4j_store.rows import StoredEpisode, to_episode
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.episode import Episode, MetadataValue
from ecphoria.records.fact import FactKey
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.job import Lease
from ecphoria.records.recall import Filters

T = TypeVar("T")

# The text index takes at most 1,024 clauses a query.
_NAMES_A_QUERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _BodyHash:
    id: EpisodeId
    body_hash: str
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _NameColumns:
    normalised: list[str]
    surface: list[str]
    kind: list[str]
    titles: list[int]
    candidates: list[int]
    live: list[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matching:
    matched: int
    ids: list[EpisodeId]
    sealed: int


_LIST_BODY_HASHES = Statement("ingest.list_body_hashes", _BodyHash)
_LIST_MATCHING = Statement("ingest.list_matching", _Matching)
_LIST_EXPIRED = Statement("recall.list_expired", EpisodeId)
_LIST_EXPIRING = Statement("tenants.list_expiring", TenantId)
_RENEW_EXPIRY = Statement("ingest.renew_expiry", Done)
_SAVE_DETAILS = Statement("ingest.save_details", Done)
_LIST_TOMBSTONES = Statement("ingest.list_tombstones", EpisodeId)
_DROP_OLD_TOMBSTONES = Statement("ingest.drop_old_tombstones", Done)
_FIND_EPISODE = Statement("archive.find_episode", StoredEpisode)
_LIST_SEGMENTS = Statement("ingest.list_segments", StoredTurn)
_LIST_NAMES = Statement("ingest.list_names", _NameColumns)
_LIST_WORDS = Statement("ingest.list_words", list[str])
_LIST_WORD_COUNTS = Statement("ingest.list_word_counts", tuple[str, int])
_FIND_BODIES = Statement("ingest.find_bodies", StoredBody)
_LIST_SLEEPERS = Statement("ingest.list_sleepers", StoredBody)
_LIST_STATED_BY = Statement("ingest.list_stated_by", tuple[EpisodeId, StatedBy])
_LIST_STATED_COUNTS = Statement("ingest.list_stated_counts", tuple[str, int])
_LIST_READ = Statement("extraction.list_read", ReadEpisode)
_SAVE_READ = Statement("extraction.save_read", Done)


class LifeOver(Exception):
    """A write contains expired episodes that are not erased yet."""

    def __init__(self, ids: Sequence[EpisodeId]) -> None:
        super().__init__()
        self.ids = ids


class IngestStore:
    """The write side of the memory graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # A writer may need a second connection while it holds its first. If first connections took
        # the whole pool, all writers would wait for each other.
        self._pairs = asyncio.Semaphore(max(1, graph.connections // 2))

    async def body_hashes(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, str]:
        """Look up, without the lock, which of these episodes exist and need no embedding.

        Expired episodes are left out, because they will be erased soon.
        """
        rows = await self._graph.run(_LIST_BODY_HASHES, tenant=tenant, ids=list(ids))
        return {row.id: row.body_hash for row in rows if not row.is_over}

    async def expired(self, tenant: TenantId, limit: int) -> Sequence[EpisodeId]:
        """List some of the expired episodes, in the order in which they expired."""
        return await self._graph.run(_LIST_EXPIRED, tenant=tenant, limit=limit)

    async def expiring_tenants(self) -> Sequence[TenantId]:
        """List the tenants with expired episodes."""
        return await self._graph.run(_LIST_EXPIRING)

    async def renew_expiry(self, tenant: TenantId) -> None:
        """Compute and store when the next episode expires; NotFound without the tenant."""

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
        return row.matched, row.ids

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
            # Locks of single sessions, words or names would deadlock on words that nearly every
            # turn has, and the reads in between would not be repeatable (decision 0001).
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
        """The default life of new episodes; None for no end."""
        days = self._counters.life_days
        return None if days is None else timedelta(days=days)

    @property
    def stated(self) -> int:
        """The number of names and facts that the tenant's episodes state."""
        return self._counters.stated

    async def body_hashes(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, str]:
        """Look up which of these episodes exist, and the hash of their bodies.

        Raises:
            LifeOver: Some of them are expired; they must be erased first.
        """
        rows = await self._work.run(_LIST_BODY_HASHES, tenant=self._tenant, ids=list(ids))
        if over := [row.id for row in rows if row.is_over]:
            raise LifeOver(over)
        return {row.id: row.body_hash for row in rows}

    async def erased(self, ids: Sequence[EpisodeId], keep: timedelta) -> frozenset[EpisodeId]:
        """List which of these episodes were erased within `keep`; drop older notes."""
        seconds = keep.total_seconds()
        rows = await self._work.run(
            _LIST_TOMBSTONES, tenant=self._tenant, ids=list(ids), seconds=seconds
        )
        return frozenset(rows)

    async def forget_erased(self, keep: timedelta) -> None:
        """Drop the notes of erasures that are longer ago than `keep`."""
        seconds = keep.total_seconds()
        await self._work.run(_DROP_OLD_TOMBSTONES, tenant=self._tenant, seconds=seconds)

    async def episode(self, episode: EpisodeId, *, expired: bool = True) -> Episode | None:
        """Fetch one episode of the tenant, live or not; an expired one only if wanted."""
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
            found.setdefault(row.session, []).append(row)
        return found

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
        return states, words

    async def word_counts(self, words: Sequence[str]) -> Mapping[str, int]:
        """Count, for each word, the items that have it in lower case."""
        return dict(
            await self._work.run(_LIST_WORD_COUNTS, tenant=self._tenant, words=list(words))
        )

    async def bodies_with(self, names: Sequence[str]) -> Sequence[StoredBody]:
        """Fetch the live items that have one of these normalised names in their words, each once.

        Items that this transaction writes may be included or missing.
        """
        found: dict[EpisodeId, StoredBody] = {}
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

    async def _bodies(self, query: str, beside: Work) -> Sequence[StoredBody]:
        """Read in a second write transaction, so that no follower answers with old data."""
        return await beside.run(_FIND_BODIES, tenant=self._tenant, query=query)

    async def sleepers(self, ids: Sequence[EpisodeId]) -> Sequence[StoredBody]:
        """Fetch the bodies of those of these episodes that are dormant."""
        return await self._work.run(_LIST_SLEEPERS, tenant=self._tenant, ids=list(ids))

    async def stated_by(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, StatedBy]:
        """Read the names and facts that were sent with each item."""
        return dict(await self._work.run(_LIST_STATED_BY, tenant=self._tenant, ids=list(ids)))

    async def stated_counts(self, names: Sequence[str]) -> Mapping[str, int]:
        """Count, for each name, the items that state it; names without such items are absent."""
        return dict(
            await self._work.run(_LIST_STATED_COUNTS, tenant=self._tenant, names=list(names))
        )

    async def read_episodes(self, ids: Sequence[EpisodeId]) -> Sequence[ReadEpisode]:
        """Fetch those of these episodes that are live, with their names and facts."""
        return await self._work.run(_LIST_READ, tenant=self._tenant, ids=list(ids))

    async def remove_stated_facts(self, ids: Sequence[EpisodeId], *, every: bool) -> None:
        """Remove the evidence of episodes for all facts, or only for facts that a model found."""
        await self._work.run(REMOVE_EVIDENCE, tenant=self._tenant, ids=list(ids), every=every)

    async def save_read(self, readings: Sequence[Reading]) -> None:
        """Store on each episode which model read it."""
        rows = [{"id": row.episode, "extracted_by": row.extracted_by} for row in readings]
        await self._work.run(_SAVE_READ, tenant=self._tenant, rows=rows)

    async def facts(self, ids: Sequence[FactId]) -> frozenset[FactId]:
        """List which of these facts are stored."""
        return await self._facts.existing(ids)

    async def timed_among(self, keys: Sequence[FactKey]) -> Sequence[FactKey]:
        """List which of these keys have a timeline."""
        return await self._facts.timed_among(keys)

    async def timed_of(self, episode: EpisodeId) -> Sequence[FactKey]:
        """List the keys with a timeline about which an episode makes a claim."""
        return await self._facts.timed_of(episode)

    async def write(self, changes: AsyncGenerator[IngestChanges, None]) -> None:
        """Apply the parts of one change; they become visible when the transaction commits.

        The first part has all totals, and all removed episodes and NEXT edges. The next part is
        computed while the store writes one (decision 0027).
        """
        await apply_changes(self._work, self._tenant, changes)
