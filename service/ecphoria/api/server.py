"""Run the application: bind first, so that a taken port costs nothing, then serve until told."""

import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn

from ecphoria.api.app import create_app
from ecphoria.api.connections import bounded
from ecphoria.errors import Misconfigured
from ecphoria.garbage import look_seldom
from ecphoria.settings import ServerSettings, Settings
from ecphoria.wiring import Reports, Services, build

__all__ = ["Started", "serve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What to tell when the service takes requests.

    Attributes:
        stop: Ends the service as a signal would; may be called from any thread.
    """

    url: str
    services: Services
    stop: Callable[[], None]


async def serve(
    settings: Settings,
    *,
    reports: Reports | None = None,
    started: Callable[[Started], None] = lambda _: None,
) -> None:
    """Build the services, serve until a signal or `Started.stop`, close everything.

    Args:
        settings: What to build and where to listen.
        reports: Told while parts come up.
        started: Called once, when requests are answered.

    Raises:
        Misconfigured: The address cannot be listened on, or a setting does not fit.
        EcphoriaError: A part cannot be brought up.
    """
    with _bound(settings.server.host, settings.server.port) as listener:
        services = await build(settings, reports)
        look_seldom()
        try:
            await _run(services, listener, started)
        finally:
            await services.close()


async def _run(
    services: Services, listener: socket.socket, started: Callable[[Started], None]
) -> None:
    settings = services.settings

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                scheme = "https" if settings.server.tls_certificate else "http"
                started(Started(url=_url(scheme, listener), services=services, stop=stop))

    server = Server(
        uvicorn.Config(
            create_app(services),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=round(settings.server.shutdown_s) or 1,
            limit_concurrency=settings.server.connections,
            http=bounded(settings.server.headers_s),
            **_tls(settings.server),
        )
    )

    def stop() -> None:
        server.should_exit = True

    await server.serve(sockets=[listener])


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise Misconfigured(f"There is no address {host} to listen on.") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise Misconfigured(
            f"Cannot listen on {host} port {port}: {error.strerror}. Stop the program that does, "
            "or set ECPHORIA_SERVER__PORT (0 takes a free one).",
            port=port,
        ) from error
    return listener


def _tls(settings: ServerSettings) -> dict[str, Any]:
    """Give the server's certificate, checked, so that a wrong one is told by its setting.

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
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:  # noqa: S104 (read, not bound)
        host = "127.0.0.1"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
