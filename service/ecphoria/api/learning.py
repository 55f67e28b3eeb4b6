"""Endpoints of learning: whether recalls change the memories they wake, and feedback on them."""

from fastapi import APIRouter

from ecphoria.api.guard import GuardedRoute, Reader, Served, TenantAdmin, Writer
from ecphoria.api.problems import guarded
from ecphoria.errors import Conflict, TooLarge
from ecphoria.model.ids import EpisodeId, TraceId
from ecphoria.wire.learning import (
    FeedbackAnswer,
    FeedbackRequest,
    LearningAnswer,
    LearningRequest,
)

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


@router.post("/traces/{trace}/feedback", responses=guarded(Conflict, TooLarge))
async def give_feedback(
    trace: str, body: FeedbackRequest, tenant: Writer, services: Served
) -> FeedbackAnswer:
    """Say which hits of a recall were useful and which were not."""
    recall = TraceId(trace)
    await services.recall.settle(tenant, recall)
    regards = await services.learning.judge(
        tenant,
        recall,
        useful=[EpisodeId(one) for one in body.useful],
        not_useful=[EpisodeId(one) for one in body.not_useful],
    )
    return FeedbackAnswer.model_validate({"episodes": regards})
