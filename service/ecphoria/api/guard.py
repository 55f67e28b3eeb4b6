"""Who may call an endpoint, decided before its body is read."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any

import structlog
from fastapi import Depends, Header, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.responses import Response

from ecphoria.errors import InvalidInput
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
_SHOWN = 100
"""Characters of a parameter's name that an error repeats."""


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
        known = self._parameters()

        async def guarded(request: Request) -> Response:
            scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
            presented = secret.strip() if scheme.lower() == "bearer" else None
            access = _services(request).access
            request.state.principal = await access.identify(presented)
            unknown = set() if known is None else request.query_params.keys() - known
            if unknown:
                raise InvalidInput(
                    "There is no such parameter; check its spelling.",
                    field=f"query:{min(unknown)[:_SHOWN]}",
                )
            return await handler(request)

        return guarded

    def _parameters(self) -> frozenset[str] | None:
        """Name the parameters of the query; None where a model of them checks that itself."""
        fields = self.dependant.query_params
        kinds = [field.field_info.annotation for field in fields]
        if any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds):
            return None
        return frozenset(field.alias for field in fields)


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
