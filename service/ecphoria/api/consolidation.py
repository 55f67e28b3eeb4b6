"""Endpoints of consolidation."""

from fastapi import APIRouter, Response
from starlette.status import HTTP_202_ACCEPTED

from ecphoria.api.guard import GuardedRoute, Reader, Served, Writer
from ecphoria.api.jobs import tell
from ecphoria.api.problems import guarded
from ecphoria.wire.consolidation import ConsolidationAnswer
from ecphoria.wire.jobs import ConsolidationRequest, JobAnswer

__all__ = ["router"]

router = APIRouter(prefix="/v1/consolidation", tags=["consolidation"], route_class=GuardedRoute)


@router.post("", status_code=HTTP_202_ACCEPTED, responses=guarded())
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
