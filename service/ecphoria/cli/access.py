"""Commands of an operator: tenants and keys."""

from typing import Annotated

import typer
from rich.table import Column, Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.model.tenant import Scope

__all__ = ["keys", "tenants"]

Operator = Annotated[
    bool,
    typer.Option("--operator", help="An operator's key, which acts for every tenant."),
]

tenants = typer.Typer(no_args_is_help=True, help="Owners of memories; needs an operator's key.")
keys = typer.Typer(no_args_is_help=True, help="Keys that open a tenant's memory.")


@tenants.command("list")
def list_tenants(server: Server = DEFAULT_URL, key: Key = None, home: Home = None) -> None:
    """List the tenants."""
    with connect(server, key, None, home, assumed=None) as client:
        found = client.tenants()
    table = Table("name", "created", "id", box=None, header_style="dim", pad_edge=False)
    for tenant in found:
        table.add_row(tenant.name, f"{tenant.created_at:%Y-%m-%d}", tenant.id)
    stdout().print(table)


@tenants.command("create")
def create_tenant(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Lower-case letters, digits, `-` and `_`.")
    ],
    server: Server = DEFAULT_URL,
    key: Key = None,
    home: Home = None,
) -> None:
    """Create a tenant."""
    with connect(server, key, None, home, assumed=None) as client:
        tenant = client.create_tenant(name)
    stdout().print(f"Created {tenant.name}  [dim]{tenant.id}[/dim]")


@tenants.command("erase")
def erase_tenant(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tenant to erase.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    home: Home = None,
) -> None:
    """Erase a tenant with everything it owns; there is no way back."""
    if not yes:
        typer.confirm(f"Erase every memory of {name}?", abort=True)
    with connect(server, key, None, home, assumed=None) as client:
        removed = client.erase_tenant(name).removed
    counts = ", ".join(f"{count:,} {kind}" for kind, count in removed.items() if count)
    stdout().print(f"Erased {name}: {counts or 'it was empty'}.")


@keys.command("list")
def list_keys(
    operator: Operator = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """List a tenant's keys, without their secrets."""
    with connect(server, key, tenant, home, assumed=_assumed(operator=operator)) as client:
        found = client.keys()
    # Whole ids, whatever the width: one is needed to revoke.
    columns = (Column("id", no_wrap=True, min_width=32), "name", "begins with", "scopes")
    table = Table(*columns, "created", "revoked", box=None, header_style="dim", pad_edge=False)
    for item in found:
        revoked = f"{item.revoked_at:%Y-%m-%d}" if item.revoked_at else ""
        scopes = " ".join(item.scopes)
        created = f"{item.created_at:%Y-%m-%d}"
        table.add_row(item.id, item.name, item.prefix, scopes, created, revoked)
    stdout().print(table)


@keys.command("issue")
def issue_key(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")],
    scope: Annotated[list[Scope], typer.Option(help="What it may do; give it several times.")],
    operator: Operator = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Issue a key of a tenant; its secret is printed this once."""
    with connect(server, key, tenant, home, assumed=_assumed(operator=operator)) as client:
        issued = client.issue_key(name, scope)
    stdout().print(f"Issued {issued.name}  [dim]{issued.id}[/dim]")
    typer.echo(issued.secret)


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as listed.")],
    *,
    operator: Operator = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Revoke a key; it is refused within seconds."""
    with connect(server, key, tenant, home, assumed=_assumed(operator=operator)) as client:
        client.revoke_key(key_id)
    stdout().print("Revoked.")


def _assumed(*, operator: bool) -> str | None:
    return None if operator else "default"
