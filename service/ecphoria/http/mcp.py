"""The MCP server under `/mcp`: streamable HTTP without sessions, with the service's own keys."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

import httpx
from fastapi import FastAPI
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ecphoria.app import Services
from ecphoria.client import AsyncClient, Retries
from ecphoria.http.auth import TENANT_HEADER, presented_key
from ecphoria.http.middleware import public_names
from ecphoria.http.traits import Traits

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_WAIT_S = 150.0


@asynccontextmanager
async def mcp_mounted(app: FastAPI, services: Services) -> AsyncIterator[None]:
    """Serve MCP while the block runs, if the extra `mcp` is installed.

    A tool calls the service as its caller would, with the caller's key: so each limit and each
    check of the API holds for tools too.
    """
    if not _is_installed():
        yield
        return
    from mcp.server.mcpserver import Context  # noqa: PLC0415 (extra `mcp`)
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415 (the same)

    from ecphoria.mcp.server import create_server  # noqa: PLC0415 (the same)

    @asynccontextmanager
    async def connect(context: Context) -> AsyncIterator[AsyncClient]:
        request = context.request_context.request
        assert isinstance(request, Request)
        async with AsyncClient(
            "http://localhost",
            presented_key(request) or "",
            tenant=request.headers.get(TENANT_HEADER),
            timeout=_WAIT_S,
            retries=Retries(limit=0),
            # Tools call the API in memory with the caller's key, so scopes, limits and errors are
            # those of the API (decision 0035).
            transport=httpx.ASGITransport(app),
        ) as client:
            yield client

    async def asks() -> bool:
        return bool(services.settings.llm.model)

    server = create_server(connect, asks=asks)
    names = [*_LOOPBACK, *sorted(public_names(services.settings.server))]
    hosts = [form for name in names for form in (name, f"{name}:*")]
    security = TransportSecuritySettings(
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=int(services.settings.server.body_limit_mb * 1e6),
        transport_security=security,
    )
    app.router.routes.append(Route(PATH, _Identified(inner, services), methods=None))
    async with server.session_manager.run():
        yield


def _is_installed() -> bool:
    # A folder named `mcp` beside the caller's script can be found as a package too.
    try:
        import_module("mcp.server.mcpserver")
    except ModuleNotFoundError:
        return False
    return True


class _Identified:
    """Lets in only callers with a key, before their body is read."""

    __ecphoria_traits__ = Traits(is_large=True)

    def __init__(self, inner: ASGIApp, services: Services) -> None:
        self._inner = inner
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._services.access.identify(presented_key(Request(scope)))
        await self._inner(scope, receive, send)
