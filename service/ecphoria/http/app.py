"""The HTTP application and its server."""

import asyncio
import inspect
import secrets
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.status import HTTP_303_SEE_OTHER
from uvicorn.protocols.http.h11_impl import H11Protocol

from ecphoria.app import Reports, Services, build, warm_up
from ecphoria.errors import Forbidden, Misconfigured, TooLarge, UnknownHost, UnsupportedMediaType
from ecphoria.hosts import address
from ecphoria.http import problems
from ecphoria.http.explorer.routes import PATH as EXPLORER
from ecphoria.http.explorer.routes import serve_page, sign_in_routes, ticket_routes
from ecphoria.http.explorer.tickets import Tickets
from ecphoria.http.mcp import mcp_mounted
from ecphoria.http.middleware import GUARDED, BodyLimit, HostCheck, RequestEdge, SiteCheck
from ecphoria.http.problems import render, responses
from ecphoria.http.routes_admin import (
    administration_routes,
    browser_routes,
    embedding_routes,
    gate_routes,
    operations_routes,
    settings_routes,
    strategies_routes,
)
from ecphoria.http.routes_facts import facts_routes, learning_routes, merges_routes
from ecphoria.http.routes_items import items_routes
from ecphoria.http.routes_memory import (
    episodes_routes,
    graph_routes,
    overview_routes,
    recall_routes,
)
from ecphoria.http.routes_upkeep import (
    cold_routes,
    consolidation_routes,
    doctor_routes,
    dormancy_routes,
    extraction_routes,
    jobs_routes,
)
from ecphoria.http.traits import takes_large
from ecphoria.records.answered import texts_of_fields
from ecphoria.runtime import SystemClock, bound
from ecphoria.settings import ServerSettings, Settings
from ecphoria.succession import Succession
from ecphoria.wire.base import Parameters, Problem, build_all, with_subclasses

_DESCRIPTION = """\
A memory service for agents: append what happened, recall it by a cue.

Send an API key as `Authorization: Bearer KEY`. With an operator's key, name the tenant in the
header `Ecphoria-Tenant`. Every error is a problem document (RFC 9457) whose `type` is a path of
this service that explains it.
"""
_TAGS = {
    "episodes": "Append, fetch, list, update and erase what happened.",
    "recall": "Recall memories for a cue, answer questions, and replay how a memory was found.",
    "overview": "Sessions, summaries and counts: what a memory holds.",
    "graph": "Look at traces, concepts and the graph around a node, without a cue.",
    "facts": "Statements of episodes with the times at which they hold, and decisions about them.",
    "items": "JSON objects by namespace and key, which are replaced and not remembered.",
    "consolidation": "The background work on a memory as a whole, and the check of its integrity.",
    "dormancy": "Memories that recall leaves out until they wake, and the lives of memories.",
    "archive": "Long dormant memories in files.",
    "jobs": "Background work that was queued.",
    "administration": "Tenants, keys, and the fit of the gate.",
    "explorer": "The sign-in of the page at `/explorer`.",
    "settings": "The settings of a tenant, and the strategy on trial.",
    "learning": "Learning from feedback.",
    "merges": "Names that may mean the same.",
    "operations": "Health, metrics and the explanation of errors.",
    "browser": "Files for Neo4j Browser.",
}
_SWAGGER = "/docs/assets"
_ROUTERS = (
    episodes_routes,
    recall_routes,
    overview_routes,
    graph_routes,
    facts_routes,
    items_routes,
    consolidation_routes,
    extraction_routes,
    dormancy_routes,
    cold_routes,
    doctor_routes,
    jobs_routes,
    administration_routes,
    ticket_routes,
    sign_in_routes,
    embedding_routes,
    gate_routes,
    settings_routes,
    strategies_routes,
    learning_routes,
    merges_routes,
    operations_routes,
    browser_routes,
)


