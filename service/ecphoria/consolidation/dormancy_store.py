"""Store of dormancy: states of episodes, reasons and policies."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.locks import (
    change_under,
    count_change,
    find_setting,
    lock_tenant,
    mark_around,
    save_setting,
)
from ecphoria.neo4j_store.session import Graph, Statement, Work
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.job import Lease
from ecphoria.records.upkeep import DormancyMode, DormancyPolicy, Sleeper, Stability


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A live memory that is not pinned; instants are milliseconds since 1970.

    Attributes:
        prior: None without an edge, or before the first cycle.
        stability, used_ms: Days it lasts, and its last use; None before the first.
        working, lasting, chain_ms: The memory chain and when it held; None before the first use.
        woken_ms: The latest kept recall that woke it, if any.
        kind: `episodic`; `semantic` for a document; `procedural` for what a tool said.
        facts: Live facts it is evidence of, each with the number of live episodes that are.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Live:
    live: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sleeping:
    id: str
    turn: int
    text: str
    speaker: str
    session: str
    occurred_at: datetime
    dormant_at: datetime
    reason: str


_COUNT_LIVE = Statement("dormancy.count_live", _Live)
_LIST_CANDIDATES = Statement("dormancy.list_candidates", Candidate)
_SAVE_SLEEPING = Statement("dormancy.save_sleeping", _Key)
_LIST_SLEEPING = Statement("dormancy.list_sleeping", _Sleeping)
_SAVE_PIN = Statement("dormancy.save_pin", _Key)


class DormancyStore:
    """States of memories."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def policy(self, tenant: TenantId) -> DormancyPolicy:
        """Find how the tenant forgets; NotFound without the tenant."""
        text = await find_setting(self._graph, tenant, "dormancy")
        if text is None:
            return DormancyPolicy()
        stored = json.loads(text)
        typed = {
            "mode": DormancyMode(stored["mode"]),
            "stability": Stability(stored.get("stability", Stability.UNIFORM)),
        }
        return DormancyPolicy(**{**stored, **typed})

    async def set_policy(self, tenant: TenantId, policy: DormancyPolicy) -> None:
        """Keep how the tenant forgets; NotFound without the tenant."""
        text = None if policy == DormancyPolicy() else json.dumps(asdict(policy), sort_keys=True)
        await save_setting(self._graph, tenant, "dormancy", text)

    async def life_days(self, tenant: TenantId) -> float | None:
        """Find how many days new episodes live, None for no end; NotFound without the tenant."""
        text = await find_setting(self._graph, tenant, "life_days")
        return None if text is None else float(text)

    async def set_life_days(self, tenant: TenantId, days: float | None) -> None:
        """Keep how many days new episodes live; NotFound without the tenant."""
        text = None if days is None else repr(days)
        await save_setting(self._graph, tenant, "life_days", text)

    async def count_live(self, tenant: TenantId) -> int:
        """Count the live episodes."""
        (row,) = await self._graph.run(_COUNT_LIVE, tenant=tenant)
        return row.live

    async def candidates(
        self, tenant: TenantId, before: datetime, after_turn: int, limit: int
    ) -> Sequence[Candidate]:
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
            # Without the lock an erasure would delete these episodes under our hands.
            await lock_tenant(work, tenant)
            await count_change(work, tenant)
            slept = await work.run(_SAVE_SLEEPING, tenant=tenant, now=now, rows=rows)
            ids = sorted(EpisodeId(row.id) for row in slept)
            await mark_around(work, tenant, ids)
            return ids

        return await change_under(self._graph, lease, "dormancy.put_to_sleep", sleep)

    async def sleepers(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Sleeper]:
        """List dormant episodes, by turn."""
        rows = await self._graph.run(
            _LIST_SLEEPING, tenant=tenant, after_turn=after_turn, limit=limit
        )
        return [
            Sleeper(
                id=EpisodeId(row.id),
                turn=row.turn,
                text=row.text,
                speaker=row.speaker or None,
                session=row.session or None,
                occurred_at=row.occurred_at,
                dormant_at=row.dormant_at,
                reason=row.reason,
            )
            for row in rows
        ]

    async def pin(self, tenant: TenantId, episode: EpisodeId, *, pinned: bool) -> None:
        """Pin or unpin an episode; NotFound without it."""

        async def save(work: Work) -> None:
            await lock_tenant(work, tenant)
            mark = True if pinned else None
            if not await work.run(_SAVE_PIN, tenant=tenant, id=episode, pinned=mark):
                raise NotFound("there is no such episode", episode=episode)

        await self._graph.change("dormancy.pin", save)
