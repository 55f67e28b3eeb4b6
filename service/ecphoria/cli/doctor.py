"""The command that examines a memory."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.wire.doctor import CheckupAnswer

__all__ = ["doctor"]


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Check a tenant's graph; changes nothing, and ends with 1 if anything is wrong."""
    with connect(server, key, tenant, home) as client:
        found = client.doctor()
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        _show(found)
    if not found.is_healthy:
        raise typer.Exit(1)


def _show(found: CheckupAnswer) -> None:
    seen = f"{found.episodes:,} episodes looked at in {found.seconds:.1f} s"
    if found.is_healthy:
        stdout().print(f"Healthy. [dim]{seen}[/dim]")
        return
    table = Table("rule", "where", "what is wrong", box=None, pad_edge=False)
    for finding in found.findings:
        for place, symptom in enumerate(finding.symptoms):
            rule = "" if place else f"[bold]{finding.rule}[/bold]"
            table.add_row(rule, escape(symptom.id), escape(symptom.detail))
        if finding.found > len(finding.symptoms):
            table.add_row("", "", f"[dim]and {finding.found - len(finding.symptoms):,} more[/dim]")
    stdout().print(table)
    stdout().print(f"[dim]{seen}[/dim]")
    if not found.settled:
        stdout().print("The memory was written to meanwhile; ask again.")