def create_app(services: Services) -> FastAPI:
    """Join routers, problems and middleware; the caller closes the services."""
    build_all()
    app = FastAPI(
        title="Ecphoria",
        version=version("ecphoria"),
        description=_DESCRIPTION,
        openapi_tags=[{"name": name, "description": told} for name, told in _TAGS.items()],
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        separate_input_output_schemas=False,
        # FastAPI's spans have whole addresses, in which sessions and names stand.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.services = services
    app.state.tickets = Tickets(clock=SystemClock(), entropy=secrets.token_bytes)
    app.state.succession = None  # set where the store may change its model
    for router in _ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and not route.summary:
                route.summary = _first_sentence(route)
        app.include_router(router)
    problems.install(app, services.metrics)
    _serve_docs(app)
    serve_page(app)
    _document_problems(app)
    server = services.settings.server
    own = [route for router in _ROUTERS for route in router.routes]
    app.add_middleware(
        BodyLimit,
        limit=int(server.body_limit_mb * 1e6),
        seconds=server.body_s,
        # That of MCP is added later, to the routes of the application.
        is_large=lambda scope: takes_large((*own, *app.router.routes), scope),
    )
    app.add_middleware(SiteCheck)
    app.add_middleware(HostCheck, settings=server)
    app.add_middleware(RequestEdge, metrics=services.metrics, spans=services.spans)
    return app


def _serve_docs(app: FastAPI) -> None:
    """Serve Swagger UI from an installed package, without a network, and name it at the root."""
    app.mount(_SWAGGER, StaticFiles(packages=[("fastapi_swagger", "resources")]))

    async def docs() -> HTMLResponse:
        return HTMLResponse(_DOCS)

    async def start() -> Response:
        return Response(_START, media_type="text/javascript")

    async def root(request: Request) -> Response:
        # FastAPI keeps this function in a cache for good, so it must not hold the application.
        served: FastAPI = request.app
        places = {
            "explorer": EXPLORER,
            "docs": "/docs",
            "openapi": served.openapi_url,
            "ready": "/readyz",
        }
        told = {"service": served.title, "version": served.version, **places}
        # A browser names HTML; other clients take anything.
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse(EXPLORER, HTTP_303_SEE_OTHER, headers={"Vary": "Accept"})
        return JSONResponse(told, headers={"Vary": "Accept"})

    app.add_api_route("/", root, include_in_schema=False, response_model=None)
    app.add_api_route("/docs", docs, include_in_schema=False, response_class=HTMLResponse)
    app.add_api_route(_START_PATH, start, include_in_schema=False, response_class=Response)


_START_PATH = "/docs/start.js"
_DOCS = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Ecphoria</title>
<link rel="icon" href="{_SWAGGER}/favicon-32x32.png">
<link rel="stylesheet" href="{_SWAGGER}/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="{_SWAGGER}/swagger-ui-bundle.js"></script>
<script src="{_START_PATH}"></script>
</html>
"""
_START = """SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  layout: "BaseLayout",
  deepLinking: true,
  showExtensions: true,
  showCommonExtensions: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
});
"""
"""The script of the page. It is a file, because the page's policy forbids scripts in the page: one
that an attacker puts there could read the explorer's key, as both pages have one origin."""


def _first_sentence(route: APIRoute) -> str:
    """Give the first line of the endpoint's description; FastAPI would give its name."""
    told = inspect.getdoc(route.endpoint) or route.name
    return told.partition("\n")[0].rstrip(".")


def _document_problems(app: FastAPI) -> None:
    """Add the schema of documented errors, and the errors of the middleware to each route."""
    anywhere, of_bodies = responses(UnknownHost), responses(TooLarge, UnsupportedMediaType)
    of_sites = responses(Forbidden)
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        for parameters in with_subclasses(Parameters):
            for name, text in texts_of_fields(parameters).items():
                parameters.model_fields[name].description = text
        document = generate()
        schemas = document["components"]["schemas"]
        if "Problem" not in schemas:
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(problem.pop("$defs"))
            schemas["Problem"] = problem
        for path, methods in document["paths"].items():
            always = anywhere | (of_sites if path.startswith(GUARDED) else {})
            for operation in methods.values():
                more = always | (of_bodies if "requestBody" in operation else {})
                for status, answer in more.items():
                    operation["responses"].setdefault(str(status), answer)
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend it


_NOT_HTTP = Problem(
    type="about:blank",
    title=HTTPStatus.BAD_REQUEST.phrase,
    status=HTTPStatus.BAD_REQUEST,
    detail="This cannot be read as HTTP/1.1; check the first line, and send shorter headers.",
)


