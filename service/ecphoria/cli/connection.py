"""Options that commands share, the connection to a service, and the terminal."""

import asyncio
import contextlib
import functools
import inspect
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text
from rich.theme import Theme

from ecphoria import runtime
from ecphoria.client import AsyncClient, Client
from ecphoria.client.defaults import DEFAULT_TENANT, DEFAULT_URL, Target, admin_key, local_key
from ecphoria.errors import BadFile, EcphoriaError, InvalidInput, Misconfigured, Unauthenticated

if TYPE_CHECKING:
    from ecphoria.evaluation.run import Connect
    from ecphoria.settings import Settings


Server = Annotated[
    str,
    typer.Option("--server", envvar="ECPHORIA_URL", metavar="URL", help="Address of the service."),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar="ECPHORIA_API_KEY",
        metavar="KEY",
        help="API key. Default: the admin key that a local service wrote to its home directory.",
    ),
]
TenantName = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        envvar="ECPHORIA_TENANT",
        metavar="NAME",
        help="Tenant to act for, with an operator's key; `default` with the admin key.",
    ),
]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        envvar="ECPHORIA_HOME",
        metavar="DIR",
        help="Home directory of the local service. Default: the user's data directory.",
    ),
]


def option(name: str, default: object, annotation: object) -> inspect.Parameter:
    """Make an option that several commands offer."""
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


_CONNECTION = {
    parameter.name: parameter
    for parameter in (
        option("server", DEFAULT_URL, Server),
        option("key", None, Key),
        option("tenant", None, TenantName),
        option("home", None, Home),
    )
}


def connect(
    server: str,
    key: str | None,
    tenant: str | None,
    home: Path | None,
    *,
    assumed: str | None = DEFAULT_TENANT,
) -> Client:
    """Open the client a command uses; close it with `with`.

    Args:
        server: Address of the service.
        key: The key given, if one was.
        tenant: The tenant named, if one was.
        home: Where to look for the admin key.
        assumed: The tenant the admin key acts for if none was named.

    Raises:
        BadFile: The admin key is there but cannot be read.
    """
    found = target_of(server, key, tenant, home, assumed=assumed)
    return Client(found.url, found.key or "", tenant=found.tenant)  # no other key is looked for


def target_of(
    server: str,
    key: str | None,
    tenant: str | None,
    home: Path | None,
    *,
    assumed: str | None = DEFAULT_TENANT,
) -> Target:
    """Tell which service a command calls, and as whom; see `connect`."""
    if key is None:
        key = local_key(server, home)
        if key is not None and tenant is None:
            tenant = assumed
    return Target(url=server, key=key, tenant=tenant)


