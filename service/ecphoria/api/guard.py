"""Who may call an endpoint, decided before its body is read."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any

import structlog
from fastapi import Depends, Header, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.responses import Response

from ecphoria.model.ids import TenantId
from ecphoria.model.tenant import Principal, Scope
from ecphoria.wiring import Services

__all__ = [
    "TENANT_HEADER",
    "Admin",
    "Caller",
    "GuardedRoute",
    "Operator",
    "Reader",
    "Served",
    "TenantAdmin",
    "Writer",
]

TENANT_HEADER = "Ecphoria-Tenant"


def _services(request: Request) -> Services:
    services = request.app.state.services
    assert isinstance(services, Services)
    return services


_Shown = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, description="An API key of Ecphoria.")),
]
"""Only tells OpenAPI how callers show their key; `GuardedRoute` has read it."""


def _principal(request: Request, _: _Shown) -> Principal:
    principal = request.state.principal
    assert isinstance(principal, Principal)
    return principal


class GuardedRoute(APIRoute):
    """Identifies the caller first, so that a stranger's body is never read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Put the identification in front of the usual handler."""
        handler = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
            presented = secret.strip() if scheme.lower() == "bearer" else None
            access = _services(request).access
            request.state.principal = await access.identify(presented)
            return await handler(request)

        return guarded


Served = Annotated[Services, Depends(_services)]
Caller = Annotated[Principal, Depends(_principal)]
_Named = Annotated[
    str | None,
    Header(
        alias=TENANT_HEADER,
        description="Name of the tenant to act for, with an operator's key.",
    ),
]


def _tenant_with(scope: Scope) -> Callable[..., Awaitable[TenantId]]:
    async def tenant(services: Served, caller: Caller, named: _Named = None) -> TenantId:
        services.access.permit(caller, scope)
        found = await services.access.tenant_of(caller, named)
        structlog.contextvars.bind_contextvars(tenant_id=found)
        return found

    return tenant


async def _administered(services: Served, caller: Caller, named: _Named = None) -> TenantId | None:
    services.access.permit(caller, Scope.ADMIN)
    return await services.access.acting_for(caller, named)


async def _operator(services: Served, caller: Caller) -> Principal:
    services.access.permit(caller, Scope.ADMIN)
    services.access.permit_operator(caller)
    return caller


Reader = Annotated[TenantId, Depends(_tenant_with(Scope.READ))]
Writer = Annotated[TenantId, Depends(_tenant_with(Scope.WRITE))]
Admin = Annotated[TenantId | None, Depends(_administered)]
TenantAdmin = Annotated[TenantId, Depends(_tenant_with(Scope.ADMIN))]
Operator = Annotated[Principal, Depends(_operator)]
