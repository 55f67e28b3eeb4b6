"""What the evaluation commands share: the service they measure, progress, how they end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ecphoria import loop
from ecphoria.cli.connection import admin_key
from ecphoria.cli.console import Watch, say_error, watching
from ecphoria.client import AsyncClient
from ecphoria.errors import BadFile, InvalidInput, Misconfigured

if TYPE_CHECKING:
    from ecphoria.evaluation.run import Connect
    from ecphoria.settings import Settings

__all__ = ["Home", "Key", "Server", "Where", "check_targets", "on_service", "refusing"]

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
            with watching() as watch:
                await work(connect, watch)

    try:
        loop.run(whole())
    except (asyncio.CancelledError, KeyboardInterrupt) as ended:
        raise typer.Exit(_INTERRUPTED) from ended


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
        yield _connector(service.started.url, _key(settings, where))


def _key(settings: "Settings", where: Where) -> str | None:
    """Find an operator's key; one in the environment may be for another service than ours."""
    if settings.auth.bootstrap_key is not None:
        return settings.auth.bootstrap_key.get_secret_value()
    own = admin_key(settings.home)
    return own if settings.neo4j.uri is None else where.key or own


def _connector(url: str, key: str | None) -> "Connect":
    return lambda tenant: AsyncClient(url, key, tenant=tenant, timeout=_TIMEOUT_S)


def _settings(home: Path | None) -> "Settings":
    """Keep evaluations out of the user's own store, unless the settings name a server."""
    from ecphoria.settings import read_settings  # noqa: PLC0415 (extra `server`)

    quiet = {"server": {"port": 0}, "log": {"level": "warning"}}
    return read_settings(**quiet, home=home or read_settings().cache / "evaluation")


def check_targets(*targets: Path | None) -> None:
    """Refuse now what could not be written in the end."""
    for target in targets:
        if target is not None and not target.resolve().parent.is_dir():
            raise BadFile(f"There is no folder {target.resolve().parent} to write into.")
        if target is not None and target.is_dir():
            raise BadFile(f"{target} is a folder; name a file to write.")
