"""The endpoint that gives passages to older episodes."""

from fastapi import APIRouter, Response
from starlette.status import HTTP_202_ACCEPTED

from ecphoria.api.guard import GuardedRoute, Served, Writer
from ecphoria.api.jobs import tell
from ecphoria.api.problems import guarded
from ecphoria.wire.jobs import JobAnswer

__all__ = ["router"]

router = APIRouter(prefix="/v1/passages", tags=["jobs"], route_class=GuardedRoute)


@router.post("", status_code=HTTP_202_ACCEPTED, responses=guarded())
async def cut_older_episodes(tenant: Writer, services: Served, response: Response) -> JobAnswer:
    """Queue the job that cuts long episodes from before there were passages, or join it.

    The service queues it by itself when it starts on such a store. New episodes need no job.
    """
    return tell(await services.jobs.cut_older(tenant), response)
