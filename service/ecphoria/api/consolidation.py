"""Endpoints of consolidation."""

from fastapi import APIRouter, Response
from starlette.status import HTTP_202_ACCEPTED

from ecphoria.api.guard import GuardedRoute, Reader, Served, TenantAdmin, Writer
from ecphoria.api.jobs import tell
from ecphoria.api.problems import guarded
from ecphoria.errors import TooLarge
from ecphoria.model.schedule import Standing
from ecphoria.wire.consolidation import ConsolidationAnswer
from ecphoria.wire.jobs import (
    ConsolidationRequest,
    JobAnswer,
    ScheduleAnswer,
    ScheduleRequest,
)
from ecphoria.wiring import Services

__all__ = ["router"]

router = APIRouter(prefix="/v1/consolidation", tags=["consolidation"], route_class=GuardedRoute)


@router.post("", status_code=HTTP_202_ACCEPTED, responses=guarded(TooLarge))
async def consolidate(
    tenant: Writer,
    services: Served,
    response: Response,
    body: ConsolidationRequest | None = None,
) -> JobAnswer:
    """Queue a cycle, or join the one that waits; `Location` is where to ask for its state."""
    wanted = body or ConsolidationRequest()
    job = await services.jobs.consolidate(tenant, steps=wanted.steps, dry_run=wanted.dry_run)
    return tell(job, response)


@router.get("", responses=guarded())
async def get_last_report(tenant: Reader, services: Served) -> ConsolidationAnswer:
    """Tell what the latest cycle did."""
    job = await services.jobs.last_cycle(tenant)
    return ConsolidationAnswer.model_validate(job.report)


@router.get("/schedule", responses=guarded())
async def get_schedule(tenant: Reader, services: Served) -> ScheduleAnswer:
    """Tell when cycles of the tenant run without being asked."""
    return _answer(services, await services.jobs.schedule(tenant))


@router.put("/schedule", responses=guarded())
async def set_schedule(
    body: ScheduleRequest, tenant: TenantAdmin, services: Served
) -> ScheduleAnswer:
    """Give the tenant its own schedule; an empty one runs nothing unasked."""
    return _answer(services, await services.jobs.set_schedule(tenant, body.to_model()))


@router.delete("/schedule", responses=guarded())
async def reset_schedule(tenant: TenantAdmin, services: Served) -> ScheduleAnswer:
    """Go back to the service's schedule."""
    return _answer(services, await services.jobs.set_schedule(tenant, None))


def _answer(services: Services, standing: Standing) -> ScheduleAnswer:
    kept, next_at = services.jobs.kept_by(standing)
    return ScheduleAnswer(
        own=standing.own is not None,
        every_episodes=kept.every_episodes,
        every_hours=kept.every_hours,
        daily_at=kept.daily_at and kept.daily_at.isoformat("minutes"),
        idle_minutes=kept.idle_minutes,
        light_episodes=kept.light_episodes,
        next_at=next_at,
        episodes_since=standing.turn - standing.scheduled_turn,
    )
