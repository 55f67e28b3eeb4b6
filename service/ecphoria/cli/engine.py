"""Commands for the managed local Neo4j, and the state of it and of the service."""

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text
from typer import Argument, Option

from ecphoria.cli.connection import Home, Server
from ecphoria.cli.extras import local_settings
from ecphoria.cli.terminal import (
    MOST_ROWS,
    AsJson,
    counted,
    pairs,
    print_json,
    say_error,
    stderr,
    stdout,
)
from ecphoria.client.defaults import DEFAULT_URL
from ecphoria.engine import (
    Endpoint,
    Engine,
    EngineSettings,
    EngineState,
    EngineStatus,
    Report,
    Stage,
)
from ecphoria.engine import Progress as Step
from ecphoria.errors import EcphoriaError, Timeout, Unavailable

Load = Callable[[Path | None], EngineSettings]
"""Builds the settings; the argument is `--home`."""
Run = Callable[[str], Sequence[Mapping[str, object]]]
"""Runs one Cypher statement and returns its records by column."""
Connect = Callable[[Endpoint], AbstractContextManager[Run]]

commands = typer.Typer(add_completion=False)

_NO_ANSWER, _PATIENCE_S = "does not answer", 5.0
_STOPPED = 3  # exit code of `status`, as service managers have it
_PROMPT = "cypher> "
_SHOWN = 16  # numbers of a list that are printed

HeapOption = Annotated[
    int | None, Option("--heap-mb", min=256, help="Java heap. Default: fits the machine.")
]
PageCacheOption = Annotated[
    int | None, Option("--page-cache-mb", min=8, help="Page cache. Default: fits the machine.")
]
BoltOption = Annotated[
    int | None, Option("--bolt-port", min=1, max=65535, help="Port. Default: a free one.")
]
HttpOption = Annotated[
    int | None, Option("--http-port", min=1, max=65535, help="Port. Default: a free one.")
]
LinesOption = Annotated[
    int, Option("--lines", "-n", min=1, max=MOST_ROWS, help="Number of lines, from the end.")
]
StatementArgument = Annotated[
    str | None, Argument(help="One statement. Without it, a prompt opens.", metavar="CYPHER")
]


def add_engine_commands(app: typer.Typer, *, load: Load, connect: Connect) -> None:
    """Mount `status` and the group `neo4j` on `app`; `connect` is only called by `shell`."""
    neo4j = typer.Typer(no_args_is_help=True, help="Manage the local Neo4j.")
    app.add_typer(neo4j, name="neo4j")
    _add_life(neo4j, load)
    _add_views(neo4j, load)
    _add_shell(neo4j, load, connect)

    @app.command()
    def status(server: Server = DEFAULT_URL, home: Home = None, as_json: AsJson = False) -> None:
        """Show the state of the service and of the local Neo4j; exit code 3 if neither runs."""
        _tell(Engine(load(home)).status(), _service_at(server), as_json=as_json)


def _add_life(app: typer.Typer, load: Load) -> None:

    @app.command()
    def up(
        home: Home = None,
        heap_mb: HeapOption = None,
        page_cache_mb: PageCacheOption = None,
        bolt_port: BoltOption = None,
        http_port: HttpOption = None,
    ) -> None:
        """Start the local Neo4j and leave it running; the first time, fetch it (181 MB)."""
        settings = load(home)
        told = dataclasses.replace(
            settings,
            heap_mb=heap_mb or settings.heap_mb,
            page_cache_mb=page_cache_mb or settings.page_cache_mb,
            bolt_port=bolt_port or settings.bolt_port,
            http_port=http_port or settings.http_port,
        )
        engine = Engine(told)
        with drawn(stderr()) as report:
            engine.up(report)
        _show(engine.status())

    @app.command()
    def down(home: Home = None) -> None:
        """Stop the local Neo4j cleanly; its data stays."""
        stopped = Engine(load(home)).down()
        stdout().print("stopped" if stopped else "was not running")


def _add_views(app: typer.Typer, load: Load) -> None:
    @app.command()
    def logs(home: Home = None, lines: LinesOption = 50) -> None:
        """Print the log of the local Neo4j, of this run or of the last."""
        for line in Engine(load(home)).logs(lines):
            stdout().print(line, markup=False, soft_wrap=True)


def _add_shell(app: typer.Typer, load: Load, connect: Connect) -> None:
    @app.command()
    def shell(statement: StatementArgument = None, home: Home = None) -> None:
        """Ask the local Neo4j in Cypher: one statement, standard input, or a prompt."""
        with (
            drawn(stderr()) as report,
            Engine(load(home)).running(report) as endpoint,
            connect(endpoint) as run,
        ):
            if statement is not None:
                _print_rows(run(statement))
            elif sys.stdin.isatty():
                _converse(run)
            else:
                for piece in _statements(sys.stdin):
                    _print_rows(run(piece))


@contextlib.contextmanager
def drawn(console: Console, *, then: str | None = None) -> Iterator[Report]:
    """Draw the engine's reports: a bar on a terminal, else a line per stage and per tenth.

    `then` names what is waited for once the engine is ready.
    """
    if not console.is_terminal:
        yield _in_lines(console, then)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task(then or "", total=None, visible=then is not None, detail="")

        def draw(step: Step) -> None:
            ready = step.stage is Stage.READY
            progress.update(
                task,
                description=then if then and ready else step.stage.value,
                completed=step.done,
                total=step.total or None,
                detail=_detail(step),
                visible=then is not None or not ready,
            )

        yield draw


