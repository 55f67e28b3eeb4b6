"""Endpoints of the gate: show it, give the tenant its own, go back to the shipped one."""

from fastapi import APIRouter
from starlette.status import HTTP_204_NO_CONTENT

from ecphoria.api.guard import GuardedRoute, Served, TenantAdmin
from ecphoria.api.problems import guarded
from ecphoria.model.gate import SHIPPED, Gate
from ecphoria.wire.gate import GateAnswer, GateRequest

__all__ = ["router"]

router = APIRouter(prefix="/v1/gate", tags=["administration"], route_class=GuardedRoute)


@router.get("", responses=guarded())
async def get_gate(tenant: TenantAdmin, services: Served) -> GateAnswer:
    """Show by which gate the tenant's recalls are judged."""
    return _answer(await services.tenancy.gate(tenant))


@router.put("", responses=guarded())
async def set_gate(body: GateRequest, tenant: TenantAdmin, services: Served) -> GateAnswer:
    """Give the tenant its own gate; the next recall is judged by it."""
    gate = body.to_model()
    await services.tenancy.set_gate(tenant, gate)
    return _answer(gate)


@router.delete("", status_code=HTTP_204_NO_CONTENT, responses=guarded())
async def reset_gate(tenant: TenantAdmin, services: Served) -> None:
    """Go back to the shipped gate."""
    await services.tenancy.set_gate(tenant, None)


def _answer(gate: Gate) -> GateAnswer:
    return GateAnswer.model_validate(
        {
            "own": gate is not SHIPPED,
            **{name: getattr(gate, name) for name in GateAnswer.model_fields if name != "own"},
        }
    )
