"""Routes of a tenant's settings, and of the strategy on trial."""

from fastapi import APIRouter

from ecphoria.app import Services
from ecphoria.errors import Conflict, UnknownStrategy
from ecphoria.http.auth import GuardedRoute, Reader, Served, TenantAdmin
from ecphoria.http.problems import guarded
from ecphoria.neo4j_store.tenant_settings import OwnSettings
from ecphoria.records.ids import TenantId
from ecphoria.records.settings import Choice, TenantSettings
from ecphoria.records.tenant import SHIPPED
from ecphoria.wire.settings import SettingsAnswer, SettingsRequest, TrialAnswer

settings_routes = APIRouter(prefix="/v1/settings", tags=["settings"], route_class=GuardedRoute)


@settings_routes.get("", responses=guarded())
async def get_settings(tenant: Reader, services: Served) -> SettingsAnswer:
    """Show the tenant's settings in force, and which of them are its own."""
    return await _settings_answer(services, tenant, await services.tenant_settings.find(tenant))


@settings_routes.patch("", responses=guarded(UnknownStrategy))
async def change_settings(
    body: SettingsRequest, tenant: TenantAdmin, services: Served
) -> SettingsAnswer:
    """Change some of the tenant's settings; null resets a field or a section to the default."""
    own = await services.tenant_settings.change(tenant, body.values())
    if "trial" in body.model_fields_set:
        services.recalls.reset(tenant)
    return await _settings_answer(services, tenant, own)


async def _settings_answer(
    services: Services, tenant: TenantId, own: OwnSettings
) -> SettingsAnswer:
    settings = own.settings
    schedule, next_at = await services.jobs.schedule(tenant)
    return SettingsAnswer(
        gate=settings.gate or SHIPPED,
        dormancy=settings.dormancy,
        expiry=settings.expiry,
        learning=settings.learning,
        schedule=schedule,
        trial=settings.trial,
        own=own.keys,
        next_cycle_at=next_at,
    )


strategies_routes = APIRouter(prefix="/v1/strategies", tags=["settings"], route_class=GuardedRoute)


@strategies_routes.get("/trial", responses=guarded())
async def get_trial(tenant: TenantAdmin, services: Served) -> TrialAnswer:
    """Show the tenant's default strategy, the one on trial, and how they compare."""
    return _trial_answer(services, tenant, (await services.tenant_settings.find(tenant)).settings)


@strategies_routes.post("/promotions", responses=guarded(Conflict))
async def promote_strategy(tenant: TenantAdmin, services: Served) -> TrialAnswer:
    """Make the strategy on trial the tenant's default, and end the trial."""
    return _trial_answer(
        services, tenant, (await services.tenant_settings.promote(tenant)).settings
    )


@strategies_routes.delete("/promotions/latest", responses=guarded(Conflict))
async def roll_back_strategy(tenant: TenantAdmin, services: Served) -> TrialAnswer:
    """Go back to the default before the latest promotion."""
    return _trial_answer(
        services, tenant, (await services.tenant_settings.roll_back(tenant)).settings
    )


def _trial_answer(services: Services, tenant: TenantId, settings: TenantSettings) -> TrialAnswer:
    return TrialAnswer(
        live=settings.live or Choice(strategy=services.settings.recall.strategy),
        promoted=settings.promoted,
        trial=settings.trial,
        report=services.recalls.report(tenant, settings),
    )
