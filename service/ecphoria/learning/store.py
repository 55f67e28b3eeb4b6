"""Store of learning: traces with pending effects, and the values recalls change on episodes."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TypeVar

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.locks import lock_tenant, no_tenant
from ecphoria.neo4j_store.passages import LIST_CHARGES, LIST_USES, to_charge, to_use
from ecphoria.neo4j_store.session import Done, Graph, Statement, Work
from ecphoria.neo4j_store.traces import FIND_TRACE, to_trace
from ecphoria.records.history import Charge, Learning, Link, Use
from ecphoria.records.ids import EpisodeId, TenantId, TraceId
from ecphoria.records.recall import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The changes by one recall: the new state of memories.

    Attributes:
        recalls: 1 if the tenant's count of recalls grows, 0 if the recall found nothing.
    """

    recalls: int = 0
    uses: Mapping[EpisodeId, Use] = field(default_factory=dict)
    links: Sequence[Link] = ()
    charges: Mapping[EpisodeId, Charge] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """A hit of a trace whose memory still exists.

    Attributes:
        useful: How it was judged before, None if it was not.
        counted: Whether the recall counts its first hits as used, or did.
        role: Who stated it: user, assistant, tool, system.
        salience: As it is now.
        rewards, penalties: Judgements so far that it was useful, and that it was not.
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
class Judgement:
    """The judgement of a hit, and the new state of the memory.

    Attributes:
        first: Reliability before any judgement.
    """

    id: EpisodeId
    useful: bool
    first: float
    rewards: int
    penalties: int
    salience: float


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _TraceKey:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _LinkRow:
    one: str
    other: str
    learned: float
    coactivations: int
    used_ms: int | None


_FIND_LEARNING = Statement("learning.find_learning", Learning)
_SAVE_SWITCH = Statement("learning.save_switch", _TenantKey)
_LIST_WAITING = Statement("learning.list_waiting", _Waiting)
_LIST_PENDING = Statement("learning.list_pending", _TraceKey)
_UPDATE_TRACE = Statement("learning.update_trace", Done)
_LIST_LINKS = Statement("learning.list_links", _LinkRow)
_SAVE_LINKS = Statement("learning.save_links", Done)
_LIST_WOKEN = Statement("learning.list_woken", Woken)
_SAVE_JUDGEMENTS = Statement("learning.save_judgements", Done)
_SAVE_CHARGES = Statement("learning.save_charges", Done)
_SAVE_USES = Statement("learning.save_uses", Done)


class LearningStore:
    """The queue and the state on the memory graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def find(self, tenant: TenantId) -> Learning:
        """Tell whether the tenant learns; NotFound without the tenant."""
        row = await self._graph.run_one(_FIND_LEARNING, tenant=tenant)
        if row is None:
            raise no_tenant(tenant)
        return row

    async def switch(self, tenant: TenantId, *, on: bool, now: datetime) -> None:
        """Let recalls from now on be learned from, or none; off also empties the queue.

        Raises:
            NotFound: There is no such tenant.
        """
        if not await self._graph.run(_SAVE_SWITCH, tenant=tenant, on=on, now=now):
            raise no_tenant(tenant)

    async def waiting(self) -> Sequence[TenantId]:
        """List the tenants with traces on the queue."""
        return [TenantId(row.tenant) for row in await self._graph.run(_LIST_WAITING)]

    async def pending(self, tenant: TenantId, limit: int) -> Sequence[TraceId]:
        """List the traces on a tenant's queue, oldest first."""
        rows = await self._graph.run(_LIST_PENDING, tenant=tenant, limit=limit)
        return [TraceId(row.id) for row in rows]

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
            return await work(LearningTransaction(tenant, found.recalls, inner))

        return await self._graph.change("learning.change", locked)

    async def give_up(self, tenant: TenantId, trace: TraceId) -> None:
        """Remove a trace from the queue if its effects cannot be computed."""
        await self._graph.run(_UPDATE_TRACE, tenant=tenant, id=trace, applied=False, recalls=0)


