"""Routes of the explorer: its files, and the exchange of a ticket for a key."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.status import HTTP_201_CREATED, HTTP_405_METHOD_NOT_ALLOWED
from starlette.types import Scope as Asked

from ecphoria.errors import (
    EcphoriaError,
    Forbidden,
    InvalidInput,
    NotFound,
    OutcomeUnknown,
    StoreUnavailable,
    Unauthenticated,
)
from ecphoria.http.auth import Admin, Caller, GuardedRoute, Served, require_json
from ecphoria.http.explorer.tickets import Tickets
from ecphoria.http.middleware import JsonRequest
from ecphoria.http.problems import guarded, responses
from ecphoria.records.tenant import Scope
from ecphoria.wire.admin import RedeemRequest, SignedIn, TicketAnswer, TicketRequest

PATH: Final = "/explorer"
_FILES: Final = Path(__file__).with_name("page")
_REDEEM: Final = "/redeem"
_KEY_NAME: Final = "explorer"
_KEY_LIFE_S: Final = 12 * 3_600

ticket_routes = APIRouter(prefix="/v1/explorer", tags=["explorer"], route_class=GuardedRoute)


@ticket_routes.post("/tickets", status_code=HTTP_201_CREATED, responses=guarded())
async def issue_ticket(
    body: TicketRequest, tenant: Admin, caller: Caller, services: Served, request: Request
) -> TicketAnswer:
    """Make a ticket that signs one browser in to the explorer.

    It works once, within 120 s, and only in the process that made it. Open
    `/explorer#ticket=TICKET` with it.
    """
    if tenant is None or body.tenant is not None:
        tenant = await services.access.tenant_of(caller, body.tenant)
    scopes = frozenset({Scope.READ, Scope.WRITE} if body.write else {Scope.READ})
    secret, ticket = _tickets(request).issue(tenant, scopes)
    return TicketAnswer(ticket=secret, expires_at=ticket.expires_at)


class _JsonRoute(APIRoute):
    """Takes a body only if it is declared as JSON, as every route with a key does."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Check the declared form before the body is read."""
        handler = super().get_route_handler()

        async def checked(request: Request) -> Response:
            require_json(request)
            return await handler(JsonRequest(request, None))

        return checked


sign_in_routes = APIRouter(prefix=PATH, tags=["explorer"], route_class=_JsonRoute)


@sign_in_routes.post(
    _REDEEM,
    responses=responses(
        InvalidInput,
        Unauthenticated,
        Forbidden,
        NotFound,
        StoreUnavailable,
        OutcomeUnknown,
        EcphoriaError,
    ),
)
async def redeem_ticket(body: RedeemRequest, services: Served, request: Request) -> SignedIn:
    """Exchange a ticket for a key of its tenant, which ends after 12 hours. Needs no key.

    The key is called `explorer`; it is listed and revoked like any other. A service that asks for
    no keys makes none: `key` is null then, and the page names its tenant in `Ecphoria-Tenant`.
    """
    # The store may be away; then the same address signs in a little later.
    with _tickets(request).taken(body.ticket) as ticket:
        name = await services.tenancy.name_of(ticket.tenant)
        scopes = tuple(scope for scope in Scope if scope in ticket.scopes)
        if not services.settings.auth.enabled:
            return SignedIn(tenant=name, scopes=scopes)
        issued = await services.tenancy.issue(
            ticket.tenant, _KEY_NAME, scopes, expires_in_s=_KEY_LIFE_S
        )
    return SignedIn(key=issued.secret, tenant=name, scopes=scopes, expires_at=issued.expires_at)


def _tickets(request: Request) -> Tickets:
    found = request.app.state.tickets
    assert isinstance(found, Tickets)
    return found


class _Files(StaticFiles):
    """The files of the page; a browser asks each time whether its copy is still good."""

    async def get_response(self, path: str, scope: Asked) -> Response:
        """Answer a file; the address of a route that only takes POST is none."""
        if path == _REDEEM.removeprefix("/"):
            raise HTTPException(HTTP_405_METHOD_NOT_ALLOWED)
        return await super().get_response(path, scope)

    def file_response(self, *args: Any, **named: Any) -> Response:
        """Answer a file, or that it has not changed."""
        answer = super().file_response(*args, **named)
        answer.headers["Cache-Control"] = "no-cache"
        return answer


def serve_page(app: FastAPI) -> None:
    """Serve the page at `/explorer` and `/explorer/`, and its files below."""
    files = _Files(directory=_FILES, html=True)

    async def page(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    app.add_api_route(PATH, page, methods=["GET", "HEAD"], include_in_schema=False)
    app.mount(PATH, files)
