"""Commands of merges: concepts that are likely one."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.model.merge import MergeStatus
from ecphoria.wire.merges import MergeAnswer

__all__ = ["merges"]

merges = typer.Typer(no_args_is_help=True, help="Concepts that are likely one.")

Pair = Annotated[
    tuple[str, str], typer.Argument(help="The two names, as listed.", metavar="ONE OTHER")
]


@merges.command("list")
def list_merges(
    status: Annotated[MergeStatus | None, typer.Option(help="Only these.")] = None,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """List the merges that consolidation proposed, with why."""
    table = Table.grid(padding=(0, 3, 0, 0))
    with connect(server, key, tenant, home) as client:
        cursor: str | None = None
        while True:
            page = client.list_merges(status=status, cursor=cursor, limit=1_000)
            for merge in page.merges:
                table.add_row(*_cells(merge))
            cursor = page.next_cursor
            if cursor is None:
                break
    stdout().print(table)


@merges.command("accept")
def accept(
    names: Pair,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Let recall walk between two concepts as if they were one."""
    with connect(server, key, tenant, home) as client:
        _show(client.accept_merge(*names))


@merges.command("reject")
def reject(
    names: Pair,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Keep two concepts apart; they are not proposed again."""
    with connect(server, key, tenant, home) as client:
        _show(client.reject_merge(*names))


@merges.command("undo")
def undo(
    names: Pair,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Take back what was decided about two concepts."""
    with connect(server, key, tenant, home) as client:
        _show(client.undo_merge(*names))


def _show(merge: MergeAnswer) -> None:
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_row(*_cells(merge))
    stdout().print(table)


def _cells(merge: MergeAnswer) -> tuple[str, ...]:
    return merge.status.value, escape(merge.one), escape(merge.other), escape(merge.reason)
