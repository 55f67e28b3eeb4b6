"""Middleware: headers, limits of bodies, known hosts, one answer for every failure."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from ipaddress import ip_address
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # unknown to typeshed
from typing import Any

import structlog
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ecphoria.errors import EcphoriaError, Forbidden, InvalidInput, Timeout, TooLarge, UnknownHost
from ecphoria.hosts import EVERYWHERE, is_loopback
from ecphoria.http.problems import problem_of, render, report
from ecphoria.http.traits import SMALL
from ecphoria.records.ids import fresh_id
from ecphoria.runtime import CallerGone
from ecphoria.settings import ServerSettings
from ecphoria.telemetry import Metrics, Spans
from ecphoria.wire.base import TOLD

REQUEST_ID = "X-Request-Id"
_USABLE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_UNMATCHED = "(no such path)"

_GONE = 499
"""Status that the log and the metrics give a request without an answer, as nginx does."""
_DROPPED, _DROP_S, _PAUSE_S = 32_000_000, 10.0, 0.5
"""Bytes of a refused body that are read and dropped, the seconds that this may take, and the
longest pause between its parts."""

log = structlog.get_logger(__name__)


class RequestEdge:
    """The outermost layer: gives the request an id, times it, and answers uncaught errors."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, spans: Spans) -> None:
        self._app = app
        self._metrics = metrics
        self._spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._spans.request(scope["method"], Headers(scope=scope)) as describe:
            status = await self._serve(scope, receive, send)
            describe(_route(scope), status, scope["request_id"])

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> int:
        body = _Body(scope, receive)
        sent = Headers(scope=scope).get(REQUEST_ID, "")
        name = sent if _USABLE_ID.fullmatch(sent) else fresh_id()
        scope["request_id"] = name
        status = 0

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                await body.drop()
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = name
                for header, value in _secure(scope):
                    headers.setdefault(header, value)
            await send(message)

        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=name)
        start = time.perf_counter()
        try:
            await self._app(scope, body.receive, named)
        except (CallerGone, ClientDisconnect):
            status = status or _GONE
            log.info("client_disconnected")
        except Exception as error:
            if status:  # half an answer is out; only the connection's end can tell
                log.error("answer_cut_off", exc_info=error)  # noqa: TRY400 (frames only)
                raise
            await self._answer(error, name, scope["path"])(scope, body.receive, named)
        finally:
            self._note(scope, status, time.perf_counter() - start)
        return status

    def _answer(self, error: Exception, name: str, path: str) -> ASGIApp:
        ours = error if isinstance(error, EcphoriaError) else EcphoriaError()
        if ours is error:
            report(ours)
        else:
            log.error("request_failed", code=ours.code, exc_info=error)
        self._metrics.refusal(ours.code)
        return render(problem_of(ours), name, path)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = _route(scope)
        self._metrics.request(scope["method"], route, status, seconds)
        log.info(
            "request_served",
            method=scope["method"],
            route=route,
            status=status,
            ms=round(1_000 * seconds, 1),
        )


class _Body:
    """The body of a request, of which the rest is dropped when it is answered early.

    A client that sends its whole body before it reads would otherwise see a reset connection,
    not the answer.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        headers = Headers(scope=scope)
        told = headers.get("Content-Length", "")
        self._receive = receive
        # A client that waits for "100 Continue" sends nothing before it has read an answer.
        has_body = (told.isdecimal() and int(told) > 0) or "Transfer-Encoding" in headers
        self._is_over = not has_body or "Expect" in headers
        self._is_hopeless = told.isdecimal() and int(told) > _DROPPED

    async def receive(self) -> Message:
        """Receive the next message."""
        message = await self._receive()
        self._is_over = not message.get("more_body", False)
        return message

    async def drop(self) -> None:
        """Read the rest of the body, if it comes soon and is not too much."""
        size, until = 0, time.monotonic() + _DROP_S
        with suppress(TimeoutError):
            while not (self._is_over or self._is_hopeless or size > _DROPPED):
                async with asyncio.timeout(min(_PAUSE_S, until - time.monotonic())):
                    size += len((await self.receive()).get("body", b""))


_ALWAYS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)
# A browser must not run the content of an answer (docs/explanation/threats.md).
_NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""Policy of answers that are data: a browser that shows one runs and loads nothing."""
_DOCS = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"
)
"""Policy of the Swagger UI page, which sets styles of its elements."""
_EXPLORER = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Policy of the explorer, which shows texts that anybody may have written."""
_YEAR_S = 31_536_000


def _secure(scope: Scope) -> Iterator[tuple[str, str]]:
    """Give the headers that keep a browser from making more of an answer than it is."""
    yield from _ALWAYS
    path = scope["path"]
    if path.startswith("/docs"):
        yield "Content-Security-Policy", _DOCS
    elif path == "/explorer" or path.startswith("/explorer/"):
        yield "Content-Security-Policy", _EXPLORER
        yield "Cross-Origin-Opener-Policy", "same-origin"
        yield "Cache-Control", "no-store"
    else:
        yield "Content-Security-Policy", _NOTHING
        yield "Cache-Control", "no-store"
    if scope["scheme"] == "https":
        yield "Strict-Transport-Security", f"max-age={_YEAR_S}"


def _route(scope: Scope) -> str:
    """Name the route's template, which holds nothing of the caller's."""
    return str(getattr(scope.get("route"), "path_format", _UNMATCHED))


def is_within(headers: Headers, size: int) -> bool:
    """Tell whether the body is declared to have at most so many bytes; none has 0."""
    declared = headers.get("Content-Length", "" if "Transfer-Encoding" in headers else "0")
    return declared.isdecimal() and int(declared) <= size


class BodyLimit:
    """Refuses a body over the bound of its route, as soon as its length or its bytes tell.

    One that does not arrive in time is refused too.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limit: int,
        seconds: float,
        is_large: Callable[[Scope], bool] = lambda _: False,
    ) -> None:
        """Let a body take `seconds`, and have `limit` bytes if `is_large` says so."""
        self._app = app
        self._is_large = is_large
        self._limit = limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        # Most bodies are short, so that the route need not be known.
        may_be_long = not is_within(headers, SMALL) and self._is_large(scope)
        limit = self._limit if may_be_long else min(self._limit, SMALL)
        told = headers.get("Content-Length", "")
        if told.isdecimal() and int(told) > limit:
            raise _too_large(limit)
        received, awaited = 0, True
        until = asyncio.get_running_loop().time() + self._seconds

        async def counted() -> Message:
            nonlocal received, awaited
            # After the body only the end of the connection is received, at any later time.
            try:
                async with asyncio.timeout_at(until if awaited else None):
                    message = await receive()
            except TimeoutError:
                raise Timeout(
                    f"The body did not arrive within {self._seconds:g} s; send it in parts."
                ) from None
            awaited = awaited and message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > limit:
                raise _too_large(limit)
            return message

        await self._app(scope, counted, send)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"This body may have {limit:,} bytes; send less, or in several calls.", limit=limit
    )


