"""Commands of the archive: archive, restore, scrub."""

from typing import Annotated

import typer

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout

__all__ = ["archive", "restore", "scrub"]


def archive(
    *,
    days: Annotated[
        float, typer.Option(min=0, metavar="DAYS", help="Only what has slept for so long.")
    ] = 90.0,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Move what has slept long to the archive's files."""
    with connect(server, key, tenant, home) as client:
        done = client.archive(days=days)
    stdout().print(f"{done.archived:,} archived")


def restore(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of episodes.")],
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Make archived memories dormant again, byte for byte."""
    with connect(server, key, tenant, home) as client:
        done = client.restore(ids)
    stdout().print(f"{len(done.restored):,} restored")
    _tell_damaged(done.damaged)


def scrub(
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Read every record of the archive and check it; ends with 1 if one is damaged."""
    with connect(server, key, tenant, home) as client:
        found = client.scrub()
    loose = f", {found.unreferenced:,} unreferenced" if found.unreferenced else ""
    stdout().print(f"{found.records:,} records checked{loose}")
    _tell_damaged(found.damaged)


def _tell_damaged(ids: tuple[str, ...]) -> None:
    if ids:
        stdout().print(f"[error]{len(ids):,} damaged[/error], put their files back from a backup:")
        for one in ids:
            stdout().print(one)
        raise typer.Exit(1)
