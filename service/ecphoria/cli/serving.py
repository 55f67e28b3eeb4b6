"""Run the service in this process, and end it in order however it is asked to end."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from ecphoria.api.server import Started
from ecphoria.api.server import serve as serve_api
from ecphoria.cli.console import stderr, stdout
from ecphoria.cli.engine import drawn
from ecphoria.garbage import look_seldom
from ecphoria.settings import Settings
from ecphoria.telemetry import configure_logging
from ecphoria.wiring import Reports, build

__all__ = ["Running", "free_port", "running", "serve", "work"]

_MEGABYTE = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A service that takes requests; `ended` is done when it has stopped."""

    started: Started
    ended: asyncio.Task[None]


async def serve(settings: Settings) -> None:
    """Serve until interrupted or terminated."""
    async with running(settings) as service:
        _say_addresses(service.started)
        await asyncio.wait({service.ended})


async def work(settings: Settings) -> None:
    """Take jobs until interrupted or terminated; those that run are given back at a rest."""
    configure_logging(settings.log.level, settings.log.format)
    with _cancelled_by_signals():
        with drawn(stderr()) as engine:
            services = await build(settings, Reports(engine=engine, weights=_weights()))
        look_seldom()
        try:
            at_once = settings.jobs.workers
            stdout().print(f"taking jobs, up to {at_once} at once; Ctrl-C stops it")
            await asyncio.Event().wait()
        finally:
            await services.close()


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """Bring everything up, and afterwards take it down in the reverse order.

    An interrupt or a termination, at any moment, cancels the task that uses this.

    Raises:
        Misconfigured: The address cannot be listened on; said before anything is started.
        EngineError: The local Neo4j cannot be fetched or started.
    """
    configure_logging(settings.log.level, settings.log.format)
    ready: asyncio.Future[Started] = asyncio.get_running_loop().create_future()
    with _cancelled_by_signals():
        with drawn(stderr()) as engine:
            reports = Reports(engine=engine, weights=_weights())
            task = asyncio.create_task(
                serve_api(settings, reports=reports, started=ready.set_result)
            )
            either: set[asyncio.Future[Any]] = {task, ready}
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                stderr().print("Stopping, as soon as what is being started can be.", style="dim")
                task.cancel()
                await asyncio.wait({task})
                raise
        if not ready.done():
            await task
        try:
            yield Running(started=ready.result(), ended=task)
        finally:
            ready.result().stop()
            await task


@contextlib.contextmanager
def _cancelled_by_signals() -> Iterator[None]:
    """Cancel this task at a signal, and again when uvicorn has seen it and passes it on."""
    loop, owner = asyncio.get_running_loop(), asyncio.current_task()
    assert owner is not None
    told = False

    def cancel() -> None:
        nonlocal told
        if not told:
            owner.cancel()
        told = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, cancel)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def free_port(host: str, wanted: int) -> int:
    """Take the port that is wanted, or let the system choose (0) if it is in use."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, wanted))
        except OSError:
            return 0
    return wanted


def _weights() -> Callable[[int, int], None]:
    """Tell, a line per quarter, how far the model's weights have come."""
    console = stderr()
    told: set[int] = set()

    def report(done: int, total: int) -> None:
        quarter = 4 * done // total if total else 0
        if total and quarter not in told:
            told.add(quarter)
            amount = f"{done / _MEGABYTE:.0f}/{total / _MEGABYTE:.0f} MB"
            console.print(f"fetching the embedding model {amount}", style="dim")

    return report


def _say_addresses(started: Started) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_row("service", f"[address]{started.url}[/address]")
    table.add_row("API docs", f"[address]{started.url}/docs[/address]")
    if endpoint := started.services.engine:
        table.add_row("Neo4j", f"[address]{endpoint.bolt_uri}[/address]")
        table.add_row("browser", f"[address]{endpoint.http_url}/browser[/address]")
    if key := started.services.admin_key_file:
        table.add_row("admin key", f"made now, in {key}")
    table.add_row("", "Ctrl-C stops it")
    stdout().print(table)
