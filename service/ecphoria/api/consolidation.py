"""Endpoint of consolidation."""

from fastapi import APIRouter

from ecphoria.api.guard import GuardedRoute, Served, Writer
from ecphoria.api.problems import guarded
from ecphoria.errors import Conflict
from ecphoria.wire.consolidation import ConsolidationAnswer

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["consolidation"], route_class=GuardedRoute)


@router.post("/consolidation", responses=guarded(Conflict))
async def consolidate(tenant: Writer, services: Served) -> ConsolidationAnswer:
    """Run a cycle now and answer when it is done; one of a tenant at a time."""
    report = await services.consolidation.consolidate(tenant)
    return ConsolidationAnswer.model_validate(report)
