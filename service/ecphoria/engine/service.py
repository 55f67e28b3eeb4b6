"""Run the managed engine for one process or several."""

import asyncio
import contextlib
import enum
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psutil
import structlog

from ecphoria.engine import process
from ecphoria.engine.assemble import (
    Fetch,
    JavaRuntime,
    Progress,
    Report,
    Stage,
    assemble,
    find_java,
    is_assembled,
    maven_fetch,
    silent,
)
from ecphoria.engine.home import (
    Home,
    JarLock,
    ServerState,
    files_of,
    held,
    packaged_lock,
    require_space,
    write_private,
)
from ecphoria.engine.process import Ports, choose_ports, machine_megabytes, neo4j_conf, size_memory
from ecphoria.engine.watch import leave
from ecphoria.errors import EngineError

_USER = "neo4j"
_SPACE = 256 * 2**20  # bytes that an empty store with its logs takes, and some to grow


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Folders, ports and memory of the server; None means that the engine decides."""

    home: Path
    cache: Path
    java: Path | None = None
    java_options: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    repository: str | None = None
    heap_mb: int | None = None
    page_cache_mb: int | None = None
    bolt_port: int | None = None
    http_port: int | None = None
    start_timeout_s: float = 180.0
    tx_log_hours: int = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The addresses and the password of the running server."""

    bolt_uri: str
    http_url: str
    user: str
    password: str = field(repr=False)
    pid: int
    version: str


class EngineState(enum.StrEnum):
    """Tell whether the server can be used now."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    """The process runs, but its database stopped after an error, for instance a full disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStatus:
    """The state of the server; `keep` tells whether it runs until `down`."""

    state: EngineState
    home: Path
    endpoint: Endpoint | None = None
    keep: bool = False
    since: datetime | None = None
    memory_bytes: int = 0
    store_bytes: int


