"""Endpoints that read a tenant's graph without a cue: sessions and statistics."""

from typing import Annotated

from fastapi import APIRouter, Query

from ecphoria.api.guard import GuardedRoute, Reader, Served
from ecphoria.api.problems import guarded
from ecphoria.wire.administration import SessionAnswer, SessionPage, SessionQuery, StatsAnswer

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["archive"], route_class=GuardedRoute)


@router.get("/sessions", responses=guarded())
async def list_sessions(
    tenant: Reader, services: Served, wanted: Annotated[SessionQuery, Query()]
) -> SessionPage:
    """List sessions by name, a page at a time."""
    found = await services.archive.list_sessions(
        tenant, after=wanted.cursor, limit=wanted.limit + 1
    )
    page = found[: wanted.limit]
    return SessionPage(
        sessions=tuple(SessionAnswer.model_validate(session) for session in page),
        next_cursor=page[-1].name if len(found) > wanted.limit else None,
    )


@router.get("/stats", responses=guarded())
async def get_stats(tenant: Reader, services: Served) -> StatsAnswer:
    """Count the tenant's graph by kind."""
    return StatsAnswer.model_validate(await services.archive.stats(tenant))
