"""Endpoints of the shadow: try a strategy beside the live one, compare, promote, undo."""

from fastapi import APIRouter
from starlette.status import HTTP_204_NO_CONTENT

from ecphoria.api.guard import GuardedRoute, Served, TenantAdmin
from ecphoria.api.problems import guarded
from ecphoria.errors import Conflict, UnknownStrategy
from ecphoria.model.ids import TenantId
from ecphoria.model.shadow import Choice, Policy
from ecphoria.wire.shadow import ShadowAnswer, ShadowRequest
from ecphoria.wiring import Services

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["administration"], route_class=GuardedRoute)


@router.get("/shadow", responses=guarded())
async def get_shadow(tenant: TenantAdmin, services: Served) -> ShadowAnswer:
    """Show the tenant's default strategy, the one in its shadow, and how they compare."""
    return _answer(services, tenant, await services.policies.of(tenant))


@router.put("/shadow", responses=guarded(UnknownStrategy))
async def set_shadow(body: ShadowRequest, tenant: TenantAdmin, services: Served) -> ShadowAnswer:
    """Run a strategy in the shadow of the live one, on a share of the cues."""
    policy = await services.policies.set_shadow(tenant, body.to_model())
    return _answer(services, tenant, policy)


@router.delete("/shadow", status_code=HTTP_204_NO_CONTENT, responses=guarded())
async def end_shadow(tenant: TenantAdmin, services: Served) -> None:
    """Run nothing in the shadow."""
    await services.policies.set_shadow(tenant, None)
    services.shadowed.reset(tenant)


@router.delete("/shadow/report", status_code=HTTP_204_NO_CONTENT, responses=guarded())
async def reset_shadow_report(tenant: TenantAdmin, services: Served) -> None:
    """Begin to count and compare anew."""
    services.shadowed.reset(tenant)


@router.post("/promotion", responses=guarded(Conflict))
async def promote_shadow(tenant: TenantAdmin, services: Served) -> ShadowAnswer:
    """Make the shadow's strategy the tenant's default, and end the shadow."""
    return _answer(services, tenant, await services.policies.promote(tenant))


@router.delete("/promotion", responses=guarded(Conflict))
async def undo_promotion(tenant: TenantAdmin, services: Served) -> ShadowAnswer:
    """Go back to what was the tenant's default before the latest promotion."""
    return _answer(services, tenant, await services.policies.undo(tenant))


def _answer(services: Services, tenant: TenantId, policy: Policy) -> ShadowAnswer:
    live = policy.live or Choice(strategy=services.settings.recall.strategy)
    shadow = policy.shadow
    return ShadowAnswer.model_validate(
        {
            "live": live,
            "promoted": policy.promoted,
            "shadow": shadow and shadow.choice,
            "share": shadow.share if shadow else 0.0,
            "report": services.shadowed.report(tenant, policy),
        }
    )
