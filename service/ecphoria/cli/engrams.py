"""The command that shows what sessions and clusters came to."""

from typing import Annotated

import typer
from rich.markup import escape

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.model.engram import EngramKind
from ecphoria.wire.engrams import EngramAnswer

__all__ = ["engrams"]


def engrams(
    *,
    kind: Annotated[
        EngramKind | None, typer.Option(help="Only those of sessions, or of clusters.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Show what sessions, and memories that are alike, came to."""
    with connect(server, key, tenant, home) as client:
        for engram in client.engrams(kind=kind):
            if as_json:
                typer.echo(engram.model_dump_json())
            else:
                _show(engram)


def _show(engram: EngramAnswer) -> None:
    what = escape(f"session {engram.session}") if engram.session else engram.kind.value
    told = f"{engram.members:,} memories, {engram.method}, {engram.recorded_at:%Y-%m-%d %H:%M}"
    stdout().print(f"[bold]{what}[/bold]  [dim]{escape(told)}[/dim]")
    for line in engram.summary.split("\n"):
        stdout().print(f"  {escape(line)}", highlight=False)
