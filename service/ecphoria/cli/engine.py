"""Commands for the managed local Neo4j: up, down, status, logs, shell."""

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
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column, Table
from rich.text import Text

from ecphoria.cli.connection import Home
from ecphoria.cli.extras import given_settings, needed
from ecphoria.cli.terminal import AsJson, counted, pairs, print_json, say_error, stderr, stdout
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
from ecphoria.errors import EcphoriaError

Load = Callable[[Path | None], EngineSettings]
"""Builds the settings; the argument is `--home`."""
Run = Callable[[str], Sequence[Mapping[str, object]]]
"""Runs one Cypher statement and returns its records by column."""
Connect = Callable[[Endpoint], AbstractContextManager[Run]]

commands = typer.Typer(add_completion=False)

_STOPPED = 3  # exit code of `status`, as service managers have it
_PROMPT = "cypher> "
_MEGABYTE = 2**20
_SHOWN = 16  # numbers of a list that are printed

HeapOption = Annotated[
    int | None, typer.Option("--heap-mb", min=256, help="Java heap. Default: fits the machine.")
]
PageCacheOption = Annotated[
    int | None,
    typer.Option("--page-cache-mb", min=8, help="Page cache. Default: fits the machine."),
]
BoltOption = Annotated[
    int | None, typer.Option("--bolt-port", min=1, max=65535, help="Port. Default: a free one.")
]
HttpOption = Annotated[
    int | None, typer.Option("--http-port", min=1, max=65535, help="Port. Default: a free one.")
]
LinesOption = Annotated[
    int, typer.Option("--lines", "-n", min=1, help="Number of lines, from the end.")
]
StatementArgument = Annotated[
    str | None, typer.Argument(help="One statement. Without it, a prompt opens.", metavar="CYPHER")
]


def add_engine_commands(app: typer.Typer, *, load: Load, connect: Connect) -> None:
    """Mount the commands on `app`; `connect` is only called by `shell`."""
    _add_life(app, load)
    _add_views(app, load)
    _add_shell(app, load, connect)


def _add_life(app: typer.Typer, load: Load) -> None:

    @app.command()
    def up(
        home: Home = None,
        heap_mb: HeapOption = None,
        page_cache_mb: PageCacheOption = None,
        bolt_port: BoltOption = None,
        http_port: HttpOption = None,
    ) -> None:
        """Start the local Neo4j and leave it running; the first time, fetch it (180 MB)."""
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
    def status(home: Home = None, as_json: AsJson = False) -> None:
        """Show whether the local Neo4j runs and how to reach it; exit code 3 when it does not."""
        now = Engine(load(home)).status()
        if as_json:
            print_json(_record(now))
        else:
            _show(now)
        if now.state in {EngineState.STOPPED, EngineState.FAILED}:
            raise typer.Exit(_STOPPED)

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
def drawn(console: Console) -> Iterator[Report]:
    """Draw the engine's reports: a bar on a terminal, else a line per stage and per tenth."""
    if not console.is_terminal:
        yield _in_lines(console)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[detail]}"),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("", total=None, visible=False, detail="")

        def draw(step: Step) -> None:
            progress.update(
                task,
                description=step.stage.value,
                completed=step.done,
                total=step.total or None,
                detail=_detail(step),
                visible=step.stage is not Stage.READY,
            )

        yield draw


def _in_lines(console: Console) -> Report:
    said: set[tuple[Stage, int]] = set()

    def write(step: Step) -> None:
        mark = (step.stage, 10 * step.done // step.total if step.total else 0)
        if mark not in said and step.stage is not Stage.READY:
            said.add(mark)
            console.print(f"{step.stage.value} {_detail(step)}".rstrip())

    return write


def _detail(step: Step) -> str:
    if not step.total:
        return ""
    size = f"{step.done / _MEGABYTE:.0f}/{step.total / _MEGABYTE:.0f} MB"
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


def _show(status: EngineStatus) -> None:
    rows: list[tuple[str, str]] = [("state", status.state.value), ("home", str(status.home))]
    if status.endpoint is not None and status.since is not None:
        age = (datetime.now(UTC) - status.since).total_seconds()
        rows += [
            ("bolt", status.endpoint.bolt_uri),
            ("browser", f"{status.endpoint.http_url}/browser"),
            ("user", status.endpoint.user),
            ("password", f"in {status.home / 'password'}"),
            ("server", f"Neo4j {status.endpoint.version}, process {status.endpoint.pid}"),
            ("up for", f"{age:.0f} s"),
            ("ends", "at `ecphoria down`" if status.keep else "with its last user"),
            ("memory", f"{status.memory_bytes / _MEGABYTE:.0f} MB"),
        ]
    stdout().print(pairs([*rows, ("store", f"{status.store_bytes / _MEGABYTE:.0f} MB")]))


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
    with needed():
        from ecphoria.app import engine_settings  # noqa: PLC0415 (extra `server`)
        from ecphoria.settings import read_settings  # noqa: PLC0415

    return engine_settings(read_settings(**given_settings(None, None, home)))


def _connect(endpoint: Endpoint) -> AbstractContextManager[Run]:
    with needed():
        from ecphoria.neo4j_store.session import open_console  # noqa: PLC0415 (extra `server`)

    return open_console(endpoint.bolt_uri, endpoint.user, endpoint.password)


add_engine_commands(commands, load=_engine_settings, connect=_connect)
