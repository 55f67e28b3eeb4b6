"""Store of dormancy: states of episodes, and reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.locks import (
    change_under,
    count_change_beside_names,
    lock_tenant,
    mark_around,
)
from ecphoria.neo4j_store.nodes import load_nodes
from ecphoria.neo4j_store.session import Statement, Store, Work
from ecphoria.neo4j_store.tenant_settings import SettingsStore
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.job import Lease
from ecphoria.records.settings import DormancyPolicy
from ecphoria.records.upkeep import Sleeper, Sleepy


@dataclass(frozen=True, slots=True, kw_only=True)
class DormancyCandidate:
    """A live memory that is not pinned; instants are milliseconds since 1970.

    Attributes:
        prior: None without an edge, or before the first cycle.
        stability, used_ms: Stability in days, and the last use; None before the first use.
        working, lasting, chain_ms: The memory chain and its instant; None before the first use.
        woken_ms: The latest kept recall that woke it, if any.
        kind: `episodic`; `semantic` for a document; `procedural` for the turn of a tool.
        facts: Live facts that it supports, each with the number of live episodes that support it.
    """

    id: EpisodeId
    turn: int
    occurred_ms: int
    importance: float
    prior: float | None
    stability: float | None
    used_ms: int | None
    working: float | None
    lasting: float | None
    chain_ms: int | None
    woken_ms: int | None
    kind: str
    facts: Sequence[tuple[str, int]]


_COUNT_LIVE = Statement("dormancy.count_live", int)
_LIST_CANDIDATES = Statement("dormancy.list_candidates", DormancyCandidate)
_SAVE_SLEEPING = Statement("dormancy.save_sleeping", EpisodeId)
_LIST_SLEEPING = Statement("dormancy.list_sleeping", Sleeper)
_SAVE_PIN = Statement("dormancy.save_pin", EpisodeId)


class DormancyStore(Store):
    """States of memories."""

    async def policy(self, tenant: TenantId) -> DormancyPolicy:
        """Find the tenant's policy of forgetting; NotFound without the tenant."""
        return (await SettingsStore(self._graph).find(tenant)).settings.dormancy

    async def count_live(self, tenant: TenantId) -> int:
        """Count the live episodes."""
        (live,) = await self._graph.run(_COUNT_LIVE, tenant=tenant)
        return live

    async def candidates(
        self, tenant: TenantId, before: datetime, after_turn: int, limit: int
    ) -> Sequence[DormancyCandidate]:
        """List live episodes that were recorded before an instant and are not pinned, by turn."""
        return await self._graph.run(
            _LIST_CANDIDATES, tenant=tenant, before=before, after_turn=after_turn, limit=limit
        )

    async def put_to_sleep(
        self,
        tenant: TenantId,
        reasons: Sequence[tuple[EpisodeId, str]],
        now: datetime,
        lease: Lease | None = None,
    ) -> Sequence[EpisodeId]:
        """Make live episodes dormant in one transaction; return their ids.

        Raises:
            NotFound: There is no such tenant, or it is being erased.
            LeaseLost: Another worker has taken the job.
        """
        rows = [{"id": episode, "reason": reason} for episode, reason in sorted(reasons)]

        async def sleep(work: Work) -> list[EpisodeId]:
            # Without the lock, an erasure could delete these episodes at the same time.
            await lock_tenant(work, tenant)
            await count_change_beside_names(work, tenant)
            ids = sorted(await work.run(_SAVE_SLEEPING, tenant=tenant, now=now, rows=rows))
            await mark_around(work, tenant, ids)
            return ids

        return await change_under(self._graph, lease, "dormancy.put_to_sleep", sleep)

    async def sleepers(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Sleeper]:
        """List dormant episodes with the reason, by turn."""
        return await self._graph.run(
            _LIST_SLEEPING, tenant=tenant, after_turn=after_turn, limit=limit
        )

    async def describe(
        self, tenant: TenantId, reasons: Sequence[tuple[EpisodeId, str]]
    ) -> tuple[Sleepy, ...]:
        """Describe live episodes with the reasons to make them dormant, in the order given."""
        shown = await load_nodes(self._graph, tenant, [episode for episode, _ in reasons])
        nodes = {node.id: node for node in shown.nodes}
        return tuple(
            Sleepy(
                id=episode,
                label=node.label,
                session=node.session,
                occurred_at=node.occurred_at,
                reason=reason,
            )
            for episode, reason in reasons
            if (node := nodes.get(episode))
        )

    async def pin(self, tenant: TenantId, episode: EpisodeId, *, pinned: bool) -> None:
        """Pin an episode, so that it never becomes dormant, or unpin it; NotFound without it."""

        async def save(work: Work) -> None:
            await lock_tenant(work, tenant)
            mark = True if pinned else None
            if not await work.run(_SAVE_PIN, tenant=tenant, id=episode, pinned=mark):
                raise NotFound("there is no such episode", episode=episode)

        await self._graph.change("dormancy.pin", save)
