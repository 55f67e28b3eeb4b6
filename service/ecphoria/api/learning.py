"""Endpoints of learning: whether recalls change the memories they wake."""

from fastapi import APIRouter

from ecphoria.api.guard import GuardedRoute, Reader, Served, TenantAdmin
from ecphoria.api.problems import guarded
from ecphoria.wire.learning import LearningAnswer, LearningRequest

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["learning"], route_class=GuardedRoute)


@router.get("/learning", responses=guarded())
async def get_learning(tenant: Reader, services: Served) -> LearningAnswer:
    """Tell whether the tenant learns from its recalls, and from how many it did."""
    return LearningAnswer.model_validate(await services.learning.of(tenant))


@router.put("/learning", responses=guarded())
async def set_learning(
    body: LearningRequest, tenant: TenantAdmin, services: Served
) -> LearningAnswer:
    """Let recalls change the memories they wake from now on, or no more."""
    return LearningAnswer.model_validate(await services.learning.switch(tenant, on=body.on))
