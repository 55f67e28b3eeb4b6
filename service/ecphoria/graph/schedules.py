"""Store of schedules, on the tenants' nodes; marks due tenants and queues their jobs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, time

from ecphoria.graph.executor import Done, Graph, Statement, Work
from ecphoria.graph.jobs import add_job
from ecphoria.graph.tenant_lock import LOCK_TENANT, no_tenant
from ecphoria.model.ids import TenantId
from ecphoria.model.job import Job, JobKind, Trigger
from ecphoria.model.schedule import Mark, Schedule, Standing

__all__ = ["ScheduleStore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _StandingRow:
    tenant: str
    own: str | None
    turn: int
    scheduled_turn: int
    light_turn: int
    due_at: datetime | None
    active_at: datetime | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    tenant: str


_FIND_SCHEDULE = Statement("jobs.find_schedule", _StandingRow)
_LIST_SCHEDULES = Statement("jobs.list_schedules", _StandingRow)
_SAVE_SCHEDULE = Statement("jobs.save_schedule", _TenantKey)
_MARK_SCHEDULE = Statement("jobs.mark_schedule", Done)


class ScheduleStore:
    """When tenants want to be consolidated."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def find(self, tenant: TenantId) -> Standing:
        """Find a tenant's schedule; NotFound without the tenant."""
        row = await self._graph.run_one(_FIND_SCHEDULE, tenant=tenant)
        if row is None:
            raise no_tenant(tenant)
        return _to_standing(row)

    async def save(self, tenant: TenantId, own: Schedule | None) -> Standing:
        """Give a tenant its own schedule, or the service's; NotFound without the tenant."""
        text = None if own is None else _text_of(own)
        await self._graph.run(_SAVE_SCHEDULE, tenant=tenant, schedule=text)
        return await self.find(tenant)

    async def standings(self, *, own_only: bool) -> Sequence[Standing]:
        """List the schedules of all tenants, or of those who have their own."""
        rows = await self._graph.run(_LIST_SCHEDULES, own_only=own_only)
        return [_to_standing(row) for row in rows]

    async def advance(
        self, tenant: TenantId, decide: Callable[[Standing], Mark | None]
    ) -> Job | None:
        """Look at a schedule under the tenant's lock, mark it and queue its cycle."""

        async def look(work: Work) -> Job | None:
            await work.run(LOCK_TENANT, tenant=tenant)
            row = await work.run_one(_FIND_SCHEDULE, tenant=tenant)
            mark = None if row is None else decide(_to_standing(row))
            if mark is None:
                return None
            await work.run(
                _MARK_SCHEDULE,
                tenant=tenant,
                turn=mark.scheduled_turn,
                light_turn=mark.light_turn,
                due_at=mark.due_at,
            )
            if not mark.is_due:
                return None
            return await add_job(work, tenant, JobKind.CONSOLIDATION, mark.steps, Trigger.SCHEDULE)

        return await self._graph.change("jobs.advance_schedule", look)


def _to_standing(row: _StandingRow) -> Standing:
    return Standing(
        tenant=TenantId(row.tenant),
        own=None if row.own is None else _schedule_of(row.own),
        turn=row.turn,
        scheduled_turn=row.scheduled_turn,
        light_turn=row.light_turn,
        due_at=row.due_at,
        active_at=row.active_at,
        now=row.now,
    )


def _text_of(schedule: Schedule) -> str:
    daily_at = schedule.daily_at and schedule.daily_at.isoformat("minutes")
    return json.dumps(asdict(schedule) | {"daily_at": daily_at})


def _schedule_of(text: str) -> Schedule:
    stored = json.loads(text)
    daily_at = stored["daily_at"]
    return Schedule(
        **{**stored, "daily_at": None if daily_at is None else time.fromisoformat(daily_at)}
    )