_LONG_BODY = 64_000
"""Bytes of a body above which it is read in a thread."""


class _Yielding(json.JSONDecoder):
    """Reads JSON like the standard decoder, but gives way to other threads.

    The standard decoder reads a whole document in one call of C, and no other thread runs
    meanwhile: five million small parts hold the event loop for seconds. Here the structure is
    read by Python, which gives way every few milliseconds; strings are still read by C.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scan_once = py_make_scanner(self)


class JsonRequest(Request):
    """A request whose body is read as JSON.

    Args:
        request: As it came.
        body: What the body must be; None where the endpoint takes none.
    """

    def __init__(self, request: Request, body: TypeAdapter[Any] | None) -> None:
        super().__init__(request.scope, request.receive)
        self._expected = body

    async def json(self) -> Any:
        """Read the body; a large one is validated here too, and comes as the object expected.

        Raises:
            InvalidInput: The body is not UTF-8, or is nested too deeply.
            json.JSONDecodeError: It is not JSON.
            RequestValidationError: It is large and not as expected.
        """
        sent = await self.body()
        if len(sent) <= _LONG_BODY or self._expected is None:
            return _decoded(sent, json.loads)
        return await asyncio.to_thread(_validated, sent, self._expected)


def _validated(sent: bytes, expected: TypeAdapter[Any]) -> Any:
    found = _decoded(sent, _Yielding().decode)
    try:
        return expected.validate_python(found)
    except ValidationError as invalid:
        faults = invalid.errors(include_input=False)
        wrong = [{**fault, "loc": ("body", *fault["loc"])} for fault in faults[:TOLD]]
    _drop(found)
    raise RequestValidationError(wrong)


def _decoded(sent: bytes, read: Callable[[str], Any]) -> Any:
    try:
        return read(sent.decode())
    except UnicodeDecodeError:
        raise InvalidInput("The body is not UTF-8; send JSON in UTF-8.") from None
    except RecursionError:
        raise InvalidInput("The body is nested too deeply; send what the API describes.") from None


def _drop(found: Any) -> None:
    """Take a refused body apart in small steps; Python would free all of it in one."""
    parts = [found]
    del found
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            parts.extend(part.values())
            part.clear()
        elif isinstance(part, list):
            parts.extend(part)
            part.clear()


_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(:\d{0,5})?")
_HEALTH = frozenset({"/healthz", "/readyz"})
"""Paths without memories. A proxy and Kubernetes ask them by address, or without a host."""


def public_names(settings: ServerSettings) -> frozenset[str]:
    """Give the names beside those of this machine, without ports, in lower case."""
    given = (settings.public_host or "").split(",")
    bound = settings.host if settings.host not in EVERYWHERE else ""
    return frozenset(filter(None, (_name(host.strip()) for host in (*given, bound))))


class HostCheck:
    """Refuses a request whose `Host` is none of the service's names.

    A web page can make a browser believe that the page's own name is an address of this machine
    (DNS rebinding). The browser then sends the page's requests here, with the name of the page as
    `Host`.
    """

    def __init__(self, app: ASGIApp, *, settings: ServerSettings) -> None:
        self._app = app
        self._names = public_names(settings)
        # A name can be made to mean any address, but a page cannot be loaded from ours.
        self._takes_addresses = settings.host in EVERYWHERE

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
        if name in self._names or is_loopback(name):
            return True
        with suppress(ValueError):
            ip_address(name)
            return self._takes_addresses
        return False


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
