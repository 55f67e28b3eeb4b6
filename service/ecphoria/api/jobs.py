"""Endpoints of jobs."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.status import HTTP_202_ACCEPTED

from ecphoria.api.guard import GuardedRoute, Reader, Served, Writer
from ecphoria.api.problems import guarded
from ecphoria.errors import Conflict
from ecphoria.model.ids import JobId
from ecphoria.model.job import Job, JobState
from ecphoria.wire.jobs import JobAnswer

__all__ = ["router", "tell"]

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], route_class=GuardedRoute)


@router.get("", responses=guarded())
async def list_jobs(
    tenant: Reader,
    services: Served,
    state: Annotated[JobState | None, Query(description="Only those in this state.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Most jobs to list.")] = 100,
) -> list[JobAnswer]:
    """List jobs, the newest first; the latest hundred ended ones are kept."""
    found = await services.jobs.list(tenant, state=state, limit=limit)
    return [JobAnswer.model_validate(job) for job in found]


@router.get("/{job}", responses=guarded())
async def get_job(job: str, tenant: Reader, services: Served) -> JobAnswer:
    """Tell how a job stands, and once it is done what it did."""
    return JobAnswer.model_validate(await services.jobs.find(tenant, JobId(job)))


@router.post("/{job}/cancel", responses=guarded(Conflict))
async def cancel_job(job: str, tenant: Writer, services: Served) -> JobAnswer:
    """End a job that waits; one that runs ends at the next place it reaches."""
    return JobAnswer.model_validate(await services.jobs.cancel(tenant, JobId(job)))


@router.post("/{job}/retry", status_code=HTTP_202_ACCEPTED, responses=guarded(Conflict))
async def retry_job(job: str, tenant: Writer, services: Served, response: Response) -> JobAnswer:
    """Queue a job again that failed, died or was cancelled, with fresh attempts."""
    return tell(await services.jobs.retry(tenant, JobId(job)), response)


def tell(job: Job, response: Response) -> JobAnswer:
    """Answer a queued job, and where to ask for its state."""
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return JobAnswer.model_validate(job)
