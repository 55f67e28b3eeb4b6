"""Commands that act on this machine: serve, worker, demo, the engine, copies of the store."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ecphoria import runtime
from ecphoria.cli.admin import tenants
from ecphoria.cli.connection import stderr, stdout, watching
from ecphoria.errors import Misconfigured

if TYPE_CHECKING:
    from ecphoria.cli.engine import Run
    from ecphoria.engine import Endpoint, EngineSettings
    from ecphoria.portability.service import Copied, Portability, Report


_INTERRUPTED = 130
_EXTRAS = "pip install 'ecphoria[server,local]'"

LocalHome = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Home directory, for keys and the local store.",
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
    home: LocalHome = None,
) -> None:
    """Run the service, with a local Neo4j unless ECPHORIA_NEO4J__URI names another."""
    with needed():
        from ecphoria.cli import serve as serving  # noqa: PLC0415 (extra `server`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    # Cancelled is how a service ends that nobody waits for.
    with contextlib.suppress(asyncio.CancelledError):
        runtime.run(serving.serve(read_settings(**given_settings(host, port, home))))


def worker(
    *,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, metavar="N", help="Number of jobs at once. Default: the setting."
        ),
    ] = None,
    home: LocalHome = None,
) -> None:
    """Run background jobs of services on the same Neo4j, without answering requests."""
    with needed():
        from ecphoria.cli import serve as serving  # noqa: PLC0415 (extra `server`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    given = given_settings(None, None, home)
    wanted = concurrency or max(1, read_settings(**given).jobs.workers)
    with contextlib.suppress(asyncio.CancelledError):
        runtime.run(serving.work(read_settings(**given, jobs={"workers": wanted})))


def demo(
    *,
    port: Port = None,
    home: LocalHome = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep running until Ctrl-C, without asking.")
    ] = False,
) -> None:
    """Remember a sample conversation and recall five questions from it."""
    with needed():
        from ecphoria.cli import serve as serving  # noqa: PLC0415 (extra `server`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    if port is None:
        usual = read_settings().server
        port = serving.free_port(usual.host, usual.port)
    given = given_settings(None, port, home) | {"log": {"level": "warning"}}
    try:
        runtime.run(serving.show(read_settings(**given), keep=keep))
    except asyncio.CancelledError as cancelled:
        raise typer.Exit(_INTERRUPTED) from cancelled


def given_settings(host: str | None, port: int | None, home: Path | None) -> dict[str, object]:
    """Give the settings that options of the command line set."""
    server = {"host": host, "port": port}
    told = {name: value for name, value in server.items() if value is not None}
    return {"server": told} | ({} if home is None else {"home": home})


def _engine_settings(home: Path | None) -> "EngineSettings":
    with needed():
        from ecphoria.app import engine_settings  # noqa: PLC0415 (extra `server`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    return engine_settings(read_settings(**given_settings(None, None, home)))


def _connect(endpoint: "Endpoint") -> "AbstractContextManager[Run]":
    with needed():
        from ecphoria.neo4j_store.session import open_console  # noqa: PLC0415 (extra `server`)

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


backup = typer.Typer(
    no_args_is_help=True, help="Back up the whole store to a file, and restore it."
)

NewFile = Annotated[Path, typer.Argument(metavar="FILE", help="Backup file; must not exist yet.")]
OldFile = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="Backup file.")
]
Discard = Annotated[
    bool, typer.Option("--discard", help="Abandon an interrupted attempt and delete its data.")
]


@backup.command("create")
def create_backup(file: NewFile, home: LocalHome = None) -> None:
    """Back up every tenant, every key and the archive to one file, while the service runs."""
    _tell(file, _run(home, lambda copies, report: copies.backup(file, report)))


@backup.command("restore")
def restore_backup(file: OldFile, *, discard: Discard = False, home: LocalHome = None) -> None:
    """Restore a backup into an empty store; run it again to resume."""
    _put(file, home, discard=discard, whole=True)


@tenants.command("export")
def export_tenant(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Tenant to export.")],
    file: NewFile,
    home: LocalHome = None,
) -> None:
    """Export a tenant to a file, while the service runs."""
    _tell(file, _run(home, lambda copies, report: copies.export(name, file, report)))


@tenants.command("import")
def import_tenant(file: OldFile, *, discard: Discard = False, home: LocalHome = None) -> None:
    """Import an exported tenant into this store; run it again to resume."""
    _put(file, home, discard=discard, whole=False)


def _put(file: Path, home: Path | None, *, discard: bool, whole: bool) -> None:
    if discard:
        _run(home, lambda copies, _: copies.discard(file))
        stdout().print("Deleted what the interrupted attempt had stored.")
        return
    done = _run(
        home,
        lambda copies, report: (
            copies.restore(file, report) if whole else copies.take_in(file, report)
        ),
    )
    stdout().print(f"Stored {_counts(done)}.")


def _tell(file: Path, done: "Copied") -> None:
    size = file.stat().st_size / 1e6
    stdout().print(f"Copied {_counts(done)} to {file} ({size:,.1f} MB).", soft_wrap=True)


def _counts(done: "Copied") -> str:
    tenants_word = "tenant" if done.tenants == 1 else "tenants"
    return f"{done.tenants:,} {tenants_word}, {done.nodes:,} nodes, {done.edges:,} edges"


T = TypeVar("T")


def _run(home: Path | None, work: "Callable[[Portability, Report], Awaitable[T]]") -> T:
    """Open the store that the settings name, as `serve` would, and work on it."""
    with needed():
        from ecphoria.app import Reports, open_copies  # noqa: PLC0415 (extra `server`)
        from ecphoria.cli.engine import drawn  # noqa: PLC0415 (extra `local`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    async def run() -> T:
        settings = read_settings(**given_settings(None, None, home))
        async with contextlib.AsyncExitStack() as stack:
            with drawn(stderr()) as engine:
                reports = Reports(engine=engine)
                copies = await stack.enter_async_context(open_copies(settings, reports))
            with watching() as report:
                return await work(copies, report)

    return runtime.run(run())
