"""What the evaluation commands share: the service they measure, progress, how they end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import TaskID

from ecphoria.cli.connection import admin_key
from ecphoria.cli.console import counting, say_error, stderr
from ecphoria.client import AsyncClient
from ecphoria.errors import InvalidInput, Misconfigured

if TYPE_CHECKING:
    from ecphoria.evaluation.run import Connect, Watch
    from ecphoria.settings import Settings

__all__ = ["Home", "Key", "Server", "Where", "on_service", "refusing"]

_WRONGLY_USED, _INTERRUPTED = 2, 130
_TIMEOUT_S = 300.0

Server = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="Use this running service; else one is started here."
    ),
]
Key = Annotated[
    str | None,
    typer.Option("--key", envvar="ECPHORIA_API_KEY", metavar="KEY", help="An operator's key."),
]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home", metavar="DIR", help="Where the service started here keeps its store and key."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which service is measured."""

    server: str | None
    key: str | None
    home: Path | None


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """End with 2 what the caller has to change: a file, a name."""
    try:
        yield
    except InvalidInput as error:
        say_error(error)
        raise typer.Exit(_WRONGLY_USED) from error


def on_service(
    work: "Callable[[Connect, Watch], Coroutine[None, None, None]]", where: Where
) -> None:
    """Do the work on the service wanted, with a progress bar."""

    async def whole() -> None:
        async with _service(where) as connect:
            with _progress() as watch:
                await work(connect, watch)

    try:
        asyncio.run(whole())
    except (asyncio.CancelledError, KeyboardInterrupt) as ended:
        raise typer.Exit(_INTERRUPTED) from ended


@contextlib.contextmanager
def _progress() -> "Iterator[Watch]":
    with counting(stderr()) as progress:
        tasks: dict[tuple[str, int], TaskID] = {}

        def watch(stage: str, done: int, total: int) -> None:
            if (stage, total) not in tasks:
                tasks[stage, total] = progress.add_task(stage, total=total)
            progress.update(tasks[stage, total], completed=done)

        yield watch


@contextlib.asynccontextmanager
async def _service(where: Where) -> "AsyncIterator[Connect]":
    if where.server is not None:
        yield _connector(where.server, where.key or admin_key(where.home))
        return
    try:
        from ecphoria.cli.serving import running  # noqa: PLC0415 (extra `server`)
    except ModuleNotFoundError as error:
        raise Misconfigured(
            "Without --server the service is started here, and "
            f"`{error.name}` is not installed: pip install 'ecphoria[server,local]'.",
            module=error.name,
        ) from error
    settings = _settings(where.home)
    async with running(settings) as service:
        given = settings.auth.bootstrap_key
        key = given.get_secret_value() if given else where.key or admin_key(settings.home)
        yield _connector(service.started.url, key)


def _connector(url: str, key: str | None) -> "Connect":
    return lambda tenant: AsyncClient(url, key, tenant=tenant, timeout=_TIMEOUT_S)


def _settings(home: Path | None) -> "Settings":
    """Keep evaluations out of the user's own store, unless the settings name a server."""
    from ecphoria.settings import read_settings  # noqa: PLC0415 (extra `server`)

    quiet = {"server": {"port": 0}, "log": {"level": "warning"}}
    return read_settings(**quiet, home=home or read_settings().cache / "evaluation")
