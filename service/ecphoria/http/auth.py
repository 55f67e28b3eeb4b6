"""Authenticate and authorise a request before its body is read."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from email.message import Message
from typing import Annotated, Any

import structlog
from fastapi import Depends, Header, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import TypeAdapter
from starlette.responses import Response

from ecphoria.app import Services
from ecphoria.errors import EcphoriaError, EmbedderChanged, InvalidInput, UnsupportedMediaType
from ecphoria.http.middleware import JsonRequest, is_within
from ecphoria.http.traits import SMALL, traits_of
from ecphoria.neo4j_store.session import follow
from ecphoria.records.ids import TenantId
from ecphoria.records.tenant import Principal, Scope
from ecphoria.runtime import Requester, while_wanted
from ecphoria.settings import Settings
from ecphoria.succession import Succession
from ecphoria.wire.base import BOOKMARKS_HEADER, Parameters

TENANT_HEADER = "Ecphoria-Tenant"
_SHORT = 32_000
"""Bytes of a body with memories whose work takes about as long as a recall; a longer one counts
as bulk."""
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
        takes_parameters = self._takes_parameters()
        body = self._body()
        traits = traits_of(self)
        answered = False

        async def guarded(request: Request) -> Response:
            services = _services(request)
            principal = await services.access.identify(presented_key(request))
            request.state.principal = principal
            _follow_bookmarks(request)
            if request.query_params and not takes_parameters:
                raise InvalidInput(
                    "This call takes no parameters; leave it out.",
                    field=f"query:{min(request.query_params)[:_SHOWN]}",
                )
            if body is not None:
                require_json(request)
            tenant = principal.tenant or request.headers.get(TENANT_HEADER, "")
            whole = JsonRequest(request, body)
            bulk = traits.is_bulk or (
                body is not None
                and not is_within(request.headers, _SHORT if traits.is_large else SMALL)
            )
            if body is not None and is_within(request.headers, SMALL):
                await whole.body()  # a slow sender holds no slot

            async def answer() -> Response:
                nonlocal answered
                if not traits.is_read:
                    return await _with_bookmarks(await handler(whole), services)
                seconds = None if bulk else _read_s(services.settings, first=not answered)
                async with while_wanted(seconds, _LATE.format(seconds)):
                    given = await handler(whole)
                answered = True
                return given

            async with services.admission.admit(tenant, principal.key, bulk=bulk) as requester:
                if body is not None:
                    await whole.body()
                async with _watched(request, requester):
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

    def _takes_parameters(self) -> bool:
        """Tell whether the endpoint takes parameters; their model refuses unknown ones."""
        kinds = [field.field_info.annotation for field in self.dependant.query_params]
        assert all(isinstance(kind, type) and issubclass(kind, Parameters) for kind in kinds)
        return bool(kinds)


def _follow_bookmarks(request: Request) -> None:
    """Let the request see the writes that its bookmarks name (decision 0115).

    Only callers with a key may: a transaction may wait half a minute for a bookmark.
    """
    sent = ",".join(request.headers.getlist(BOOKMARKS_HEADER))
    if not sent.isascii():
        raise InvalidInput(
            "A bookmark is ASCII text; send the header as an answer gave it.",
            field=f"header:{BOOKMARKS_HEADER}",
        )
    follow(one.strip() for one in sent.split(",") if one.strip())


async def _with_bookmarks(answer: Response, services: Services) -> Response:
    """Let the caller's next requests see what this one wrote, whichever service they reach.

    Only a cluster of Neo4j needs that; a single server shows each write at once (decision 0115).
    """
    graph = services.base.graph
    if graph.is_routed:
        answer.headers[BOOKMARKS_HEADER] = ",".join((await graph.bookmarks()).raw_values)
    return answer


_LATE = (
    "There was no answer within {} s. Send it again; if that does not help, raise "
    "ECPHORIA_LIMITS__READ_S."
)
"""Said when a read is given up; its query is stopped too."""


def _read_s(settings: Settings, *, first: bool) -> float:
    """Give the timeout of a read; queries of a first answer are yet to be planned."""
    usual = settings.limits.read_s
    return max(usual, settings.neo4j.first_query_timeout_s) if first else usual


@asynccontextmanager
async def _watched(request: Request, requester: Requester) -> AsyncIterator[None]:
    """Tell the work in the block if the caller closes the connection."""

    async def watch() -> None:
        with suppress(EcphoriaError):  # of a body that the endpoint does not take
            while (await request.receive())["type"] != "http.disconnect":
                pass
            requester.leave()

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()


def require_json(request: Request) -> None:
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
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body as it is, without `Content-Encoding`.")


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


async def _acting(services: Served, caller: Caller, named: _Named = None) -> TenantId | None:
    return await services.access.acting_for(caller, named)


async def _administered(services: Served, caller: Caller, named: _Named = None) -> TenantId | None:
    services.access.permit(caller, Scope.ADMIN)
    return await services.access.acting_for(caller, named)


async def _operator(services: Served, caller: Caller) -> Principal:
    services.access.permit(caller, Scope.ADMIN)
    services.access.permit_operator(caller)
    return caller


Reader = Annotated[TenantId, Depends(_tenant_with(Scope.READ))]
Writer = Annotated[TenantId, Depends(_tenant_with(Scope.WRITE))]
Anyone = Annotated[TenantId | None, Depends(_acting)]
"""Any caller with a key; an operator may name no tenant."""
Admin = Annotated[TenantId | None, Depends(_administered)]
TenantAdmin = Annotated[TenantId, Depends(_tenant_with(Scope.ADMIN))]
Operator = Annotated[Principal, Depends(_operator)]
