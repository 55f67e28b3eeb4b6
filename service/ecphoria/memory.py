"""A memory in this process: the whole service with its local Neo4j, and a client of it.

The service runs in a thread of its own and listens on a Unix socket in a folder that only this
user can enter. So calls behave as they do over the network, and no port and no key is needed.
"""

import asyncio
import atexit
import contextlib
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import Future, wait
from pathlib import Path
from typing import ClassVar, Final, Self

import httpx

from ecphoria import runtime
from ecphoria.app import Reports
from ecphoria.client import AsyncClient, Client
from ecphoria.client.connections import AsyncConnections, Connections
from ecphoria.client.exchange import checked_tenant
from ecphoria.engine import Progress, Stage
from ecphoria.errors import Conflict, Misconfigured, unusable_place
from ecphoria.http.app import Started, serve
from ecphoria.settings import Settings, read_settings
from ecphoria.telemetry import log_through_standard_library

# The whole service runs in a thread behind a socket that only this user can open: one
# implementation of checks, errors and limits for all interfaces (decision 0035).
_URL: Final = "http://localhost"
_TIMEOUT_S: Final = 600.0
"""Longer than the service takes for any answer: a first query on a slow machine may take 300 s."""
_STOP_S: Final = 30.0
_QUARTER: Final = 25
_SOCKET_BYTES: Final = 100
"""Longest path of a socket; macOS takes 103 bytes, Linux 107."""


_QUIET: Final = logging.NullHandler()


class Memory(Client):
    """A memory in this process; `Memory()` needs no server, key or tenant.

    It starts a local Neo4j, or joins one that runs on the same home; Neo4j ends with its last
    user. The first start downloads Neo4j with Graph Data Science and the embedding model, about
    270 MB, and tells so on a terminal; later starts download nothing and take some ten seconds.
    Several memories of one process share one service. Settings are read from `ECPHORIA_*`.

    Args:
        tenant: Whose memories; created if it does not exist.
        home: Folder of the store; the user's data directory if absent.
        timeout: Seconds to wait for an answer; the service ends most of them sooner.

    Raises:
        InvalidInput: The tenant is empty, or has a character that no name has.
        Misconfigured: A setting does not fit.
        EngineError: The local Neo4j cannot be fetched or started.
    """

    def __init__(
        self,
        tenant: str = "default",
        *,
        home: Path | str | None = None,
        timeout: float = _TIMEOUT_S,
    ) -> None:
        checked_tenant(tenant)  # before anything starts
        self._service = _Service.join(home, self)
        try:
            self._service.up.result()
            socket = _Socket(self._service)
            super().__init__(_URL, tenant=tenant, timeout=timeout, transport=socket)
            with contextlib.suppress(Conflict):
                self.admin.create_tenant(tenant)
        except BaseException:
            self._service.leave(self)
            raise

    def close(self) -> None:
        """End the service, unless another memory of this process uses it."""
        super().close()
        self._service.leave(self)


class AsyncMemory(AsyncClient):
    """The same for asynchronous code: `async with AsyncMemory() as memory`.

    The service has a thread and an event loop of its own, so it does not hold up the caller's.

    Args:
        tenant: Whose memories; created if it does not exist.
        home: Folder of the store; the user's data directory if absent.
        timeout: Seconds to wait for an answer; the service ends most of them sooner.
    """

    def __init__(
        self,
        tenant: str = "default",
        *,
        home: Path | str | None = None,
        timeout: float = _TIMEOUT_S,
    ) -> None:
        self._tenant = checked_tenant(tenant)  # before anything starts
        self._service = _Service.join(home, self)
        socket = _OnceUp(self._service)
        super().__init__(_URL, tenant=tenant, timeout=timeout, transport=socket)

    async def __aenter__(self) -> Self:
        """Wait until the service is up.

        Raises:
            Misconfigured: A setting does not fit.
            EngineError: The local Neo4j cannot be fetched or started.
        """
        try:
            with contextlib.suppress(Conflict):
                await self.admin.create_tenant(self._tenant)
        except BaseException:
            await self.aclose()
            raise
        return self

    async def aclose(self) -> None:
        """End the service, unless another memory of this process uses it."""
        await super().aclose()
        await asyncio.to_thread(self._service.leave, self)


class _Socket(httpx.BaseTransport):
    """Goes over the socket of a service; a forked child opens connections of its own."""

    def __init__(self, service: "_Service") -> None:
        self._connections = Connections(lambda: httpx.HTTPTransport(uds=str(service.socket)))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._connections.here().handle_request(request)

    def close(self) -> None:
        connection = self._connections.close()
        if connection is not None:
            connection.close()


