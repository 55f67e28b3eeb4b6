"""Answer only requests to the names of this service, and none that another site's page sends.

A web page can make a browser believe that the page's own name is an address of this machine (DNS
rebinding). The browser then sends the page's requests here, with the name of the page as `Host`.
"""

import re
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ecphoria.errors import Forbidden, UnknownHost
from ecphoria.settings import ServerSettings

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(:\d{0,5})?")
_LOOPBACK = "localhost"
_ALL = frozenset({"0.0.0.0", "::"})  # noqa: S104 (read, not bound)
_HEALTH = frozenset({"/healthz", "/readyz"})
"""Paths without memories. A proxy and Kubernetes ask them by address, or without a host."""


def public_names(settings: ServerSettings) -> frozenset[str]:
    """Give the names beside those of this machine, without ports, in lower case."""
    given = (settings.public_host or "").split(",")
    bound = settings.host if settings.host not in _ALL else ""
    return frozenset(filter(None, (_name(host.strip()) for host in (*given, bound))))


class HostCheck:
    """Refuses a request whose `Host` is none of the service's names."""

    def __init__(self, app: ASGIApp, *, settings: ServerSettings) -> None:
        self._app = app
        self._names = public_names(settings)
        # A name can be made to mean any address, but a page cannot be loaded from ours.
        self._takes_addresses = settings.host in _ALL

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if (
            scope["type"] == "http"
            and scope["path"] not in _HEALTH
            and not self._is_ours(Headers(scope=scope).get("Host", ""))
        ):
            raise UnknownHost
        await self._app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        name = _name(host)
        if name in self._names or name == _LOOPBACK:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return self._takes_addresses or address.is_loopback


GUARDED = ("/v1/", "/explorer")
"""Beginnings of the paths that only pages of this service may ask for."""
_OURS = frozenset({"same-origin", "none"})
"""Values of the header `Sec-Fetch-Site` for requests of our own pages, and of the user."""


class SiteCheck:
    """Refuses requests to the API and the explorer that a page of another site sends.

    Other ports of the same machine are other sites too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and _is_of_another_site(scope):
            raise Forbidden(
                "A page of another site asked for this; type the address into the browser."
            )
        await self._app(scope, receive, send)


def _is_of_another_site(scope: Scope) -> bool:
    if not scope["path"].startswith(GUARDED):
        return False
    # Programs send no such header.
    return Headers(scope=scope).get("Sec-Fetch-Site", "none") not in _OURS


def _name(host: str) -> str:
    """Give the name of a host without its port and the dot of the root; empty if it has none."""
    found = _HOST.fullmatch(host) or _HOST.fullmatch(f"[{host}]")
    return found[1].strip("[]").removesuffix(".").lower() if found else ""
