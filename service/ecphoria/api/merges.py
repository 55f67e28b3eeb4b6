"""Endpoints of merges: concepts that are likely one."""

from typing import Annotated

from fastapi import APIRouter, Query

from ecphoria.api.guard import GuardedRoute, Reader, Served, Writer
from ecphoria.api.problems import guarded
from ecphoria.errors import NotFound
from ecphoria.wire.merges import MergeAnswer, MergePage, MergeQuery, MergeRequest

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["merges"], route_class=GuardedRoute)


@router.get("/merges", responses=guarded())
async def list_merges(
    tenant: Reader, services: Served, wanted: Annotated[MergeQuery, Query()]
) -> MergePage:
    """List the merges that consolidation proposed, by name, a page at a time."""
    found = await services.merges.list(
        tenant, status=wanted.status, after=wanted.cursor, limit=wanted.limit + 1
    )
    page = found[: wanted.limit]
    last = f"{page[-1].one}\t{page[-1].other}" if len(found) > wanted.limit else None
    return MergePage(
        merges=tuple(MergeAnswer.model_validate(merge) for merge in page), next_cursor=last
    )


@router.put("/merges", responses=guarded(NotFound))
async def decide_merge(body: MergeRequest, tenant: Writer, services: Served) -> MergeAnswer:
    """Accept or reject a merge, or undo that; what recall found before comes back with it."""
    merge = await services.merges.decide(tenant, body.one, body.other, body.status)
    return MergeAnswer.model_validate(merge)
