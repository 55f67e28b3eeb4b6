"""Endpoints of tenants and keys."""

from fastapi import APIRouter
from starlette.status import HTTP_201_CREATED, HTTP_204_NO_CONTENT

from ecphoria.api.guard import Admin, GuardedRoute, Operator, Served
from ecphoria.api.problems import guarded
from ecphoria.errors import Conflict
from ecphoria.model.ids import KeyId
from ecphoria.wire.administration import (
    ErasureAnswer,
    IssuedKeyAnswer,
    KeyAnswer,
    KeyRequest,
    TenantAnswer,
    TenantRequest,
)

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["administration"], route_class=GuardedRoute)


@router.post("/tenants", status_code=HTTP_201_CREATED, responses=guarded(Conflict))
async def create_tenant(body: TenantRequest, _: Operator, services: Served) -> TenantAnswer:
    """Create an owner of memories."""
    return TenantAnswer.model_validate(await services.tenancy.create_tenant(body.name))


@router.get("/tenants", responses=guarded())
async def list_tenants(_: Operator, services: Served) -> list[TenantAnswer]:
    """List tenants by name."""
    return [TenantAnswer.model_validate(found) for found in await services.tenancy.list_tenants()]


@router.delete("/tenants/{name}", responses=guarded())
async def erase_tenant(name: str, _: Operator, services: Served) -> ErasureAnswer:
    """Erase a tenant with everything it owns, and count what was removed."""
    return ErasureAnswer(removed=dict(await services.tenancy.erase_tenant(name)))


@router.post("/keys", status_code=HTTP_201_CREATED, responses=guarded())
async def issue_key(body: KeyRequest, tenant: Admin, services: Served) -> IssuedKeyAnswer:
    """Issue a key for the tenant; an operator who names no tenant issues an operator's key."""
    issued = await services.tenancy.issue(tenant, body.name, body.scopes)
    return IssuedKeyAnswer(
        **KeyAnswer.model_validate(issued.key).model_dump(), secret=issued.secret
    )


@router.get("/keys", responses=guarded())
async def list_keys(tenant: Admin, services: Served) -> list[KeyAnswer]:
    """List the tenant's keys; an operator who names no tenant lists the operators' keys."""
    return [KeyAnswer.model_validate(key) for key in await services.tenancy.list_keys(tenant)]


@router.delete("/keys/{key}", status_code=HTTP_204_NO_CONTENT, responses=guarded(Conflict))
async def revoke_key(key: str, tenant: Admin, services: Served) -> None:
    """Revoke a key: at once here, within seconds in other processes on the same store."""
    await services.tenancy.revoke(tenant, KeyId(key))
