"""A memory in this process: the whole service with its local Neo4j, and a client of it.

The service runs in a thread of its own and listens on a Unix socket in a folder that only this
user can enter. So calls behave as they do over the network, and no port and no key is needed.
"""

import asyncio
import atexit
import contextlib
import shutil
import sys
import tempfile
import threading
from concurrent.futures import Future, wait
from pathlib import Path
from typing import ClassVar, Final, Self

import httpx

from ecphoria import runtime
from ecphoria.app import Reports
from ecphoria.client import AsyncClient, Client
from ecphoria.engine import Progress, Stage
from ecphoria.errors import Conflict
from ecphoria.http.app import Started, serve
from ecphoria.settings import Settings, read_settings
from ecphoria.telemetry import log_through_standard_library

_URL: Final = "http://localhost"
_STOP_S: Final = 30.0
_QUARTER: Final = 25


class Memory(Client):
    """A memory in this process; `Memory()` needs no server, key or tenant.

    It starts a local Neo4j, or joins one that runs on the same home; Neo4j ends with its last
    user. The first start downloads Neo4j with Graph Data Science and the embedding model, about
    270 MB, and tells so on a terminal; later starts download nothing and take some ten seconds.
    Several memories of one process share one service. Settings are read from `ECPHORIA_*`.

    Args:
        tenant: Whose memories; created if it does not exist.
        home: Folder of the store; the user's data directory if absent.
        timeout: Seconds to wait for an answer.

    Raises:
        Misconfigured: A setting does not fit.
        EngineError: The local Neo4j cannot be fetched or started.
    """

    def __init__(
        self, tenant: str = "default", *, home: Path | str | None = None, timeout: float = 60.0
    ) -> None:
        self._service = _Service.join(home, self)
        try:
            self._service.up.result()
            socket = httpx.HTTPTransport(uds=str(self._service.socket))
            super().__init__(_URL, tenant=tenant, timeout=timeout, transport=socket)
            with contextlib.suppress(Conflict):
                self.create_tenant(tenant)
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
        timeout: Seconds to wait for an answer.
    """

    def __init__(
        self, tenant: str = "default", *, home: Path | str | None = None, timeout: float = 60.0
    ) -> None:
        self._tenant = tenant
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
                await self.create_tenant(self._tenant)
        except BaseException:
            await self.aclose()
            raise
        return self

    async def aclose(self) -> None:
        """End the service, unless another memory of this process uses it."""
        await super().aclose()
        await asyncio.to_thread(self._service.leave, self)


class _OnceUp(httpx.AsyncBaseTransport):
    """Waits for the service before the first request."""

    def __init__(self, service: "_Service") -> None:
        self._service = service
        self._socket = httpx.AsyncHTTPTransport(uds=str(service.socket))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # A caller that gives up must not cancel the start for the others.
        await asyncio.shield(asyncio.wrap_future(self._service.up))
        return await self._socket.handle_async_request(request)

    async def aclose(self) -> None:
        await self._socket.aclose()


class _Service:
    """One service of this process, shared by the memories that have the same home."""

    _running: ClassVar[dict[Path, "_Service"]] = {}
    _lock: ClassVar = threading.Lock()

    def __init__(self, settings: Settings) -> None:
        log_through_standard_library()
        self._settings = settings
        self._users: set[int] = set()
        self._folder = Path(tempfile.mkdtemp(prefix="ecphoria-"))
        self.socket = self._folder / "service"
        self.up: Future[Started] = Future()
        self._thread = threading.Thread(target=self._run, name="ecphoria", daemon=True)
        self._thread.start()

    @classmethod
    def join(cls, home: Path | str | None, user: object) -> "_Service":
        """Use the service of a home; start one if there is none."""
        given = {} if home is None else {"home": Path(home).expanduser().resolve()}
        settings = read_settings(auth={"enabled": False}, **given)
        with cls._lock:
            found = cls._running.get(settings.home)
            if found is None or not found.is_alive():
                found = cls._running[settings.home] = cls(settings)
            found._users.add(id(user))
            return found

    def leave(self, user: object) -> None:
        """Stop using it; the last user ends it."""
        with self._lock:
            self._users.discard(id(user))
            if self._users:
                return
            if self._running.get(self._settings.home) is self:
                del self._running[self._settings.home]
        self.stop()

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
                self.up.set_exception(error)
            # Else the interpreter is ending and gives no more threads; Neo4j's watcher stops it.


atexit.register(_Service.stop_all)


def _reports() -> Reports:
    """Tell on a terminal what the first start downloads."""
    if not sys.stderr.isatty():
        return Reports()
    told: set[str] = set()

    def tell(what: str, done: int, total: int) -> None:
        line = f"{what}: {_QUARTER * (4 * done // total)} % of {total / 1e6:.0f} MB"
        if line not in told:
            told.add(line)
            print(f"Ecphoria: {line}", file=sys.stderr)  # noqa: T201 (for the person who waits)

    def engine(step: Progress) -> None:
        if step.stage is Stage.FETCH and step.total:
            tell(step.stage.value, step.done, step.total)

    def weights(done: int, total: int) -> None:
        if total:
            tell("fetching the embedding model", done, total)

    return Reports(engine=engine, weights=weights)
