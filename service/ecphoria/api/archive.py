"""Endpoints that read a tenant's graph without a cue: sessions, engrams, statistics."""

from typing import Annotated

from fastapi import APIRouter, Query

from ecphoria.api.guard import GuardedRoute, Reader, Served
from ecphoria.api.problems import guarded
from ecphoria.wire.administration import SessionAnswer, SessionPage, SessionQuery, StatsAnswer
from ecphoria.wire.engrams import EngramAnswer, EngramPage, EngramQuery

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


@router.get("/engrams", responses=guarded())
async def list_engrams(
    tenant: Reader, services: Served, wanted: Annotated[EngramQuery, Query()]
) -> EngramPage:
    """List what sessions, and memories that are alike, came to, a page at a time."""
    found = await services.archive.list_engrams(
        tenant, kind=wanted.kind, after=wanted.cursor, limit=wanted.limit + 1
    )
    page = found[: wanted.limit]
    return EngramPage(
        engrams=tuple(EngramAnswer.model_validate(engram) for engram in page),
        next_cursor=page[-1].id if len(found) > wanted.limit else None,
    )


@router.get("/stats", responses=guarded())
async def get_stats(tenant: Reader, services: Served) -> StatsAnswer:
    """Count the tenant's graph by kind."""
    return StatsAnswer.model_validate(await services.archive.stats(tenant))
