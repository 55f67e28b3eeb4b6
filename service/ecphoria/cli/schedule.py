"""Commands of the schedule: when a memory is consolidated without being asked."""

from typing import Annotated

import typer
from rich.table import Table

from ecphoria.cli.connection import DEFAULT_URL, Home, Key, Server, TenantName, connect
from ecphoria.cli.console import stdout
from ecphoria.wire.jobs import ScheduleAnswer

__all__ = ["schedule"]

schedule = typer.Typer(no_args_is_help=True, help="When a memory is consolidated unasked.")


@schedule.command("show")
def show_schedule(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Show when cycles run, and when the next is due."""
    with connect(server, key, tenant, home) as client:
        _show(client.schedule())


@schedule.command("set")
def set_schedule(
    *,
    every_episodes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="After so many appended episodes.")
    ] = None,
    every_hours: Annotated[
        float | None, typer.Option(min=0.01, metavar="H", help="So many hours after the last.")
    ] = None,
    daily_at: Annotated[
        str | None, typer.Option(metavar="HH:MM", help="At this time of each day, in UTC.")
    ] = None,
    idle_minutes: Annotated[
        float | None, typer.Option(min=0.1, metavar="M", help="When it was idle for so long.")
    ] = None,
    light_episodes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="A light cycle after so many episodes.")
    ] = None,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Give the tenant its own schedule; without an option, nothing runs unasked."""
    with connect(server, key, tenant, home) as client:
        _show(
            client.set_schedule(
                every_episodes=every_episodes,
                every_hours=every_hours,
                daily_at=daily_at,
                idle_minutes=idle_minutes,
                light_episodes=light_episodes,
            )
        )


@schedule.command("reset")
def reset_schedule(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Go back to the service's schedule."""
    with connect(server, key, tenant, home) as client:
        _show(client.reset_schedule())


def _show(found: ScheduleAnswer) -> None:
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="dim")
    table.add_row("schedule", "the tenant's own" if found.own else "the service's")
    if found.every_episodes is not None:
        since = f"{found.episodes_since:,} since the last"
        table.add_row("every", f"{found.every_episodes:,} episodes, {since}")
    if found.every_hours is not None:
        table.add_row("every", f"{found.every_hours:g} hours")
    if found.daily_at is not None:
        table.add_row("daily at", f"{found.daily_at} UTC")
    if found.idle_minutes is not None:
        table.add_row("when idle for", f"{found.idle_minutes:g} minutes")
    if found.light_episodes is not None:
        table.add_row("light, every", f"{found.light_episodes:,} episodes")
    if found.next_at is not None:
        table.add_row("next by time", f"{found.next_at:%Y-%m-%d %H:%M} UTC")
    if table.row_count == 1:
        table.add_row("runs", "only when asked")
    stdout().print(table)
