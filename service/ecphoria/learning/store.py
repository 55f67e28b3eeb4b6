"""Store of learning: traces with pending effects, and learned values of episodes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.locks import lock_tenant
from ecphoria.neo4j_store.passages import LIST_CHARGES, LIST_USES, to_use
from ecphoria.neo4j_store.session import Done, Statement, Store, Work
from ecphoria.neo4j_store.traces import FIND_TRACE
from ecphoria.records.history import Charge, Link, Use
from ecphoria.records.ids import EpisodeId, TenantId, TraceId
from ecphoria.records.recall import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects of one recall: the new state of memories.

    Attributes:
        recalls: Added to the tenant's number of recalls: 0 if the recall found nothing, else 1.
    """

    recalls: int = 0
    uses: Mapping[EpisodeId, Use] = field(default_factory=dict)
    links: Sequence[Link] = ()
    charges: Mapping[EpisodeId, Charge] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedMemory:
    """A hit of a trace whose memory still exists.

    Attributes:
        useful: Its judgement so far; None without one.
        counted: Whether the first hits of the recall count as used, now or later.
        role: Role of its speaker: user, assistant, tool or system.
        salience: Its salience now.
        rewards, penalties: Number of judgements so far as useful, and as not useful.
        on: Whether the tenant learns.
    """

    id: EpisodeId
    rank: int
    useful: bool | None
    counted: bool
    role: str | None
    salience: float
    rewards: int
    penalties: int
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HitJudgement:
    """The judgement of a hit, and the new state of the memory.

    Attributes:
        first: Reliability before the first judgement.
    """

    id: EpisodeId
    useful: bool
    first: float
    rewards: int
    penalties: int
    salience: float


T = TypeVar("T")


_LIST_WAITING = Statement("learning.list_waiting", TenantId)
_LIST_PENDING = Statement("learning.list_pending", TraceId)
_UPDATE_TRACE = Statement("learning.update_trace", Done)
_LIST_LINKS = Statement("learning.list_links", Link)
_SAVE_LINKS = Statement("learning.save_links", Done)
_LIST_WOKEN = Statement("learning.list_woken", TracedMemory)
_SAVE_JUDGEMENTS = Statement("learning.save_judgements", Done)
_SAVE_HISTORIES = Statement("learning.save_histories", Done)


class LearningStore(Store):
    """The queue of traces, and the learned values of memories."""

    async def waiting(self) -> Sequence[TenantId]:
        """List the tenants with traces on the queue."""
        return await self._graph.run(_LIST_WAITING)

    async def pending(self, tenant: TenantId, limit: int) -> Sequence[TraceId]:
        """List the traces on a tenant's queue, oldest first."""
        return await self._graph.run(_LIST_PENDING, tenant=tenant, limit=limit)

    async def change(
        self, tenant: TenantId, work: Callable[["LearningTransaction"], Awaitable[T]]
    ) -> T:
        """Run `work` in one transaction under the tenant's write lock.

        Raises:
            NotFound: There is no such tenant.
            StoreUnavailable: The server does not answer; nothing was written.
            Timeout: The server stopped it; nothing was written.
        """

        async def locked(inner: Work) -> T:
            found = await lock_tenant(inner, tenant)
            return await work(LearningTransaction(inner, tenant, found.recalls))

        return await self._graph.change("learning.change", locked)

    async def give_up(self, tenant: TenantId, trace: TraceId) -> None:
        """Remove a trace from the queue, because its effects cannot be computed."""
        await self._graph.run(_UPDATE_TRACE, tenant=tenant, id=trace, applied=False, recalls=0)


@dataclass(frozen=True, slots=True)
class LearningTransaction:
    """One locked transaction.

    Attributes:
        recalls: Number of recalls from which the tenant has learned so far.
    """

    work: Work
    tenant: TenantId
    recalls: int

    async def trace(self, trace: TraceId) -> Trace | None:
        """Load a trace; None if its effects are not due: applied, dropped, or switched off."""
        return await self.work.run_one(FIND_TRACE, tenant=self.tenant, id=trace, pending_only=True)

    async def uses(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Read the uses of episodes; deleted ones are absent."""
        rows = await self.work.run(LIST_USES, tenant=self.tenant, ids=list(ids))
        return {row.id: to_use(row) for row in rows}

    async def links(self, ids: Sequence[EpisodeId]) -> Sequence[Link]:
        """List the learned links of these episodes, and all links between them."""
        return await self.work.run(_LIST_LINKS, tenant=self.tenant, ids=list(ids))

    async def charges(
        self, ids: Sequence[EpisodeId], fresh: Callable[[int], Charge]
    ) -> Mapping[EpisodeId, Charge]:
        """Read the charges of episodes; never stimulated ones get a fresh charge."""
        rows = await self.work.run(LIST_CHARGES, tenant=self.tenant, ids=list(ids))
        return {row.id: row.charge or fresh(row.own) for row in rows}

    async def hits(self, trace: TraceId) -> frozenset[EpisodeId]:
        """Read the hits of a trace, erased memories too; NotFound without the trace."""
        found = await self.work.run_one(
            FIND_TRACE, tenant=self.tenant, id=trace, pending_only=False
        )
        if found is None:
            raise NotFound("there is no such trace, or it was dropped", trace=trace)
        return frozenset(hit.episode for hit in found.hits)

    async def existing_hits(self, trace: TraceId) -> Sequence[TracedMemory]:
        """List the hits of a trace whose memories still exist, best first."""
        return await self.work.run(_LIST_WOKEN, tenant=self.tenant, id=trace)

    async def judge(
        self, trace: TraceId, judgements: Sequence[HitJudgement], uses: Mapping[EpisodeId, Use]
    ) -> None:
        """Store judgements and the resulting uses."""
        rows = [asdict(judgement) for judgement in judgements]
        await self.work.run(_SAVE_JUDGEMENTS, tenant=self.tenant, id=trace, rows=rows)
        await self._save_histories(uses, {})

    async def write(self, trace: Trace, effects: Effects) -> None:
        """Store the effects and take the trace off the queue."""
        await self._save_histories(effects.uses, effects.charges)
        if effects.links:
            links = [asdict(link) for link in effects.links]
            await self.work.run(_SAVE_LINKS, tenant=self.tenant, now=trace.created_at, rows=links)
        await self.work.run(
            _UPDATE_TRACE, tenant=self.tenant, id=trace.id, applied=True, recalls=effects.recalls
        )

    async def _save_histories(
        self, uses: Mapping[EpisodeId, Use], charges: Mapping[EpisodeId, Charge]
    ) -> None:
        if uses or charges:
            await self.work.run(
                _SAVE_HISTORIES, tenant=self.tenant, uses=_rows(uses), charges=_rows(charges)
            )


def _rows(states: Mapping[EpisodeId, Use] | Mapping[EpisodeId, Charge]) -> list[dict[str, Any]]:
    return [{"id": episode, **asdict(states[episode])} for episode in sorted(states)]
