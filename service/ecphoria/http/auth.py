"""Authenticate and authorise a request before its body is read."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from email.message import Message
from typing import Annotated, Any

import structlog
from fastapi import Depends, Header, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, TypeAdapter
from starlette.responses import Response

from ecphoria.app import Services
from ecphoria.errors import EmbedderChanged, InvalidInput, Timeout, UnsupportedMediaType
from ecphoria.http.middleware import JsonRequest, is_small
from ecphoria.records.ids import TenantId
from ecphoria.records.tenant import Principal, Scope
from ecphoria.succession import Succession

TENANT_HEADER = "Ecphoria-Tenant"
_BULK = frozenset(
    {
        "POST /v1/episodes/batch",
        "POST /v1/episodes/erase",
        "GET /v1/doctor",
        "DELETE /v1/tenants/{name}",
    }
)
"""Calls that may take seconds; they have slots of their own."""
_READS = frozenset(
    {
        "POST /v1/recall",
        "POST /v1/items/find",
        "POST /v1/items/search",
        "POST /v1/items/namespaces",
    }
)
"""Calls beside GET that write nothing the caller waits for."""
_HAS_BODY = frozenset({"content-length", "transfer-encoding"})
_SHOWN = 100
"""Characters of a parameter's name that an error repeats."""


def _services(request: Request) -> Services:
    succession = _succession(request)
    services = succession.current if succession else request.app.state.services
    assert isinstance(services, Services)
    return services


def _succession(request: Request) -> Succession | None:
    found: Succession | None = request.app.state.succession
    return found


_Shown = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, description="An API key of Ecphoria.")),
]
"""Only tells OpenAPI how callers show their key; `GuardedRoute` has read it."""


def _principal(request: Request, _: _Shown) -> Principal:
    principal = request.state.principal
    assert isinstance(principal, Principal)
    return principal


def presented_key(request: Request) -> str | None:
    """Read the secret of the key that a request shows, if it shows one."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else None


class GuardedRoute(APIRoute):
    """Identifies the caller first, so that a stranger's body is never read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Put the identification in front of the usual handler."""
        handler = super().get_route_handler()
        known = self._parameters()
        body = self._body()

        async def guarded(request: Request) -> Response:
            services = _services(request)
            principal = await services.access.identify(presented_key(request))
            request.state.principal = principal
            unknown = set() if known is None else request.query_params.keys() - known
            if unknown:
                raise InvalidInput(
                    "There is no such parameter; check its spelling.",
                    field=f"query:{min(unknown)[:_SHOWN]}",
                )
            if body is not None:
                _require_json(request)
            tenant = principal.tenant or request.headers.get(TENANT_HEADER, "")
            call = f"{request.method} {self.path}"
            whole = JsonRequest(request, body)
            bulk = call in _BULK
            if body is not None and is_small(request):
                await whole.body()  # a slow sender holds no slot
            elif body is not None and not _HAS_BODY.isdisjoint(request.headers):
                bulk = True
            reads = (request.method == "GET" or call in _READS) and not bulk

            async def answer() -> Response:
                if reads:
                    return await _in_time(handler(whole), services.settings.limits.read_s)
                return await handler(whole)

            async with services.admission.admit(tenant, principal.key, bulk=bulk):
                try:
                    return await answer()
                except EmbedderChanged:
                    succession = _succession(request)
                    if succession is None or not await succession.moved_from(services):
                        raise
                    return await answer()  # by the services of the new model

        return guarded

    def _body(self) -> TypeAdapter[Any] | None:
        """Give the type of a body; None where the endpoint takes none."""
        field = self.body_field
        if field is None:
            return None
        expected: Any = field.field_info.annotation
        return TypeAdapter(expected)

    def _parameters(self) -> frozenset[str] | None:
        """Name the parameters of the query; None where a model of them checks that itself."""
        fields = self.dependant.query_params
        kinds = [field.field_info.annotation for field in fields]
        if any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds):
            return None
        return frozenset(field.alias for field in fields)


async def _in_time(answer: Coroutine[Any, Any, Response], seconds: float) -> Response:
    """Wait for the answer to a read; when it is given up, the server stops its query too."""
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        raise Timeout(f"There was no answer within {seconds:g} s; ask for less.") from None


def _require_json(request: Request) -> None:
    """Refuse a body in another form.

    One without a declared form is refused too: a web page may send such a body to a service on
    the reader's own machine without being asked for permission first.

    Raises:
        UnsupportedMediaType: The header is missing, or names another form or encoding.
    """
    declared = request.headers.get("Content-Type", "")
    empty = request.headers.get("Content-Length", "0") == "0"
    if empty and "Transfer-Encoding" not in request.headers:
        return
    read = Message()
    read["Content-Type"] = declared
    form, charset = read.get_content_subtype(), read.get_content_charset("utf-8")
    is_json = form == "json" or form.endswith("+json")
    if read.get_content_maintype() != "application" or not is_json or charset != "utf-8":
        raise UnsupportedMediaType


Served = Annotated[Services, Depends(_services)]
Caller = Annotated[Principal, Depends(_principal)]
_Named = Annotated[
    str | None,
    Header(
        alias=TENANT_HEADER, description="Name of the tenant to act for, with an operator's key."
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
