"""The command that consolidates a memory."""

from typing import Annotated

import typer
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout

__all__ = ["consolidate"]


def consolidate(
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Go over a tenant's memory now: join what is alike, rank it, let go what is too much."""
    with connect(server, key, tenant, home) as client:
        done = client.consolidate()
    if as_json:
        typer.echo(done.model_dump_json(indent=2))
        return
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="bold")
    table.add_column(justify="right", style="dim")
    table.add_column()
    for step in done.steps:
        counts = ", ".join(f"{name} {count:,}" for name, count in step.counts.items())
        said = f"{step.status}: {step.reason}" if step.reason else counts
        table.add_row(step.name, f"{step.seconds:.1f} s", said)
    stdout().print(table)
    stdout().print(f"[dim]cycle {done.cycle}, {done.seconds:.1f} s[/dim]")
