"""Endpoints of recall: wake memories by a cue, replay a trace, list strategies."""

from fastapi import APIRouter

from ecphoria.api.guard import Caller, GuardedRoute, Reader, Served
from ecphoria.api.problems import guarded
from ecphoria.errors import (
    BadVector,
    EncoderUnavailable,
    TooLarge,
    UnknownStrategy,
)
from ecphoria.model.ids import TraceId
from ecphoria.model.tenant import Scope
from ecphoria.wire.administration import StrategyAnswer
from ecphoria.wire.recall import RecallAnswer, RecallRequest, TraceAnswer

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["recall"], route_class=GuardedRoute)


@router.post(
    "/recall",
    responses=guarded(UnknownStrategy, BadVector, TooLarge, EncoderUnavailable),
)
async def recall(
    body: RecallRequest, tenant: Reader, services: Served, caller: Caller
) -> RecallAnswer:
    """Wake the memories a cue calls for, and say whether they answer it."""
    if body.wake:
        services.access.permit(caller, Scope.WRITE)
    result = await services.waking.recall(
        tenant, body.to_cue(), body.to_options(), record=body.record
    )
    services.metrics.recall(result.strategy, result.verdict, result.timings_ms)
    return RecallAnswer.model_validate(result)


@router.get("/traces/{trace}", responses=guarded())
async def get_trace(trace: str, tenant: Reader, services: Served) -> TraceAnswer:
    """Replay a recall: seeds, waves, hits, and the Cypher that shows it."""
    found = await services.recall.trace(tenant, TraceId(trace))
    return TraceAnswer.model_validate(found)


@router.get("/strategies", responses=guarded())
async def list_strategies(_: Reader, services: Served) -> list[StrategyAnswer]:
    """List the recall mechanisms with their options, the default first."""
    return [StrategyAnswer.model_validate(info) for info in services.recall.strategies()]
