"""Endpoints of dormancy: what sleeps and why, sleep, wake, pin, and the policy."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.status import HTTP_204_NO_CONTENT

from ecphoria.api.guard import GuardedRoute, Reader, Served, TenantAdmin, Writer
from ecphoria.api.problems import guarded
from ecphoria.errors import TooLarge
from ecphoria.model.ids import EpisodeId
from ecphoria.wire.dormancy import (
    DormancyPolicyAnswer,
    DormancyPolicyRequest,
    IdsAnswer,
    IdsRequest,
    SleeperAnswer,
    SleeperPage,
    SleeperQuery,
)

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["dormancy"], route_class=GuardedRoute)


@router.get("/dormancy", responses=guarded())
async def list_dormant(
    tenant: Reader, services: Served, wanted: Annotated[SleeperQuery, Query()]
) -> SleeperPage:
    """List what sleeps and why, a page at a time."""
    found = await services.forgetting.sleepers(
        tenant, after_turn=wanted.cursor, limit=wanted.limit + 1
    )
    page = found[: wanted.limit]
    return SleeperPage(
        sleepers=tuple(SleeperAnswer.model_validate(one) for one in page),
        next_cursor=page[-1].turn if len(found) > wanted.limit else None,
    )


@router.post("/dormancy/sleep", responses=guarded(TooLarge))
async def sleep(body: IdsRequest, tenant: Writer, services: Served) -> IdsAnswer:
    """Put live memories to sleep; pinned ones stay awake."""
    slept = await services.forgetting.sleep(tenant, [EpisodeId(one) for one in body.ids])
    return IdsAnswer(ids=tuple(slept))


@router.post("/dormancy/wake", responses=guarded(TooLarge))
async def wake(body: IdsRequest, tenant: Writer, services: Served) -> IdsAnswer:
    """Make dormant memories live again, exactly as they were."""
    woken = await services.forgetting.wake(tenant, [EpisodeId(one) for one in body.ids])
    return IdsAnswer(ids=tuple(woken))


@router.get("/dormancy/policy", responses=guarded())
async def get_dormancy_policy(tenant: TenantAdmin, services: Served) -> DormancyPolicyAnswer:
    """Show how the tenant forgets."""
    return DormancyPolicyAnswer.model_validate(await services.forgetting.policy(tenant))


@router.put("/dormancy/policy", responses=guarded())
async def set_dormancy_policy(
    body: DormancyPolicyRequest, tenant: TenantAdmin, services: Served
) -> DormancyPolicyAnswer:
    """Set how the tenant forgets; the next consolidation goes by it."""
    policy = await services.forgetting.set_policy(tenant, body.to_model())
    return DormancyPolicyAnswer.model_validate(policy)


@router.put("/episodes/{episode}/pin", status_code=HTTP_204_NO_CONTENT, responses=guarded())
async def pin(episode: str, tenant: Writer, services: Served) -> None:
    """Never let this memory be put to sleep."""
    await services.forgetting.pin(tenant, EpisodeId(episode), pinned=True)


@router.delete("/episodes/{episode}/pin", status_code=HTTP_204_NO_CONTENT, responses=guarded())
async def unpin(episode: str, tenant: Writer, services: Served) -> None:
    """Treat this memory like any other again."""
    await services.forgetting.pin(tenant, EpisodeId(episode), pinned=False)