def _in_lines(console: Console, then: str | None) -> Report:
    said: set[tuple[Stage, int]] = set()

    def write(step: Step) -> None:
        mark = (step.stage, 10 * step.done // step.total if step.total else 0)
        what = then if step.stage is Stage.READY else step.stage.value
        if mark not in said and what is not None:
            said.add(mark)
            console.print(f"{what} {_detail(step)}".rstrip())

    return write


def _detail(step: Step) -> str:
    if not step.total:
        return ""
    size = f"{step.done / 1e6:.0f}/{step.total / 1e6:.0f} MB"
    return size if step.eta is None else f"{size}, {step.eta:.0f} s left"


def _record(status: EngineStatus) -> dict[str, object]:
    """Give the state without the password."""
    endpoint = status.endpoint
    return {
        "state": status.state.value,
        "home": str(status.home),
        "bolt": endpoint and endpoint.bolt_uri,
        "browser": endpoint and f"{endpoint.http_url}/browser",
        "user": endpoint and endpoint.user,
        "version": endpoint and endpoint.version,
        "process": endpoint and endpoint.pid,
        "since": status.since,
        "keep": status.keep,
        "memory_bytes": status.memory_bytes,
        "store_bytes": status.store_bytes,
    }


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Service:
    """The address of the service and its state."""

    address: str
    state: str
    missing: tuple[str, ...] = ()


def _service_at(address: str) -> _Service:
    from ecphoria.client import Client, Retries  # noqa: PLC0415 (other commands here do without it)

    try:
        with Client(address, timeout=_PATIENCE_S, retries=Retries(limit=0)) as client:
            found = client.ready()
    except EcphoriaError as error:
        if type(error) in {Unavailable, Timeout}:  # no answer; a service that answers says more
            return _Service(address=address, state=_NO_ANSWER)
        return _Service(address=address, state="not ready", missing=(str(error),))
    return _Service(address=address, state=found.status, missing=found.degraded)


def _tell(now: EngineStatus, service: _Service, *, as_json: bool) -> None:
    """Print the state, and end with 3 if nothing runs."""
    if as_json:
        print_json(_record(now) | {"service": dataclasses.asdict(service)})
    else:
        _show(now, service)
    stopped = now.state in {EngineState.STOPPED, EngineState.FAILED}
    if stopped and service.state == _NO_ANSWER:
        raise typer.Exit(_STOPPED)


def _show(status: EngineStatus, service: _Service | None = None) -> None:
    rows: list[tuple[str, str]] = []
    if service is not None:
        rows = [
            ("service", f"{service.state} at {service.address}"),
            *(("", text) for text in service.missing),
        ]
    rows += [("Neo4j", status.state.value), ("home", str(status.home))]
    if status.endpoint is not None and status.since is not None:
        age = (datetime.now(UTC) - status.since).total_seconds()
        rows += [
            ("bolt", status.endpoint.bolt_uri),
            ("browser", f"{status.endpoint.http_url}/browser"),
            ("user", status.endpoint.user),
            ("password", f"in {status.home / 'password'}"),
            ("server", f"Neo4j {status.endpoint.version}, process {status.endpoint.pid}"),
            ("up for", f"{age:.0f} s"),
            ("ends", "at `ecphoria neo4j down`" if status.keep else "with its last user"),
            ("memory", f"{status.memory_bytes / 1e6:.0f} MB"),
        ]
    stdout().print(pairs([*rows, ("store", f"{status.store_bytes / 1e6:.0f} MB")]))


def _converse(run: Run) -> None:
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401, PLC0415 (gives `input` its line editing, where there is one)
    stdout().print("End a statement with ; and the session with :exit or Ctrl-D.", style="dim")
    for statement in _statements(_typed()):
        try:
            _print_rows(run(statement))
        except EcphoriaError as error:
            say_error(error)


def _typed() -> Iterator[str]:
    while True:
        try:
            line = input(_PROMPT)
        except (EOFError, KeyboardInterrupt):
            return
        if line.strip() in {":exit", ":quit"}:
            return
        yield line


def _statements(lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    """Cut a text where a line ends in a semicolon."""
    held: list[str] = []
    for line in lines:
        held.append(line.rstrip())
        if held[-1].endswith(";"):
            yield "\n".join(held).rstrip(";")
            held.clear()
    if rest := "\n".join(held).strip():
        yield rest


def _print_rows(rows: Sequence[Mapping[str, object]]) -> None:
    console = stdout()
    if rows:
        # As Text: a list's brackets would be read as markup.
        table = Table(*(Column(Text(name)) for name in rows[0]), box=None, pad_edge=False)
        for row in rows:
            table.add_row(*(Text(_short(value)) for value in row.values()))
        console.print(table)
    console.print(counted(len(rows), "row"), style="dim")


def _short(value: object) -> str:
    """Write a value of Cypher; of a vector, only its length."""
    if isinstance(value, list) and len(value) > _SHOWN and isinstance(value[0], float):
        return f"[{value[0]:.4f}, ... {len(value)} numbers]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_short(each)}" for name, each in value.items()) + "}"
    return str(value)


def _engine_settings(home: Path | None) -> EngineSettings:
    from ecphoria.app import engine_settings  # noqa: PLC0415 (extra `server`)

    return engine_settings(local_settings(home))


def _connect(endpoint: Endpoint) -> AbstractContextManager[Run]:
    from ecphoria.neo4j_store.console import open_console  # noqa: PLC0415 (extra `server`)

    return open_console(endpoint.bolt_uri, endpoint.user, endpoint.password)


add_engine_commands(commands, load=_engine_settings, connect=_connect)
