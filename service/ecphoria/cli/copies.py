"""Commands for copies: backup of a store and its restore, export and import of a tenant."""

import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ecphoria import loop
from ecphoria.cli.access import tenants
from ecphoria.cli.console import stderr, stdout, watching
from ecphoria.cli.local import Home, given_settings, needed

if TYPE_CHECKING:
    from ecphoria.portability.service import Copied, Portability, Report

__all__ = ["backup"]

backup = typer.Typer(no_args_is_help=True, help="Copy the whole store to a file, and back.")

NewFile = Annotated[Path, typer.Argument(metavar="FILE", help="The copy; must not exist yet.")]
OldFile = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="The copy.")
]
Discard = Annotated[
    bool,
    typer.Option("--discard", help="Give up an interrupted attempt and delete what it stored."),
]


@backup.command("create")
def create_backup(file: NewFile, home: Home = None) -> None:
    """Copy every tenant, every key and the archive into one file, while the service runs."""
    _tell(file, _run(home, lambda copies, report: copies.backup(file, report)))


@backup.command("restore")
def restore_backup(file: OldFile, *, discard: Discard = False, home: Home = None) -> None:
    """Put a backup into an empty store; after an interruption the same command goes on."""
    _put(file, home, discard=discard, whole=True)


@tenants.command("export")
def export_tenant(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tenant to copy.")],
    file: NewFile,
    home: Home = None,
) -> None:
    """Copy a tenant into a file, while the service runs."""
    _tell(file, _run(home, lambda copies, report: copies.export(name, file, report)))


@tenants.command("import")
def import_tenant(file: OldFile, *, discard: Discard = False, home: Home = None) -> None:
    """Put an exported tenant into this store; after an interruption the same command goes on."""
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
        from ecphoria.cli.engine import drawn  # noqa: PLC0415 (extra `local`)
        from ecphoria.settings import read_settings  # noqa: PLC0415
        from ecphoria.wiring import Reports, open_copies  # noqa: PLC0415 (extra `server`)

    async def run() -> T:
        settings = read_settings(**given_settings(None, None, home))
        async with contextlib.AsyncExitStack() as stack:
            with drawn(stderr()) as engine:
                reports = Reports(engine=engine)
                copies = await stack.enter_async_context(open_copies(settings, reports))
            with watching() as report:
                return await work(copies, report)

    return loop.run(run())