class LearningTransaction:
    """One locked transaction."""

    def __init__(self, tenant: TenantId, recalls: int, work: Work) -> None:
        self._tenant = tenant
        self._recalls = recalls
        self._work = work

    @property
    def recalls(self) -> int:
        """Recalls the tenant learned from before."""
        return self._recalls

    async def trace(self, trace: TraceId) -> Trace | None:
        """Load a trace; None if its effects are not due: applied, dropped, or switched off."""
        row = await self._work.run_one(
            FIND_TRACE, tenant=self._tenant, id=trace, pending_only=True
        )
        return None if row is None else to_trace(json.loads(row.payload))

    async def uses(self, ids: Sequence[EpisodeId]) -> Mapping[EpisodeId, Use]:
        """Read the uses of episodes; deleted ones are absent."""
        rows = await self._work.run(LIST_USES, tenant=self._tenant, ids=list(ids))
        return {EpisodeId(row.id): to_use(row) for row in rows}

    async def links(self, ids: Sequence[EpisodeId]) -> Sequence[Link]:
        """List the links with something learned at these episodes, and all between them."""
        rows = await self._work.run(_LIST_LINKS, tenant=self._tenant, ids=list(ids))
        return [
            Link(
                one=EpisodeId(row.one),
                other=EpisodeId(row.other),
                learned=row.learned,
                coactivations=row.coactivations,
                used_ms=row.used_ms,
            )
            for row in rows
        ]

    async def charges(
        self, ids: Sequence[EpisodeId], fresh: Callable[[int], Charge]
    ) -> Mapping[EpisodeId, Charge]:
        """Read the charges of episodes; never stimulated ones get a fresh charge."""
        rows = await self._work.run(LIST_CHARGES, tenant=self._tenant, ids=list(ids))
        return {EpisodeId(row.id): to_charge(row) or fresh(row.own) for row in rows}

    async def hits(self, trace: TraceId) -> frozenset[EpisodeId]:
        """Read the hits of a trace, erased memories too; NotFound without the trace."""
        row = await self._work.run_one(
            FIND_TRACE, tenant=self._tenant, id=trace, pending_only=False
        )
        if row is None:
            raise NotFound("there is no such trace, or it was dropped", trace=trace)
        return frozenset(hit.episode for hit in to_trace(json.loads(row.payload)).hits)

    async def woken(self, trace: TraceId) -> Sequence[Woken]:
        """List the hits of a trace whose memories still exist, best first."""
        return await self._work.run(_LIST_WOKEN, tenant=self._tenant, id=trace)

    async def judge(
        self, trace: TraceId, judgements: Sequence[Judgement], uses: Mapping[EpisodeId, Use]
    ) -> None:
        """Store judgements, and the uses they count as."""
        rows = [asdict(judgement) for judgement in judgements]
        await self._work.run(_SAVE_JUDGEMENTS, tenant=self._tenant, id=trace, rows=rows)
        await self._save_uses(uses)

    async def write(self, trace: Trace, effects: Effects) -> None:
        """Store the effects and take the trace off the queue."""
        await self._save_uses(effects.uses)
        if effects.links:
            links = [asdict(link) for link in effects.links]
            await self._work.run(
                _SAVE_LINKS, tenant=self._tenant, now=trace.created_at, rows=links
            )
        if effects.charges:
            rows = [
                {"id": episode, **asdict(effects.charges[episode])}
                for episode in sorted(effects.charges)
            ]
            await self._work.run(_SAVE_CHARGES, tenant=self._tenant, rows=rows)
        await self._work.run(
            _UPDATE_TRACE, tenant=self._tenant, id=trace.id, applied=True, recalls=effects.recalls
        )

    async def _save_uses(self, uses: Mapping[EpisodeId, Use]) -> None:
        if uses:
            rows = [{"id": episode, **asdict(uses[episode])} for episode in sorted(uses)]
            await self._work.run(_SAVE_USES, tenant=self._tenant, rows=rows)
