"""Write memories: one transaction under the tenant's write lock."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from ecphoria.errors import Conflict
from ecphoria.facts.store import FactTransaction, classes_of
from ecphoria.ingest.changes import (
    REMOVE_EVIDENCE,
    RENEW_EXPIRY,
    Changes,
    NameState,
    ReadEpisode,
    Reading,
    StatedBy,
    StoredBody,
    TurnPlace,
    apply_changes,
)
from ecphoria.neo4j_store.encoding import encoded
from ecphoria.neo4j_store.filters import by_filter, metadata_text, named
from ecphoria.neo4j_store.locks import Counters, count_change_beside_names, hold_lease, lock_tenant
from ecphoria.neo4j_store.queries import any_phrase
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.records.episode import Episode, ErasureCounts, Load, MetadataValue
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.job import Lease
from ecphoria.records.recall import Filters
from ecphoria.records.tenant import Tenant
from ecphoria.runtime import in_parts

T = TypeVar("T")

# The text index takes at most 1,024 clauses a query.
_NAMES_A_QUERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _BodyHash:
    id: EpisodeId
    body_hash: str
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matching:
    matched: int
    ids: list[EpisodeId]
    sealed: int


_LIST_BODY_HASHES = Statement("ingest.list_body_hashes", _BodyHash)
_LIST_MATCHING = Statement("ingest.list_matching", _Matching)
_COUNT_ERASURE = Statement("ingest.count_erasure", ErasureCounts)
_LIST_EXPIRED = Statement("recall.list_expired", EpisodeId)
_LIST_TENANTS = Statement("tenants.list_tenants", Tenant)
_SAVE_DETAILS = Statement("ingest.save_details", Done)
_LIST_TOMBSTONES = Statement("ingest.list_tombstones", EpisodeId)
_DROP_OLD_TOMBSTONES = Statement("ingest.drop_old_tombstones", Done)
_FIND_EPISODE = Statement("archive.find_episode", Episode)
_LIST_SEGMENTS = Statement("ingest.list_segments", TurnPlace)
_LIST_NAMES = Statement("ingest.list_names", NameState)
_LIST_WORDS = Statement("ingest.list_words", list[str])
_LIST_WORD_COUNTS = Statement("ingest.list_word_counts", tuple[str, int])
_LIST_BODIES = Statement("ingest.list_bodies", StoredBody)
_LIST_STATED_BY = Statement("ingest.list_stated_by", tuple[EpisodeId, StatedBy])
_LIST_STATED_COUNTS = Statement("ingest.list_stated_counts", tuple[str, int])
_LIST_READ = Statement("extraction.list_read", ReadEpisode)
_SAVE_READ = Statement("extraction.save_read", Done)
_SAVE_LOAD = Statement("ingest.save_load", Done)


class LifeOver(Exception):
    """A write contains expired episodes that are not erased yet."""

    def __init__(self, ids: Sequence[EpisodeId]) -> None:
        super().__init__()
        self.ids = ids


class BeforeItsTurn(Exception):
    """A batch of a first load came before an earlier one."""


class IngestStore:
    """The write side of the memory graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # Writers wait here as long as it takes, because a wait for a connection has a limit. Half
        # of the connections stay free for reads.
        self._writers = asyncio.Semaphore(max(1, graph.connections // 2))

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
        found = await self._graph.run(_LIST_TENANTS, name=None, expiring=True)
        return [tenant.id for tenant in found]

    async def renew_expiry(self, tenant: TenantId) -> None:
        """Compute and store when the next episode expires; NotFound without the tenant."""

        async def renew(work: Work) -> None:
            await lock_tenant(work, tenant)
            await work.run(RENEW_EXPIRY, tenant=tenant)

        await self._graph.change("ingest.renew_expiry", renew)

    async def matching(
        self, tenant: TenantId, filters: Filters, limit: int, ids: Sequence[EpisodeId] = ()
    ) -> tuple[int, Sequence[EpisodeId]]:
        """Count the episodes that pass filters, live or not, and list the first by turn.

        Raises:
            Conflict: The filters ask for metadata, and archived episodes pass the others.
        """
        return await self._match(tenant, limit, await self._wanted(tenant, filters, ids))

    async def _match(
        self, tenant: TenantId, limit: int, wanted: Mapping[str, Any]
    ) -> tuple[int, Sequence[EpisodeId]]:
        (row,) = await self._graph.run(_LIST_MATCHING, tenant=tenant, limit=limit, **wanted)
        if row.sealed:
            raise Conflict(
                f"{row.sealed:,} archived episodes may match, but their metadata are in the "
                "archive; restore them first, or erase by other filters",
                archived=row.sealed,
            )
        return row.matched, row.ids

    async def erasure(
        self, tenant: TenantId, filters: Filters, ids: Sequence[EpisodeId] = ()
    ) -> tuple[int, ErasureCounts]:
        """Count the episodes as `matching` does, and by kind what goes with them.

        Raises:
            Conflict: As by `matching`.
        """
        wanted = await self._wanted(tenant, filters, ids)
        matched, _ = await self._match(tenant, 0, wanted)
        (counts,) = await self._graph.run(_COUNT_ERASURE, tenant=tenant, **wanted)
        return matched, counts

    async def _wanted(
        self, tenant: TenantId, filters: Filters, ids: Sequence[EpisodeId]
    ) -> dict[str, Any]:
        filters, _ = await named(self._graph, tenant, filters)
        return {"ids": list(ids) or None, "exclude": list(filters.exclude), **by_filter(filters)}

    async def change(
        self,
        tenant: TenantId,
        work: Callable[["IngestTransaction"], Awaitable[T]],
        lease: Lease | None = None,
    ) -> T:
        """Run `work` in one transaction under the tenant's write lock, and the lease of a job.

        It is run again from the start when the server asks for a retry, and committed when it
        returns.

        Raises:
            LeaseLost: Another worker has the job; nothing was written.
            NotFound: There is no such tenant.
            StoreUnavailable: The server does not answer; nothing was written.
            OutcomeUnknown: The server did not answer the commit; all or nothing was written.
            Timeout: The server stopped it; nothing was written.
        """
        run = partial(_run_locked, tenant, work, lease)
        async with self._writers:
            return await self._graph.change("ingest.change", run)


async def _run_locked(
    tenant: TenantId,
    work: Callable[["IngestTransaction"], Awaitable[T]],
    lease: Lease | None,
    opened: Work,
) -> T:
    await hold_lease(opened, lease)
    # Locks of single sessions, words or names would deadlock on words that nearly every turn has,
    # and the reads in between would not be repeatable (decision 0001).
    counters = await lock_tenant(opened, tenant)
    return await work(IngestTransaction(opened, tenant, counters))


class IngestTransaction:
    """One locked transaction.

    Attributes:
        tenant: Whose memories it changes.
        counters: The tenant's counters before it.
        facts: The store of facts, in the same transaction.
    """

    def __init__(self, work: Work, tenant: TenantId, counters: Counters) -> None:
        self._work = work
        self.tenant = tenant
        self.counters = counters
        self.facts = FactTransaction(work, tenant, classes_of(counters.classes), counters.change)

    async def body_hashes(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, str]:
        """Look up which of these episodes exist, and the hash of their bodies.

        Raises:
            LifeOver: Some of them are expired; they must be erased first.
        """
        rows = await self._work.run(_LIST_BODY_HASHES, tenant=self.tenant, ids=list(ids))
        if over := [row.id for row in rows if row.is_over]:
            raise LifeOver(over)
        return {row.id: row.body_hash for row in rows}

    async def erased(self, ids: Sequence[EpisodeId], keep: timedelta) -> frozenset[EpisodeId]:
        """List which of these episodes were erased within `keep`; drop older notes."""
        seconds = keep.total_seconds()
        rows = await self._work.run(
            _LIST_TOMBSTONES, tenant=self.tenant, ids=list(ids), seconds=seconds
        )
        return frozenset(rows)

    async def forget_erased(self, keep: timedelta) -> None:
        """Drop the notes of erasures that are longer ago than `keep`."""
        seconds = keep.total_seconds()
        await self._work.run(_DROP_OLD_TOMBSTONES, tenant=self.tenant, seconds=seconds)

    async def episode(self, episode: EpisodeId, *, expired: bool = True) -> Episode | None:
        """Fetch one episode of the tenant, live or not; an expired one only if wanted."""
        return await self._work.run_one(
            _FIND_EPISODE, tenant=self.tenant, id=episode, expired=expired
        )

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
            tenant=self.tenant, id=episode, metadata=text, expires_at=expires_at,
        )  # fmt: skip
        await self._work.run(RENEW_EXPIRY, tenant=self.tenant)
        await count_change_beside_names(self._work, self.tenant)

    async def segments(
        self, starts: Sequence[TurnPlace], margin: int
    ) -> Mapping[str, Sequence[TurnPlace]]:
        """List the turns of each session after its start, and `margin` turns before, in order.

        The order is (occurred_at, position with None as 0, sequence). A session that has none, or
        does not exist, is left out.
        """
        keys = [encoded(start, "session", "occurred_at", "position") for start in starts]
        rows = await self._work.run(_LIST_SEGMENTS, tenant=self.tenant, starts=keys, margin=margin)
        found: dict[str, list[TurnPlace]] = {}
        for row in rows:
            found.setdefault(row.session, []).append(row)
        return found

    async def names(self) -> tuple[Sequence[NameState], Sequence[str]]:
        """Load every name of the tenant, and every word it has seen in lower case."""
        states = await self._work.run(_LIST_NAMES, tenant=self.tenant)
        (words,) = await self._work.run(_LIST_WORDS, tenant=self.tenant)
        return states, words

    async def word_counts(self, words: Sequence[str]) -> Mapping[str, int]:
        """Count, for each word, the items that have it in lower case."""
        return dict(await self._work.run(_LIST_WORD_COUNTS, tenant=self.tenant, words=list(words)))

    async def bodies_with(self, names: Sequence[str]) -> Sequence[StoredBody]:
        """Fetch the live items that have one of these normalised names in their words, each once.

        Read before writing: a search inside a transaction that has added documents is slow.
        """
        found: dict[EpisodeId, StoredBody] = {}
        for some in in_parts(names, _NAMES_A_QUERY):
            query = any_phrase(self.tenant, some)
            bodies = await self._work.run(_LIST_BODIES, tenant=self.tenant, query=query, ids=[])
            found |= {body.id: body for body in bodies}
        return list(found.values())

    async def sleepers(self, ids: Sequence[EpisodeId]) -> Sequence[StoredBody]:
        """Fetch the bodies of those of these episodes that are dormant."""
        return await self._work.run(_LIST_BODIES, tenant=self.tenant, query=None, ids=list(ids))

    async def stated_by(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, StatedBy]:
        """Read the names and facts that were sent with each item."""
        return dict(await self._work.run(_LIST_STATED_BY, tenant=self.tenant, ids=list(ids)))

    async def stated_counts(self, names: Sequence[str]) -> Mapping[str, int]:
        """Count, for each name, the items that state it; names without such items are absent."""
        return dict(
            await self._work.run(_LIST_STATED_COUNTS, tenant=self.tenant, names=list(names))
        )

    async def read_episodes(self, ids: Sequence[EpisodeId]) -> Sequence[ReadEpisode]:
        """Fetch those of these episodes that are live, with their names and facts."""
        return await self._work.run(_LIST_READ, tenant=self.tenant, ids=list(ids))

    async def remove_stated_facts(self, ids: Sequence[EpisodeId], *, every: bool) -> None:
        """Remove the evidence of episodes for all facts, or only for facts that a model found."""
        await self._work.run(REMOVE_EVIDENCE, tenant=self.tenant, ids=list(ids), every=every)

    async def save_read(self, readings: Sequence[Reading]) -> None:
        """Store on each episode which model read it."""
        rows = [{"id": row.episode, "extracted_by": row.extracted_by} for row in readings]
        await self._work.run(_SAVE_READ, tenant=self.tenant, rows=rows)

    async def advance(self, load: Load) -> None:
        """Count the items of a batch as done; it is the next one, or a repeat.

        Raises:
            Conflict: The tenant has memories that are not of this load.
            BeforeItsTurn: An earlier batch of the load is not stored yet.
        """
        counters = self.counters
        if counters.load != load.id and (counters.sequence or counters.load is not None):
            raise Conflict(
                "a first load needs an empty tenant, and this one has memories or another load; "
                "append without `load` (`ecphoria import` without `--bulk`), or load into a new "
                "tenant",
                field="load",
            )
        if load.start > counters.loaded:
            raise BeforeItsTurn
        if load.end > counters.loaded or counters.load is None:
            done = max(load.end, counters.loaded)
            await self._work.run(_SAVE_LOAD, tenant=self.tenant, load=load.id, loaded=done)

    async def write(self, changes: Changes) -> None:
        """Apply changes; they become visible when the transaction commits."""
        await apply_changes(self._work, self.tenant, changes)