class _WithProblems(H11Protocol):
    """Answers what is no HTTP with a problem; uvicorn would answer plain text."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's own words)
        answer = render(_NOT_HTTP, None, None)
        headers = [*answer.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(
                status_code=answer.status_code, headers=headers, reason=_NOT_HTTP.title.encode()
            ),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


_IDLE_S = 75
"""Seconds a connection may be idle after an answer.

A client or proxy that keeps connections must drop an idle one before the service closes it, or a
request may meet the end of its connection. httpx keeps them 5 s, aiohttp 15 s, nginx 60 s.
"""


class _Bounded(_WithProblems):
    """Closes a connection whose headers do not arrive.

    uvicorn bounds only the pause between two requests; a connection that sends nothing, or half
    a header, would stay open without end.
    """

    headers_s: float
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._await_headers()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:  # the next request has begun to arrive
            self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def _await_headers(self) -> None:
        """Let the time run from the connection, or the first bytes, until the headers."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.headers_s, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def bounded(seconds: float) -> type[H11Protocol]:
    """Make the protocol of a server that waits so long for a request's headers."""
    return type("Bounded", (_Bounded,), {"headers_s": seconds})


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The addresses to print when the service accepts requests.

    Attributes:
        stop: Ends the service when the open requests are answered, or their time is over; called
            again, it waits for no request. May be called from any thread.
    """

    url: str
    services: Services
    stop: Callable[[], None]


async def serve(
    settings: Settings,
    *,
    reports: Reports | None = None,
    started: Callable[[Started], None] = lambda _: None,
    socket_path: Path | None = None,
) -> None:
    """Build the services, serve until `Started.stop`, close everything; signals are the caller's.

    `started` is called once, when requests are answered. With `socket_path` it listens on a socket
    of this path instead of the address in the settings.

    Raises:
        Misconfigured: The address cannot be listened on, or a setting does not fit.
        EcphoriaError: A part cannot be brought up.
    """
    with _listener(settings.server, socket_path) as listener:
        succession = Succession(await build(settings, reports))
        try:
            await warm_up(succession.current)
            await _run(succession, listener, started)
        finally:
            await succession.close()


async def _run(
    succession: Succession, listener: socket.socket, started: Callable[[Started], None]
) -> None:
    services = succession.current
    settings = services.settings

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # Whoever serves beside other work, as an evaluation does, ends both in their order.
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                scheme = "https" if settings.server.tls_certificate else "http"
                started(Started(url=_url(scheme, listener), services=services, stop=stop))

    app = create_app(services)
    app.state.succession = succession
    server = Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            # Open requests get two thirds of a stop; the rest closes what they use.
            timeout_graceful_shutdown=max(1, int(settings.server.shutdown_s * 2 / 3)),
            limit_concurrency=settings.server.connections,
            http=bounded(settings.server.headers_s),
            timeout_keep_alive=_IDLE_S,
            **_tls(settings.server),
        )
    )

    def stop() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    async with mcp_mounted(app, services):
        await server.serve(sockets=[listener])


def _listener(settings: ServerSettings, path: Path | None) -> socket.socket:
    if path is None:
        return bound(settings.host, settings.port)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    return listener


def _tls(settings: ServerSettings) -> dict[str, Any]:
    """Load and check the server's certificate, so that an error names its setting.

    Raises:
        Misconfigured: The files cannot be read, or do not belong together.
    """
    if settings.tls_certificate is None:
        return {}
    secret = settings.tls_key_password
    password = secret.get_secret_value() if secret else None
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            settings.tls_certificate, settings.tls_key, password or ""
        )
    except (OSError, ssl.SSLError) as error:
        raise Misconfigured(
            "TLS cannot be served: ECPHORIA_SERVER__TLS_CERTIFICATE and __TLS_KEY must name PEM "
            "files that belong together, with __TLS_KEY_PASSWORD if the key has one.",
            reason=type(error).__name__,
        ) from error
    return {
        "ssl_certfile": settings.tls_certificate,
        "ssl_keyfile": settings.tls_key,
        "ssl_keyfile_password": password,
    }


def _url(scheme: str, listener: socket.socket) -> str:
    if listener.family == socket.AF_UNIX:
        return f"{scheme}://localhost"
    host, port = listener.getsockname()[:2]
    return address(scheme, host, port)
