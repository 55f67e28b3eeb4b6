"""Commands that run the service on this machine: serve, worker, demo, and those of the engine."""

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ecphoria import loop
from ecphoria.errors import Misconfigured

if TYPE_CHECKING:
    from ecphoria.cli.engine import Run
    from ecphoria.engine import Endpoint, EngineSettings

__all__ = ["Home", "add_local_commands", "given_settings", "needed"]

_INTERRUPTED = 130
_EXTRAS = "pip install 'ecphoria[server,local]'"

Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Where keys and the local store are kept.",
        show_default=False,
    ),
]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65_535, metavar="PORT", help="Port to listen on; 0 takes a free one."),
]


def add_local_commands(app: typer.Typer, *, service: str, engine: str) -> None:
    """Mount the commands under two headings; the engine's only where its parts are installed."""
    app.command(rich_help_panel=service)(serve)
    app.command(rich_help_panel=service)(worker)
    app.command(rich_help_panel=service)(demo)
    with contextlib.suppress(ModuleNotFoundError):
        from ecphoria.cli.engine import add_engine_commands  # noqa: PLC0415 (extra `local`)

        before = len(app.registered_commands)
        add_engine_commands(app, load=_engine_settings, connect=_connect)
        for command in app.registered_commands[before:]:
            command.rich_help_panel = engine


def serve(
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen on.")
    ] = None,
    port: Port = None,
    home: Home = None,
) -> None:
    """Run the service, with a local Neo4j unless ECPHORIA_NEO4J__URI names another."""
    with needed():
        from ecphoria.cli import serving  # noqa: PLC0415 (extra `server`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    # Cancelled is how a service ends that nobody waits for.
    with contextlib.suppress(asyncio.CancelledError):
        loop.run(serving.serve(read_settings(**given_settings(host, port, home))))


def worker(
    *,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=64, metavar="N", help="Jobs to do at once; else as set."),
    ] = None,
    home: Home = None,
) -> None:
    """Do the background work of services on the same Neo4j, and answer no requests."""
    with needed():
        from ecphoria.cli import serving  # noqa: PLC0415 (extra `server`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    given = given_settings(None, None, home)
    wanted = concurrency or max(1, read_settings(**given).jobs.workers)
    with contextlib.suppress(asyncio.CancelledError):
        loop.run(serving.work(read_settings(**given, jobs={"workers": wanted})))


def demo(
    *,
    port: Port = None,
    home: Home = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Go on running without asking, until Ctrl-C.")
    ] = False,
) -> None:
    """Remember a sample conversation and recall five questions from it."""
    with needed():
        from ecphoria.cli import serving, showing  # noqa: PLC0415 (extra `server`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    if port is None:
        usual = read_settings().server
        port = serving.free_port(usual.host, usual.port)
    given = given_settings(None, port, home) | {"log": {"level": "warning"}}
    try:
        loop.run(showing.show(read_settings(**given), keep=keep))
    except asyncio.CancelledError as cancelled:
        raise typer.Exit(_INTERRUPTED) from cancelled


def given_settings(host: str | None, port: int | None, home: Path | None) -> dict[str, object]:
    """Give the settings that options of the command line set."""
    server = {"host": host, "port": port}
    told = {name: value for name, value in server.items() if value is not None}
    return {"server": told} | ({} if home is None else {"home": home})


def _engine_settings(home: Path | None) -> "EngineSettings":
    with needed():
        from ecphoria.settings import read_settings  # noqa: PLC0415
        from ecphoria.wiring import engine_settings  # noqa: PLC0415 (extra `server`)

    return engine_settings(read_settings(**given_settings(None, None, home)))


def _connect(endpoint: "Endpoint") -> "AbstractContextManager[Run]":
    with needed():
        from ecphoria.graph.console import open_console  # noqa: PLC0415 (extra `server`)

    return open_console(endpoint.bolt_uri, endpoint.user, endpoint.password)


@contextlib.contextmanager
def needed() -> Iterator[None]:
    """Say which parts to install when one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("ecphoria"):
            raise
        raise Misconfigured(
            f"This command runs the service here, and `{error.name}` is not installed: {_EXTRAS}.",
            module=error.name,
        ) from error
