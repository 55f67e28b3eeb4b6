"""Endpoint of the doctor."""

from fastapi import APIRouter

from ecphoria.api.guard import GuardedRoute, Served, TenantAdmin
from ecphoria.api.problems import guarded
from ecphoria.wire.doctor import CheckupAnswer

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["consolidation"], route_class=GuardedRoute)


@router.get("/doctor", responses=guarded())
async def examine(tenant: TenantAdmin, services: Served) -> CheckupAnswer:
    """Check what must hold of every graph, and recount what is counted; changes nothing."""
    return CheckupAnswer.model_validate(await services.doctor.examine(tenant))