class Engine:
    """One home's server; every method may be called from any thread and any process.

    `up` leaves a server that stays until `down`. `running` uses the server that is up, or else
    starts one that ends with its last user. All methods block; none needs an event loop.
    """

    def __init__(
        self, settings: EngineSettings, *, lock: JarLock | None = None, fetch: Fetch | None = None
    ) -> None:
        """Prepare; nothing is touched yet.

        The jars of the `lock` are those that this release was tested with, and come from the Maven
        repository of the settings.
        """
        self._settings = settings
        self._fetch = fetch
        self._home = Home(settings.home.expanduser().resolve())
        self._lock = lock or packaged_lock()

    def up(self, report: Report = silent) -> Endpoint:
        """Bring the server up, or find it up, and leave it running.

        Raises:
            EngineError: with a `reason`; see docs/howto/engine.md for each and its remedy.
        """
        with self._alone(report):
            return self._ensure(report, keep=True)

    @contextlib.contextmanager
    def running(self, report: Report = silent) -> Iterator[Endpoint]:
        """Use the server for a while; one started for this ends with its last user.

        Raises:
            EngineError: with a `reason`; see docs/howto/engine.md for each and its remedy.
        """
        self._home.create()
        try:
            with contextlib.ExitStack() as use:
                with self._alone(report):
                    use.enter_context(held(self._home.users, shared=True))
                    endpoint = self._ensure(report, keep=False)
                yield endpoint
        finally:
            leave(self._home)

    def revive(self) -> Endpoint | None:
        """Start the server again, on the same ports, if it died or failed; tell where, if so.

        A server that was taken down on purpose stays down. A failed one is left alone while its
        disk is full.

        Raises:
            EngineError: with a `reason`; see docs/howto/engine.md for each and its remedy.
        """
        if not self._must_start():
            return None
        with self._alone(silent):
            state = self._home.read_state()
            # Another process may have started it, or taken it down, while this one waited.
            if state is None or state.pid is None or self._is_up(state):
                return None
            return self._endpoint(self._start(state, silent, keep=state.keep, same_ports=True))

    def down(self) -> bool:
        """Stop the server cleanly, whoever started it, and tell whether there was one."""
        if not self._home.root.exists():
            return False
        with self._alone(silent):
            state = self._home.read_state()
            server = process.find_server(state.pid, self._home) if state else None
            if state is None or server is None:
                return False
            process.stop(server)
            self._home.write_state(state.stopped())
            return True

    def status(self) -> EngineStatus:
        """Look at the server without waiting for anyone."""
        state = self._home.read_state()
        server = process.find_server(state.pid, self._home) if state else None
        store = sum(size for _, size in files_of(self._home.data))
        stopped = EngineStatus(state=EngineState.STOPPED, home=self._home.root, store_bytes=store)
        if state is None or server is None:
            return stopped
        try:
            with server.oneshot():
                since = datetime.fromtimestamp(server.create_time(), tz=UTC)
                memory = server.memory_info().rss
        except psutil.NoSuchProcess:  # it has just ended
            return stopped
        return EngineStatus(
            state=self._state(),
            home=self._home.root,
            endpoint=self._endpoint(state),
            keep=state.keep,
            since=since,
            memory_bytes=memory,
            store_bytes=store,
        )

    def logs(self, lines: int = 50) -> list[str]:
        """Read the last lines the server printed, in this run or the last."""
        return process.tail(self._home.console, lines)

    @contextlib.contextmanager
    def _alone(self, report: Report) -> Iterator[None]:
        self._home.create()
        waiting = Progress(stage=Stage.WAIT)
        with held(self._home.lock, waiting=lambda: report(waiting)):
            yield

    def _ensure(self, report: Report, *, keep: bool) -> Endpoint:
        state = self._home.read_state()
        if state is None or not self._is_up(state):
            state = self._start(state, report, keep=keep)
        elif keep and not state.keep:
            state = replace(state, keep=True)
            self._home.write_state(state)
        report(Progress(stage=Stage.READY))
        return self._endpoint(state)

    def _state(self) -> EngineState:
        if process.has_panicked(self._home):
            return EngineState.FAILED
        return EngineState.RUNNING if process.is_started(self._home) else EngineState.STARTING

    def _must_start(self) -> bool:
        state = self._home.read_state()
        if state is None or state.pid is None:
            return False
        server = process.find_server(state.pid, self._home)
        return server is None or process.has_panicked(self._home)

    def _is_up(self, state: ServerState) -> bool:
        """Find the server that is noted, and wait for it if its starter was killed half-way.

        One whose database failed is stopped, if there is space for it to start again.
        """
        if state.pid is None:
            return False
        server = process.find_server(state.pid, self._home)
        if server is not None and process.has_panicked(self._home):
            require_space(self._home.root, _SPACE)
            process.stop(server)
        seconds = self._settings.start_timeout_s
        if server is not None and process.wait_started(server, self._home, seconds):
            return True
        process.wait_gone(state.pid)
        return False

    def _start(
        self, last: ServerState | None, report: Report, *, keep: bool, same_ports: bool = False
    ) -> ServerState:
        settings, home = self._settings, self._home
        process.require_alone(home)
        java = find_java(settings.java)
        memory = size_memory(
            machine_megabytes(), heap_mb=settings.heap_mb, page_cache_mb=settings.page_cache_mb
        )
        known = Ports(bolt=last.bolt_port, http=last.http_port) if last else None
        asked = known if same_ports else None
        ports = choose_ports(
            bolt=settings.bolt_port or (asked.bolt if asked else None),
            http=settings.http_port or (asked.http if asked else None),
            remembered=known,
        )
        if not is_assembled(self._lock, home):
            assemble(
                self._lock,
                home=home,
                cache=settings.cache,
                fetch=self._fetch or maven_fetch(settings.repository),
                report=report,
                clock=time.monotonic,
            )
        require_space(home.root, _SPACE)
        conf = neo4j_conf(ports, memory, settings.tx_log_hours, settings.conf)
        write_private(home.conf / "neo4j.conf", conf)
        process.clear_scratch(home)
        self._prepare_password(java, report)
        report(Progress(stage=Stage.START))
        state = ServerState(pid=None, bolt_port=ports.bolt, http_port=ports.http, keep=keep)
        if not keep:
            process.spawn_watch(home)
        command = process.server_command(java, home, memory, settings.java_options.split())
        return self._launch(command, state)

    def _launch(self, command: list[str], state: ServerState) -> ServerState:
        home = self._home
        server = process.spawn(command, log=home.console, environment=process.environment(home))
        started = replace(state, pid=server.pid)
        home.write_state(started)
        try:
            if process.wait_started(server, home, self._settings.start_timeout_s):
                return started
        except BaseException:
            process.stop(server)
            home.write_state(state)
            raise
        home.write_state(state)
        raise process.end_of(server, home)

    def _prepare_password(self, java: JavaRuntime, report: Report) -> None:
        home = self._home
        known = home.read_password()
        if (home.data / "databases" / "system").exists():
            if known is None:
                raise EngineError(
                    f"There is a store under {home.data}, but its password is gone from"
                    f" {home.password_file}; put it back, or choose another place with --home.",
                    reason="password-lost",
                )
            return
        report(Progress(stage=Stage.PREPARE))
        process.set_password(java, home, known or home.new_password())

    def _endpoint(self, state: ServerState) -> Endpoint:
        assert state.pid is not None
        return Endpoint(
            bolt_uri=f"bolt://127.0.0.1:{state.bolt_port}",
            http_url=f"http://127.0.0.1:{state.http_port}",
            user=_USER,
            password=self._home.read_password() or "",
            pid=state.pid,
            version=self._lock.neo4j,
        )


log = structlog.get_logger(__name__)

# The service starts a dead server again within seconds; requests get 503 meanwhile
# (docs/howto/engine.md).
_LOOK_S: Final = 1.0
# After a failed start the pause doubles up to this (docs/howto/engine.md).
_LONGEST_PAUSE_S: Final = 60.0


@asynccontextmanager
async def supervised(engine: Engine, report: Report) -> AsyncIterator[Endpoint]:
    """Use the server for a while, and start it again whenever it dies or fails meanwhile.

    It comes back on the same ports, so that open drivers reconnect by themselves.

    Raises:
        EngineError: The first start failed; see `Engine.running`.
    """
    running = engine.running(report)
    endpoint = await asyncio.to_thread(running.__enter__)
    watching = asyncio.create_task(_watch(engine))
    try:
        yield endpoint
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await asyncio.to_thread(running.__exit__, None, None, None)


async def _watch(engine: Engine) -> None:
    """Look every second whether the server died or failed; run until cancelled.

    A start that fails, for instance because the disk is full, is tried again after a pause that
    doubles up to a minute.
    """
    pause_s = _LOOK_S
    while True:
        await asyncio.sleep(pause_s)
        try:
            revived = await asyncio.to_thread(engine.revive)
        except (EngineError, OSError) as error:  # the system may lack memory for a process
            pause_s = min(2.0 * pause_s, _LONGEST_PAUSE_S)
            log.error(  # noqa: TRY400 (its message says what to do; a traceback adds nothing)
                "neo4j_restart_failed",
                reason=error.fields.get("reason") if isinstance(error, EngineError) else None,
                detail=str(error),
                again_in_s=pause_s,
            )
            continue
        pause_s = _LOOK_S
        if revived is not None:
            log.warning("neo4j_restarted", pid=revived.pid)