class _OnceUp(httpx.AsyncBaseTransport):
    """Waits for the service before the first request."""

    def __init__(self, service: "_Service") -> None:
        self._service = service
        self._connections = AsyncConnections(
            lambda: httpx.AsyncHTTPTransport(uds=str(service.socket))
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # A caller that gives up must not cancel the start for the others.
        await asyncio.shield(asyncio.wrap_future(self._service.up))
        return await self._connections.here().handle_async_request(request)

    async def aclose(self) -> None:
        connection = self._connections.close()
        if connection is not None:
            await connection.aclose()


class _Service:
    """One service of this process, shared by the memories that have the same home."""

    _running: ClassVar[dict[Path, "_Service"]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, settings: Settings) -> None:
        log_through_standard_library()
        # Without handlers of the caller's, Python would print the records to standard error.
        logging.getLogger("ecphoria").addHandler(_QUIET)
        self._settings = settings
        self._users: set[int] = set()
        self._pid = os.getpid()
        self._folder = _short_folder()
        self.socket = self._folder / "service"
        self.up: Future[Started] = Future()
        self._thread = threading.Thread(target=self._run, name="ecphoria", daemon=True)
        self._thread.start()

    @classmethod
    def join(cls, home: Path | str | None, user: object) -> "_Service":
        """Use the service of a home; start one if there is none."""
        given = {} if home is None else {"home": Path(home).expanduser().resolve()}
        # No keys: who can open the socket can read the store's files too (decision 0035). The
        # address and the certificate of a service of this machine are not those of the socket.
        server = {"host": "127.0.0.1", "tls_certificate": None, "tls_key": None}
        settings = read_settings(auth={"enabled": False}, server=server, **given)
        with cls._lock:
            found = cls._running.get(settings.home)
            if found is None or not found.is_alive():
                found = cls._running[settings.home] = cls(settings)
            found._users.add(id(user))
            return found

    def leave(self, user: object) -> None:
        """Stop using it; the last user ends it, but never in a forked child."""
        if self._pid != os.getpid():
            return
        with self._lock:
            self._users.discard(id(user))
            if self._users:
                return
            if self._running.get(self._settings.home) is self:
                del self._running[self._settings.home]
        self.stop()

    @classmethod
    def forget(cls) -> None:
        """Leave the services to the parent; in a child that was just forked."""
        cls._running = {}
        cls._lock = threading.Lock()

    @classmethod
    def stop_all(cls) -> None:
        """End every service; at the end of the process."""
        for service in list(cls._running.values()):
            service.stop()

    def is_alive(self) -> bool:
        """Tell whether it runs or starts."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        if wait({self.up}, timeout=_STOP_S).done and not self.up.exception():
            self.up.result().stop()
            self._thread.join(_STOP_S)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self) -> None:
        try:
            runtime.run(
                serve(
                    self._settings,
                    reports=_reports(),
                    started=self.up.set_result,
                    socket_path=self.socket,
                )
            )
        except BaseException as error:  # noqa: BLE001 (told to whoever waits for the start)
            if not self.up.done():
                self.up.set_exception(unusable_place(error) or error)
            # Else the interpreter is ending and gives no more threads; Neo4j's watcher stops it.


atexit.register(_Service.stop_all)
if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_Service.forget)


def _short_folder() -> Path:
    """Make a private folder whose path leaves room for the name of a socket.

    Raises:
        Misconfigured: The folder for temporary files is too deep, and so are the usual ones.
    """
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 (a private one in it)
        with contextlib.suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="ecphoria-", dir=place))
            if len(os.fsencode(folder / "service")) <= _SOCKET_BYTES:
                return folder
            folder.rmdir()
    raise Misconfigured(
        "The path of the folder for temporary files is too long for a socket: set TMPDIR to a "
        f"folder whose path has at most {_SOCKET_BYTES - 30} bytes."
    )


def _reports() -> Reports:
    """Tell on a terminal what the start waits for."""
    if not sys.stderr.isatty():
        return Reports()
    begun = time.monotonic()
    told: set[str] = set()

    def tell(line: str) -> None:
        if line not in told:
            told.add(line)
            seconds = time.monotonic() - begun
            print(f"Ecphoria: {line} ({seconds:.0f} s)", file=sys.stderr)  # noqa: T201 (for the person who waits)

    def part(what: str, done: int, total: int) -> None:
        tell(f"{what}, {_QUARTER * (4 * done // total)} % of {total / 1e6:.0f} MB")

    def engine(step: Progress) -> None:
        if step.total:
            part(step.stage.value, step.done, step.total)
        else:
            tell("starting the service" if step.stage is Stage.READY else step.stage.value)

    def weights(done: int, total: int) -> None:
        if total:
            part("fetching the embedding model", done, total)

    return Reports(engine=engine, weights=weights)