def connected(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of the connection, and call it with an open client first."""

    def run(**options: object) -> None:
        connection = {name: options.pop(name) for name in _CONNECTION}
        with connect(**connection) as client:  # type: ignore[arg-type]  # typer checked them
            command(client, **options)

    own = [*inspect.signature(command).parameters.values()][1:]
    return offering(run, command, [*own, *_CONNECTION.values()])


def offering(
    run: Callable[..., None],
    command: Callable[..., object],
    parameters: Sequence[inspect.Parameter],
) -> Callable[..., None]:
    """Let `run` stand for a command, and offer these options."""
    functools.update_wrapper(run, command)
    # Typer reads the options of a command from its signature and its annotations.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


Watch = Callable[[str, int, int], None]
"""Told a stage of long work, how much of it is done, and how much there is."""

_THEME = Theme(
    {
        "cue": "bold",
        "speaker": "cyan",
        "when": "dim",
        "score": "green",
        "edge": "magenta",
        "rail": "dim",
        "address": "cyan",
        "verdict.answer": "green",
        "verdict.verify": "yellow",
        "verdict.refuse": "yellow",
        "verdict.empty": "yellow",
        "error": "bold red",
        "bar.back": "grey23",
        "bar.complete": "cyan",
        "bar.finished": "green",
        "progress.remaining": "dim",
    }
)
_MAX_WIDTH = 100


def stdout() -> Console:
    """Open the console for answers; lines stay readable on wide terminals."""
    return _console(stderr=False)


def stderr() -> Console:
    """Open the console for progress and errors, so that answers can be piped."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(theme=_THEME, stderr=stderr, highlight=False)
    if console.is_terminal and console.width > _MAX_WIDTH:
        console.width = _MAX_WIDTH
    return console


def counting(console: Console) -> Progress:
    """Make a progress bar that counts things and tells the time left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
    )


@contextmanager
def watching() -> Iterator[Watch]:
    """Show how far each stage of long work has come: a bar on a terminal, else lines."""
    console = stderr()
    if not console.is_terminal:
        yield _told_in_lines(console)
        return
    with counting(console) as progress:
        tasks: dict[tuple[str, int], TaskID] = {}

        def watch(stage: str, done: int, total: int) -> None:
            if (stage, total) not in tasks:
                tasks[stage, total] = progress.add_task(stage, total=total)
            progress.update(tasks[stage, total], completed=done)

        yield watch


def _told_in_lines(console: Console) -> Watch:
    """Tell, a line per tenth, how far a stage has come and how long the rest will take."""
    begun: dict[tuple[str, int], float] = {}
    told: set[tuple[str, int, int]] = set()

    def watch(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        start = begun.setdefault((stage, total), now)
        tenth = 10 * done // total
        if not tenth or (stage, total, tenth) in told:
            return
        told.add((stage, total, tenth))
        left = (now - start) * (total - done) / done
        console.print(f"{stage} {done:,}/{total:,}, {left:.0f} s left")

    return watch


def say_error(error: EcphoriaError) -> None:
    """Print an error and its remedy."""
    line = Text.assemble(("Error: ", "error"), error.message)
    if isinstance(error, Unauthenticated):
        line.append(" On the command line: --key, or ECPHORIA_API_KEY.")
    if request := error.fields.get("request_id"):
        line.append(f" (request {request})", style="dim")
    stderr().print(line, soft_wrap=not sys.stderr.isatty())


def instant(text: str | None, field: str) -> datetime | None:
    """Read an instant; it needs an offset.

    Raises:
        InvalidInput: It is none; the message shows one.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidInput(
            f"`{text}` is no instant with an offset; write it like 2026-03-14T09:30:00Z.",
            field=field,
        )
    return found


_WRONGLY_USED, _INTERRUPTED = 2, 130
_TIMEOUT_S = 300.0

MeasuredServer = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="Address of a running service. Default: start one here."
    ),
]
MeasuringKey = Annotated[
    str | None,
    typer.Option("--key", envvar="ECPHORIA_API_KEY", metavar="KEY", help="An operator's key."),
]
MeasuredHome = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Home directory of the service started here, for its store and key.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The service to measure."""

    server: str | None
    key: str | None
    home: Path | None


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Exit with 2 on errors that the caller must correct, such as a file or a name."""
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
        runtime.run(whole())
    except (asyncio.CancelledError, KeyboardInterrupt) as ended:
        raise typer.Exit(_INTERRUPTED) from ended


@contextlib.asynccontextmanager
async def _service(where: Where) -> "AsyncIterator[Connect]":
    if where.server is not None:
        yield _connector(where.server, where.key or local_key(where.server, where.home))
        return
    try:
        from ecphoria.cli.serve import running  # noqa: PLC0415 (extra `server`)
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
    return lambda tenant: AsyncClient(url, key or "", tenant=tenant, timeout=_TIMEOUT_S)


def _settings(home: Path | None) -> "Settings":
    """Keep evaluations out of the user's own store, unless the settings name a server."""
    from ecphoria.settings import read_settings  # noqa: PLC0415 (extra `server`)

    quiet = {"server": {"port": 0}, "log": {"level": "warning"}}
    return read_settings(**quiet, home=home or read_settings().cache / "evaluation")


def check_targets(*targets: Path | None) -> None:
    """Refuse paths that could not be written at the end."""
    for target in targets:
        if target is not None and not target.resolve().parent.is_dir():
            raise BadFile(f"There is no folder {target.resolve().parent} to write into.")
        if target is not None and target.is_dir():
            raise BadFile(f"{target} is a folder; name a file to write.")
