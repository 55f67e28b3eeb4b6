"""Commands of learning: whether recalls change the memories they wake, and feedback on them."""

from typing import Annotated

import typer
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.wire.learning import LearningAnswer

__all__ = ["learning"]

learning = typer.Typer(no_args_is_help=True, help="Whether being recalled changes a memory.")


@learning.command("show")
def show_learning(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Show whether a tenant learns, from how many recalls it did, and how many wait."""
    with connect(server, key, tenant, home) as client:
        _show(client.learning())


@learning.command("on")
def switch_on(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Learn from a tenant's recalls from now on."""
    with connect(server, key, tenant, home) as client:
        _show(client.set_learning(on=True))


@learning.command("off")
def switch_off(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Learn no more; what was learned stays, what waits is left out."""
    with connect(server, key, tenant, home) as client:
        _show(client.set_learning(on=False))


@learning.command("feedback")
def give_feedback(
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="The recall's trace id.")],
    *,
    useful: Annotated[
        list[str] | None,
        typer.Option(metavar="EPISODE", help="A hit that was useful; repeatable."),
    ] = None,
    not_useful: Annotated[
        list[str] | None,
        typer.Option(metavar="EPISODE", help="A hit that was not; repeatable."),
    ] = None,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Say which hits of a recall were useful and which were not."""
    with connect(server, key, tenant, home) as client:
        found = client.feedback(trace, useful=useful or (), not_useful=not_useful or ())
    table = Table("episode", "useful", "reliability", "salience", box=None, header_style="dim")
    for one in found.episodes:
        told = "yes" if one.useful else "no"
        table.add_row(one.episode, told, f"{one.reliability:.3f}", f"{one.salience:.3f}")
    stdout().print(table)


def _show(found: LearningAnswer) -> None:
    stdout().print(f"learning  {'on' if found.on else 'off'}")
    stdout().print(f"recalls   {found.recalls:,} learned from, {found.pending:,} waiting")
